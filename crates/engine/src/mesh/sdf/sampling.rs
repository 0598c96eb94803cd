//! The samples of one block.

use super::build::{Distances, in_cells};
use super::signs::are_inside;
use super::{BLOCK_CELLS, BLOCK_CORNERS, BLOCK_SAMPLES, index, places};

/// Diagonal of a cell, in cells.
pub(super) const DIAGONAL: f32 = 1.732_051;

/// A block while it is sampled: its corners first, then every fourth, every other and at last
/// every cell corner. All lengths are in cells.
///
/// Where the samples around a new one prove that no point of the band is near it, their mean
/// will do: distances deep inside, where much of the surface is about equally far, take the
/// longest to find.
pub(super) struct Sampling {
    /// The block's lowest corner.
    lowest: [u32; 3],
    band: f32,
    /// Distances without sign.
    distances: [f32; BLOCK_SAMPLES],
    /// What the distances are at least.
    proven: [f32; BLOCK_SAMPLES],
    /// Sides that were measured: 1 outside, −1 inside; 0 where they were not.
    votes: [i8; BLOCK_SAMPLES],
}

impl Sampling {
    /// A block of which the signed distances at the corners are known.
    pub(super) fn new(corners: [f32; 8], lowest: [u32; 3], band: f32) -> Self {
        let none = [0.0; BLOCK_SAMPLES];
        let votes = [0; BLOCK_SAMPLES];
        let mut sampling = Self { lowest, band, distances: none, proven: none, votes };
        for (corner, distance) in places([2; 3]).zip(corners) {
            sampling.set_measured(corner.map(in_cells), distance);
        }
        sampling
    }

    fn set_measured(&mut self, at: [u32; 3], distance: f32) {
        let place = index(at, [BLOCK_CORNERS; 3]);
        self.distances[place] = distance.abs();
        self.proven[place] = distance.abs();
        self.votes[place] = if distance.is_sign_negative() { -1 } else { 1 };
    }

    /// Signed distances at all cell corners.
    pub(super) fn finish(mut self, distances: &Distances) -> [f32; BLOCK_SAMPLES] {
        for stride in [4, 2, 1] {
            for at in new_places(stride) {
                self.add_sample(at, stride, distances);
            }
        }
        let inside = are_inside(&self.proven, &self.votes, [BLOCK_CORNERS; 3], 1.0);
        for (distance, is_inside) in self.distances.iter_mut().zip(inside) {
            *distance = if is_inside { -*distance } else { *distance };
        }
        self.distances
    }

    fn add_sample(&mut self, at: [u32; 3], stride: u32, distances: &Distances) {
        let odd_axes = at.iter().filter(|&x| x % (2 * stride) != 0).count();
        let away = stride as f32 * (odd_axes as f32).sqrt();
        let (mean, most_proven) = self.around(at, stride);
        let proven = most_proven - away;
        // A cell with a point of the band has corners up to a diagonal farther out. And the
        // mean is one of distances on the same side only if the surface does not pass between.
        if proven > (self.band + DIAGONAL).max(away) {
            let place = index(at, [BLOCK_CORNERS; 3]);
            self.distances[place] = mean.max(proven);
            self.proven[place] = proven;
        } else {
            let corner = [0, 1, 2].map(|axis| self.lowest[axis] + at[axis]);
            self.set_measured(at, distances.at(corner));
        }
    }

    /// Mean distance at the two, four or eight places around a new one, all of them on the
    /// lattice of twice the stride, and the most that is proven at any of them.
    fn around(&self, at: [u32; 3], stride: u32) -> (f32, f32) {
        let lowest = at.map(|x| x / (2 * stride) * (2 * stride));
        let (mut sum, mut most_proven) = (0.0, 0f32);
        for steps in places([2; 3]) {
            // An axis that is on the lattice already has one sample, which counts twice.
            let step = |axis: usize| 2 * (at[axis] - lowest[axis]) * steps[axis];
            let place = index([0, 1, 2].map(|axis| lowest[axis] + step(axis)), [BLOCK_CORNERS; 3]);
            sum += self.distances[place];
            most_proven = most_proven.max(self.proven[place]);
        }
        (sum / 8.0, most_proven)
    }
}

/// Places in a block that are on the lattice of a stride, but not on that of twice the stride.
fn new_places(stride: u32) -> impl Iterator<Item = [u32; 3]> {
    let on_lattice = places([BLOCK_CELLS / stride + 1; 3]).map(move |at| at.map(|x| x * stride));
    on_lattice.filter(move |at| at.iter().any(|x| x % (2 * stride) != 0))
}
