//! Lights and the matrices of their shadow maps.

use std::f32::consts::TAU;

use glam::camera::rh::{proj, view};
use glam::{Mat4, Vec3};

use crate::style::style;

/// Lights of the sky; `shaders/light.wgsl` has the same number.
pub(crate) const SKY_LIGHTS: usize = 32;
/// Pixels of the key light's shadow map in each direction.
pub(crate) const KEY_MAP: u32 = 2048;
/// Pixels of a sky light's shadow map in each direction.
pub(crate) const SKY_MAP: u32 = 512;

/// Toward the key light: from the left, the front and above.
pub(crate) fn key_direction() -> Vec3 {
    style().key_direction()
}

/// Toward the sky's lights: a spiral over the upper half of a sphere, even in area, from the zenith
/// almost to the horizon.
pub(crate) fn sky_direction(index: usize) -> Vec3 {
    let height = 1.0 - (index as f32 + 0.5) / SKY_LIGHTS as f32 * 0.96;
    let across = (1.0 - height * height).sqrt();
    let (sin, cos) = (TAU * 0.618_034 * index as f32).sin_cos();
    Vec3::new(across * cos, height, across * sin)
}

/// From the world to the shadow map of a light that shines on this ball.
pub(crate) fn shadow_matrix(direction: Vec3, center: Vec3, radius: f32) -> Mat4 {
    let up = if direction.y.abs() > 0.99 { Vec3::Z } else { Vec3::Y };
    let from = view::look_at_mat4(center + direction * 2.0 * radius, center, up);
    proj::directx::orthographic(-radius, radius, -radius, radius, 0.9 * radius, 3.1 * radius) * from
}

#[cfg(test)]
mod tests {
    //! Contract: all of the scene is in every shadow map, and the sky is above.

    use super::*;

    #[test]
    fn the_shader_has_as_many_lights() {
        let shader = include_str!("shaders/light.wgsl");
        assert!(shader.contains(&format!("const SKY_LIGHTS: u32 = {SKY_LIGHTS}u;")));
    }

    #[test]
    fn maps_hold_the_whole_ball() {
        let (center, radius) = (Vec3::new(3.0, -1.0, 2.0), 2.5);
        let lights = (0..SKY_LIGHTS).map(sky_direction).chain([key_direction(), Vec3::Y]);
        for direction in lights {
            assert!((direction.length() - 1.0).abs() < 1e-5 && direction.y > 0.02);
            let matrix = shadow_matrix(direction, center, radius);
            for axis in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Y, Vec3::NEG_Z] {
                let place = matrix.project_point3(center + radius * axis);
                assert!(place.truncate().abs().max_element() < 1.001, "{direction} {place}");
                assert!((0.0..=1.0).contains(&place.z), "{direction} {place}");
            }
            let toward = matrix.project_point3(center + direction).z;
            assert!(toward < matrix.project_point3(center).z, "nearer to the light is nearer");
        }
    }
}
