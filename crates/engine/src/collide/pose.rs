//! Where a shape stands, and how it moves along keyframes.

use glam::{Quat, Vec3 as Point};

use crate::math::{Lane, Vec3};

/// A rotation followed by a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// The images of the three axes.
    axes: [[f32; 3]; 3],
    translation: [f32; 3],
}

impl Pose {
    /// A pose from a rotation and a place.
    pub fn new(rotation: Quat, translation: Point) -> Self {
        let axes = [Point::X, Point::Y, Point::Z].map(|axis| (rotation * axis).to_array());
        Self { axes, translation: translation.to_array() }
    }

    /// The images of the three axes, and that of the origin.
    pub fn columns(&self) -> [[f32; 3]; 4] {
        let [x, y, z] = self.axes;
        [x, y, z, self.translation]
    }

    /// From the shape's own frame to the world.
    #[inline(always)]
    pub fn apply<L: Lane>(&self, local: Vec3<L>) -> Vec3<L> {
        self.turn(local) + Vec3::splat(self.translation)
    }

    /// From the world to the shape's own frame.
    #[inline(always)]
    pub fn invert<L: Lane>(&self, world: Vec3<L>) -> Vec3<L> {
        let moved = world - Vec3::splat(self.translation);
        let [x, y, z] = self.axes.map(Vec3::splat);
        Vec3::new(moved.dot(x), moved.dot(y), moved.dot(z))
    }

    /// A direction from the shape's own frame to the world.
    #[inline(always)]
    pub fn turn<L: Lane>(&self, local: Vec3<L>) -> Vec3<L> {
        let [x, y, z] = self.axes.map(Vec3::splat);
        x * local.x + y * local.y + z * local.z
    }
}

/// Places at rising times.
#[derive(Clone, Debug)]
pub struct Motion {
    frames: Vec<Frame>,
}

/// A place at a time.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// s.
    pub time: f64,
    /// Orientation.
    pub rotation: Quat,
    /// m.
    pub translation: Point,
}

impl Motion {
    /// Motion through these places, at rising times; at least one.
    pub fn new(frames: Vec<Frame>) -> Self {
        debug_assert!(!frames.is_empty());
        Self { frames }
    }

    /// Whether the pose ever changes.
    pub fn is_moving(&self) -> bool {
        self.frames.len() > 1
    }

    /// The highest speed of the shape's origin, m/s.
    pub fn fastest(&self) -> f32 {
        let speed = |pair: &[Frame]| {
            let seconds = (pair[1].time - pair[0].time) as f32;
            pair[0].translation.distance(pair[1].translation) / seconds
        };
        self.frames.windows(2).map(speed).fold(0.0, f32::max)
    }

    /// The pose at a time.
    pub fn at(&self, time: f64) -> Pose {
        let (rotation, translation) = self.frame(time);
        Pose::new(rotation, translation)
    }

    /// Orientation and place at a time: straight lines and even turns between keyframes, rest
    /// outside them.
    pub fn frame(&self, time: f64) -> (Quat, Point) {
        let next = self.frames.partition_point(|frame| frame.time <= time);
        let before = self.frames[next.saturating_sub(1)];
        let after = self.frames[next.min(self.frames.len() - 1)];
        let span = after.time - before.time;
        let share = if span > 0.0 { ((time - before.time) / span) as f32 } else { 0.0 };
        (
            before.rotation.slerp(after.rotation, share),
            before.translation.lerp(after.translation, share),
        )
    }
}

#[cfg(test)]
mod tests {
    //! Contract: keyframes are met exactly, rest before and after, and inverting undoes applying.

    use super::*;

    fn frame(time: f64, x: f32, degrees: f32) -> Frame {
        Frame {
            time,
            rotation: Quat::from_rotation_y(degrees.to_radians()),
            translation: Point::new(x, 0.0, 0.0),
        }
    }

    #[test]
    fn motion_meets_keyframes_and_rests_outside() {
        let motion = Motion::new(vec![frame(1.0, 0.0, 0.0), frame(3.0, 4.0, 90.0)]);
        let origin = |time| motion.at(time).apply(Vec3::<f32>::zero());
        assert_eq!(origin(0.0).x, 0.0);
        assert_eq!(origin(1.0).x, 0.0);
        assert_eq!(origin(2.0).x, 2.0);
        assert_eq!(origin(3.0).x, 4.0);
        assert_eq!(origin(9.0).x, 4.0);
        assert_eq!(motion.fastest(), 2.0);
        let turned = motion.at(2.0).turn(Vec3::new(1.0_f32, 0.0, 0.0));
        assert!((turned.x - 0.5_f32.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn inverting_undoes_applying() {
        let pose = Pose::new(Quat::from_rotation_z(0.7), Point::new(1.0, -2.0, 3.0));
        let point = Vec3::new(0.3_f32, 0.1, -0.9);
        assert!((pose.invert(pose.apply(point)) - point).length() < 1e-6);
    }
}
