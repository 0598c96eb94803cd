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
        let particles: [[L; 4]; N] = std::array::from_fn(|corner| {
            L::from_quadruples(|lane| view.positions.get(bodies[place + lane][corner] as usize))
        });
        let x = particles.map(|[x, y, z, _]| Vec3::new(x, y, z));
        let w = particles.map(|[_, _, _, w]| w);
        let rest = L::from_lanes(|lane| sweep.rest[place + lane]);
        let (value, gradients) = C::evaluate(&x, rest);
        let mut denominator = L::splat(0.0);
        for corner in 0..N {
            denominator = denominator + w[corner] * gradients[corner].length_squared();
        }
        let multiplier = multiplier(value, denominator, place, sweep, view.multipliers);
        for corner in 0..N {
            let moved = x[corner] + gradients[corner] * (w[corner] * multiplier);
            for lane in 0..L::WIDTH {
                let w = w[corner].lane(lane);
                // Pinned particles are shared between threads: they are never written.
                if w != 0.0 {
                    let place = bodies[place + lane][corner] as usize;
                    let moved = [moved.x.lane(lane), moved.y.lane(lane), moved.z.lane(lane), w];
                    view.positions.set(place, moved);
                }
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
    let softness = L::from_lanes(|lane| sweep.softness[place + lane]);
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
