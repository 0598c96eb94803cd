//! Brings what a picture shows to the device: colors, places of shapes, lights.

use glam::{Mat4, Quat, Vec3};
use taut::output::{Field, ShapePose};

use crate::color::{Scale, decode};
use crate::light::{SKY_LIGHTS, key_direction, shadow_matrix, sky_direction};
use crate::renderer::{Frame, Renderer};
use crate::style::style;

/// Bytes from the matrix of a light to that of the next: what devices agree on.
pub(crate) const MATRIX_STRIDE: u64 = 256;

impl Renderer {
    pub(crate) fn write_colors(&self, values: Option<(Field, &[f32])>) {
        if let Some((field, values)) = values {
            let scale = Scale::new(field);
            let colors = self.surface.vertices.iter().zip(&self.body_colors);
            let colors: Vec<[u8; 4]> = colors
                .map(|([point, ..], &plain)| match values.get(*point as usize) {
                    Some(&value) => {
                        let [r, g, b] = scale.color(value);
                        [r, g, b, 0]
                    }
                    None => plain,
                })
                .collect();
            self.gpu.queue.write_buffer(&self.bodies.colors, 0, bytemuck::cast_slice(&colors));
        }
    }

    /// Puts the shapes where they stand.
    pub(crate) fn write_shapes(&self, poses: &[ShapePose]) {
        for solid in &self.solids {
            let Some(pose) = poses.get(solid.shape) else { continue };
            let (turn, place) = (Quat::from_array(pose.rotation), Vec3::from(pose.place));
            let places: Vec<[f32; 4]> =
                solid.places.iter().map(|&p| (turn * p + place).extend(1.0).to_array()).collect();
            let normals: Vec<[f32; 4]> =
                solid.normals.iter().map(|&n| (turn * n).extend(0.0).to_array()).collect();
            let offset = 16 * solid.first as u64;
            let queue = &self.gpu.queue;
            queue.write_buffer(&self.shapes.places, offset, bytemuck::cast_slice(&places));
            queue.write_buffer(&self.shapes.normals, offset, bytemuck::cast_slice(&normals));
        }
    }

    pub(crate) fn write_lights(&self, frame: &Frame<'_>, center: Vec3, radius: f32) {
        let [width, height] = self.size.map(|pixels| pixels as f32);
        let directions: Vec<Vec3> =
            [key_direction()].into_iter().chain((0..SKY_LIGHTS).map(sky_direction)).collect();
        let matrices: Vec<Mat4> =
            directions.iter().map(|&direction| shadow_matrix(direction, center, radius)).collect();
        let camera = frame.camera.view_projection(width / height, center, radius);
        let mut globals: Vec<f32> = camera.to_cols_array().to_vec();
        globals.extend(matrices.iter().flat_map(Mat4::to_cols_array));
        for direction in &directions[1..] {
            globals.extend(direction.extend(0.0).to_array());
        }
        globals.extend(frame.camera.eye.extend(1.0).to_array());
        globals.extend(directions[0].extend(0.0).to_array());
        globals.extend(center.extend(radius).to_array());
        // Lines keep their share of the picture, whatever its size.
        globals.extend([width, height, (height / 320.0).max(1.0), 0.0]);
        let tones = style().tones(self.theme);
        for edge in [tones.high, tones.low] {
            globals.extend(edge.0.map(decode));
            globals.push(1.0);
        }
        self.gpu.queue.write_buffer(&self.globals, 0, bytemuck::cast_slice(&globals));
        for (light, matrix) in matrices.iter().enumerate() {
            let bytes = matrix.to_cols_array();
            let offset = light as u64 * MATRIX_STRIDE;
            self.gpu.queue.write_buffer(&self.matrices, offset, bytemuck::cast_slice(&bytes));
        }
        self.write_planes(frame, center);
    }

    fn write_planes(&self, frame: &Frame<'_>, center: Vec3) {
        for plane in &self.planes {
            let Some((turn, place)) = plane.pose(frame) else { continue };
            let [right, normal, forward] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turn * axis);
            let nearest = center - normal * (center - place).dot(normal);
            let vectors = [nearest, right, forward, normal].map(|v| v.extend(0.0).to_array());
            self.gpu.queue.write_buffer(&plane.buffer, 0, bytemuck::cast_slice(&vectors));
        }
    }
}

/// Vectors of four in `Globals` of `shaders/light.wgsl`.
pub(crate) const fn globals_length() -> usize {
    4 + 4 + SKY_LIGHTS * 4 + SKY_LIGHTS + 6
}
