//! Fills a [`SparseSdf`] with exact distances.
//!
//! The sign comes from angle-weighted pseudonormals (Bærentzen & Aanæs 2005, 'Signed distance
//! computation using the angle weighted pseudonormal') and a vote (`signs.rs`). Distances change by at most as much
//! as the place does, so that distances at a few places prove much about those between: which
//! blocks hold a point of the band, and which samples need not be measured.
//!
//! Distances are measured in cells here, from the field's origin: meters may be large or small,
//! and far from the world's origin single precision is coarse.

use glam::Vec3;
use parry3d::math::Vector;
use parry3d::query::PointQuery;
use parry3d::shape::{TriMesh, TriMeshFlags};

use super::sampling::{DIAGONAL, Sampling};
use super::signs::are_inside;
use super::{BLOCK_CELLS, BLOCK_SAMPLES, Bounds, NO_BLOCK, SparseSdf, corner_values, places};
use crate::mesh::error::MeshError;
use crate::mesh::{Mesh, Topology};

/// The most blocks of a field, counting those far from the surface.
const MOST_BLOCKS: f64 = 1_048_576.0;

/// The most blocks with samples: 191 MB.
const MOST_SAMPLED_BLOCKS: f64 = 65_536.0;

pub(super) fn build(mesh: &Mesh, cell: f32, band: f32) -> Result<SparseSdf, MeshError> {
    for (what, value) in [("cell", cell), ("band", band)] {
        if !(value.is_finite() && value > 0.0) {
            return Err(MeshError::BadLength { mesh: "signed distance field", what, value });
        }
    }
    let (surface, was_inside_out) = outward_surface(mesh)?;
    let bounds = surface.bounds().ok_or(MeshError::NoVolume)?;
    let block_counts = count_blocks(&bounds, cell, band)?;
    let origin = lowest_corner(&bounds, block_counts, cell)?;
    let distances = Distances::new(&surface, origin, cell)?;
    let coarse = distances.at_block_corners(block_counts);
    let block_numbers = number_blocks(&coarse, block_counts, band / cell);
    let mut field = SparseSdf {
        origin,
        cell,
        band,
        block_counts,
        coarse,
        block_numbers,
        bounds,
        was_inside_out,
        samples: Vec::new(),
    };
    sample_blocks(&mut field, &distances)?;
    field.coarse.iter_mut().chain(&mut field.samples).for_each(|distance| *distance *= cell);
    Ok(field)
}

pub(super) fn in_cells(blocks: u32) -> u32 {
    blocks * BLOCK_CELLS
}

/// The triangles that have an area, facing outward, and whether they faced inward before.
fn outward_surface(mesh: &Mesh) -> Result<(Mesh, bool), MeshError> {
    mesh.check()?;
    let topology = Topology::new(mesh)?;
    if !topology.is_closed() {
        return Err(MeshError::NotClosed {
            boundary: topology.boundary_edges.len(),
            non_manifold: topology.non_manifold_edges.len(),
        });
    }
    if !topology.is_oriented() {
        return Err(MeshError::NotOriented { edges: topology.flipped_edges.len() });
    }
    let (positions, triangles) = (mesh.positions.clone(), mesh.triangles.clone());
    let mut surface = Mesh { positions, triangles, ..Mesh::default() };
    let volume = surface.volume();
    if volume < 0.0 {
        surface.flip();
    }
    // They hold the surface together, which was the question above, but have no normal.
    let degenerate = surface.degenerate_triangles();
    let mut number = 0..;
    surface
        .triangles
        .retain(|_| number.next().is_none_or(|n| degenerate.binary_search(&n).is_err()));
    surface.drop_unused_vertices();
    if volume.abs() > 0.0 { Ok((surface, volume < 0.0)) } else { Err(MeshError::NoVolume) }
}

/// Blocks along each axis, enough for the mesh with the band and a cell around it.
fn count_blocks(bounds: &Bounds, cell: f32, band: f32) -> Result<[u32; 3], MeshError> {
    let margin = 2.0 * (f64::from(band) + f64::from(cell));
    let side = f64::from(cell) * f64::from(BLOCK_CELLS);
    let counts = ((bounds.max.as_dvec3() - bounds.min.as_dvec3() + margin) / side).ceil();
    let blocks = counts.element_product();
    if blocks > MOST_BLOCKS {
        // Blocks fill space.
        return Err(too_fine(cell, blocks, MOST_BLOCKS, (blocks / MOST_BLOCKS).cbrt()));
    }
    Ok(counts.to_array().map(|count| count as u32))
}

