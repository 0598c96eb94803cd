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

/// A particle after contact.
#[derive(Clone, Copy, Debug)]
pub struct Resolved<L: Lane> {
    /// Its place.
    pub x: Vec3<L>,
    /// By how much it was too deep, m; 0 where there was no contact.
    pub depth: L,
}

impl Obstacle<'_> {
    /// Whether some of these particles may be in contact: quicker than [`Obstacle::resolve`], which
    /// would change nothing otherwise.
    #[inline(always)]
    pub fn may_touch<L: Lane>(&self, x: Vec3<L>, thickness: L) -> bool {
        L::any(self.form.may_be_near(self.pose.invert(x), thickness))
    }

    /// Moves particles out of the shape, with friction.
    #[inline(always)]
    pub fn resolve<L: Lane>(&self, x: Vec3<L>, previous: Vec3<L>, thickness: L) -> Resolved<L> {
        let local = self.pose.invert(x);
        let (distance, normal) = self.form.distance(local);
        let depth = (thickness - distance).max(L::splat(0.0));
        let normal = self.pose.turn(normal);
        let out = x + normal * depth;

        let moved = match &self.before {
            Some(before) => x - before.apply(local),
            None => Vec3::zero(),
        };
        let slip = out - previous - moved;
        let tangential = slip - normal * slip.dot(normal);
        let limit = depth * L::splat(self.friction);
        let share = (limit / tangential.length().max(L::splat(TINY))).min(L::splat(1.0));
        let touching = L::splat(0.0).less(depth);
        Resolved { x: Vec3::select(touching, out - tangential * share, x), depth }
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

    fn ground(friction: f32, before: Option<Pose>) -> Obstacle<'static> {
        let pose = Pose::new(Quat::IDENTITY, Point::ZERO);
        Obstacle { form: &Form::Plane, friction, pose, before }
    }

    #[test]
    fn outside_nothing_happens() {
        let x = Vec3::new(0.1_f32, 0.2, 0.3);
        let resolved = ground(0.5, None).resolve(x, Vec3::zero(), 0.1);
        assert_eq!((resolved.x, resolved.depth), (x, 0.0));
    }

    #[test]
    fn small_slips_stick_and_large_ones_slide() {
        let ground = ground(0.5, None);
        let sunk = |slip: f32| ground.resolve(Vec3::new(slip, -0.1, 0.0), Vec3::zero(), 0.0).x;
        assert_eq!(sunk(0.04), Vec3::new(0.0, 0.0, 0.0));
        assert!((sunk(0.3).x - 0.25).abs() < 1e-7 && sunk(0.3).y == 0.0);
    }

    #[test]
    fn a_moving_shape_carries_particles_along() {
        let before = Pose::new(Quat::IDENTITY, Point::new(-0.05, 0.0, 0.0));
        let resolved =
            ground(10.0, Some(before)).resolve(Vec3::new(0.0_f32, -0.1, 0.0), Vec3::zero(), 0.0);
        assert!((resolved.x.x - 0.05).abs() < 1e-7);
    }
}
