//! Faces of tetrahedra: which of them two share, and which bound the solid.

use super::Mesh;

/// A face of a tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Face {
    /// Its corners in ascending order.
    pub(super) sorted: [u32; 3],
    /// Tetrahedron · 4 + the corner across.
    pub(super) across: u32,
}

/// The corners of the face across from each corner, facing outward.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// All faces of all tetrahedra, those that share their corners side by side.
pub(super) fn sorted_faces(tetrahedra: &[[u32; 4]]) -> Vec<Face> {
    let mut faces = Vec::with_capacity(4 * tetrahedra.len());
    for (number, corners) in (0u32..).zip(tetrahedra) {
        for across in 0..4 {
            let mut sorted = FACES[across as usize].map(|k| corners[k]);
            sorted.sort_unstable();
            faces.push(Face { sorted, across: 4 * number + across });
        }
    }
    faces.sort_unstable();
    faces
}

impl Mesh {
    /// The faces that one tetrahedron alone has, facing outward, in the order of tetrahedra.
    #[must_use]
    pub fn boundary_of_tetrahedra(&self) -> Vec<[u32; 3]> {
        let faces = sorted_faces(&self.tetrahedra);
        let alone = faces.chunk_by(|left, right| left.sorted == right.sorted);
        let mut across: Vec<u32> =
            alone.filter(|faces| faces.len() == 1).map(|faces| faces[0].across).collect();
        across.sort_unstable();
        let outward = |across: u32| {
            let corners = self.tetrahedra[(across / 4) as usize];
            FACES[(across % 4) as usize].map(|k| corners[k])
        };
        across.into_iter().map(outward).collect()
    }
}

#[cfg(test)]
mod tests {
    //! Contract: exactly the outer faces, facing outward.
    use crate::mesh::{Topology, generate};

    #[test]
    fn the_boundary_of_a_block_is_its_surface() {
        let mut block = generate::block([1.0, 2.0, 3.0], [2, 3, 4]).unwrap();
        let count = block.triangles.len();
        block.triangles = block.boundary_of_tetrahedra();
        assert_eq!(block.triangles.len(), count);
        let topology = Topology::new(&block).unwrap();
        assert!(topology.is_closed() && topology.is_oriented());
        block.tetrahedra.clear();
        assert!((block.volume() - 6.0).abs() < 1e-5, "{}", block.volume());
    }
}