/// Where the field starts, so that the mesh lies in its middle.
fn lowest_corner(bounds: &Bounds, block_counts: [u32; 3], cell: f32) -> Result<Vec3, MeshError> {
    let size = Vec3::from_array(block_counts.map(|count| in_cells(count) as f32)) * cell;
    let origin = bounds.center() - 0.5 * size;
    if origin.is_finite() && (origin + size).is_finite() {
        return Ok(origin);
    }
    let value = size.max_element();
    Err(MeshError::BadLength { mesh: "signed distance field", what: "size", value })
}

/// Numbers for the blocks that may hold a point of the band.
fn number_blocks(coarse: &[f32], block_counts: [u32; 3], band: f32) -> Vec<u32> {
    // From the farthest place of a block to its nearest corner.
    let half_diagonal = 0.5 * DIAGONAL * BLOCK_CELLS as f32;
    let corner_counts = block_counts.map(|count| count + 1);
    let mut count = 0;
    let number = |block| {
        let corners = corner_values(coarse, block, corner_counts);
        if corners.iter().all(|distance| distance.abs() > half_diagonal + band) {
            return NO_BLOCK;
        }
        count += 1;
        count - 1
    };
    places(block_counts).map(number).collect()
}

/// Samples all blocks with a number, in the order of their numbers.
fn sample_blocks(field: &mut SparseSdf, distances: &Distances) -> Result<(), MeshError> {
    let corner_counts = field.block_counts.map(|count| count + 1);
    let numbered = || {
        let blocks = places(field.block_counts).zip(&field.block_numbers);
        blocks.filter(|(_, number)| **number != NO_BLOCK).map(|(block, _)| block)
    };
    let blocks = numbered().count();
    if blocks as f64 > MOST_SAMPLED_BLOCKS {
        // Blocks near a surface grow with its area.
        let [blocks, most] = [blocks as f64, MOST_SAMPLED_BLOCKS];
        return Err(too_fine(field.cell, blocks, most, (blocks / most).sqrt()));
    }
    let mut samples = Vec::with_capacity(blocks * BLOCK_SAMPLES);
    for block in numbered() {
        let corners = corner_values(&field.coarse, block, corner_counts);
        let sampling = Sampling::new(corners, block.map(in_cells), field.band / field.cell);
        samples.extend(sampling.finish(distances));
    }
    field.samples = samples;
    Ok(())
}

fn too_fine(cell: f32, blocks: f64, most: f64, factor: f64) -> MeshError {
    // A little more than needed, as the count does not fall quite so regularly.
    let enough = (f64::from(cell) * factor * 1.1) as f32;
    MeshError::CellTooSmall { cell, blocks, most, enough }
}

/// Exact distances to a surface, in cells.
pub(super) struct Distances {
    surface: TriMesh,
}

impl Distances {
    fn new(surface: &Mesh, origin: Vec3, cell: f32) -> Result<Self, MeshError> {
        let local = |position: &Vec3| {
            let in_cells = (position.as_dvec3() - origin.as_dvec3()) / f64::from(cell);
            let [x, y, z] = in_cells.as_vec3().to_array();
            Vector::new(x, y, z)
        };
        let vertices = surface.positions.iter().map(local).collect();
        let triangles = surface.triangles.clone();
        let surface = TriMesh::with_flags(vertices, triangles, TriMeshFlags::ORIENTED);
        // It refuses nothing but a mesh without triangles.
        Ok(Self { surface: surface.map_err(|_| MeshError::NoVolume)? })
    }

    /// Signed distances at the corners of all blocks.
    fn at_block_corners(&self, block_counts: [u32; 3]) -> Vec<f32> {
        let counts = block_counts.map(|count| count + 1);
        let mut values: Vec<f32> =
            places(counts).map(|corner| self.at(corner.map(in_cells))).collect();
        let votes: Vec<i8> = values.iter().map(|value| value.signum() as i8).collect();
        values.iter_mut().for_each(|value| *value = value.abs());
        let inside = are_inside(&values, &votes, counts, BLOCK_CELLS as f32);
        for (value, _) in values.iter_mut().zip(inside).filter(|(_, is_inside)| *is_inside) {
            *value = -*value;
        }
        values
    }

    /// Signed distance at a corner of a cell.
    pub(super) fn at(&self, corner: [u32; 3]) -> f32 {
        let [x, y, z] = corner.map(|step| step as f32);
        let point = Vector::new(x, y, z);
        let projection = self.surface.project_local_point(point, false);
        let distance = (point - projection.point).length();
        if projection.is_inside { -distance } else { distance }
    }
}
