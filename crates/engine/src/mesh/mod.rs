//! Meshes: generated (`generate.rs`), loaded (`load.rs`), or solids (`tetrahedralize.rs`) inside
//! closed surfaces and blended forms (`implicit.rs`); sewn together (`weld.rs`), their edges and
//! hinges (`topology.rs`), boundaries (`boundary.rs`) and angles (`quality.rs`), signed distances
//! to closed ones (`sdf.rs`), surfaces that follow solids (`embed.rs`), and files for other
//! programs (`write.rs`).

mod boundary;
pub mod embed;
mod error;
pub mod generate;
pub mod implicit;
pub mod load;
mod obj_text;
mod polygon;
mod quality;
pub mod random;
pub mod sdf;
pub mod tetrahedralize;
pub mod topology;
pub mod weld;
pub mod write;

use std::collections::BTreeMap;

use glam::{Affine3A, DVec3, Vec3};

pub use embed::Embedding;
pub use error::{MAX_VERTICES, MeshError};
pub use quality::TetrahedraQuality;
pub use sdf::SparseSdf;
pub use tetrahedralize::{tetrahedralize, tetrahedralize_graded};
pub use topology::Topology;

/// Vertices, the triangles of a surface and, for solids, tetrahedra.
///
/// Generated and loaded meshes are sound. One put together by hand should pass
/// [`Mesh::check`] first: measuring it panics where an index is out of range.
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

/// The smallest box, along the axes, that holds something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest x, y, z, m.
    pub min: Vec3,
    /// Largest x, y, z, m.
    pub max: Vec3,
}

impl Bounds {
    /// Bounds of points; `None` if there are none.
    #[must_use]
    pub fn of(points: &[Vec3]) -> Option<Self> {
        let first = *points.first()?;
        let start = Self { min: first, max: first };
        Some(points.iter().fold(start, |bounds, &point| Self {
            min: bounds.min.min(point),
            max: bounds.max.max(point),
        }))
    }

    /// The middle.
    #[must_use]
    pub fn center(&self) -> Vec3 {
        // Halved first: the sum of two large coordinates could overflow.
        0.5 * self.min + 0.5 * self.max
    }

    /// Lengths of the sides.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        self.max - self.min
    }
}

