//! Meshes: generated (`generate.rs`) or loaded (`load.rs`), their edges and hinges
//! (`topology.rs`), and signed distances to closed ones (`sdf.rs`).

use std::collections::BTreeMap;

use glam::Vec3;

/// Vertices, the triangles of a surface and, for solids, tetrahedra.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// m.
    pub positions: Vec<Vec3>,
    /// The surface: what is drawn, what the wind blows on, what cloth is made of.
    pub triangles: Vec<[u32; 3]>,
    /// Positively oriented: (p₂−p₁)×(p₃−p₁)·(p₄−p₁) > 0. Empty for cloth.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Named sets of vertices, each sorted.
    pub groups: BTreeMap<String, Vec<u32>>,
}
