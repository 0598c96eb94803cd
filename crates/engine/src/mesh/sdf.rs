//! Signed distances to a closed surface, kept where they matter: near it.
//!
//! The field is a box of blocks of 8 × 8 × 8 cells. Blocks near the surface hold the exact
//! distance at their 9 × 9 × 9 cell corners (shared ones twice, so that a block is all a
//! sample needs); of the others only the exact distances at their own corners are kept.
//! Between corners the distance is interpolated trilinearly, and the gradient is that of the
//! interpolant. Everything lies in flat arrays, x running fastest, that a GPU can read as they
//! are; `build.rs` fills them.

mod build;
mod sampling;
mod signs;

use glam::Vec3;

use super::error::MeshError;
use super::{Bounds, Mesh};

/// Cells along each side of a block.
pub const BLOCK_CELLS: u32 = 8;

/// Cell corners along each side of a block.
const BLOCK_CORNERS: u32 = BLOCK_CELLS + 1;

/// Samples of a block.
pub const BLOCK_SAMPLES: usize = (BLOCK_CORNERS * BLOCK_CORNERS * BLOCK_CORNERS) as usize;

/// Stands in [`SparseSdf::block_numbers`] for a block without samples of its own.
pub const NO_BLOCK: u32 = u32::MAX;

/// The signed distance to a closed surface, negative inside.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseSdf {
    origin: Vec3,
    cell: f32,
    band: f32,
    block_counts: [u32; 3],
    coarse: Vec<f32>,
    block_numbers: Vec<u32>,
    samples: Vec<f32>,
    bounds: Bounds,
    was_inside_out: bool,
}

impl SparseSdf {
    /// Samples the distance to a closed mesh in cells of the given size (m), finely up to two
    /// cells from the surface. Tetrahedra do not matter.
    ///
    /// A surface that is inside out is turned around, see [`SparseSdf::was_inside_out`].
    ///
    /// # Errors
    /// A mesh with a boundary, with edges of more than two triangles, with neighbors that face
    /// opposite sides or without volume; a cell that is not finite and positive, or so small
    /// that the field would not fit its limits.
    pub fn build(mesh: &Mesh, cell: f32) -> Result<Self, MeshError> {
        Self::build_with_band(mesh, cell, 2.0 * cell)
    }

    /// As [`SparseSdf::build`], but finely sampled up to `band` (m) from the surface.
    ///
    /// # Errors
    /// As [`SparseSdf::build`], and a band that is not finite and positive.
    pub fn build_with_band(mesh: &Mesh, cell: f32, band: f32) -> Result<Self, MeshError> {
        build::build(mesh, cell, band)
    }

    /// Distance to the surface (m, negative inside) and its gradient.
    ///
    /// - Up to [`SparseSdf::band`] from the surface: the interpolant of exact distances at the
    ///   corners of cells.
    /// - Farther away, but inside the field: the interpolant of exact distances at corners of
    ///   blocks or parts of them, off by at most [`SparseSdf::coarse_error`], and of the right
    ///   sign.
    /// - Outside the field: the distance to the mesh's bounding box, which is never above the
    ///   true one.
    #[must_use]
    pub fn sample(&self, point: Vec3) -> (f32, Vec3) {
        let local = (point - self.origin) / self.cell;
        let cells = Vec3::from_array(self.block_counts.map(|count| (count * BLOCK_CELLS) as f32));
        // Written so that what is not a number counts as outside.
        if !(local.cmpge(Vec3::ZERO).all() && local.cmple(cells).all()) {
            return self.sample_outside(point);
        }
        let at = local.floor().min(cells - 1.0);
        let block = at.to_array().map(|x| x as u32 / BLOCK_CELLS);
        match self.block_numbers[index(block, self.block_counts)] {
            NO_BLOCK => self.sample_coarse(block, local),
            number => self.sample_fine(number, at, local),
        }
    }

    fn sample_fine(&self, number: u32, at: Vec3, local: Vec3) -> (f32, Vec3) {
        let corner = at.to_array().map(|x| x as u32 % BLOCK_CELLS);
        let samples = &self.samples[number as usize * BLOCK_SAMPLES..][..BLOCK_SAMPLES];
        let corners = corner_values(samples, corner, [BLOCK_CORNERS; 3]);
        let (distance, slope) = trilinear(corners, local - at);
        (distance, slope / self.cell)
    }

