//! Phantoms (paper A): particles are split into copies before a sweep and merged after it.
//!
//! Particles that have as many copies go several at a time.

use std::ops::Range;

use super::run::Team;
use crate::constraint::{Copies, Run};
use crate::math::{Lane, MAX_WIDTH, Work, in_row};
use crate::state::{Access, Storage, View};

/// What is done to split particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyPass {
    /// Copies start where the particle is, and all of them together weigh what it does.
    Split,
    /// Particles are put at the mean of their copies, themselves among them, with their own mass again.
    Merge,
    /// Particles and copies are put at their mean, so that they can go through the next sweep: the same as
    /// merging and splitting, with a third fewer ways to memory.
    Renew,
}

/// Splits or merges this worker's share of the particles that are no tile's own.
pub(super) fn copy<S: Storage, T: Team>(copies: &Copies, pass: CopyPass, view: &View<S>, team: &T) {
    for round in copies.rounds() {
        let own = team.share().of(round.len());
        copy_some(copies, round.start + own.start..round.start + own.end, pass, view, team);
    }
}

/// Splits or merges some of the split particles.
pub(super) fn copy_some<S: Storage, T: Team>(
    copies: &Copies,
    places: Range<usize>,
    pass: CopyPass,
    view: &View<S>,
    team: &T,
) {
    team.compute(Part { copies, places, view, pass });
}

/// A part of the list of split particles.
struct Part<'a, S: Storage> {
    copies: &'a Copies,
    places: Range<usize>,
    view: &'a View<S>,
    pass: CopyPass,
}

impl<S: Storage> Work for Part<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { copies, places, view, pass } = self;
        match pass {
            CopyPass::Split => Splitting::of::<L, S>(copies, places, view),
            CopyPass::Merge => Merging::of::<L, S>(copies, places, view),
            CopyPass::Renew => Renewing::of::<L, S>(copies, places, view),
        }
    }
}

impl CopyPass {
    /// The pass's name in tables and traces.
    pub fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Merge => "merge",
            Self::Renew => "renew",
        }
    }
}

struct Splitting;
struct Merging;
struct Renewing;

impl Pass for Splitting {
    const PASS: CopyPass = CopyPass::Split;
}
impl Pass for Merging {
    const PASS: CopyPass = CopyPass::Merge;
}
impl Pass for Renewing {
    const PASS: CopyPass = CopyPass::Renew;
}

/// A pass that is known to the compiler, so that loops do not ask which one it is.
trait Pass {
    const PASS: CopyPass;

    /// For a part of the list of split particles.
    #[inline(always)]
    fn of<L: Lane, S: Storage>(copies: &Copies, places: Range<usize>, view: &View<S>) {
        let mut next = places.start;
        if L::WIDTH > 1 {
            for run in copies.runs(places.clone()) {
                Self::of_all(copies, next..run.places.start, view);
                next = Self::of_run::<L, S>(copies, &run, view);
            }
        }
        Self::of_all(copies, next..places.end, view);
    }

    /// For particles with as many copies each, as many at a time as there are lanes. Returns the first that
    /// is left over.
    #[inline(always)]
    fn of_run<L: Lane, S: Storage>(copies: &Copies, run: &Run, view: &View<S>) -> usize {
        let whole = run.places.end - run.places.len() % L::WIDTH;
        let mut first_copy = copies.start(run.places.start);
        for place in (run.places.start..whole).step_by(L::WIDTH) {
            let ids = &copies.ends[place..place + L::WIDTH];
            let (first, last) = (ids[0].0 as usize, ids[L::WIDTH - 1].0 as usize);
            let is_row = last == first + L::WIDTH - 1;
            // Most have one copy, and most are in a row (ids ascend): cases that the compiler knows.
            if run.copies == 1 && is_row {
                let own = Own { first: first_copy, count: 1 };
                Self::of_lanes::<L, S>(Who::Row(first), &own, copies, place, run, view);
            } else if run.copies == 1 {
                let own = Own { first: first_copy, count: 1 };
                Self::of_lanes::<L, S>(Who::Ids(ids), &own, copies, place, run, view);
            } else {
                let own = Own { first: first_copy, count: run.copies };
                Self::of_lanes::<L, S>(Who::Ids(ids), &own, copies, place, run, view);
            }
            first_copy += run.copies * L::WIDTH;
        }
        whole
    }

    /// For as many particles of a run as there are lanes, from a place on.
    #[inline(always)]
    fn of_lanes<L: Lane, S: Storage>(
        who: Who<'_>,
        own: &Own,
        copies: &Copies,
        place: usize,
        run: &Run,
        view: &View<S>,
    ) {
        let rows = who.load::<L, S>(view);
        match Self::PASS {
            CopyPass::Split => {
                let light = L::times(rows, [1.0, 1.0, 1.0, run.factor]);
                who.store::<L, S>(light, view);
                own.store::<L, S>(light, view);
            }
            CopyPass::Renew => {
                let mean = own.mean::<L, S>(rows, view);
                who.store::<L, S>(mean, view);
                own.store::<L, S>(mean, view);
            }
            CopyPass::Merge => {
                let heavy = &copies.inverse_masses[place..place + L::WIDTH];
                let mean = own.mean::<L, S>(rows, view);
                who.store::<L, S>(with_fourths::<L>(mean, heavy), view);
            }
        }
    }

