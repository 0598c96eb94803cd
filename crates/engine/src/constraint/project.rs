//! One constraint is solved: from C and ∇C to moved particles.
//!
//! - PBD: Δλ = −k C / Σ wᵢ|∇ᵢC|². (Paper A's equation 5 drops the masses.)
//! - XPBD: α̃ = α/h², Δλ = (−C − α̃ λ) / (Σ wᵢ|∇ᵢC|² + α̃); λ starts at 0 in every substep.
//! - Both: Δxᵢ = wᵢ ∇ᵢC Δλ.

use std::ops::Range;

use super::Constraint;
use crate::math::{Lane, Vec3};
use crate::state::{Access, View};

/// How constraints answer to their error: PBD's stiffness or XPBD's compliance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// PBD: softness is k, the share of the error that one sweep removes.
    Stiffness,
    /// XPBD: softness is α, the inverse stiffness.
    Compliance,
}

/// The constants of the constraints of one group, in schedule order, and of this sweep.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'a> {
    /// Rest value of every constraint.
    pub rest: &'a [f32],
    /// k or α of every constraint.
    pub softness: &'a [f32],
    /// What `softness` means.
    pub response: Response,
    /// Where the group's multipliers start (compliance only).
    pub first_multiplier: usize,
    /// 1/h², 1/s².
    pub inverse_step_squared: f32,
    /// Whether this is the first sweep of the substep, when all multipliers are 0.
    pub first: bool,
}

/// Solves the constraints at `places` of the schedule one after another, `L::WIDTH` at a time;
/// `places` must be a multiple of that long, and its constraints share no movable particle.
#[inline(always)]
pub(super) fn project<C, L, const N: usize, V, F>(
    bodies: &[[u32; N]],
    places: Range<usize>,
    sweep: &Sweep<'_>,
    view: &View<'_, V, F>,
) where
    C: Constraint<N>,
    L: Lane,
    V: Access<[f32; 4]> + ?Sized,
    F: Access<f32> + ?Sized,
{
    for place in places.step_by(L::WIDTH) {
        let ids = &bodies[place..place + L::WIDTH];
        // Loops and no closures over the corners: see `math/wide.rs`.
        let mut x = [Vec3::zero(); N];
        let mut w = [L::splat(0.0); N];
        for corner in 0..N {
            let particle =
                L::from_quadruples(|lane| view.positions.get(ids[lane][corner] as usize));
            x[corner] = Vec3::new(particle[0], particle[1], particle[2]);
            w[corner] = particle[3];
        }
        let rest = L::load(sweep.rest, place);
        let (value, gradients) = C::evaluate(&x, rest);
        let mut denominator = L::splat(0.0);
        for corner in 0..N {
            denominator = denominator + w[corner] * gradients[corner].length_squared();
        }
        let multiplier = multiplier(value, denominator, place, sweep, view.multipliers);
        for corner in 0..N {
            let moved = x[corner] + gradients[corner] * (w[corner] * multiplier);
            let parts = [moved.x, moved.y, moved.z, w[corner]];
            let id = |lane: usize| ids[lane][corner] as usize;
            if w[corner].all_nonzero() {
                L::into_quadruples(parts, |lane, moved| view.positions.set(id(lane), moved));
            } else {
                // Pinned particles are shared between threads: they are never written.
                L::into_quadruples(parts, |lane, moved| {
                    if moved[3] != 0.0 {
                        view.positions.set(id(lane), moved);
                    }
                });
            }
        }
    }
}

/// Δλ, and the sum of Δλ kept where compliance asks for it.
#[inline(always)]
fn multiplier<L: Lane, F: Access<f32> + ?Sized>(
    value: L,
    denominator: L,
    place: usize,
    sweep: &Sweep<'_>,
    multipliers: &F,
) -> L {
    let zero = L::splat(0.0);
    let softness = L::load(sweep.softness, place);
    // Nothing can move, or the gradient vanishes: leave the constraint alone.
    let safe = |sum: L| (zero.less(sum), L::select(zero.less(sum), sum, L::splat(1.0)));
    match sweep.response {
        Response::Stiffness => {
            let (possible, sum) = safe(denominator);
            L::select(possible, -(softness * value) / sum, zero)
        }
        Response::Compliance => {
            let compliance = softness * L::splat(sweep.inverse_step_squared);
            let start = sweep.first_multiplier + place;
            let total = if sweep.first {
                zero
            } else {
                L::from_lanes(|lane| multipliers.get(start + lane))
            };
            let (_, sum) = safe(denominator + compliance);
            let possible = zero.less(denominator);
            let change = L::select(possible, (-value - compliance * total) / sum, zero);
            let total = total + change;
            for lane in 0..L::WIDTH {
                multipliers.set(start + lane, total.lane(lane));
            }
            change
        }
    }
}
