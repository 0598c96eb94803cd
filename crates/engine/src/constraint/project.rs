//! One element is solved: from C and ∇C to moved particles.
//!
//! With J the rows ∇C, W the inverse masses and Δx = −W Jᵀ Δλ (the sign spares a negation):
//!
//! - PBD: J W Jᵀ Δλ = k C. (Paper A's equation 5 drops the masses.)
//! - XPBD: (J W Jᵀ + α̃) Δλ = C − α̃ λ, with α̃ = α/h²; λ starts at 0 in every substep.
//!
//! For an element of one row this is a division; several rows are solved as one block.
#![allow(
    clippy::needless_range_loop,
    reason = "loops over corners and rows are unrolled; iterators end up as calls"
)]

use std::ops::Range;

use super::block;
use super::{Constraint, Row};
use crate::math::{Lane, MAX_WIDTH, Vec3};
use crate::state::{Access, Bodies};

/// How elements answer to their error: by moving particles (PBD's stiffness, XPBD's compliance) or
/// by pushing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Response {
    /// PBD: softness is k, the share of the error that one sweep removes.
    Stiffness,
    /// XPBD: softness is α, the inverse stiffness.
    Compliance,
    /// A spring (`force.rs`): softness is k, its constant.
    Force,
}

/// The constants of the constraints of one group, in schedule order, and of this sweep.
#[derive(Clone, Copy, Debug)]
pub struct Sweep<'a> {
    /// Constants of the elements, a list for each.
    pub constants: &'a [Vec<f32>],
    /// k or α of the elements, a list for each row.
    pub softness: &'a [Vec<f32>],
    /// Whether `softness` is α.
    pub is_compliant: bool,
    /// Factor for every Δλ.
    pub relaxation: f32,
    /// Where the group's multipliers start (compliance only).
    pub first_multiplier: usize,
    /// 1/h², 1/s².
    pub inverse_step_squared: f32,
    /// Whether this is the first sweep of the substep, when all multipliers are 0.
    pub first: bool,
}

