//! Makes the boundary of tetrahedra a manifold: two triangles on every edge, one fan around
//! every vertex.
//!
//! Where a shape is thinner than a cell, parts of it can hang together by a vertex or an edge
//! alone. Parts that share a vertex but no face there get vertices of their own. An edge or a
//! vertex where the boundary still touches itself loses tetrahedra until it does not. Each
//! round leaves fewer tetrahedra, so there is an end to it.

use crate::mesh::boundary::sorted_faces;
use crate::mesh::{Mesh, MeshError, Topology};
use taut_partition::DisjointSets;

/// The mesh with its boundary as triangles, after parts that touch were taken apart.
pub(super) fn untangled(mut mesh: Mesh) -> Result<Mesh, MeshError> {
    loop {
        split_vertices(&mut mesh);
        mesh.triangles = mesh.boundary_of_tetrahedra();
        let mut doomed = crowded_edges(&mesh, &Topology::new(&mesh)?.non_manifold_edges);
        if doomed.is_empty() {
            doomed = at_pinched_vertices(&mesh);
        }
        if doomed.is_empty() {
            mesh.drop_unused_vertices();
            return Ok(mesh);
        }
        let mut number = 0..;
        mesh.tetrahedra.retain(|_| number.next().is_none_or(|n| doomed.binary_search(&n).is_err()));
    }
}

/// Gives every set of tetrahedra that hang together by faces at a vertex a vertex of its own.
fn split_vertices(mesh: &mut Mesh) {
    let faces = sorted_faces(&mesh.tetrahedra);
    let tetrahedra = &mesh.tetrahedra;
    let corner = |across: u32, vertex: u32| {
        let number = across / 4;
        let place = tetrahedra[number as usize].iter().position(|&other| other == vertex);
        4 * number + place.unwrap_or(0) as u32
    };
    let mut sets = DisjointSets::new(4 * tetrahedra.len());
    for pair in faces.windows(2).filter(|pair| pair[0].sorted == pair[1].sorted) {
        for vertex in pair[0].sorted {
            sets.unite(corner(pair[0].across, vertex), corner(pair[1].across, vertex));
        }
    }
    let mut is_taken = vec![false; mesh.positions.len()];
    let mut numbers = vec![0; 4 * mesh.tetrahedra.len()];
    let corners = mesh.tetrahedra.as_flattened_mut();
    for place in 0..corners.len() {
        let lowest = sets.lowest(place as u32) as usize;
        let vertex = corners[place] as usize;
        if lowest != place {
            corners[place] = numbers[lowest];
        } else if is_taken[vertex] {
            corners[place] = mesh.positions.len() as u32;
            mesh.positions.push(mesh.positions[vertex]);
        }
        is_taken[vertex] = true;
        numbers[place] = corners[place];
    }
}

/// At each edge with more than two triangles, the tetrahedra of all fans but the largest.
fn crowded_edges(mesh: &Mesh, edges: &[[u32; 2]]) -> Vec<u32> {
    if edges.is_empty() {
        return Vec::new();
    }
    let mut around: Vec<(usize, u32, [u32; 2])> = Vec::new();
    for (number, corners) in (0u32..).zip(&mesh.tetrahedra) {
        for [i, j, k, l] in EDGES {
            let edge = [corners[i].min(corners[j]), corners[i].max(corners[j])];
            if let Ok(found) = edges.binary_search(&edge) {
                around.push((found, number, [corners[k], corners[l]]));
            }
        }
    }
    around.sort_unstable();
    let mut doomed = Vec::new();
    for group in around.chunk_by(|left, right| left.0 == right.0) {
        let others: Vec<[u32; 2]> = group.iter().map(|&(.., others)| others).collect();
        let fans = fans(&others);
        let size = |fan: u32| fans.iter().filter(|&&other| other == fan).count();
        // The first of the largest.
        let largest = fans.iter().copied().max_by_key(|&fan| (size(fan), u32::MAX - fan));
        let members = group.iter().zip(&fans).filter(|&(_, &fan)| Some(fan) != largest);
        doomed.extend(members.map(|(&(_, number, _), _)| number));
    }
    doomed.sort_unstable();
    doomed.dedup();
    doomed
}

/// The edges of a tetrahedron, and the two corners across.
const EDGES: [[usize; 4]; 6] =
    [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]];

/// Which pairs hang together because they share a number: for each pair the lowest of its fan.
fn fans(pairs: &[[u32; 2]]) -> Vec<u32> {
    let mut sets = DisjointSets::new(pairs.len());
    let mut ends: Vec<(u32, u32)> =
        (0u32..).zip(pairs).flat_map(|(at, pair)| pair.map(|end| (end, at))).collect();
    ends.sort_unstable();
    for pair in ends.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        sets.unite(pair[0].1, pair[1].1);
    }
    (0..pairs.len() as u32).map(|at| sets.lowest(at)).collect()
}

/// All tetrahedra at vertices where the boundary touches itself.
fn at_pinched_vertices(mesh: &Mesh) -> Vec<u32> {
    let mut around: Vec<(u32, [u32; 2])> = Vec::with_capacity(3 * mesh.triangles.len());
    for &[a, b, c] in &mesh.triangles {
        around.extend([(a, [b, c]), (b, [c, a]), (c, [a, b])]);
    }
    around.sort_unstable();
    let mut is_pinched = vec![false; mesh.positions.len()];
    for group in around.chunk_by(|left, right| left.0 == right.0) {
        let sides: Vec<[u32; 2]> = group.iter().map(|&(_, sides)| sides).collect();
        is_pinched[group[0].0 as usize] = fans(&sides).iter().any(|&fan| fan != 0);
    }
    let numbered = (0u32..).zip(&mesh.tetrahedra);
    let touches = |corners: &[u32; 4]| corners.iter().any(|&corner| is_pinched[corner as usize]);
    numbered.filter(|(_, corners)| touches(corners)).map(|(number, _)| number).collect()
}
