//! Meshes from files: Wavefront OBJ here, TetGen in `tetgen.rs`, Gmsh in `gmsh.rs`.
//!
//! Files are read as far as they go: what a header promises is never allocated, only what is
//! there. Of OBJ files only geometry matters: positions, faces and the names of objects and groups. Vertices are
//! never split where texture coordinates or normals differ, keep the order of the file, and
//! are shared across objects and groups. Convex polygons become fans, concave ones are cut
//! by ear clipping (`polygon.rs`).

mod draft;
mod gmsh;
mod lines;
mod tetgen;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::Path;

use glam::{DVec3, Vec3};

use super::error::{MAX_VERTICES, MeshError};
use super::obj_text::{Outline, Problem, vertex_number};
use super::polygon::triangulate;
use super::{Mesh, Topology};

/// A mesh from a file, and what is worth knowing about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The mesh. Its groups are the file's objects and groups.
    pub mesh: Mesh,
    /// What was left out or looks doubtful, one sentence each.
    pub notes: Vec<String>,
}

/// Loads a mesh file by its ending: `.node` and `.ele` are TetGen's, of which either names
/// both, `.msh` is Gmsh's, and everything else is taken for Wavefront OBJ.
///
/// # Errors
/// A file that cannot be read or is none of its kind, no elements, lines that are cut short or
/// hold something else than numbers, vertices that do not exist, coordinates that are not
/// finite, tetrahedra without volume.
pub fn load(path: &Path) -> Result<Loaded, MeshError> {
    load_from(path, read_file)
}

/// As [`load`], with files that `read` reads.
///
/// # Errors
/// As [`load`].
pub fn load_from(
    path: &Path,
    read: impl Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<Loaded, MeshError> {
    let read = |path: &Path| {
        read(path).map_err(|error| MeshError::Unreadable { path: path.to_owned(), error })
    };
    let ending = path.extension().map(OsStr::to_ascii_lowercase);
    match ending.as_deref().and_then(|ending| ending.to_str()) {
        Some("node" | "ele") => {
            let [nodes, elements] = ["node", "ele"].map(|ending| path.with_extension(ending));
            tetgen::parse(&read(&nodes)?, &nodes, &read(&elements)?, &elements)
        }
        Some("msh") => gmsh::parse(&read(path)?, path),
        _ => parse_obj(&read(path)?, path),
    }
}

/// Reads a regular file.
///
/// # Errors
/// What the system says, or that the file is a device or a pipe, which might never end.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    std::fs::read(path)
}

/// Reads the bytes of a Wavefront OBJ file. `path` is for messages only.
///
/// # Errors
/// As [`load`], but for reading the file.
pub fn parse_obj(bytes: &[u8], path: &Path) -> Result<Loaded, MeshError> {
    if bytes.contains(&0) {
        return Err(MeshError::NotObj { path: path.to_owned() });
    }
    // Names and comments in old encodings do no harm.
    let source = String::from_utf8_lossy(bytes);
    let bad_line = |Problem { line, message }| {
        let path = path.to_owned();
        MeshError::BadLine { path, line, message }
    };
    let outline = Outline::new(source.trim_start_matches('\u{feff}')).map_err(bad_line)?;
    check_counts(&outline, path)?;
    let polygons = Polygons::read(&outline).map_err(bad_line)?;
    polygons.into_mesh(&outline, path)
}

fn check_counts(outline: &Outline, path: &Path) -> Result<(), MeshError> {
    match (outline.vertex_lines.len(), outline.face_lines.len()) {
        (0, 0) => Err(MeshError::NotObj { path: path.to_owned() }),
        (vertices, 0) => Err(MeshError::NoFaces { path: path.to_owned(), vertices }),
        (vertices, _) if vertices as u64 > MAX_VERTICES => {
            let (mesh, vertices) = (path.display().to_string(), vertices as u128);
            Err(MeshError::TooManyVertices { mesh, vertices })
        }
        _ => Ok(()),
    }
}

/// The faces as the file has them, over those of its vertices that they use.
struct Polygons {
    /// In the order of the file.
    positions: Vec<Vec3>,
    corners: Vec<u32>,
    /// Where each face's corners end.
    ends: Vec<usize>,
}

impl Polygons {
    fn read(outline: &Outline) -> Result<Self, Problem> {
        let options = tobj::LoadOptions::default();
        let no_materials = |_: &Path| Err(tobj::LoadError::OpenFileFailed);
        let read = tobj::load_obj_buf(&mut outline.text.as_bytes(), &options, no_materials);
        let mut models = read.map_err(|error| problem(outline, error))?.0;
        // One object went in, so one comes out.
        let model = models.pop().map(|model| model.mesh).unwrap_or_default();
        let numbers: Vec<usize> = model.vertex_color.chunks_exact(3).map(vertex_number).collect();
        let places: Vec<Vec3> = model.positions.chunks_exact(3).map(Vec3::from_slice).collect();
        if let Some(vertex) = places.iter().position(|place| !place.is_finite()) {
            let line = outline.vertex_lines[numbers[vertex]];
            let message = "coordinates must be finite numbers that fit single precision";
            return Err(Problem { line, message: message.to_owned() });
        }
        Ok(Self::in_file_order(&model, &numbers, &places))
    }

