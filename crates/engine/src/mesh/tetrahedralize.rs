//! Solids from signed distances: isosurface stuffing.
//!
//! [Labelle and Shewchuk 2007], 'Isosurface stuffing: fast tetrahedral meshes with good dihedral
//! angles', the uniform version. A body-centered cubic lattice is laid over the shape
//! (`lattice.rs`); nodes that the surface passes closely move onto it (`warp.rs`); tetrahedra of
//! the lattice that the surface cuts are replaced by what is left of them (`stencil.rs`). The
//! authors prove that all dihedral angles of a smooth enough shape lie between 10.7° and 164.8°.
//! Where a shape is thinner than a cell its parts may touch at a vertex or an edge alone; they
//! are taken apart (`manifold.rs`). The inside can be made coarser than the surface (`coarsen.rs`).

mod coarsen;
mod lattice;
mod manifold;
mod stencil;
mod warp;

use glam::{IVec3, Vec3};

use super::error::MeshError;
use super::{Bounds, Mesh};
use lattice::{Lattice, STEPS, boxes};
use stencil::{Cut, fill};
use warp::Warped;

/// Fills the inside of a surface, where `field` is negative, with tetrahedra.
///
/// `field` is the signed distance to the surface, m. Anything that has the same zeros will do
/// if it says no more than twice the true distance: far from the surface it is not looked at
/// again. What lies outside `bounds` is cut off. `cell` is the side of the lattice's cubes, m,
/// twelve tetrahedra each.
///
/// The boundary of the tetrahedra, facing outward, becomes the mesh's triangles.
///
/// # Errors
/// A cell that is not finite and positive or makes a lattice too large; nothing inside.
pub fn tetrahedralize(
    field: impl Fn(Vec3) -> f32,
    bounds: &Bounds,
    cell: f32,
) -> Result<Mesh, MeshError> {
    let clipped = |place: Vec3| match field(place) {
        value if value.is_nan() => f32::INFINITY,
        value => value.max(outside(bounds, place)),
    };
    let warped = Warped::new(Lattice::new(bounds, cell)?, &clipped)?;
    let mut corners = Vec::new();
    each_tetrahedron(&warped.lattice, |nodes| {
        let sides = nodes.map(|node| warped.side(node));
        fill(&warped, nodes, sides, &mut |vertices| corners.push(vertices));
    });
    let mesh = manifold::untangled(number(&warped, &corners))?;
    if mesh.tetrahedra.is_empty() { Err(MeshError::NothingInside { cell }) } else { Ok(mesh) }
}

/// As [`tetrahedralize`], but coarser deep inside: fewer vertices there, the same surface.
///
/// Edges that are shorter than `cell` + `grading` · depth are collapsed, where that makes none more
/// than twice as long, and no dihedral angle below 12° or above 160°. What that does not allow is left
/// as it was; with a `grading` of 0 all of it is.
///
/// # Errors
/// As for [`tetrahedralize`]; a grading that is not a finite number, 0 or above.
pub fn tetrahedralize_graded(
    field: impl Fn(Vec3) -> f32,
    bounds: &Bounds,
    cell: f32,
    grading: f32,
) -> Result<Mesh, MeshError> {
    if !(grading.is_finite() && grading >= 0.0) {
        return Err(MeshError::BadGrading { grading });
    }
    let mut mesh = tetrahedralize(field, bounds, cell)?;
    if grading > 0.0 {
        coarsen::coarsen(&mut mesh, cell, grading);
        mesh.drop_unused_vertices();
    }
    Ok(mesh)
}

/// Signed distance to the bounds, as far as that matters: above 0 outside.
fn outside(bounds: &Bounds, place: Vec3) -> f32 {
    (bounds.min - place).max(place - bounds.max).max_element()
}

/// Calls `visit` for the tetrahedra of the lattice, positively oriented: four around each edge
/// between two corners of cubes, each with two neighboring middles.
fn each_tetrahedron(lattice: &Lattice, mut visit: impl FnMut([u32; 4])) {
    let axes = [IVec3::X, IVec3::Y, IVec3::Z];
    for cell in boxes(IVec3::ZERO, lattice.counts()) {
        for axis in 0..3 {
            let [along, u, v] = [0, 1, 2].map(|step| axes[(axis + step) % 3]);
            let start = 2 * cell;
            let ring = [-u - v, u - v, u + v, v - u].map(|away| start + along + away);
            let ends = [lattice.node(start), lattice.node(start + 2 * along)];
            for k in 0..4 {
                let middles = [lattice.node(ring[k]), lattice.node(ring[(k + 1) % 4])];
                if let ([Some(p), Some(q)], [Some(a), Some(b)]) = (ends, middles) {
                    visit([p, q, a, b]);
                }
            }
        }
    }
}

/// A vertex before it has a number: `node << 4 | step`, the cut point on the edge that starts
/// at a node inside with one of [`STEPS`], or `node << 4 | NODE`, the node itself.
type Key = u64;
const NODE: u64 = 15;

impl<F: Fn(Vec3) -> f32> Cut for Warped<'_, F> {
    type Vertex = Key;

    fn corner(&self, node: u32) -> Key {
        u64::from(node) << 4 | NODE
    }

    fn cut(&self, inside: u32, outside: u32) -> Key {
        let [from, to] = [inside, outside].map(|node| self.lattice.coordinates(node));
        let step = STEPS.iter().position(|&step| step == to - from).unwrap_or(0);
        u64::from(inside) << 4 | step as u64
    }

    fn leads(&self, first: u32, second: u32, outside: u32) -> bool {
        let [p, q, out] = [first, second, outside].map(|node| self.lattice.coordinates(node));
        if first % 2 != second % 2 {
            // One of the two cut edges is long: the diagonal starts there.
            return first % 2 == outside % 2;
        }
        // Both are short. Around the long edge between the corners inside, diagonals start at
        // one end and at the other in turn (the paper's parity rule), so that no tetrahedron of
        // the lattice has two from the same end.
        let along = q - p;
        let across = (out - p) * (IVec3::ONE - (along / 2).abs());
        let is_even = across.element_sum() % 4 == 0;
        is_even == (along.max_element() > 0)
    }
}

/// Numbers the vertices in the order of the lattice.
fn number<F: Fn(Vec3) -> f32>(warped: &Warped<F>, corners: &[[Key; 4]]) -> Mesh {
    let mut keys = corners.as_flattened().to_vec();
    keys.sort_unstable();
    keys.dedup();
    let place = |&key: &Key| {
        let node = (key >> 4) as u32;
        let cut = if key & 15 == NODE { None } else { warped.cut(node, (key & 15) as usize) };
        cut.unwrap_or_else(|| warped.place(node))
    };
    let number = |key: Key| keys.binary_search(&key).unwrap_or(0) as u32;
    Mesh {
        positions: keys.iter().map(place).collect(),
        tetrahedra: corners.iter().map(|keys| keys.map(number)).collect(),
        ..Mesh::default()
    }
}

#[cfg(test)]
mod tests;
