//! On which side of the surface samples lie, by majority.
//!
//! The side of a sample, measured at the nearest triangle, can be wrong where that triangle is
//! a sliver, whose normal is mostly rounding. But two samples on opposite sides of a surface
//! are at least as far apart as their distances from it add up to. So samples closer together
//! than that are on the same side, and the side that most of them see is the right one.

use super::{index, places};
use taut_partition::DisjointSets;

/// Whether each sample of a lattice lies inside.
///
/// `distances` are at most the true ones, whatever their sign; `votes` are negative for
/// samples that seem to lie inside and 0 for those without an opinion; `step` is the distance
/// between neighbors.
pub(super) fn are_inside(
    distances: &[f32],
    votes: &[i8],
    counts: [u32; 3],
    step: f32,
) -> Vec<bool> {
    let mut sides = DisjointSets::new(distances.len());
    for at in places(counts) {
        let here = index(at, counts);
        for axis in (0..3).filter(|&axis| at[axis] + 1 < counts[axis]) {
            let mut next = at;
            next[axis] += 1;
            let there = index(next, counts);
            // A little more, so that rounding unites nothing across the surface.
            if distances[here] + distances[there] > 1.001 * step {
                sides.unite(here as u32, there as u32);
            }
        }
    }
    let mut tallies = vec![0i64; distances.len()];
    for (number, &vote) in (0u32..).zip(votes) {
        tallies[sides.lowest(number) as usize] += i64::from(vote);
    }
    (0..distances.len() as u32).map(|number| tallies[sides.lowest(number) as usize] < 0).collect()
}

#[cfg(test)]
mod tests {
    //! Contract: a wrong vote is outvoted by samples that must be on the same side, and by no
    //! others.
    use super::*;

    #[test]
    fn the_majority_of_a_side_decides_for_it_and_for_it_alone() {
        // A surface between the third and the fourth sample of a row.
        let distances = [2.4, 1.4, 0.4, 0.6, 1.6, 2.6];
        let counts = [6, 1, 1];
        let expected = [true, true, true, false, false, false];
        assert_eq!(are_inside(&distances, &[-1, -1, -1, 1, 1, 1], counts, 1.0), expected);
        assert_eq!(are_inside(&distances, &[-1, 1, -1, 1, -1, 1], counts, 1.0), expected);
        assert_eq!(are_inside(&distances, &[0, -1, 0, 0, 0, 0], counts, 1.0), expected);
    }

    #[test]
    fn all_three_axes_link() {
        for counts in [[3, 1, 1], [1, 3, 1], [1, 1, 3]] {
            assert_eq!(are_inside(&[5.0; 3], &[-1, 1, -1], counts, 1.0), [true; 3]);
        }
        let inside = are_inside(&[5.0; 27], &[-1; 27], [3; 3], 1.0);
        assert_eq!(inside, [true; 27]);
    }
}
