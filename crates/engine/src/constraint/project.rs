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

use std::marker::PhantomData;
use std::ops::Range;

use super::ahead::Spread;
use super::softness::{self, Softness};
use super::{Constraint, Row, block};
use crate::math::{Lane, MAX_WIDTH, Vec3, in_row};
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
    /// k or α of the elements.
    pub softness: &'a Softness,
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
    /// What is fetched meanwhile.
    pub ahead: Option<Spread<'a>>,
    /// Whether the first particles of the elements at hand ascend.
    pub is_ascending: bool,
}

/// The numbers of the elements of a batch, cut out of the lists of the group.
#[derive(Clone, Copy)]
pub(super) struct Batch<'a, const M: usize, const K: usize> {
    pub(super) constants: [&'a [f32]; K],
    pub(super) softness: softness::Part<'a, M>,
    /// Where the multipliers of each row start.
    multipliers: [usize; M],
    pub(super) is_compliant: bool,
    pub(super) relaxation: f32,
    pub(super) inverse_step_squared: f32,
    first: bool,
}

impl<'a, const M: usize, const K: usize> Batch<'a, M, K> {
    #[inline(always)]
    fn new(sweep: &Sweep<'a>, places: Range<usize>) -> Self {
        let mut batch = Self {
            constants: [&[]; K],
            softness: sweep.softness.part(places.clone()),
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
            let elements = sweep.constants[0].len();
            batch.multipliers[row] = sweep.first_multiplier + row * elements + places.start;
        }
        batch
    }

    /// λ of a row so far.
    #[inline(always)]
    pub(super) fn total<L: Lane, F: Access<f32>>(
        &self,
        row: usize,
        own: Range<usize>,
        multipliers: F,
    ) -> L {
        if self.first {
            return L::splat(0.0);
        }
        let mut kept = [0.0; MAX_WIDTH];
        multipliers.read(self.multipliers[row] + own.start, &mut kept[..own.len()]);
        L::load(&kept[..own.len()])
    }

    /// Keeps λ of a row for the next sweep.
    #[inline(always)]
    pub(super) fn keep_total<L: Lane, F: Access<f32>>(
        &self,
        row: usize,
        own: Range<usize>,
        total: L,
        multipliers: F,
    ) {
        let mut kept = [0.0; MAX_WIDTH];
        total.store(&mut kept[..own.len()]);
        multipliers.write(self.multipliers[row] + own.start, &kept[..own.len()]);
    }
}

/// A way to solve a few elements of a batch.
pub(super) trait Solve<const N: usize, const M: usize, const K: usize> {
    /// Solves the elements that stand at `own` in the batch, at most as many as there are lanes. `FULL`
    /// says that every lane has an element, `MOVABLE` that no particle is pinned.
    fn solve<
        L: Lane,
        P: Bodies<[f32; 4], N>,
        F: Access<f32>,
        const FULL: bool,
        const MOVABLE: bool,
    >(
        particles: P,
        own: Range<usize>,
        batch: &Batch<'_, M, K>,
        multipliers: F,
    );

    /// Whether [`solve_two`](Self::solve_two) is any better.
    const IN_TWOS: bool = false;

    /// Solves twice as many elements as there are lanes, all of them movable. A way that is one long
    /// chain of operations lets two chains go side by side here, because a processor looks only some
    /// hundred instructions ahead.
    #[inline(always)]
    fn solve_two<L: Lane, P: Bodies<[f32; 4], N>, F: Access<f32>>(
        particles: P,
        own: Range<usize>,
        batch: &Batch<'_, M, K>,
        multipliers: F,
    ) {
        for first in own.step_by(L::WIDTH) {
            let half = first..first + L::WIDTH;
            Self::solve::<L, P, F, true, true>(particles, half, batch, multipliers);
        }
    }
}

/// Solves the elements at `places` of the schedule, `L::WIDTH` at a time; they share no movable
/// particle. `SOME_FIXED` says that some may have particles that cannot move: looking costs time.
#[inline(always)]
pub(super) fn project<
    W,
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
    W: Solve<N, M, K>,
    L: Lane,
    P: Bodies<[f32; 4], N>,
    F: Access<f32>,
{
    let batch = Batch::<M, K>::new(sweep, places.clone());
    let particles = particles.part(places);
    let fetch = |first: usize, width: usize| {
        if let Some(spread) = &sweep.ahead {
            spread.fetch(particles, &batch.constants, first, width);
        }
    };
    let mut first = 0;
    while W::IN_TWOS && first + 2 * L::WIDTH <= particles.count() {
        let own = first..first + 2 * L::WIDTH;
        if SOME_FIXED && !all_movable(particles, own.clone()) {
            break;
        }
        first = own.end;
        fetch(own.start, 2 * L::WIDTH);
        W::solve_two::<L, P, F>(particles, own, &batch, multipliers);
    }
    while first + L::WIDTH <= particles.count() {
        let own = first..first + L::WIDTH;
        first = own.end;
        fetch(own.start, L::WIDTH);
        if SOME_FIXED && !all_movable(particles, own.clone()) {
            W::solve::<L, P, F, false, false>(particles, own, &batch, multipliers);
        } else {
            W::solve::<L, P, F, true, true>(particles, own, &batch, multipliers);
        }
    }
    let rest = first..particles.count();
    if rest.is_empty() {
        return;
    }
    fetch(rest.start, L::WIDTH);
    let is_half = L::Half::WIDTH < L::WIDTH && rest.len() <= L::Half::WIDTH;
    match (is_half, SOME_FIXED) {
        (true, true) => {
            W::solve::<L::Half, P, F, false, false>(particles, rest, &batch, multipliers);
        }
        (true, false) => {
            W::solve::<L::Half, P, F, false, true>(particles, rest, &batch, multipliers);
        }
        (false, true) => W::solve::<L, P, F, false, false>(particles, rest, &batch, multipliers),
        (false, false) => W::solve::<L, P, F, false, true>(particles, rest, &batch, multipliers),
    }
}