impl Mesh {
    /// The smallest box that holds all vertices; `None` for a mesh without vertices.
    #[must_use]
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::of(&self.positions)
    }

    /// Moves, turns and scales the mesh. A mirroring transform also turns the windings
    /// around, so that what faced outward still does.
    pub fn transform(&mut self, transform: &Affine3A) {
        for position in &mut self.positions {
            *position = transform.transform_point3(*position);
        }
        if transform.matrix3.determinant() < 0.0 {
            self.flip();
        }
    }

    /// Scales the mesh about the origin.
    pub fn scale(&mut self, factor: f32) {
        self.transform(&Affine3A::from_scale(Vec3::splat(factor)));
    }

    /// Turns the surface and the tetrahedra inside out.
    pub fn flip(&mut self) {
        for corners in &mut self.triangles {
            corners.swap(1, 2);
        }
        for corners in &mut self.tetrahedra {
            corners.swap(2, 3);
        }
    }

    /// Drops the vertices that no triangle and no tetrahedron uses, also from the groups; the
    /// others keep their order.
    fn drop_unused_vertices(&mut self) {
        let elements = self.triangles.as_flattened().iter().chain(self.tetrahedra.as_flattened());
        let mut is_used = vec![false; self.positions.len()];
        elements.for_each(|&vertex| is_used[vertex as usize] = true);
        let used_before = |count: &mut u32, &is_used: &bool| {
            *count += u32::from(is_used);
            Some(*count - u32::from(is_used))
        };
        let numbers: Vec<u32> = is_used.iter().scan(0, used_before).collect();
        let renumber = |vertex: &mut u32| *vertex = numbers[*vertex as usize];
        self.triangles.as_flattened_mut().iter_mut().for_each(renumber);
        self.tetrahedra.as_flattened_mut().iter_mut().for_each(renumber);
        for members in self.groups.values_mut() {
            members.retain(|&vertex| is_used[vertex as usize]);
            members.iter_mut().for_each(renumber);
        }
        let mut keeps = is_used.iter();
        self.positions.retain(|_| keeps.next() == Some(&true));
    }

    /// Area of the triangles, m².
    #[must_use]
    pub fn surface_area(&self) -> f64 {
        self.triangles.iter().map(|&corners| 0.5 * self.normal(corners).length()).sum()
    }

    /// Volume of the tetrahedra, m³; without tetrahedra, what the closed surface encloses,
    /// which is negative if the surface is inside out.
    #[must_use]
    pub fn volume(&self) -> f64 {
        if !self.tetrahedra.is_empty() {
            return self.tetrahedra.iter().map(|&corners| self.tetrahedron_volume(corners)).sum();
        }
        // Measured from a vertex: from the origin, a small mesh far away would cancel out.
        let Some(&base) = self.positions.first() else { return 0.0 };
        let cone = |&corners: &[u32; 3]| {
            let [a, b, c] = self.corners(corners).map(|corner| corner - base.as_dvec3());
            a.cross(b).dot(c) / 6.0
        };
        self.triangles.iter().map(cone).sum()
    }

    /// Numbers of the triangles without area: a corner repeated, two corners in one place, or
    /// three in a line as far as single precision can tell.
    #[must_use]
    pub fn degenerate_triangles(&self) -> Vec<u32> {
        let is_degenerate = |corners: [u32; 3]| {
            let [a, b, c] = self.corners(corners);
            let longest = (b - a).length_squared().max((c - a).length_squared());
            let longest = longest.max((c - b).length_squared());
            // Twice the area over the longest side squared is height over length.
            self.normal(corners).length() <= f64::from(f32::EPSILON) * longest
        };
        let numbered = (0u32..).zip(&self.triangles);
        numbered.filter(|&(_, &corners)| is_degenerate(corners)).map(|(number, _)| number).collect()
    }

    /// Checks what the rest of taut relies on.
    ///
    /// # Errors
    /// Too many vertices, coordinates that are not finite, indices of vertices that do not
    /// exist, groups that are not sorted, tetrahedra that are flat or inside out.
    pub fn check(&self) -> Result<(), MeshError> {
        let vertices = self.positions.len();
        if vertices as u64 > MAX_VERTICES {
            let (mesh, vertices) = ("mesh".to_owned(), vertices as u128);
            return Err(MeshError::TooManyVertices { mesh, vertices });
        }
        self.check_positions()?;
        self.check_indices()?;
        self.check_groups()?;
        self.check_tetrahedra()
    }

    fn check_positions(&self) -> Result<(), MeshError> {
        match self.positions.iter().position(|position| !position.is_finite()) {
            Some(vertex) => {
                let position = self.positions[vertex].to_array();
                Err(MeshError::NotFinite { vertex, position })
            }
            None => Ok(()),
        }
    }

    fn check_indices(&self) -> Result<(), MeshError> {
        let vertices = self.positions.len();
        check_range("triangle", &self.triangles, vertices)?;
        check_range("tetrahedron", &self.tetrahedra, vertices)
    }

    fn check_groups(&self) -> Result<(), MeshError> {
        for (name, members) in &self.groups {
            if !members.is_sorted_by(|left, right| left < right) {
                return Err(MeshError::UnsortedGroup { name: name.clone() });
            }
            // Sorted, so the last one is the largest.
            let last = members.len().saturating_sub(1);
            if let Some(&index) = members.last().filter(|&&i| i as usize >= self.positions.len()) {
                let what = format!("entry of group `{name}`");
                let vertices = self.positions.len();
                return Err(MeshError::IndexOutOfRange { what, number: last, index, vertices });
            }
        }
        Ok(())
    }

    fn check_tetrahedra(&self) -> Result<(), MeshError> {
        for (number, &corners) in self.tetrahedra.iter().enumerate() {
            let volume = self.tetrahedron_volume(corners) as f32;
            if volume <= 0.0 {
                return Err(MeshError::BadTetrahedron { number, volume });
            }
        }
        Ok(())
    }

    fn corners<const N: usize>(&self, corners: [u32; N]) -> [DVec3; N] {
        corners.map(|corner| self.positions[corner as usize].as_dvec3())
    }

    /// Normal of a triangle, as long as twice its area.
    fn normal(&self, corners: [u32; 3]) -> DVec3 {
        let [a, b, c] = self.corners(corners);
        (b - a).cross(c - a)
    }

    fn tetrahedron_volume(&self, corners: [u32; 4]) -> f64 {
        let [a, b, c, d] = self.corners(corners);
        (b - a).cross(c - a).dot(d - a) / 6.0
    }
}

