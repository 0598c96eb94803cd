//! Contact of two particles: C = n·(x₁ − x₂) − d ≥ 0, with Coulomb friction.
//!
//! d is the diameter and n the direction from one particle to the other. Where the two have changed
//! sides, n is the direction in which they belong: that of the normals, where the surfaces of two
//! soft bodies face each other, else that at the start of the substep. So they go back, not on, and
//! soft bodies that were pressed into each other find the way out. (The normals do for soft bodies
//! what gradients of a distance field do for rigid ones in Macklin et al. 2014, 'Unified particle
//! physics for real-time applications', section 5.)
//!
//! A pair that is too close by δ moves apart along n by δ in all; friction takes back its tangential
//! slip in this substep, all of it if that is at most μδ, else μδ. As in `contact.rs`, δ sums up
//! what the contact pushes, so friction is at most μ times the normal impulse.
//!
//! All pairs are solved from the same places, and a particle with n contacts takes part in each of
//! them with an n-th of its mass (mass splitting; Tonge, Benevolenski and Voroshilov 2012, 'Mass
//! splitting for jitter-free parallel rigid body simulation'):
//!
//! ```text
//! λ = δ / (n₁w₁ + n₂w₂),   Δx₁ = w₁ λ n,   Δx₂ = −w₂ λ n
//! ```
//!
//! So the order of the pairs makes no difference, the sum does not overshoot, and both sides of a
//! pair feel the same impulse: linear momentum is kept. As contacts of a particle rarely all push
//! the same way, n is taken a little smaller than it is (over-relaxation, see [`share`]).
//!
//! Particles that overlap at the start of the substep are pushed apart with a limited speed only:
//! an error of places is not a velocity (see [`Law::push`]).

use crate::math::{Lane, Vec3};

/// The cosine of the normals' angle below which two surfaces face each other.
const FACING: f32 = -0.5;

/// What part of its number of contacts a particle's mass is split by.
const SPLIT: f32 = 0.6;

/// Smallest length that is divided by, m.
const TINY: f32 = 1e-20;

/// What all pairs have in common in a substep.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// Distance that particles keep, m.
    pub diameter: f32,
    /// How far a pair that overlaps may be pushed apart in a substep, m.
    pub push: f32,
    /// Coulomb's coefficient of friction.
    pub friction: f32,
}

/// A particle now and at the start of the substep.
#[derive(Clone, Copy, Debug)]
pub struct Moving<L> {
    /// Where it is.
    pub x: Vec3<L>,
    /// Where it was.
    pub previous: Vec3<L>,
    /// Direction out of its body; zero for cloth, which has no inside.
    pub normal: Vec3<L>,
}

/// How two particles are to be parted.
#[derive(Clone, Copy, Debug)]
pub struct Parting<L> {
    /// By how much they are too close, m; 0 where they do not touch.
    pub depth: L,
    /// How the first is to move against the second.
    pub way: Vec3<L>,
}

impl Law {
    /// How far two particles are too close, and the direction from the second to the first.
    #[inline(always)]
    fn overlap<L: Lane>(&self, first: &Moving<L>, second: &Moving<L>) -> (L, Vec3<L>) {
        let apart = first.x - second.x;
        let before = first.previous - second.previous;
        let facing = first.normal.dot(second.normal).less(L::splat(FACING));
        let side = Vec3::select(facing, second.normal - first.normal, before);
        let crossed = apart.dot(side).less(L::splat(0.0));
        let axis = Vec3::select(crossed, side, apart);
        // Particles in the same place have no direction, and both sides must agree: none.
        let normal = axis * (L::splat(1.0) / axis.length().max(L::splat(TINY)));
        let target = (normal.dot(before) + L::splat(self.push)).min(L::splat(self.diameter));
        ((target - normal.dot(apart)).max(L::splat(0.0)), normal)
    }

    /// By how much two particles are too close, m.
    #[inline(always)]
    pub fn depth<L: Lane>(&self, first: &Moving<L>, second: &Moving<L>) -> L {
        self.overlap(first, second).0
    }

