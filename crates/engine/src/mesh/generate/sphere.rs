//! A sphere as an icosahedron whose edges are cut into n pieces.
//!
//! Vertices come in three runs: the 12 corners, n − 1 for each of the 30 edges, and
//! (n − 1)(n − 2)/2 inside each of the 20 faces: 10 n² + 2 in all.

use glam::DVec3;

use super::{at_least, direction, groups, lengths, vertex_count};
use crate::mesh::Mesh;
use crate::mesh::error::MeshError;

/// The closed surface of a ball with `20 · subdivisions²` triangles: every edge of an
/// icosahedron is cut into `subdivisions` pieces. Groups: top, bottom (the poles on y).
///
/// # Errors
/// No subdivision, a radius that is not finite and positive, too many vertices.
pub fn sphere(radius: f32, subdivisions: u32) -> Result<Mesh, MeshError> {
    at_least("sphere", "subdivisions", 1, &[subdivisions])?;
    lengths("sphere", "radius", &[radius])?;
    let vertices = 10 * u128::from(subdivisions) * u128::from(subdivisions) + 2;
    let mut positions = Vec::with_capacity(vertex_count("sphere", vertices)?);
    let icosahedron = Icosahedron::new(subdivisions);
    let on_sphere = |point: DVec3| (point.normalize() * f64::from(radius)).as_vec3();
    positions.extend(icosahedron.corners.iter().map(|&corner| on_sphere(corner)));
    positions.extend(icosahedron.edge_points().map(on_sphere));
    positions.extend(icosahedron.face_points().map(on_sphere));
    let groups = groups([("top", vec![0]), ("bottom", vec![11])]);
    Ok(Mesh { positions, triangles: icosahedron.triangles(), groups, ..Mesh::default() })
}

struct Icosahedron {
    subdivisions: u32,
    corners: [DVec3; 12],
    faces: [[u32; 3]; 20],
    edges: Vec<[u32; 2]>,
}

impl Icosahedron {
    /// Corner 0 at the top, 1–5 and 6–10 in two rings, 11 at the bottom.
    fn new(subdivisions: u32) -> Self {
        let mut corners = [DVec3::Y; 12];
        let mut faces = [[0; 3]; 20];
        let height = 0.2_f64.sqrt();
        for step in 0..5u32 {
            let ring_corner = |half_steps: u32, y: f64| {
                let [cosine, sine] = direction(half_steps, 10);
                DVec3::new(2.0 * height * cosine, y, -2.0 * height * sine)
            };
            corners[1 + step as usize] = ring_corner(2 * step, height);
            corners[6 + step as usize] = ring_corner(2 * step + 1, -height);
            let next = (step + 1) % 5;
            let [upper, upper_next, lower, lower_next] = [1 + step, 1 + next, 6 + step, 6 + next];
            faces[step as usize] = [0, upper, upper_next];
            faces[5 + step as usize] = [upper, lower, upper_next];
            faces[10 + step as usize] = [upper_next, lower, lower_next];
            faces[15 + step as usize] = [11, lower_next, lower];
        }
        corners[11] = DVec3::NEG_Y;
        Self { subdivisions, corners, edges: face_edges(&faces), faces }
    }

    fn edge_points(&self) -> impl Iterator<Item = DVec3> {
        let pieces = self.subdivisions;
        self.edges.iter().flat_map(move |edge| {
            let [from, to] = edge.map(|corner| self.corners[corner as usize]);
            (1..pieces).map(move |step| from.lerp(to, f64::from(step) / f64::from(pieces)))
        })
    }

    fn face_points(&self) -> impl Iterator<Item = DVec3> {
        let pieces = self.subdivisions;
        self.faces.iter().flat_map(move |face| {
            let [a, b, c] = face.map(|corner| self.corners[corner as usize]);
            let share = f64::from(pieces).recip();
            (1..pieces).flat_map(move |row| {
                (1..pieces - row).map(move |column| {
                    let [row, column] = [row, column].map(|steps| f64::from(steps) * share);
                    a + (b - a) * column + (c - a) * row
                })
            })
        })
    }

    fn triangles(&self) -> Vec<[u32; 3]> {
        let pieces = self.subdivisions;
        let mut triangles = Vec::with_capacity(20 * pieces as usize * pieces as usize);
        for face in 0..20 {
            for row in 0..pieces {
                for column in 0..pieces - row {
                    let vertex = |right, up| self.vertex(face, column + right, row + up);
                    triangles.push([vertex(0, 0), vertex(1, 0), vertex(0, 1)]);
                    if row + column + 1 < pieces {
                        triangles.push([vertex(1, 0), vertex(1, 1), vertex(0, 1)]);
                    }
                }
            }
        }
        triangles
    }

    /// Number of the vertex `column` steps from the face's first corner towards its second
    /// and `row` steps towards its third.
    fn vertex(&self, face: usize, column: u32, row: u32) -> u32 {
        let pieces = self.subdivisions;
        let [a, b, c] = self.faces[face];
        match (column, row) {
            (0, 0) => a,
            (_, 0) if column == pieces => b,
            (0, _) if row == pieces => c,
            (_, 0) => self.edge_vertex(a, b, column),
            (0, _) => self.edge_vertex(a, c, row),
            _ if column + row == pieces => self.edge_vertex(b, c, row),
            _ => self.inner_vertex(face as u32, column, row),
        }
    }

    fn edge_vertex(&self, from: u32, to: u32, step: u32) -> u32 {
        let (edge, step) =
            if from < to { ([from, to], step) } else { ([to, from], self.subdivisions - step) };
        // Every side of a face is an edge, so the search always finds it.
        let number = self.edges.partition_point(|other| *other < edge) as u32;
        12 + number * (self.subdivisions - 1) + step - 1
    }

    fn inner_vertex(&self, face: u32, column: u32, row: u32) -> u32 {
        let pieces = self.subdivisions;
        let in_face = (pieces - 1) * (pieces - 2) / 2;
        let in_rows_before = (row - 1) * (pieces - 1) - row * (row - 1) / 2;
        12 + 30 * (pieces - 1) + face * in_face + in_rows_before + column - 1
    }
}

/// The 30 edges, each once, sorted.
fn face_edges(faces: &[[u32; 3]; 20]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = faces
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .filter(|[from, to]| from < to)
        .collect();
    edges.sort_unstable();
    edges
}
