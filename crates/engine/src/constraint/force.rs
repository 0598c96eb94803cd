//! Elements as springs (paper B's EF on edges, TF on triangles, TBF on pairs of triangles):
//! f = −(k C + d Ċ) ∇C, with Ċ = Σ ∇ᵢC · vᵢ.
//!
//! Forces act on velocities, v ← v + h w f, before particles move on with them: symplectic Euler. It
//! keeps energy for a long time but is stable only for steps h < 2/ω, ω² the largest eigenvalue of
//! −W ∂f/∂x: 4 k/m in a chain of springs k between masses m. Positions are only read. Damping sees
//! the velocities that the elements before have left, as in a Gauss–Seidel sweep.
#![allow(
    clippy::needless_range_loop,
    reason = "loops over corners and rows are unrolled; iterators end up as calls"
)]

use std::ops::Range;

use super::project::Lanes;
use super::{Constraint, Softness};
use crate::math::{Lane, Vec3};
use crate::state::Bodies;

/// The springs of one group, in schedule order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Springs<'a> {
    /// Constants of the elements, a list for each.
    pub(super) constants: &'a [Vec<f32>],
    /// k of the elements.
    pub(super) stiffness: &'a Softness,
    /// d of the elements.
    pub(super) damping: &'a [f32],
    /// h, s.
    pub(super) step: f32,
}

/// Lets the elements at `places` of the schedule push, `L::WIDTH` at a time; they share no movable
/// particle.
#[inline(always)]
pub(super) fn push<C, L, P, const N: usize, const M: usize, const K: usize>(
    positions: P,
    velocities: P,
    places: Range<usize>,
    springs: &Springs<'_>,
) where
    C: Constraint<N, M, K>,
    L: Lane,
    P: Bodies<[f32; 4], N>,
{
    for first in places.clone().step_by(L::WIDTH) {
        let own = first..(first + L::WIDTH).min(places.end);
        let at = Lanes::<L, P, N>::load::<false>(positions.part(own.clone()));
        let mut moving = Lanes::<L, P, N>::load::<false>(velocities.part(own.clone()));
        accelerate::<C, L, N, M, K>(&at.x, &at.w, &mut moving.x, springs, own);
        for corner in 0..N {
            let Vec3 { x, y, z } = moving.x[corner];
            // The inverse mass comes along to tell who may be written.
            L::into_quadruples([x, y, z, at.w[corner]], |lane, [x, y, z, w]| {
                if lane < moving.particles.count() && w != 0.0 {
                    moving.particles.set(lane, corner, [x, y, z, 0.0]);
                }
            });
        }
    }
}

/// v ← v + h w f.
#[inline(always)]
fn accelerate<C, L, const N: usize, const M: usize, const K: usize>(
    x: &[Vec3<L>; N],
    w: &[L; N],
    v: &mut [Vec3<L>; N],
    springs: &Springs<'_>,
    own: Range<usize>,
) where
    C: Constraint<N, M, K>,
    L: Lane,
{
    let mut constants = [L::splat(0.0); K];
    for constant in 0..K {
        constants[constant] = L::load(&springs.constants[constant][own.clone()]);
    }
    let damping = L::load(&springs.damping[own.clone()]);
    let softness = springs.stiffness.part::<M>(0..springs.damping.len());
    let rows = C::evaluate(x, &constants);
    let mut impulses = [L::splat(0.0); M];
    for row in 0..M {
        let stiffness = softness.load::<L>(row, own.clone());
        let mut rate = rows[row].gradients[0].dot(v[0]);
        for corner in 1..N {
            rate = rate + rows[row].gradients[corner].dot(v[corner]);
        }
        let force = stiffness * rows[row].value + damping * rate;
        impulses[row] = -(force * L::splat(springs.step));
    }
    for row in 0..M {
        for corner in 0..N {
            v[corner] = v[corner] + rows[row].gradients[corner] * (w[corner] * impulses[row]);
        }
    }
}
