//! Distance: C = |x₁ − x₂| − d, with d the rest length.
//!
//! ∇₁C = n, ∇₂C = −n, n = (x₁ − x₂) / |x₁ − x₂|. (Paper A's equation 2 prints d².)
//! Serves stretch (edges), distance bending (the far corners of two triangles, paper B's EBC) and
//! attachments (d = 0).

use super::{Constraint, Matter, Row, TINY};
use crate::math::{Lane, Vec3};

/// Two particles keep their distance.
#[derive(Clone, Copy, Debug)]
pub struct Distance;

impl Constraint<2, 1, 1> for Distance {
    fn size(rest: &[Vec3<f64>; 2]) -> f64 {
        (rest[0] - rest[1]).length()
    }

    fn constants(rest: &[Vec3<f64>; 2], _: &Matter) -> [f64; 1] {
        [Self::size(rest)]
    }

    #[inline(always)]
    fn evaluate<L: Lane>(x: &[Vec3<L>; 2], &[rest]: &[L; 1]) -> [Row<L, 2>; 1] {
        let difference = x[0] - x[1];
        let length = difference.length();
        // Two particles in one place have no direction: the gradient vanishes, nothing moves.
        let normal = difference * (L::splat(1.0) / length.max(L::splat(TINY)));
        [Row { value: length - rest, gradients: [normal, -normal] }]
    }

    /// The gradients are unit vectors.
    #[inline(always)]
    fn mobility<L: Lane>(_: &[Row<L, 2>; 1], w: &[L; 2]) -> [[L; 1]; 1] {
        [[w[0] + w[1]]]
    }
}