/// Whether no particle of some elements is pinned.
#[inline(always)]
fn all_movable<P: Bodies<[f32; 4], N>, const N: usize>(particles: P, own: Range<usize>) -> bool {
    let mut all = true;
    for element in own {
        for corner in 0..N {
            all &= particles.get(element, corner)[3] != 0.0;
        }
    }
    all
}

/// The way for every kind: by the rows of C and ∇C.
pub(super) struct ByRows<C>(PhantomData<C>);

impl<C, const N: usize, const M: usize, const K: usize> Solve<N, M, K> for ByRows<C>
where
    C: Constraint<N, M, K>,
{
    #[inline(always)]
    fn solve<
        L: Lane,
        P: Bodies<[f32; 4], N>,
        F: Access<f32>,
        const FULL: bool,
        const MOVABLE: bool,
    >(
        particles: P,
        own: Range<usize>,
        batch: &Batch<'_, M, K>,
        multipliers: F,
    ) {
        let mut lanes = Lanes::<L, P, N>::load::<FULL>(particles.part(own.clone()));
        lanes.solve::<C, F, M, K>(batch, own, multipliers);
        lanes.store::<FULL, MOVABLE>();
    }
}

/// Loads one particle of each element. Unless it is `FULL`, lanes without an element repeat the last.
#[inline(always)]
pub(super) fn gather<L: Lane, P: Bodies<[f32; 4], N>, const N: usize, const FULL: bool>(
    particles: P,
    corner: usize,
) -> L::Rows {
    if FULL {
        // Tells the compiler, which then spares a check for every lane.
        assert!(particles.count() == L::WIDTH);
        L::gather(|lane| particles.get(lane, corner))
    } else {
        let last = particles.count() - 1;
        L::gather(|lane| particles.get(lane.min(last), corner))
    }
}

/// Stores one particle of each element. Unless it is `FULL`, lanes without an element store what the last one
/// does once more. Unless all are `MOVABLE`, pinned particles are left out: these are shared between threads,
/// so they are never written.
#[inline(always)]
pub(super) fn store<
    L: Lane,
    P: Bodies<[f32; 4], N>,
    const N: usize,
    const FULL: bool,
    const MOVABLE: bool,
>(
    rows: L::Rows,
    particles: P,
    corner: usize,
) {
    let last = particles.count() - 1;
    L::scatter(rows, |lane, moved| {
        if MOVABLE || moved[3] != 0.0 {
            particles.set(if FULL { lane } else { lane.min(last) }, corner, moved);
        }
    });
}

/// Loads the first particles of as many elements as there are lanes, if they are a row, and the second ones with
/// them, in the order of [`in_row`].
#[inline(always)]
pub(super) fn load_row<L: Lane, P: Bodies<[f32; 4], 2>>(particles: P) -> [L::Rows; 2] {
    assert!(particles.count() == L::WIDTH);
    let mut row = [[0.0; 4]; MAX_WIDTH];
    particles.read_row(&mut row[..L::WIDTH]);
    let first = L::gather(|lane| row[in_row::<L>(lane)]);
    [first, L::gather(|lane| particles.get(in_row::<L>(lane), 1))]
}

/// The way back.
#[inline(always)]
pub(super) fn store_row<L: Lane, P: Bodies<[f32; 4], 2>>([a, b]: [L::Rows; 2], particles: P) {
    assert!(particles.count() == L::WIDTH);
    let mut row = [[0.0; 4]; MAX_WIDTH];
    L::scatter(a, |lane, moved| row[in_row::<L>(lane)] = moved);
    particles.write_row(&row[..L::WIDTH]);
    L::scatter(b, |lane, moved| particles.set(in_row::<L>(lane), 1, moved));
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
    pub(super) fn load<const FULL: bool>(particles: P) -> Self {
        let mut x = [Vec3::zero(); N];
        let mut w = [L::splat(0.0); N];
        for corner in 0..N {
            let parts = L::columns(gather::<L, P, N, FULL>(particles, corner));
            x[corner] = Vec3::new(parts[0], parts[1], parts[2]);
            w[corner] = parts[3];
        }
        Self { particles, x, w }
    }

    #[inline(always)]
    pub(super) fn store<const FULL: bool, const MOVABLE: bool>(&self) {
        for corner in 0..N {
            let Vec3 { x, y, z } = self.x[corner];
            let rows = L::rows([x, y, z, self.w[corner]]);
            store::<L, P, N, FULL, MOVABLE>(rows, self.particles, corner);
        }
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
        let softness = batch.softness.load::<L>(row, own.clone());
        if batch.is_compliant {
            compliance[row] = softness * L::splat(batch.inverse_step_squared);
            total[row] = batch.total(row, own.clone(), multipliers);
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
            batch.keep_total(row, own.clone(), total[row] + change[row], multipliers);
        }
    }
    change
}