/// The numbers of the elements of a batch, cut out of the lists of the group.
#[derive(Clone, Copy)]
struct Batch<'a, const M: usize, const K: usize> {
    constants: [&'a [f32]; K],
    softness: [&'a [f32]; M],
    /// Where the multipliers of each row start.
    multipliers: [usize; M],
    is_compliant: bool,
    relaxation: f32,
    inverse_step_squared: f32,
    first: bool,
}

impl<'a, const M: usize, const K: usize> Batch<'a, M, K> {
    #[inline(always)]
    fn new(sweep: &Sweep<'a>, places: Range<usize>) -> Self {
        let mut batch = Self {
            constants: [&[]; K],
            softness: [&[]; M],
            multipliers: [0; M],
            is_compliant: sweep.is_compliant,
            relaxation: sweep.relaxation,
            inverse_step_squared: sweep.inverse_step_squared,
            first: sweep.first,
        };
        for constant in 0..K {
            batch.constants[constant] = &sweep.constants[constant][places.clone()];
        }
        for row in 0..M {
            let all = &sweep.softness[row];
            batch.softness[row] = &all[places.clone()];
            batch.multipliers[row] = sweep.first_multiplier + row * all.len() + places.start;
        }
        batch
    }
}

/// Solves the elements at `places` of the schedule, `L::WIDTH` at a time; they share no movable
/// particle. `SOME_FIXED` says that some may have particles that cannot move: looking costs time.
#[inline(always)]
pub(super) fn project<
    C,
    L,
    P,
    F,
    const N: usize,
    const M: usize,
    const K: usize,
    const SOME_FIXED: bool,
>(
    particles: P,
    places: Range<usize>,
    sweep: &Sweep<'_>,
    multipliers: F,
) where
    C: Constraint<N, M, K>,
    L: Lane,
    P: Bodies<[f32; 4], N>,
    F: Access<f32>,
{
    let batch = Batch::<M, K>::new(sweep, places.clone());
    let particles = particles.part(places);
    let mut first = 0;
    while first + L::WIDTH <= particles.count() {
        let own = first..first + L::WIDTH;
        first = own.end;
        let mut lanes = Lanes::<L, P, N>::load(particles, own.clone());
        if SOME_FIXED && !lanes.all_movable() {
            // Rare: one by one.
            for element in own {
                let own = element..element + 1;
                let mut one = Lanes::<f32, P, N>::load(particles, own.clone());
                one.solve::<C, F, M, K>(&batch, own, multipliers);
                one.store_movable();
            }
        } else {
            lanes.solve::<C, F, M, K>(&batch, own, multipliers);
            lanes.store();
        }
    }
    if first < particles.count() {
        let own = first..particles.count();
        let mut lanes = Lanes::<L, P, N>::load(particles, own.clone());
        lanes.solve::<C, F, M, K>(&batch, own, multipliers);
        lanes.store_movable();
    }
}

/// The particles of some elements, at most as many as there are lanes. Lanes without an element
/// repeat the last one.
///
/// Loops over corners and rows, no closures: a closure may end up as a function of its own, compiled
/// without the instructions of its caller.
#[derive(Clone, Copy)]
pub(super) struct Lanes<L, P, const N: usize> {
    pub(super) particles: P,
    pub(super) x: [Vec3<L>; N],
    pub(super) w: [L; N],
}

impl<L: Lane, P: Bodies<[f32; 4], N>, const N: usize> Lanes<L, P, N> {
    #[inline(always)]
    pub(super) fn load(particles: P, own: Range<usize>) -> Self {
        let last = own.len() - 1;
        let particles = particles.part(own);
        let mut x = [Vec3::zero(); N];
        let mut w = [L::splat(0.0); N];
        for corner in 0..N {
            let parts = L::from_quadruples(|lane| particles.get(lane.min(last), corner));
            x[corner] = Vec3::new(parts[0], parts[1], parts[2]);
            w[corner] = parts[3];
        }
        Self { particles, x, w }
    }

    /// Whether no particle is pinned.
    #[inline(always)]
    fn all_movable(&self) -> bool {
        let mut lightest = self.w[0];
        for corner in 1..N {
            lightest = lightest.min(self.w[corner]);
        }
        lightest.all_nonzero()
    }

    /// Solves the elements, which stand at `own` in the batch.
    #[inline(always)]
    fn solve<C, F, const M: usize, const K: usize>(
        &mut self,
        batch: &Batch<'_, M, K>,
        own: Range<usize>,
        multipliers: F,
    ) where
        C: Constraint<N, M, K>,
        F: Access<f32>,
    {
        let mut constants = [L::splat(0.0); K];
        for constant in 0..K {
            constants[constant] = L::load(&batch.constants[constant][own.clone()]);
        }
        let rows = C::evaluate(&self.x, &constants);
        let change = change::<C, L, F, N, M, K>(&rows, &self.w, batch, own, multipliers);
        for corner in 0..N {
            let w = self.w[corner];
            let mut push = rows[0].gradients[corner] * (w * change[0]);
            for row in 1..M {
                push = push + rows[row].gradients[corner] * (w * change[row]);
            }
            self.x[corner] = self.x[corner] - push;
        }
    }

    /// Stores all lanes.
    #[inline(always)]
    fn store(&self) {
        for corner in 0..N {
            let x = self.x[corner];
            L::into_quadruples([x.x, x.y, x.z, self.w[corner]], |lane, moved| {
                self.particles.set(lane, corner, moved);
            });
        }
    }

    /// Stores the lanes that have an element, except for pinned particles: these are shared between
    /// threads, so they are never written.
    #[inline(always)]
    fn store_movable(&self) {
        for corner in 0..N {
            let x = self.x[corner];
            L::into_quadruples([x.x, x.y, x.z, self.w[corner]], |lane, moved| {
                if lane < self.particles.count() && moved[3] != 0.0 {
                    self.particles.set(lane, corner, moved);
                }
            });
        }
    }
}

/// Δλ of every row; the sum of Δλ is kept where compliance asks for it.
#[inline(always)]
fn change<C, L, F, const N: usize, const M: usize, const K: usize>(
    rows: &[Row<L, N>; M],
    w: &[L; N],
    batch: &Batch<'_, M, K>,
    own: Range<usize>,
    multipliers: F,
) -> [L; M]
where
    C: Constraint<N, M, K>,
    L: Lane,
    F: Access<f32>,
{
    let zero = L::splat(0.0);
    let mut right = [zero; M];
    let mut compliance = [zero; M];
    let mut total = [zero; M];
    for row in 0..M {
        let softness = L::load(&batch.softness[row][own.clone()]);
        if batch.is_compliant {
            compliance[row] = softness * L::splat(batch.inverse_step_squared);
            if !batch.first {
                let mut kept = [0.0; MAX_WIDTH];
                let start = batch.multipliers[row] + own.start;
                multipliers.read(start, &mut kept[..own.len()]);
                total[row] = L::load(&kept[..own.len()]);
            }
            right[row] = rows[row].value - compliance[row] * total[row];
        } else {
            right[row] = softness * rows[row].value;
        }
    }
    let mut change = block::solve(&C::mobility(rows, w), &compliance, &right);
    for row in 0..M {
        change[row] = change[row] * L::splat(batch.relaxation);
    }
    if batch.is_compliant {
        for row in 0..M {
            let mut kept = [0.0; MAX_WIDTH];
            (total[row] + change[row]).store(&mut kept[..own.len()]);
            multipliers.write(batch.multipliers[row] + own.start, &kept[..own.len()]);
        }
    }
    change
}
