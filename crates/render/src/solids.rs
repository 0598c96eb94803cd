//! Shapes and bodies as they are before anything moves.

use std::ops::Range;

use glam::Vec3;
use taut::output::Drawing;

use crate::color;
use crate::geometry::Surface;

/// A shape that is not a plane: its vertices in the shapes' batch, in its own frame.
pub(crate) struct Solid {
    pub(crate) shape: usize,
    pub(crate) first: usize,
    pub(crate) places: Vec<Vec3>,
    pub(crate) normals: Vec<Vec3>,
}

/// A color for each vertex of the bodies. The fourth number says how far the back differs.
pub(crate) fn body_colors(
    drawing: &Drawing,
    surface: &Surface,
    plain: Option<[u8; 3]>,
) -> Vec<[u8; 4]> {
    let mut by_point = vec![[0; 4]; drawing.points];
    for (number, body) in drawing.bodies.iter().enumerate() {
        let [r, g, b] = plain.unwrap_or_else(|| color::body_color(number));
        let Range { start, end } = body.points;
        by_point[start..end].fill([r, g, b, if plain.is_some() { 0 } else { 255 }]);
    }
    surface.vertices.iter().map(|[point, ..]| by_point[*point as usize]).collect()
}

/// The shapes that are not planes, and the corners of all their triangles.
pub(crate) fn solids(drawing: &Drawing, hidden: &[usize]) -> (Vec<Solid>, Vec<u32>) {
    let (mut solids, mut indices, mut first) = (Vec::new(), Vec::new(), 0);
    let shapes = drawing.shapes.iter().enumerate().filter(|(_, shape)| !shape.is_plane);
    for (shape, drawn) in shapes.filter(|(shape, _)| !hidden.contains(shape)) {
        let mesh = &drawn.mesh;
        let mut normals = vec![Vec3::ZERO; mesh.positions.len()];
        for corners in &mesh.triangles {
            let [a, b, c] = corners.map(|corner| mesh.positions[corner as usize]);
            for corner in corners {
                normals[*corner as usize] += (b - a).cross(c - a);
            }
        }
        let corners = mesh.triangles.as_flattened().iter();
        indices.extend(corners.map(|corner| corner + first as u32));
        let normals = normals.into_iter().map(|normal| normal.normalize_or(Vec3::Y)).collect();
        let places = mesh.positions.clone();
        let count = places.len();
        solids.push(Solid { shape, first, places, normals });
        first += count;
    }
    (solids, indices)
}
