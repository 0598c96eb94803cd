//! What a picture is made of, worked out once: vertices with the triangles that give their normals,
//! and lines.

use std::collections::BTreeSet;

use glam::Vec3;

/// Triangles that meet at a larger angle than this have a crease between them: its cosine.
const CREASE: f32 = 0.2;

/// A line between two corners of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The points of the element; those after the first `count` mean nothing.
    pub corners: [u32; 4],
    /// Which two corners are joined.
    pub ends: [u32; 2],
    /// How many corners there are, 2 to 4.
    pub count: u32,
    /// Red, green, blue, opacity.
    pub color: [u8; 4],
}

impl Line {
    /// The lines of an element over these points: all pairs of corners.
    pub fn of_element(points: &[u32], color: [u8; 4]) -> impl Iterator<Item = Self> + use<> {
        let count = points.len().min(4) as u32;
        let mut corners = [points.first().copied().unwrap_or(0); 4];
        for (corner, &point) in corners.iter_mut().zip(points) {
            *corner = point;
        }
        let pairs = (0..count).flat_map(move |a| (a + 1..count).map(move |b| [a, b]));
        pairs.map(move |ends| Self { corners, ends, count, color })
    }

    /// As `shaders/lines.wgsl` reads it.
    pub(crate) fn words(&self) -> [u32; 8] {
        let [a, b, c, d] = self.corners;
        [a, b, c, d, self.ends[0], self.ends[1], self.count, u32::from_le_bytes(self.color)]
    }
}

/// The edges of all triangles, each once.
pub(crate) fn edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
    let sorted: BTreeSet<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
    sorted.into_iter().collect()
}

/// The vertices of triangles over points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surface {
    /// For each vertex its point, and the first and last of its triangles in `incident`.
    pub(crate) vertices: Vec<[u32; 3]>,
    /// Triangles, vertex after vertex.
    pub(crate) incident: Vec<u32>,
    /// Three vertices for each triangle.
    pub(crate) indices: Vec<u32>,
}

impl Surface {
    /// Vertices for triangles whose points have these places at rest. A point on a crease of that
    /// shape gets a vertex on each side.
    pub(crate) fn new(triangles: &[[u32; 3]], places: &[[f32; 3]]) -> Self {
        let normals: Vec<Vec3> = triangles.iter().map(|t| normal(t, places)).collect();
        let mut surface = Self { indices: vec![0; 3 * triangles.len()], ..Self::default() };
        let (starts, corners) = by_point(triangles, places.len());
        for point in 0..places.len() {
            let own = &corners[starts[point]..starts[point + 1]];
            for group in smooth_groups(own, triangles, &normals) {
                let vertex = surface.vertices.len() as u32;
                let first = surface.incident.len() as u32;
                for corner in group {
                    surface.indices[corner] = vertex;
                    surface.incident.push((corner / 3) as u32);
                }
                surface.vertices.push([point as u32, first, surface.incident.len() as u32]);
            }
        }
        surface
    }
}

fn normal(triangle: &[u32; 3], places: &[[f32; 3]]) -> Vec3 {
    let [a, b, c] = triangle.map(|corner| Vec3::from(places[corner as usize]));
    (b - a).cross(c - a).normalize_or_zero()
}

/// The corners of triangles (three times the triangle, plus 0, 1 or 2) by their points.
fn by_point(triangles: &[[u32; 3]], points: usize) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; points + 1];
    for &point in triangles.as_flattened() {
        starts[point as usize + 1] += 1;
    }
    for point in 0..points {
        starts[point + 1] += starts[point];
    }
    let mut next = starts.clone();
    let mut corners = vec![0; 3 * triangles.len()];
    for (corner, &point) in triangles.as_flattened().iter().enumerate() {
        corners[next[point as usize]] = corner;
        next[point as usize] += 1;
    }
    (starts, corners)
}

/// Corners at one point, in groups whose triangles go over into each other without a crease.
fn smooth_groups(corners: &[usize], triangles: &[[u32; 3]], normals: &[Vec3]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut left = corners.to_vec();
    while let Some(first) = left.first().copied() {
        left.remove(0);
        let mut group = vec![first];
        let mut reached = 0;
        while reached < group.len() {
            let from = group[reached] / 3;
            let (joined, rest): (Vec<usize>, Vec<usize>) = left.iter().partition(|&&corner| {
                let to = corner / 3;
                share_edge(&triangles[from], &triangles[to])
                    && normals[from].dot(normals[to]) > CREASE
            });
            group.extend(joined);
            left = rest;
            reached += 1;
        }
        group.sort_unstable();
        groups.push(group);
    }
    groups
}

fn share_edge(a: &[u32; 3], b: &[u32; 3]) -> bool {
    a.iter().filter(|corner| b.contains(corner)).count() >= 2
}

#[cfg(test)]
mod tests {
    //! Contract: flat and round surfaces share their vertices, sharp edges have one on each side, and
    //! every edge is drawn once.

    use super::*;

    /// Two squares that meet at an angle along x = 0.
    fn fold(degrees: f32) -> Surface {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let places = [
            [-1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0],
            [cos, sin, 0.0],
            [-1.0, 0.0, 1.0],
            [0.0, 0.0, 1.0],
            [cos, sin, 1.0],
        ];
        let triangles = [[0, 3, 4], [0, 4, 1], [1, 4, 5], [1, 5, 2]];
        Surface::new(&triangles, &places)
    }

    #[test]
    fn creases_double_the_vertices_on_them() {
        assert_eq!(fold(30.0).vertices.len(), 6);
        assert_eq!(fold(90.0).vertices.len(), 8);
        let sharp = fold(90.0);
        for (corner, point) in [0, 3, 4, 0, 4, 1, 1, 4, 5, 1, 5, 2].into_iter().enumerate() {
            let [own, first, last] = sharp.vertices[sharp.indices[corner] as usize];
            assert_eq!(own, point);
            let triangle = (corner / 3) as u32;
            assert!(sharp.incident[first as usize..last as usize].contains(&triangle));
        }
    }

    #[test]
    fn every_corner_belongs_to_one_vertex() {
        let surface = fold(10.0);
        assert_eq!(surface.incident.len(), 12);
        let last = surface.vertices.iter().fold(0, |end, &[_, first, last]| {
            assert_eq!(first, end);
            last
        });
        assert_eq!(last, 12);
    }

    #[test]
    fn edges_are_listed_once() {
        let edges = edges(&[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
    }

    #[test]
    fn elements_have_all_their_pairs() {
        let color = [1, 2, 3, 4];
        let pairs = |points: &[u32]| Line::of_element(points, color).count();
        assert_eq!(
            [pairs(&[5]), pairs(&[5, 6]), pairs(&[5, 6, 7]), pairs(&[1, 2, 3, 4])],
            [0, 1, 3, 6]
        );
        let line = Line::of_element(&[5, 9], color).next().unwrap();
        assert_eq!(line.words(), [5, 9, 5, 5, 0, 1, 2, 0x0403_0201]);
    }
}
