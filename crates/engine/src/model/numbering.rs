//! Where the particles of a body stand in memory: along a space-filling curve, so that particles
//! that are close in space share cache lines and constraints that follow one another touch the same
//! ones. Whoever looks at a simulation from outside sees the mesh's own order.

use taut_partition::ranks::{Curve, curve_order};

use crate::mesh::Mesh;

/// The places of a mesh's vertices among the particles of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// The vertex of each particle.
    vertices: Vec<u32>,
    /// The particle of each vertex.
    particles: Vec<u32>,
}

impl Numbering {
    /// Along a Hilbert curve.
    pub(super) fn along_curve(mesh: &Mesh) -> Self {
        let points: Vec<[f32; 3]> = mesh.positions.iter().map(glam::Vec3::to_array).collect();
        // Meshes have been checked: their coordinates are finite.
        let vertices = curve_order(&points, Curve::Hilbert)
            .unwrap_or_else(|_| (0..points.len() as u32).collect());
        let mut particles = vec![0; vertices.len()];
        for (particle, &vertex) in vertices.iter().enumerate() {
            particles[vertex as usize] = particle as u32;
        }
        Self { vertices, particles }
    }

    /// The vertex of a particle, both counted from 0.
    pub fn vertex(&self, particle: u32) -> u32 {
        self.vertices[particle as usize]
    }

    /// The particle of a vertex, both counted from 0.
    pub fn particle(&self, vertex: u32) -> u32 {
        self.particles[vertex as usize]
    }

    /// Values by vertex, sorted by particle.
    pub(super) fn by_particle<T: Copy>(&self, by_vertex: &[T]) -> Vec<T> {
        self.vertices.iter().map(|&vertex| by_vertex[vertex as usize]).collect()
    }

    /// Values by particle, sorted by vertex.
    pub fn by_vertex<'a, T: Copy>(&'a self, by_particle: &'a [T]) -> impl Iterator<Item = T> + 'a {
        self.particles.iter().map(|&particle| by_particle[particle as usize])
    }

    /// The mesh with particles in place of vertices, its triangles and tetrahedra sorted along with
    /// them. Groups of vertices are left out: they are named by the scene, in its own order.
    pub(super) fn renumber(&self, mesh: &Mesh) -> Mesh {
        let mut renumbered = Mesh {
            positions: self.by_particle(&mesh.positions),
            triangles: mesh.triangles.iter().map(|t| t.map(|v| self.particle(v))).collect(),
            tetrahedra: mesh.tetrahedra.iter().map(|t| t.map(|v| self.particle(v))).collect(),
            ..Mesh::default()
        };
        renumbered.triangles.sort_by_key(|corners| corners.iter().min().copied());
        renumbered.tetrahedra.sort_by_key(|corners| corners.iter().min().copied());
        renumbered
    }
}

#[cfg(test)]
mod tests {
    //! Contract: a numbering goes both ways, and a renumbered mesh is the same shape.

    use super::*;
    use crate::mesh::generate;

    #[test]
    fn there_and_back() {
        let mesh = generate::block([1.0, 2.0, 0.5], [3, 4, 2]).unwrap();
        let numbering = Numbering::along_curve(&mesh);
        let renumbered = numbering.renumber(&mesh);
        let back: Vec<_> = numbering.by_vertex(&renumbered.positions).collect();
        assert_eq!(back, mesh.positions);
        for particle in 0..mesh.positions.len() as u32 {
            assert_eq!(numbering.particle(numbering.vertex(particle)), particle);
        }
        assert!((renumbered.volume() - mesh.volume()).abs() < 1e-6);
        assert!(renumbered.check().is_ok());
    }
}