    /// For particles one by one.
    #[inline(always)]
    fn of_all<S: Storage>(copies: &Copies, places: Range<usize>, view: &View<S>) {
        for place in places {
            Self::of_one(copies, place, view);
        }
    }

    /// For one particle.
    #[inline(always)]
    fn of_one<S: Storage>(copies: &Copies, index: usize, view: &View<S>) {
        let (particle, end) = copies.ends[index];
        let own = copies.start(index)..end as usize;
        let place = view.positions.get(particle as usize);
        let [x, y, z, light] = match Self::PASS {
            CopyPass::Split => place,
            CopyPass::Merge | CopyPass::Renew => mean(place, own.clone(), view),
        };
        let heavy = copies.inverse_masses[index];
        let w = match Self::PASS {
            CopyPass::Split => heavy * copies.factors[index],
            CopyPass::Merge => heavy,
            CopyPass::Renew => light,
        };
        let moved = [x, y, z, w];
        view.positions.set(particle as usize, moved);
        if Self::PASS != CopyPass::Merge {
            for copy in own {
                view.positions.set(copy, moved);
            }
        }
    }
}

/// The mean of a particle and its copies, with the particle's inverse mass.
#[inline(always)]
fn mean<S: Storage>(place: [f32; 4], own: Range<usize>, view: &View<S>) -> [f32; 4] {
    let weight = 1.0 / (own.len() + 1) as f32;
    // Differences, not places, are averaged: where nothing moved, nothing may move, and the mean of equal
    // places is rarely the same place after rounding.
    let mut sum = f32::between(view.positions.get(own.start), place);
    for copy in own.skip(1) {
        sum = f32::plus(sum, f32::between(view.positions.get(copy), place));
    }
    f32::plus(place, f32::scaled(sum, weight))
}

/// The copies of several particles that have `count` each, one particle's after another's.
struct Own {
    first: usize,
    count: usize,
}

impl Own {
    /// The means of the particles and their copies, with the particles' inverse masses.
    #[inline(always)]
    fn mean<L: Lane, S: Storage>(&self, places: L::Rows, view: &View<S>) -> L::Rows {
        let weight = 1.0 / (self.count + 1) as f32;
        let mut sum = L::between(self.load::<L, S>(0, view), places);
        for copy in 1..self.count {
            sum = L::plus(sum, L::between(self.load::<L, S>(copy, view), places));
        }
        L::plus(places, L::times(sum, [weight, weight, weight, 0.0]))
    }

    /// One copy of each particle.
    #[inline(always)]
    fn load<L: Lane, S: Storage>(&self, copy: usize, view: &View<S>) -> L::Rows {
        if self.count == 1 {
            return load_row::<L, S>(self.first, view);
        }
        L::gather(|lane| view.positions.get(self.first + self.count * in_row::<L>(lane) + copy))
    }

    /// All copies of each particle go where it is.
    #[inline(always)]
    fn store<L: Lane, S: Storage>(&self, rows: L::Rows, view: &View<S>) {
        if self.count == 1 {
            return store_row::<L, S>(rows, self.first, view);
        }
        L::scatter(rows, |lane, row| {
            for copy in 0..self.count {
                view.positions.set(self.first + self.count * in_row::<L>(lane) + copy, row);
            }
        });
    }
}

/// As many particles as there are lanes.
#[derive(Clone, Copy)]
enum Who<'a> {
    /// They follow each other in memory.
    Row(usize),
    /// Their ids come first in these pairs.
    Ids(&'a [(u32, u32)]),
}

impl Who<'_> {
    #[inline(always)]
    fn load<L: Lane, S: Storage>(self, view: &View<S>) -> L::Rows {
        match self {
            Self::Row(first) => load_row::<L, S>(first, view),
            Self::Ids(ids) => {
                L::gather(|lane| view.positions.get(ids[in_row::<L>(lane)].0 as usize))
            }
        }
    }

    #[inline(always)]
    fn store<L: Lane, S: Storage>(self, rows: L::Rows, view: &View<S>) {
        match self {
            Self::Row(first) => store_row::<L, S>(rows, first, view),
            Self::Ids(ids) => L::scatter(rows, |lane, row| {
                view.positions.set(ids[in_row::<L>(lane)].0 as usize, row);
            }),
        }
    }
}

/// Rows with other fourth numbers.
#[inline(always)]
fn with_fourths<L: Lane>(rows: L::Rows, fourths: &[f32]) -> L::Rows {
    let mut all = [[0.0; 4]; MAX_WIDTH];
    L::scatter(rows, |lane, [x, y, z, _]| all[lane] = [x, y, z, fourths[in_row::<L>(lane)]]);
    L::gather(|lane| all[lane])
}

/// Particles that follow each other in memory.
#[inline(always)]
fn load_row<L: Lane, S: Storage>(first: usize, view: &View<S>) -> L::Rows {
    let mut rows = [[0.0; 4]; MAX_WIDTH];
    view.positions.read(first, &mut rows[..L::WIDTH]);
    L::gather(|lane| rows[in_row::<L>(lane)])
}

/// The way back.
#[inline(always)]
fn store_row<L: Lane, S: Storage>(rows: L::Rows, first: usize, view: &View<S>) {
    let mut kept = [[0.0; 4]; MAX_WIDTH];
    L::scatter(rows, |lane, row| kept[in_row::<L>(lane)] = row);
    view.positions.write(first, &kept[..L::WIDTH]);
}