    /// Parts two particles, with friction.
    #[inline(always)]
    pub fn part<L: Lane>(&self, first: &Moving<L>, second: &Moving<L>) -> Parting<L> {
        let (depth, normal) = self.overlap(first, second);
        let slip = (first.x - first.previous) - (second.x - second.previous);
        let tangential = slip - normal * slip.dot(normal);
        let limit = depth * L::splat(self.friction);
        let share = (limit / tangential.length().max(L::splat(TINY))).min(L::splat(1.0));
        Parting { depth, way: normal * depth - tangential * share }
    }
}

/// The share of a pair's way that a particle goes: its inverse mass and the contacts of both.
#[inline(always)]
pub fn share<L: Lane>([w, contacts]: [L; 2], [other_w, other_contacts]: [L; 2]) -> L {
    let one = L::splat(1.0);
    let relaxed = L::splat(SPLIT);
    let split = w * (contacts * relaxed).max(one) + other_w * (other_contacts * relaxed).max(one);
    w / split.max(L::splat(TINY))
}

#[cfg(test)]
mod tests {
    //! Contract: pairs end a diameter apart, on the sides they came from; forces are opposite and
    //! equal; friction sticks below μδ and slides beyond; old overlaps are undone slowly.

    use super::*;

    const LAW: Law = Law { diameter: 1.0, push: 0.1, friction: 0.5 };

    fn at(x: [f32; 3], previous: [f32; 3]) -> Moving<f32> {
        Moving { x: Vec3::splat(x), previous: Vec3::splat(previous), normal: Vec3::zero() }
    }

    #[test]
    fn a_pair_ends_a_diameter_apart() {
        let (a, b) = (at([0.6, 0.0, 0.0], [1.0, 0.0, 0.0]), at([0.0; 3], [0.0; 3]));
        let parting = LAW.part(&a, &b);
        assert!((parting.depth - 0.4).abs() < 1e-6 && (parting.way.x - 0.4).abs() < 1e-6);
        assert_eq!(LAW.part(&at([1.1, 0.0, 0.0], [1.2, 0.0, 0.0]), &b).way, Vec3::zero());
    }

    #[test]
    fn those_who_changed_sides_go_back() {
        let (a, b) = (at([-0.2, 0.0, 0.0], [1.0, 0.0, 0.0]), at([0.0; 3], [0.0; 3]));
        assert!((LAW.part(&a, &b).way.x - 1.2).abs() < 1e-6);
    }

    #[test]
    fn surfaces_that_face_each_other_find_the_way_out() {
        let up = Vec3::new(0.0, 1.0, 0.0);
        let lower = Moving { normal: up, ..at([0.0; 3], [0.0; 3]) };
        let sunk = Moving { normal: -up, ..at([0.1, -0.3, 0.0], [0.1, -0.3, 0.0]) };
        let way = LAW.part(&sunk, &lower).way;
        assert!((way.y - 0.1).abs() < 1e-6 && way.x == 0.0, "{way:?}");
    }

    #[test]
    fn an_old_overlap_is_undone_slowly() {
        let (a, b) = (at([0.5, 0.0, 0.0], [0.5, 0.0, 0.0]), at([0.0; 3], [0.0; 3]));
        assert!((LAW.part(&a, &b).way.x - 0.1).abs() < 1e-6);
        let same = at([0.0; 3], [0.0; 3]);
        assert_eq!(LAW.part(&same, &b).way, Vec3::zero());
    }

    #[test]
    fn small_slips_stick_and_large_ones_slide() {
        let b = at([0.0; 3], [0.0; 3]);
        let slipped = |slip: f32| LAW.part(&at([0.9, slip, 0.0], [1.0, 0.0, 0.0]), &b).way.y;
        assert!((slipped(0.04) + 0.04).abs() < 5e-3, "{}", slipped(0.04));
        assert!(slipped(0.4) > -0.2);
    }

    #[test]
    fn both_sides_feel_the_same_impulse() {
        let (a, b) = (at([0.5, 0.2, 0.1], [1.0, 0.0, 0.0]), at([0.1, -0.1, 0.3], [0.0, 0.1, 0.0]));
        let (there, back) = (LAW.part(&a, &b), LAW.part(&b, &a));
        assert_eq!(there.way, -back.way);
        let (first, second) = ([2.0_f32, 3.0], [0.25, 1.0]);
        let impulses = (share(first, second) / first[0], share(second, first) / second[0]);
        assert!((impulses.0 / impulses.1 - 1.0).abs() < 1e-6);
    }
}
