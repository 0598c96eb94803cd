//! Where a picture is taken from.

use glam::camera::rh::{proj, view};
use glam::{Mat4, Quat, Vec3};

use crate::style::style;

/// A camera that stands upright.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands, m.
    pub eye: Vec3,
    /// What it looks at, m.
    pub target: Vec3,
    /// Angle between the lower and the upper edge of the picture, degrees.
    pub fov: f32,
}

/// The share of the picture that [`Camera::framing`] fills.
const FILLED: f32 = 0.82;

impl Camera {
    /// From where a scene is seen that has no camera of its own: azimuth and elevation, degrees.
    #[must_use]
    pub fn usual() -> [f32; 2] {
        [style().view.azimuth, style().view.elevation]
    }

    /// A camera that sees all these places, as large as they fit into a picture of this width over
    /// height. Azimuth 0 looks from the front (+z), 90 from the right (+x); elevation 90 from above;
    /// degrees.
    #[must_use]
    pub fn framing(places: &[Vec3], aspect: f32, azimuth: f32, elevation: f32) -> Self {
        let turn = Quat::from_rotation_y(azimuth.to_radians())
            * Quat::from_rotation_x(-elevation.clamp(-89.9, 89.9).to_radians());
        let [right, up, toward] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turn * axis);
        let fov = style().view.fov;
        let tangent = (fov / 2.0).to_radians().tan() * FILLED;
        let [tangent_x, tangent_y] = [tangent * aspect, tangent];
        let (low, high) = corners(places);
        let mut target = (low + high) / 2.0;
        let mut distance = 0.0;
        // What is near takes more room than what is far, so the middle of the picture is not the
        // middle of the box: each round moves closer to it.
        for _ in 0..16 {
            let seen = places.iter().map(|&place| {
                let way = place - target;
                Vec3::new(way.dot(right), way.dot(up), way.dot(toward))
            });
            let needs =
                seen.clone().map(|p| p.z + (p.x.abs() / tangent_x).max(p.y.abs() / tangent_y));
            distance = needs.fold(0.0, f32::max).max(1e-3);
            let on_picture = seen.map(|p| Vec3::new(p.x, p.y, 0.0) / (distance - p.z).max(1e-6));
            let (low, high) = corners(&on_picture.collect::<Vec<_>>());
            // Half of the way: what is near moves farther than this says.
            let middle = (low + high) / 4.0 * distance;
            target += right * middle.x + up * middle.y;
        }
        Self { eye: target + toward * distance * 1.001, target, fov }
    }

    /// The same, turned about a vertical axis through its target.
    #[must_use]
    pub fn turned(self, degrees: f32) -> Self {
        let turn = Quat::from_rotation_y(degrees.to_radians());
        Self { eye: self.target + turn * (self.eye - self.target), ..self }
    }

    /// The same, this many times as close.
    #[must_use]
    pub fn zoomed(self, factor: f32) -> Self {
        Self { eye: self.target + (self.eye - self.target) / factor, ..self }
    }

    /// From the world to the picture, for a scene inside this ball.
    pub(crate) fn view_projection(&self, aspect: f32, center: Vec3, radius: f32) -> Mat4 {
        let distance = self.eye.distance(center);
        let near =
            (distance - 1.5 * radius).max(0.01 * radius).min(0.5 * self.eye.distance(self.target));
        // The ground goes on behind the scene.
        let far = distance + 20.0 * radius;
        let projection = proj::directx::perspective(self.fov.to_radians(), aspect, near, far);
        projection * self.view()
    }

    fn view(&self) -> Mat4 {
        let way = (self.target - self.eye).normalize_or(Vec3::NEG_Z);
        let up = if way.y.abs() > 0.9999 { Vec3::NEG_Z * way.y.signum() } else { Vec3::Y };
        view::look_at_mat4(self.eye, self.target, up)
    }
}

/// The box around some places; around none, a point at the origin.
fn corners(places: &[Vec3]) -> (Vec3, Vec3) {
    let Some(&first) = places.first() else { return (Vec3::ZERO, Vec3::ZERO) };
    let grow = |(low, high): (Vec3, Vec3), place: &Vec3| (low.min(*place), high.max(*place));
    places.iter().fold((first, first), grow)
}

#[cfg(test)]
mod tests {
    //! Contract: everything is in the picture, and the picture is well filled.

    use super::*;

    #[test]
    fn a_framed_scene_touches_the_margin_and_is_in_the_middle() {
        let places: Vec<Vec3> = (0..200)
            .map(|i| {
                let angle = i as f32 * 0.7;
                Vec3::new(3.0 * angle.cos() + 7.0, (i % 13) as f32 * 0.1, angle.sin() - 2.0)
            })
            .collect();
        for (azimuth, elevation, aspect) in
            [(0.0, 0.0, 1.0), (30.0, 20.0, 16.0 / 9.0), (250.0, 80.0, 0.5), (90.0, -10.0, 1.0)]
        {
            let camera = Camera::framing(&places, aspect, azimuth, elevation);
            let matrix = camera.view_projection(aspect, camera.target, 4.0);
            let seen: Vec<Vec3> = places.iter().map(|&p| matrix.project_point3(p)).collect();
            let (low, high) = corners(&seen);
            assert!(low.z > 0.0 && high.z < 1.0, "{low} {high}");
            let widest = (high - low).truncate() / 2.0;
            let filled = widest.max_element();
            assert!((filled - FILLED).abs() < 0.01, "{filled} at {azimuth} {elevation}");
            assert!(((high + low) / 2.0).truncate().length() < 0.02);
        }
    }

    #[test]
    fn azimuths_and_turns_go_the_same_way() {
        let places = [Vec3::ZERO, Vec3::ONE];
        let right = Camera::framing(&places, 1.0, 90.0, 0.0);
        assert!(right.eye.x > right.target.x + 1.0);
        let front = Camera::framing(&places, 1.0, 0.0, 0.0);
        assert!(front.eye.z > front.target.z + 1.0);
        assert!(front.turned(90.0).eye.x > 1.0);
        let close = front.zoomed(2.0);
        assert!((close.eye.z - close.target.z) * 1.999 < front.eye.z - front.target.z);
    }

    #[test]
    fn one_point_and_no_point_can_be_framed() {
        for places in [&[][..], &[Vec3::ONE]] {
            let camera = Camera::framing(places, 1.0, 30.0, 20.0);
            assert!(camera.eye.is_finite() && camera.eye != camera.target);
        }
    }
}
