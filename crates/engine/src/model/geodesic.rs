//! The nearest pins of every particle and the way to them along edges: Dijkstra's algorithm from
//! all pins at once.
//!
//! Ways along edges are longer than the shortest way across triangles, by up to 15 % on a grid of
//! equilateral triangles and 8 % on one of squares with both kinds of diagonals: reach is never too
//! small, and a rest shape is always allowed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::Vec3;

/// A pin within reach of a particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reachable {
    pub(super) particle: u32,
    pub(super) pin: u32,
    /// Way along edges, m.
    pub(super) distance: f64,
}

/// For every particle that is no pin, its nearest pins, `most` of them where there are so many,
/// sorted by particle, then by distance.
pub(super) fn nearest_pins(
    rest: &[Vec3],
    edges: &[[u32; 2]],
    is_pin: impl Fn(usize) -> bool,
    most: usize,
) -> Vec<Reachable> {
    let neighbors = Neighbors::new(rest, edges);
    let mut found: Vec<Vec<(u32, f64)>> = vec![Vec::new(); rest.len()];
    // Distances are not negative, so their bits sort as they do; ties go by pin, then by particle.
    let mut queue: BinaryHeap<Reverse<(u64, u32, u32)>> = (0..rest.len())
        .filter(|&particle| is_pin(particle))
        .map(|pin| Reverse((0, pin as u32, pin as u32)))
        .collect();
    while let Some(Reverse((bits, pin, particle))) = queue.pop() {
        let known = &mut found[particle as usize];
        if known.len() == most || known.iter().any(|&(other, _)| other == pin) {
            continue;
        }
        let distance = f64::from_bits(bits);
        known.push((pin, distance));
        for &(next, length) in neighbors.of(particle) {
            queue.push(Reverse(((distance + length).to_bits(), pin, next)));
        }
    }
    let reachable = |(particle, pins): (usize, Vec<(u32, f64)>)| {
        let particle = particle as u32;
        pins.into_iter().map(move |(pin, distance)| Reachable { particle, pin, distance })
    };
    let movable = found.into_iter().enumerate().filter(|&(particle, _)| !is_pin(particle));
    movable.flat_map(reachable).collect()
}

/// The edges of every particle with their lengths.
struct Neighbors {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Neighbors {
    fn new(rest: &[Vec3], edges: &[[u32; 2]]) -> Self {
        let mut starts = vec![0; rest.len() + 1];
        for end in edges.as_flattened() {
            starts[*end as usize + 1] += 1;
        }
        for particle in 0..rest.len() {
            starts[particle + 1] += starts[particle];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); 2 * edges.len()];
        for &[a, b] in edges {
            let length = rest[a as usize].as_dvec3().distance(rest[b as usize].as_dvec3());
            for (from, to) in [(a, b), (b, a)] {
                entries[next[from as usize]] = (to, length);
                next[from as usize] += 1;
            }
        }
        Self { starts, entries }
    }

    fn of(&self, particle: u32) -> &[(u32, f64)] {
        &self.entries[self.starts[particle as usize]..self.starts[particle as usize + 1]]
    }
}

#[cfg(test)]
mod tests {
    //! Contract: distances are those along edges, pins come nearest first, what no pin can be
    //! reached from has none.
    use super::*;

    #[test]
    fn ways_follow_the_edges_and_the_nearest_pin_comes_first() {
        // 0 - 1 - 2 - 3 along a bent line, 4 on its own.
        let rest = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 3.0], [9.0, 9.0]]
            .map(|[x, y]| Vec3::new(x, y, 0.0));
        let edges = [[0, 1], [1, 2], [2, 3]];
        let is_pin = |particle: usize| particle == 0 || particle == 3;
        let way = |particle, pin, distance| Reachable { particle, pin, distance };
        assert_eq!(nearest_pins(&rest, &edges, is_pin, 1), [way(1, 0, 1.0), way(2, 0, 2.0)]);
        let both = [way(1, 0, 1.0), way(1, 3, 3.0), way(2, 0, 2.0), way(2, 3, 2.0)];
        assert_eq!(nearest_pins(&rest, &edges, is_pin, 2), both);
        assert_eq!(nearest_pins(&rest, &edges, |_| false, 1), []);
    }
}
