//! Contact of one particle with one shape: C = distance − thickness ≥ 0.
//!
//! A particle that is too deep by δ = thickness − distance moves out along the normal by δ. Coulomb
//! friction then takes back its tangential slip against the shape in this substep, all of it if it
//! is at most μδ, else μδ of it. As δ sums up what the contact has to push in the substep, the sum
//! of the friction is μ times the sum of the normal impulses: a block on a slope slides with
//! a = g(sin θ − μ cos θ).

use super::pose::Pose;
use super::shape::Form;
use crate::math::{Lane, Vec3};

/// Smallest slip that is divided by, m.
const TINY: f32 = 1e-20;

/// A shape in the world during one substep.
#[derive(Clone, Debug)]
pub struct Obstacle<'a> {
    /// Its form.
    pub form: &'a Form,
    /// Coulomb's coefficient of friction.
    pub friction: f32,
    /// Where it stands at the end of the substep.
    pub pose: Pose,
    /// Where it stood at the start of the substep, if it moves.
    pub before: Option<Pose>,
}

/// Where particles are in contact with a shape.
#[derive(Clone, Copy, Debug)]
pub struct Touch<L: Lane> {
    /// By how much they are too deep, m; 0 where there is no contact.
    pub depth: L,
    /// The outward normal in the world.
    normal: Vec3<L>,
    /// Their places in the shape's own frame.
    local: Vec3<L>,
}

impl Obstacle<'_> {
    /// How particles touch the shape, if any of them does. Most are far from most shapes, so a quick look comes first.
    #[inline(always)]
    pub fn touch<L: Lane>(&self, x: Vec3<L>, thickness: L) -> Option<Touch<L>> {
        let local = self.pose.invert(x);
        if !L::any(self.form.may_be_near(local, thickness)) {
            return None;
        }
        let (distance, normal) = self.form.distance(local);
        let depth = (thickness - distance).max(L::splat(0.0));
        if !L::any(L::splat(0.0).less(depth)) {
            return None;
        }
        Some(Touch { depth, normal: self.pose.turn(normal), local })
    }

    /// Where particles are after they have moved out of the shape, with friction; those that do not touch it stay
    /// where they are.
    #[inline(always)]
    pub fn resolve<L: Lane>(&self, touch: Touch<L>, x: Vec3<L>, previous: Vec3<L>) -> Vec3<L> {
        let Touch { depth, normal, local } = touch;
        let out = x + normal * depth;

        let moved = match &self.before {
            Some(before) => x - before.apply(local),
            None => Vec3::zero(),
        };
        let slip = out - previous - moved;
        let tangential = slip - normal * slip.dot(normal);
        let limit = depth * L::splat(self.friction);
        let share = (limit / tangential.length().max(L::splat(TINY))).min(L::splat(1.0));
        Vec3::select(L::splat(0.0).less(depth), out - tangential * share, x)
    }

    /// Signed distance of a point to the shape at the end of the substep.
    pub fn distance(&self, x: Vec3<f32>) -> f32 {
        self.form.distance(self.pose.invert(x)).0
    }
}

#[cfg(test)]
mod tests {
    //! Contract: particles leave the shape along the normal; friction sticks below μδ, slides
    //! beyond it, and carries particles along with a moving shape.

    use glam::{Quat, Vec3 as Point};

    use super::*;
    use crate::math::F32x8;

    fn ground(friction: f32, before: Option<Pose>) -> Obstacle<'static> {
        let pose = Pose::new(Quat::IDENTITY, Point::ZERO);
        Obstacle { form: &Form::Plane, friction, pose, before }
    }

    /// Where a particle without thickness gets that came from the origin.
    fn moved(ground: &Obstacle<'_>, x: Vec3<f32>) -> Vec3<f32> {
        ground.resolve(ground.touch(x, 0.0).unwrap(), x, Vec3::zero())
    }

    #[test]
    fn outside_nothing_happens() {
        let ground = ground(0.5, None);
        assert!(ground.touch(Vec3::new(0.1_f32, 0.2, 0.3), 0.1).is_none());
        // Beside a particle that touches, too.
        let x = Vec3::new(
            F32x8::splat(0.1),
            F32x8::from_lanes(|lane| 0.09 * lane as f32),
            F32x8::splat(0.3),
        );
        let touch = ground.touch(x, F32x8::splat(0.1)).unwrap();
        let moved = ground.resolve(touch, x, x);
        for lane in 0..8 {
            assert_eq!(touch.depth.lane(lane) > 0.0, lane < 2);
            assert_eq!(moved.y.lane(lane), x.y.lane(lane).max(0.1));
        }
    }

    #[test]
    fn small_slips_stick_and_large_ones_slide() {
        let sunk = |slip: f32| moved(&ground(0.5, None), Vec3::new(slip, -0.1, 0.0));
        assert_eq!(sunk(0.04), Vec3::new(0.0, 0.0, 0.0));
        assert!((sunk(0.3).x - 0.25).abs() < 1e-7 && sunk(0.3).y == 0.0);
    }

    #[test]
    fn a_moving_shape_carries_particles_along() {
        let before = Pose::new(Quat::IDENTITY, Point::new(-0.05, 0.0, 0.0));
        let moved = moved(&ground(10.0, Some(before)), Vec3::new(0.0, -0.1, 0.0));
        assert!((moved.x - 0.05).abs() < 1e-7);
    }
}
