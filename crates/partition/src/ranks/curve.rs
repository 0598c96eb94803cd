//! Space-filling curves: a numbering of points along which neighbors in number are neighbors in
//! space, and mostly the other way round.

use rayon::prelude::*;

use crate::InputError;

/// A space-filling curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curve {
    /// Interleaved coordinates: simple, but with long jumps.
    Morton,
    /// Without jumps, so that pieces of it are compact.
    #[default]
    Hilbert,
}

/// Bits of a coordinate: three of them fit into 64 bits.
const BITS: u32 = 21;

/// The points in the order of a curve through their bounding cube; equal points in ascending
/// order. Numbering bodies so keeps those close in memory that are close in space.
///
/// ```
/// use taut_partition::ranks::{Curve, curve_order};
///
/// let points = [[3.0, 0.0, 0.0], [0.0; 3], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
/// assert_eq!(curve_order(&points, Curve::Morton)?, [1, 3, 2, 0]);
/// # Ok::<(), taut_partition::InputError>(())
/// ```
pub fn curve_order(points: &[[f32; 3]], curve: Curve) -> Result<Vec<u32>, InputError> {
    if points.len() >= u32::MAX as usize {
        return Err(InputError::TooMany { limit: u32::MAX as usize });
    }
    if let Some(index) = points.iter().position(|point| !point.iter().all(|x| x.is_finite())) {
        return Err(InputError::NotFinite { what: "point", index });
    }
    let (low, scale) = cube(points);
    let mut keyed: Vec<(u64, u32)> = points
        .par_iter()
        .enumerate()
        .map(|(index, point)| {
            let cell = [0, 1, 2].map(|axis| ((f64::from(point[axis]) - low[axis]) * scale) as u32);
            (key(cell, curve), index as u32)
        })
        .collect();
    keyed.par_sort_unstable();
    Ok(keyed.into_iter().map(|(_, index)| index).collect())
}

/// The low corner of the bounding cube, and cells per unit of length.
fn cube(points: &[[f32; 3]]) -> ([f64; 3], f64) {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for point in points {
        for (axis, &x) in point.iter().enumerate() {
            low[axis] = low[axis].min(f64::from(x));
            high[axis] = high[axis].max(f64::from(x));
        }
    }
    let width = low.iter().zip(high).map(|(low, high)| high - low).fold(0.0, f64::max);
    let last = f64::from((1_u32 << BITS) - 1);
    (low, if width > 0.0 { last / width } else { 0.0 })
}

fn key(cell: [u32; 3], curve: Curve) -> u64 {
    match curve {
        Curve::Morton => interleave(cell),
        Curve::Hilbert => interleave(hilbert_transpose(cell)),
    }
}

/// The bits of the three numbers in turn, from the highest of the first to the lowest of the last.
fn interleave(numbers: [u32; 3]) -> u64 {
    (0..BITS).rev().fold(0, |key, bit| {
        numbers.iter().fold(key, |key, number| key << 1 | u64::from(number >> bit & 1))
    })
}

/// The Hilbert index of a cell, its bits dealt out to three numbers (Skilling 2004, 'Programming
/// the Hilbert curve'): undo the rotations and reflections from the coarsest cube to the finest,
/// then decode the Gray code.
fn hilbert_transpose(mut cell: [u32; 3]) -> [u32; 3] {
    for bit in (1..BITS).rev() {
        let finer = (1 << bit) - 1;
        for axis in 0..3 {
            if cell[axis] >> bit & 1 == 1 {
                cell[0] ^= finer;
            } else {
                let differing = (cell[0] ^ cell[axis]) & finer;
                cell[0] ^= differing;
                cell[axis] ^= differing;
            }
        }
    }
    cell[1] ^= cell[0];
    cell[2] ^= cell[1];
    let flips = (1..BITS).filter(|bit| cell[2] >> bit & 1 == 1);
    let flips = flips.fold(0, |flips, bit| flips ^ ((1 << bit) - 1));
    cell.map(|number| number ^ flips)
}

#[cfg(test)]
mod tests {
    //! Contract: a curve visits every cell once; a Hilbert curve only ever steps to a neighbor.

    use super::*;

    fn cells(side: u32) -> Vec<[u32; 3]> {
        (0..side * side * side).map(|n| [n % side, n / side % side, n / side / side]).collect()
    }

    #[test]
    fn a_hilbert_curve_steps_to_neighbors() {
        let mut visited = cells(8);
        visited.sort_by_key(|&cell| key(cell, Curve::Hilbert));
        for pair in visited.windows(2) {
            let distance: u32 = (0..3).map(|axis| pair[0][axis].abs_diff(pair[1][axis])).sum();
            assert_eq!(distance, 1, "{pair:?}");
        }
    }

    #[test]
    fn keys_are_unique() {
        for curve in [Curve::Morton, Curve::Hilbert] {
            let mut keys: Vec<u64> = cells(8).into_iter().map(|cell| key(cell, curve)).collect();
            keys.sort_unstable();
            assert_eq!(keys, (0..512).collect::<Vec<_>>());
        }
    }
}
