//! The box and the block share one lattice and one way to cut squares: along the diagonal
//! from the corner with the smallest coordinates. That is how the tetrahedra of the block
//! meet its faces, so the box is the block's surface with the inside left out.

use std::collections::BTreeMap;

use glam::Vec3;

use super::{at_least, groups, lengths, spread, vertex_count};
use crate::mesh::Mesh;
use crate::mesh::error::MeshError;

/// The six orders in which a path from a cell's lowest corner to its highest can take the
/// axes (Kuhn, Freudenthal). Odd ones are inside out and get two corners swapped.
const PATHS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], false),
    ([1, 2, 0], false),
    ([2, 0, 1], false),
    ([0, 2, 1], true),
    ([2, 1, 0], true),
    ([1, 0, 2], true),
];

/// A closed surface of a box, `cells` squares along x, y and z; edges share their vertices.
/// Groups: left, right (x), bottom, top (y), back, front (z).
///
/// # Errors
/// No cell along an axis, a size that is not finite and positive, too many vertices.
pub fn box_surface(size: [f32; 3], cells: [u32; 3]) -> Result<Mesh, MeshError> {
    at_least("box", "cells", 1, &cells)?;
    lengths("box", "size", &size)?;
    let inside = cells.map(|count| u128::from(count) - 1);
    let vertices = lattice_points(cells) - inside.iter().product::<u128>();
    let mut positions = Vec::with_capacity(vertex_count("box", vertices)?);
    for x in 0..=cells[0] {
        for y in 0..=cells[1] {
            let on_side = [x, y].iter().zip(cells).any(|(&at, count)| at == 0 || at == count);
            let step = if on_side { 1 } else { cells[2] as usize };
            positions.extend(
                (0..=cells[2]).step_by(step).map(|z| lattice_position([x, y, z], cells, size)),
            );
        }
    }
    let number = |at| surface_vertex(at, cells);
    let (triangles, groups) = (surface_triangles(cells, number), face_groups(cells, number));
    Ok(Mesh { positions, triangles, groups, ..Mesh::default() })
}

/// A solid box of tetrahedra, six to a cell; its triangles are its surface. Groups as for
/// [`box_surface`]. Vertex `(x · (cells[1] + 1) + y) · (cells[2] + 1) + z`.
///
/// # Errors
/// No cell along an axis, a size that is not finite and positive, too many vertices.
pub fn block(size: [f32; 3], cells: [u32; 3]) -> Result<Mesh, MeshError> {
    at_least("block", "cells", 1, &cells)?;
    lengths("block", "size", &size)?;
    let mut positions = Vec::with_capacity(vertex_count("block", lattice_points(cells))?);
    for x in 0..=cells[0] {
        for y in 0..=cells[1] {
            positions.extend((0..=cells[2]).map(|z| lattice_position([x, y, z], cells, size)));
        }
    }
    let number = |at| block_vertex(at, cells);
    Ok(Mesh {
        positions,
        triangles: surface_triangles(cells, number),
        tetrahedra: block_tetrahedra(cells),
        groups: face_groups(cells, number),
    })
}

fn lattice_points(cells: [u32; 3]) -> u128 {
    cells.iter().map(|&count| u128::from(count) + 1).product()
}

fn lattice_position(at: [u32; 3], cells: [u32; 3], size: [f32; 3]) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|axis| spread(at[axis], cells[axis], size[axis])))
}

fn block_vertex(at: [u32; 3], cells: [u32; 3]) -> u32 {
    (at[0] * (cells[1] + 1) + at[1]) * (cells[2] + 1) + at[2]
}

/// Number of a lattice point on the surface, in the order of x, then y, then z: whole sheets
/// at both ends of x, and between them rings that are whole rows at both ends of y and two
/// points in the rows between.
fn surface_vertex([x, y, z]: [u32; 3], cells: [u32; 3]) -> u32 {
    let row = cells[2] + 1;
    let sheet = row * (cells[1] + 1);
    let ring = 2 * (cells[1] + cells[2]);
    if x == 0 {
        return y * row + z;
    }
    let before = sheet + (x - 1) * ring;
    if x == cells[0] {
        return before + y * row + z;
    }
    match y {
        0 => before + z,
        _ if y == cells[1] => before + row + 2 * (y - 1) + z,
        _ => before + row + 2 * (y - 1) + u32::from(z != 0),
    }
}

fn block_tetrahedra(cells: [u32; 3]) -> Vec<[u32; 4]> {
    let count = 6 * cells.iter().map(|&count| count as usize).product::<usize>();
    let mut tetrahedra = Vec::with_capacity(count);
    for x in 0..cells[0] {
        for y in 0..cells[1] {
            for z in 0..cells[2] {
                tetrahedra.extend(PATHS.map(|path| path_tetrahedron([x, y, z], path, cells)));
            }
        }
    }
    tetrahedra
}

fn path_tetrahedron(
    lowest: [u32; 3],
    (axes, inside_out): ([usize; 3], bool),
    cells: [u32; 3],
) -> [u32; 4] {
    let mut at = lowest;
    let mut corners = [block_vertex(at, cells); 4];
    for (corner, axis) in corners[1..].iter_mut().zip(axes) {
        at[axis] += 1;
        *corner = block_vertex(at, cells);
    }
    if inside_out {
        corners.swap(1, 2);
    }
    corners
}

/// Triangles of all six faces, outward, for any numbering of the lattice's points.
fn surface_triangles(cells: [u32; 3], number: impl Fn([u32; 3]) -> u32) -> Vec<[u32; 3]> {
    let [x, y, z] = cells.map(|count| count as usize);
    let mut triangles = Vec::with_capacity(4 * (x * y + y * z + z * x));
    for axis in 0..3 {
        for at_end in [false, true] {
            face_triangles(&mut triangles, cells, axis, at_end, &number);
        }
    }
    triangles
}

fn face_triangles(
    triangles: &mut Vec<[u32; 3]>,
    cells: [u32; 3],
    axis: usize,
    at_end: bool,
    number: &impl Fn([u32; 3]) -> u32,
) {
    let [first, second] = [(axis + 1) % 3, (axis + 2) % 3];
    for i in 0..cells[first] {
        for j in 0..cells[second] {
            let corner = |right: u32, up: u32| {
                let mut at = [0; 3];
                at[axis] = if at_end { cells[axis] } else { 0 };
                at[first] = i + right;
                at[second] = j + up;
                number(at)
            };
            let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
            triangles.extend(if at_end { [[a, b, c], [a, c, d]] } else { [[a, c, b], [a, d, c]] });
        }
    }
}

fn face_groups(cells: [u32; 3], number: impl Fn([u32; 3]) -> u32) -> BTreeMap<String, Vec<u32>> {
    let face = |axis: usize, at_end: bool| {
        let [mut low, mut high] = [[0; 3], cells];
        let fixed = if at_end { cells[axis] } else { 0 };
        (low[axis], high[axis]) = (fixed, fixed);
        let mut members = Vec::new();
        for x in low[0]..=high[0] {
            for y in low[1]..=high[1] {
                members.extend((low[2]..=high[2]).map(|z| number([x, y, z])));
            }
        }
        members
    };
    groups([
        ("left", face(0, false)),
        ("right", face(0, true)),
        ("bottom", face(1, false)),
        ("top", face(1, true)),
        ("back", face(2, false)),
        ("front", face(2, true)),
    ])
}