    fn sample_coarse(&self, block: [u32; 3], local: Vec3) -> (f32, Vec3) {
        let counts = self.block_counts.map(|count| count + 1);
        let corners = corner_values(&self.coarse, block, counts);
        let at = Vec3::from_array(block.map(|x| x as f32));
        let (distance, slope) = trilinear(corners, local / BLOCK_CELLS as f32 - at);
        (distance, slope / (self.cell * BLOCK_CELLS as f32))
    }

    fn sample_outside(&self, point: Vec3) -> (f32, Vec3) {
        let away = point - point.max(self.bounds.min).min(self.bounds.max);
        (away.length(), away.normalize_or_zero())
    }

    /// The lowest corner of the field.
    #[must_use]
    pub fn origin(&self) -> Vec3 {
        self.origin
    }

    /// Side of a cell, m.
    #[must_use]
    pub fn cell(&self) -> f32 {
        self.cell
    }

    /// Distance from the surface, m, up to which the field is finely sampled.
    #[must_use]
    pub fn band(&self) -> f32 {
        self.band
    }

    /// How far a sample beyond the band can be off, m: the side of a block. (A sample is a mean
    /// of exact distances at places whose root mean square distance from it is less than that.)
    #[must_use]
    pub fn coarse_error(&self) -> f32 {
        BLOCK_CELLS as f32 * self.cell
    }

    /// Blocks along x, y and z.
    #[must_use]
    pub fn block_counts(&self) -> [u32; 3] {
        self.block_counts
    }

    /// Distances at the corners of blocks: one more along each axis than there are blocks.
    #[must_use]
    pub fn coarse(&self) -> &[f32] {
        &self.coarse
    }

    /// For each block, where its samples start in units of [`BLOCK_SAMPLES`], or [`NO_BLOCK`].
    #[must_use]
    pub fn block_numbers(&self) -> &[u32] {
        &self.block_numbers
    }

    /// Distances at the cell corners of the blocks that have a number.
    #[must_use]
    pub fn samples(&self) -> &[f32] {
        &self.samples
    }

    /// The box around the mesh.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Whether the surface was turned around, because its triangles faced inward.
    #[must_use]
    pub fn was_inside_out(&self) -> bool {
        self.was_inside_out
    }
}

/// Place of an entry in an array of `counts` entries along x, y and z.
fn index([x, y, z]: [u32; 3], counts: [u32; 3]) -> usize {
    let [width, height] = [counts[0] as usize, counts[1] as usize];
    (z as usize * height + y as usize) * width + x as usize
}

/// All places of an array of `counts` entries along x, y and z, in the order of [`index`].
fn places([width, height, depth]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let row = move |y, z| (0..width).map(move |x| [x, y, z]);
    (0..depth).flat_map(move |z| (0..height).flat_map(move |y| row(y, z)))
}

/// The values at the eight corners of a cell: x changes fastest, then y, then z.
fn corner_values(values: &[f32], lowest: [u32; 3], counts: [u32; 3]) -> [f32; 8] {
    let row = counts[0] as usize;
    let sheet = row * counts[1] as usize;
    let start = index(lowest, counts);
    let along_x = |at: usize| [values[at], values[at + 1]];
    let [[a, b], [c, d]] = [along_x(start), along_x(start + row)];
    let [[e, f], [g, h]] = [along_x(start + sheet), along_x(start + sheet + row)];
    [a, b, c, d, e, f, g, h]
}

/// Value and gradient of the trilinear interpolant at a place in the unit cube.
fn trilinear(corners: [f32; 8], at: Vec3) -> (f32, Vec3) {
    let blend = |from: f32, to: f32, share: f32| from + (to - from) * share;
    let [a, b, c, d, e, f, g, h] = corners;
    let rows = [blend(a, b, at.x), blend(c, d, at.x), blend(e, f, at.x), blend(g, h, at.x)];
    let sheets = [blend(rows[0], rows[1], at.y), blend(rows[2], rows[3], at.y)];
    let slope = Vec3::new(
        blend(blend(b - a, d - c, at.y), blend(f - e, h - g, at.y), at.z),
        blend(rows[1] - rows[0], rows[3] - rows[2], at.z),
        sheets[1] - sheets[0],
    );
    (blend(sheets[0], sheets[1], at.z), slope)
}

#[cfg(test)]
mod tests;
