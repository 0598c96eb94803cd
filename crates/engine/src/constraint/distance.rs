//! Distance: C = |x₁ − x₂| − d, with d the rest length.
//!
//! ∇₁C = n, ∇₂C = −n, n = (x₁ − x₂) / |x₁ − x₂|. (Paper A's equation 2 prints d².)
//! Serves stretch (edges), distance bending (the far corners of two triangles, paper B's EBC) and
//! attachments (d = 0).

use std::ops::Range;

use super::in_turn::Member;
use super::project::{self, Batch, Solve};
use super::{Constraint, Matter, Row, Sweep, TINY};
use crate::math::{Lane, Vec3};
use crate::state::{Access, Bodies};

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

    #[inline(always)]
    fn project<L, P, F, const SOME_FIXED: bool>(
        particles: P,
        places: Range<usize>,
        sweep: &Sweep<'_>,
        multipliers: F,
    ) where
        L: Lane,
        P: Bodies<[f32; 4], 2>,
        F: Access<f32>,
    {
        // A branch inside would keep the compiler from using registers well.
        match (sweep.is_compliant, sweep.is_ascending && L::WIDTH > 1) {
            (true, true) => {
                along::<true, true, L, P, F, SOME_FIXED>(particles, places, sweep, multipliers);
            }
            (true, false) => {
                along::<true, false, L, P, F, SOME_FIXED>(particles, places, sweep, multipliers);
            }
            (false, true) => {
                along::<false, true, L, P, F, SOME_FIXED>(particles, places, sweep, multipliers);
            }
            (false, false) => {
                along::<false, false, L, P, F, SOME_FIXED>(particles, places, sweep, multipliers);
            }
        }
    }
}

#[inline(always)]
fn along<const COMPLIANT: bool, const ASCENDING: bool, L, P, F, const SOME_FIXED: bool>(
    particles: P,
    places: Range<usize>,
    sweep: &Sweep<'_>,
    multipliers: F,
) where
    L: Lane,
    P: Bodies<[f32; 4], 2>,
    F: Access<f32>,
{
    project::project::<Along<COMPLIANT, ASCENDING>, L, P, F, 2, 1, 1, SOME_FIXED>(
        particles,
        places,
        sweep,
        multipliers,
    );
}

impl Member<2> for Distance {
    #[inline(always)]
    fn scaled<L: Lane>(x: &[Vec3<L>; 2], rest: L) -> (L, Row<L, 2>) {
        let difference = x[0] - x[1];
        let length = difference.length();
        (length, Row { value: length - rest, gradients: [difference, -difference] })
    }
}

/// A shorter way, because distances are what scenes have most of, and their time goes into moving
/// numbers rather than into computing with them. Both particles move along their difference d, by
/// w s d, with s = Δλ / |d|. So only d is sorted by component, and s is spread over the particles as
/// they came from memory: a third fewer instructions than by rows, and one division instead of two.
///
/// Where the first particles of elements are a row in memory, as with phantoms, whole registers are loaded and
/// stored, and lanes take the elements in the order in which those hold particles: half as many ways to memory.
struct Along<const COMPLIANT: bool, const ASCENDING: bool>;

impl<const COMPLIANT: bool, const ASCENDING: bool> Solve<2, 1, 1> for Along<COMPLIANT, ASCENDING> {
    #[inline(always)]
    fn solve<
        L: Lane,
        P: Bodies<[f32; 4], 2>,
        F: Access<f32>,
        const FULL: bool,
        const MOVABLE: bool,
    >(
        particles: P,
        own: Range<usize>,
        batch: &Batch<'_, 1, 1>,
        multipliers: F,
    ) {
        let ends = particles.part(own.clone());
        if ASCENDING && FULL && MOVABLE && ends.is_row() {
            let both = project::load_row::<L, P>(ends);
            let both = moved::<L, F, COMPLIANT, true>(both, own, batch, multipliers);
            project::store_row::<L, P>(both, ends);
        } else {
            let a = project::gather::<L, P, 2, FULL>(ends, 0);
            let b = project::gather::<L, P, 2, FULL>(ends, 1);
            let [a, b] = moved::<L, F, COMPLIANT, false>([a, b], own, batch, multipliers);
            project::store::<L, P, 2, FULL, MOVABLE>(a, ends, 0);
            project::store::<L, P, 2, FULL, MOVABLE>(b, ends, 1);
        }
    }
}

/// Where both particles of the elements at `own` go. `DEALT` says that lanes have them in the order of a row.
#[inline(always)]
fn moved<L: Lane, F: Access<f32>, const COMPLIANT: bool, const DEALT: bool>(
    [a, b]: [L::Rows; 2],
    own: Range<usize>,
    batch: &Batch<'_, 1, 1>,
    multipliers: F,
) -> [L::Rows; 2] {
    let to_lanes = |numbers: L| if DEALT { numbers.dealt() } else { numbers };
    let difference = L::between(a, b);
    let [x, y, z, mobility] = L::columns(difference);
    let length = Vec3::new(x, y, z).length();
    let error = length - to_lanes(L::load(&batch.constants[0][own.clone()]));
    let softness = to_lanes(batch.softness.load::<L>(0, own.clone()));
    let relaxation = L::splat(batch.relaxation);
    // Two particles in one place have no direction: d vanishes, nothing moves.
    let tiny = L::splat(TINY);
    let share = if COMPLIANT {
        let compliance = softness * L::splat(batch.inverse_step_squared);
        let total = to_lanes(batch.total(0, own.clone(), multipliers));
        let right = relaxation * (error - compliance * total);
        let share = right / ((mobility + compliance) * length).max(tiny);
        let sum = total + share * length;
        batch.keep_total(0, own, if DEALT { sum.collected() } else { sum }, multipliers);
        share
    } else {
        relaxation * softness * error / (mobility * length).max(tiny)
    };
    let way = L::scaled(difference, share);
    [L::pulled(a, way), L::pushed(b, way)]
}
