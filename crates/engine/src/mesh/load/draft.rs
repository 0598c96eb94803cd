//! A mesh as a file has it, with the file's own vertex numbers, on its way to a [`Mesh`].

use std::collections::BTreeMap;
use std::path::Path;

use glam::Vec3;

use super::{Loaded, notes};
use crate::mesh::Mesh;
use crate::mesh::boundary::sorted_faces;
use crate::mesh::error::{MAX_VERTICES, MeshError};

/// A vertex of a file.
pub(super) struct Vertex {
    /// Its number in the file.
    pub(super) number: u64,
    pub(super) place: Vec3,
    /// Where it stands.
    pub(super) line: usize,
}

/// An element of a file.
pub(super) struct Element<const N: usize> {
    /// Its number in the file.
    pub(super) number: u64,
    /// Its corners, by the file's numbers of vertices.
    pub(super) corners: [u64; N],
    /// Where it stands.
    pub(super) line: usize,
}

/// What has been read so far.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) vertices: Vec<Vertex>,
    pub(super) triangles: Vec<Element<3>>,
    pub(super) tetrahedra: Vec<Element<4>>,
    /// Names for some vertices, by the file's numbers. Some may not exist.
    pub(super) groups: BTreeMap<String, Vec<u64>>,
}

impl Draft {
    /// The mesh, whose vertices have the order of the file's numbers. With tetrahedra, the
    /// surface is their boundary, whatever triangles the file has.
    ///
    /// Vertices and elements may come from two files.
    pub(super) fn finish(mut self, vertices: &Path, elements: &Path) -> Result<Loaded, MeshError> {
        let count = self.vertices.len();
        if count as u64 > MAX_VERTICES {
            let (mesh, vertices) = (vertices.display().to_string(), count as u128);
            return Err(MeshError::TooManyVertices { mesh, vertices });
        }
        self.vertices.sort_by_key(|vertex| vertex.number);
        self.check_vertices(vertices)?;
        let positions = self.vertices.iter().map(|vertex| vertex.place).collect();
        let mut mesh = Mesh { positions, groups: self.groups(), ..Mesh::default() };
        let turned = self.fill_tetrahedra(&mut mesh, elements)?;
        let repeated = self.fill_triangles(&mut mesh, elements)?;
        if mesh.triangles.is_empty() {
            return Err(MeshError::NoElements { path: elements.to_owned(), vertices: count });
        }
        mesh.drop_unused_vertices();
        mesh.groups.retain(|_, members| !members.is_empty());
        let notes = notes(
            &mesh,
            &[
                (count - mesh.positions.len(), "vertices dropped, because no element uses them"),
                (repeated, "triangles dropped, because a corner is repeated"),
                (turned, "tetrahedra turned around, because they were inside out"),
                (crowded_faces(&mesh), "faces of more than two tetrahedra"),
            ],
        )?;
        Ok(Loaded { mesh, notes })
    }

    /// Every vertex has a number of its own.
    fn check_vertices(&self, path: &Path) -> Result<(), MeshError> {
        match self.vertices.windows(2).find(|pair| pair[0].number == pair[1].number) {
            None => Ok(()),
            Some(pair) => {
                let [first, second] = [pair[0].line, pair[1].line];
                let message = format!("vertex {} is also on line {first}", pair[0].number);
                Err(bad_line(path, second, message))
            }
        }
    }

    fn find(&self, number: u64) -> Option<u32> {
        let found = self.vertices.binary_search_by_key(&number, |vertex| vertex.number);
        found.ok().map(|place| place as u32)
    }

    fn groups(&self) -> BTreeMap<String, Vec<u32>> {
        let members = |numbers: &Vec<u64>| {
            let mut members: Vec<u32> = numbers.iter().filter_map(|&n| self.find(n)).collect();
            members.sort_unstable();
            members.dedup();
            members
        };
        self.groups.iter().map(|(name, numbers)| (name.clone(), members(numbers))).collect()
    }

    /// Fills in the tetrahedra and returns how many had to be turned around.
    fn fill_tetrahedra(&self, mesh: &mut Mesh, path: &Path) -> Result<usize, MeshError> {
        let mut turned = 0;
        for element in &self.tetrahedra {
            let mut corners = self.corners("tetrahedron", element, path)?;
            let places = mesh.corners(corners);
            let longest = places[1..].iter().map(|place| place.distance(places[0]));
            let longest = longest.fold(0.0, f64::max);
            let volume = mesh.tetrahedron_volume(corners);
            if 6.0 * volume.abs() <= f64::from(f32::EPSILON) * longest.powi(3) {
                let message = format!(
                    "tetrahedron {} has no volume, its corners lie in a plane; remove it",
                    element.number
                );
                return Err(bad_line(path, element.line, message));
            }
            if volume < 0.0 {
                corners.swap(2, 3);
                turned += 1;
            }
            mesh.tetrahedra.push(corners);
        }
        mesh.triangles = mesh.boundary_of_tetrahedra();
        Ok(turned)
    }

    /// Fills in the triangles, unless there are tetrahedra, and returns how many were dropped.
    fn fill_triangles(&self, mesh: &mut Mesh, path: &Path) -> Result<usize, MeshError> {
        let mut repeated = 0;
        for element in &self.triangles {
            let [a, b, c] = self.corners("triangle", element, path)?;
            if !mesh.tetrahedra.is_empty() {
                continue;
            }
            if a == b || b == c || c == a {
                repeated += 1;
            } else {
                mesh.triangles.push([a, b, c]);
            }
        }
        Ok(repeated)
    }

    fn corners<const N: usize>(
        &self,
        what: &str,
        element: &Element<N>,
        path: &Path,
    ) -> Result<[u32; N], MeshError> {
        let mut corners = [0; N];
        for (corner, &number) in corners.iter_mut().zip(&element.corners) {
            *corner = self.find(number).ok_or_else(|| {
                let (own, range) = (element.number, self.range());
                let message =
                    format!("{what} {own} names vertex {number}, which does not exist; {range}");
                bad_line(path, element.line, message)
            })?;
        }
        Ok(corners)
    }

    fn range(&self) -> String {
        match (self.vertices.first(), self.vertices.last()) {
            (Some(first), Some(last)) => {
                format!("there are vertices from {} to {}", first.number, last.number)
            }
            _ => "there are no vertices".to_owned(),
        }
    }
}

fn bad_line(path: &Path, line: usize, message: String) -> MeshError {
    MeshError::BadLine { path: path.to_owned(), line, message }
}

/// Faces that three or more tetrahedra share: these overlap.
fn crowded_faces(mesh: &Mesh) -> usize {
    let faces = sorted_faces(&mesh.tetrahedra);
    let shared = faces.chunk_by(|left, right| left.sorted == right.sorted);
    shared.filter(|faces| faces.len() > 2).count()
}
