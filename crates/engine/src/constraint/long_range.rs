//! Long-range attachment (Kim, Chentanez & Müller 2012): C = max(0, |x₁ − x₂| − r).
//!
//! x₂ is a pinned particle and r the way to it along the cloth, so cloth cannot stretch further from
//! its pins than it would if it did not stretch at all, however few iterations there are. As long as
//! C = 0 the gradient is 0 too, and nothing moves. Constant: r.

use super::{Constraint, Matter, Row, TINY};
use crate::math::{Lane, Vec3};

/// A particle stays within reach of a pinned one.
#[derive(Clone, Copy, Debug)]
pub struct LongRange;

impl Constraint<2, 1, 1> for LongRange {
    fn size(rest: &[Vec3<f64>; 2]) -> f64 {
        (rest[0] - rest[1]).length()
    }

    /// Through the air: the model knows the way along the cloth and gives that instead.
    fn constants(rest: &[Vec3<f64>; 2], _: &Matter) -> [f64; 1] {
        [Self::size(rest)]
    }

    #[inline(always)]
    fn evaluate<L: Lane>(x: &[Vec3<L>; 2], &[reach]: &[L; 1]) -> [Row<L, 2>; 1] {
        let difference = x[0] - x[1];
        let length = difference.length();
        let is_beyond = reach.less(length);
        let zero = L::splat(0.0);
        let normal = difference * (L::splat(1.0) / length.max(L::splat(TINY)));
        let normal = Vec3::select(is_beyond, normal, Vec3::zero());
        let value = L::select(is_beyond, length - reach, zero);
        [Row { value, gradients: [normal, -normal] }]
    }
}
