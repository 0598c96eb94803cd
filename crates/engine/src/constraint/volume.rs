//! Tetrahedral volume: C = (p₂₁ × p₃₁)·p₄₁ / 6 − V₀, with pᵢⱼ = xᵢ − xⱼ.
//!
//! ∇₂ = (p₃₁ × p₄₁)/6, ∇₃ = (p₄₁ × p₂₁)/6, ∇₄ = (p₂₁ × p₃₁)/6, ∇₁ = −(∇₂ + ∇₃ + ∇₄).
//! (Paper C's equations 8 to 11 print them permuted.)

use super::in_turn::Member;
use super::{Constraint, Matter, Row};
use crate::math::{Lane, Vec3};

/// A tetrahedron keeps its volume.
#[derive(Clone, Copy, Debug)]
pub struct Volume;

impl Constraint<4, 1, 1> for Volume {
    fn size(rest: &[Vec3<f64>; 4]) -> f64 {
        Self::evaluate(rest, &[0.0])[0].value
    }

    fn constants(rest: &[Vec3<f64>; 4], _: &Matter) -> [f64; 1] {
        [Self::size(rest)]
    }

    #[inline(always)]
    fn evaluate<L: Lane>(x: &[Vec3<L>; 4], &[rest]: &[L; 1]) -> [Row<L, 4>; 1] {
        let sixth = L::splat(1.0 / 6.0);
        let (p2, p3, p4) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let g2 = p3.cross(p4) * sixth;
        let g3 = p4.cross(p2) * sixth;
        let g4 = p2.cross(p3) * sixth;
        [Row { value: g4.dot(p4) - rest, gradients: [-(g2 + g3 + g4), g2, g3, g4] }]
    }
}

impl Member<4> for Volume {
    #[inline(always)]
    fn scaled<L: Lane>(x: &[Vec3<L>; 4], rest: L) -> (L, Row<L, 4>) {
        let [row] = Self::evaluate(x, &[rest]);
        (L::splat(1.0), row)
    }
}