fn check_range<const N: usize>(
    what: &str,
    elements: &[[u32; N]],
    vertices: usize,
) -> Result<(), MeshError> {
    for (number, corners) in elements.iter().enumerate() {
        if let Some(&index) = corners.iter().find(|&&corner| corner as usize >= vertices) {
            let what = what.to_owned();
            return Err(MeshError::IndexOutOfRange { what, number, index, vertices });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Contract: measures match closed forms and do not hang on where the mesh lies; check
    //! names what is wrong.
    use glam::Quat;

    use super::*;

    fn block() -> Mesh {
        generate::block([1.0, 2.0, 3.0], [2, 3, 4]).unwrap()
    }

    #[test]
    fn measures_of_a_block_match_the_closed_forms() {
        let mut mesh = block();
        assert!((mesh.volume() - 6.0).abs() < 1e-6);
        assert!((mesh.surface_area() - 22.0).abs() < 1e-5);
        mesh.tetrahedra.clear();
        assert!((mesh.volume() - 6.0).abs() < 1e-5);
        mesh.flip();
        assert!((mesh.volume() + 6.0).abs() < 1e-5);
        let bounds = mesh.bounds().unwrap();
        assert_eq!(bounds.size(), Vec3::new(1.0, 2.0, 3.0));
        assert_eq!(bounds.center(), Vec3::ZERO);
    }

    #[test]
    fn an_empty_mesh_has_no_bounds_and_no_volume() {
        assert_eq!(Mesh::default().bounds(), None);
        assert_eq!(Mesh::default().volume().to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn the_volume_far_from_the_origin_is_still_right() {
        let mut mesh = generate::sphere(1.0, 8).unwrap();
        let at_origin = mesh.volume();
        mesh.transform(&Affine3A::from_translation(Vec3::splat(1000.0)));
        assert!((mesh.volume() / at_origin - 1.0).abs() < 1e-4, "{}", mesh.volume());
    }

    #[test]
    fn transforms_keep_orientation_even_when_they_mirror() {
        let mut mesh = block();
        let mirror = Affine3A::from_scale_rotation_translation(
            Vec3::new(-2.0, 1.0, 1.0),
            Quat::from_rotation_z(1.0),
            Vec3::X,
        );
        mesh.transform(&mirror);
        mesh.check().unwrap();
        assert!((mesh.volume() - 12.0).abs() < 1e-4);
        mesh.scale(0.5);
        assert!((mesh.volume() - 1.5).abs() < 1e-5);
        mesh.tetrahedra.clear();
        assert!((mesh.volume() - 1.5).abs() < 1e-5);
    }

    #[test]
    fn unused_vertices_go_and_the_rest_keeps_its_order() {
        let mut mesh = block();
        mesh.triangles = vec![[7, 3, 5]];
        mesh.tetrahedra = vec![[3, 9, 5, 8]];
        mesh.groups = BTreeMap::from([("hem".to_owned(), vec![2, 3, 8])]);
        let before = mesh.clone();
        mesh.drop_unused_vertices();
        assert_eq!(mesh.positions, [3, 5, 7, 8, 9].map(|vertex: usize| before.positions[vertex]));
        assert_eq!(mesh.triangles, [[2, 0, 1]]);
        assert_eq!(mesh.tetrahedra, [[0, 4, 1, 3]]);
        assert_eq!(mesh.groups["hem"], [0, 3]);
    }

    #[test]
    fn degenerate_triangles_are_found_at_any_scale() {
        for scale in [1e-6, 1.0, 1e6] {
            let corners = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 1e-3]];
            let mesh = Mesh {
                positions: corners.map(|[x, y]| Vec3::new(x, y, 0.0) * scale).to_vec(),
                triangles: vec![[0, 1, 2], [0, 2, 3], [0, 0, 3], [3, 1, 2]],
                ..Mesh::default()
            };
            assert_eq!(mesh.degenerate_triangles(), [0, 2]);
        }
    }

    #[test]
    fn check_names_what_is_wrong() {
        let broken = |change: fn(&mut Mesh)| {
            let mut mesh = block();
            change(&mut mesh);
            mesh.check().unwrap_err().to_string()
        };
        block().check().unwrap();
        let error = broken(|mesh| mesh.positions[7].y = f32::NAN);
        assert!(error.starts_with("vertex 7 is at"), "{error}");
        let error = broken(|mesh| mesh.triangles[2][1] = 60);
        assert!(
            error.contains("triangle 2 names vertex 60") && error.contains("0 to 59"),
            "{error}"
        );
        let error = broken(|mesh| mesh.tetrahedra[5][3] = 99);
        assert!(error.contains("tetrahedron 5 names vertex 99"), "{error}");
        let error = broken(|mesh| mesh.tetrahedra[4].swap(0, 1));
        assert!(error.contains("tetrahedron 4 has volume -"), "{error}");
        let error = broken(|mesh| drop(mesh.groups.insert("hem".to_owned(), vec![3, 3])));
        assert!(error.contains("group `hem` must be sorted"), "{error}");
        let error = broken(|mesh| drop(mesh.groups.insert("hem".to_owned(), vec![3, 60])));
        assert!(error.contains("group `hem` 1 names vertex 60"), "{error}");
    }
}
