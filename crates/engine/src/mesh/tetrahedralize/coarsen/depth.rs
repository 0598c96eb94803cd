//! How deep below the surface vertices lie.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::stars::Stars;
use crate::mesh::Mesh;

/// For each vertex the vertex of the surface that is about the nearest.
///
/// Found along edges: a vertex asks its neighbors for theirs. The distance to it is never too short,
/// and hardly too long in a mesh of well-shaped tetrahedra.
pub(super) struct Depths {
    nearest: Vec<u32>,
    /// Distance to it, m.
    depths: Vec<f64>,
}

impl Depths {
    pub(super) fn new(mesh: &Mesh, stars: &mut Stars) -> Self {
        let count = mesh.positions.len();
        let mut found =
            Self { nearest: (0..count as u32).collect(), depths: vec![f64::INFINITY; count] };
        mesh.triangles.as_flattened().iter().for_each(|&v| found.depths[v as usize] = 0.0);
        // Distances sort as their bits do.
        let surface = (0..count as u32).filter(|&vertex| found.is_surface(vertex as usize));
        let mut queue: BinaryHeap<_> = surface.map(|vertex| Reverse((0, vertex))).collect();
        let mut neighbors = Vec::new();
        while let Some(Reverse((bits, vertex))) = queue.pop() {
            if f64::from_bits(bits) > found.depths[vertex as usize] {
                continue;
            }
            let nearest = found.nearest[vertex as usize];
            stars.neighbors(vertex, &mut neighbors);
            for &other in &neighbors {
                let depth = stars.place(other).distance(stars.place(nearest));
                if depth < found.depths[other as usize] {
                    found.depths[other as usize] = depth;
                    found.nearest[other as usize] = nearest;
                    queue.push(Reverse((depth.to_bits(), other)));
                }
            }
        }
        found
    }

    /// After a vertex has moved.
    pub(super) fn update(&mut self, vertex: u32, stars: &Stars) {
        let nearest = self.nearest[vertex as usize];
        self.depths[vertex as usize] = stars.place(vertex).distance(stars.place(nearest));
    }

    pub(super) fn is_surface(&self, vertex: usize) -> bool {
        self.depths[vertex] == 0.0
    }

    /// m.
    pub(super) fn at(&self, vertex: u32) -> f64 {
        self.depths[vertex as usize]
    }
}