    /// tobj's vertices come in the order of their first use: back to the file's.
    fn in_file_order(model: &tobj::Mesh, numbers: &[usize], places: &[Vec3]) -> Self {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_unstable_by_key(|&vertex| numbers[vertex]);
        let mut ranks = vec![0; places.len()];
        for (rank, &vertex) in (0u32..).zip(&order) {
            ranks[vertex] = rank;
        }
        Self {
            positions: order.iter().map(|&vertex| places[vertex]).collect(),
            corners: model.indices.iter().map(|&vertex| ranks[vertex as usize]).collect(),
            ends: face_ends(model),
        }
    }

    fn into_mesh(self, outline: &Outline, path: &Path) -> Result<Loaded, MeshError> {
        let (triangles, dropped) = self.triangles();
        let vertices = outline.vertex_lines.len();
        if triangles.is_empty() {
            return Err(MeshError::NoFaces { path: path.to_owned(), vertices });
        }
        let groups = self.groups(outline);
        let mut mesh = Mesh { positions: self.positions, triangles, groups, ..Mesh::default() };
        mesh.drop_unused_vertices();
        let notes = notes(
            &mesh,
            &[
                (
                    vertices - mesh.positions.len(),
                    "vertices dropped, because no triangle uses them",
                ),
                (dropped, "triangles dropped, because a corner is repeated"),
            ],
        )?;
        Ok(Loaded { mesh, notes })
    }

    /// All faces cut into triangles, and how many of these had a repeated corner.
    fn triangles(&self) -> (Vec<[u32; 3]>, usize) {
        let mut triangles = Vec::new();
        let mut dropped = 0;
        for face in 0..self.ends.len() {
            let corners = self.face(face);
            let place = |&corner: &u32| self.positions[corner as usize].as_dvec3();
            let places: Vec<DVec3> = corners.iter().map(place).collect();
            for triangle in triangulate(&places) {
                let [a, b, c] = triangle.map(|k| corners[k]);
                if a == b || b == c || c == a {
                    dropped += 1;
                } else {
                    triangles.push([a, b, c]);
                }
            }
        }
        (triangles, dropped)
    }

    fn face(&self, face: usize) -> &[u32] {
        let start = if face == 0 { 0 } else { self.ends[face - 1] };
        &self.corners[start..self.ends[face]]
    }

    fn groups(&self, outline: &Outline) -> BTreeMap<String, Vec<u32>> {
        let mut groups: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for part in &outline.parts {
            let mut members: Vec<u32> =
                part.faces.clone().flat_map(|face| self.face(face)).copied().collect();
            members.sort_unstable();
            members.dedup();
            for name in part.names.iter().filter(|_| !members.is_empty()) {
                groups.entry(name.clone()).or_default().extend(&members);
            }
        }
        for members in groups.values_mut() {
            members.sort_unstable();
            members.dedup();
        }
        groups
    }
}

/// Where each face's corners end. tobj leaves the sizes out where all faces are triangles.
fn face_ends(model: &tobj::Mesh) -> Vec<usize> {
    if model.face_arities.is_empty() {
        return (1..=model.indices.len() / 3).map(|faces| 3 * faces).collect();
    }
    let add = |end: &mut usize, &size: &u32| {
        *end += size as usize;
        Some(*end)
    };
    model.face_arities.iter().scan(0, add).collect()
}

/// What tobj refused, with the line it does not know.
fn problem(outline: &Outline, error: tobj::LoadError) -> Problem {
    let unknown = || Problem { line: 1, message: format!("somewhere in this file: {error}") };
    outline.find_problem().unwrap_or_else(unknown)
}

/// What was counted while the file was read, and what is doubtful about the mesh.
fn notes(mesh: &Mesh, counted: &[(usize, &str)]) -> Result<Vec<String>, MeshError> {
    let topology = Topology::new(mesh)?;
    let doubtful = [
        (mesh.degenerate_triangles().len(), "triangles without area"),
        (
            topology.non_manifold_edges.len(),
            "edges of more than two triangles, which will not bend",
        ),
        (topology.flipped_edges.len(), "edges between triangles that face opposite sides"),
    ];
    let worth_a_note = counted.iter().chain(&doubtful).filter(|(count, _)| *count > 0);
    Ok(worth_a_note.map(|(count, what)| format!("{what}: {count}")).collect())
}

#[cfg(test)]
mod tests;
