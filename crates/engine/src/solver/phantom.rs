//! Phantoms (paper A): particles are split into copies before a sweep and merged after it.
//!
//! Particles that follow each other and have one copy each, which in cloth is nearly all of them, go
//! several at a time.

use std::ops::Range;

use super::run::Team;
use crate::constraint::{Copies, Group, Run};
use crate::math::{Lane, MAX_WIDTH, Work};
use crate::state::{Access, Storage, View};

/// Copies the particles that the group's schedule splits: each copy starts where the particle is,
/// and all of them together weigh what it does.
pub(super) fn split<S: Storage, T: Team>(group: &Group, view: &View<S>, team: &T) {
    let copies = &group.copies;
    let own = team.share().of(copies.len());
    team.compute(Part { copies, own, view, each: Each::Split });
}

/// Puts split particles at the mean of their copies, itself among them, with their own mass again.
pub(super) fn merge<S: Storage, T: Team>(group: &Group, view: &View<S>, team: &T) {
    let copies = &group.copies;
    let own = team.share().of(copies.len());
    team.compute(Part { copies, own, view, each: Each::Merge });
}

/// What is done to each split particle.
#[derive(Clone, Copy)]
enum Each {
    Split,
    Merge,
}

/// A part of the list of split particles.
struct Part<'a, S: Storage> {
    copies: &'a Copies,
    own: Range<usize>,
    view: &'a View<S>,
    each: Each,
}

impl<S: Storage> Work for Part<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { copies, own, view, each } = self;
        let mut next = own.start;
        if L::WIDTH > 1 {
            for run in copies.runs(own.clone()) {
                each.of_all(copies, next..run.places.start, view);
                next = each.of_run::<L, S>(copies, &run, view);
            }
        }
        each.of_all(copies, next..own.end, view);
    }
}

impl Each {
    /// For particles that follow each other with one copy each, as many at a time as there are lanes.
    /// Returns the first that is left over.
    #[inline(always)]
    fn of_run<L: Lane, S: Storage>(self, copies: &Copies, run: &Run, view: &View<S>) -> usize {
        let Run { places, factor } = run;
        let (particle, copy) = (copies.ends[places.start].0 as usize, copies.start(places.start));
        let whole = places.len() - places.len() % L::WIDTH;
        for offset in (0..whole).step_by(L::WIDTH) {
            let (particle, copy) = (particle + offset, copy + offset);
            let rows = load::<L, S>(particle, view);
            match self {
                Self::Split => {
                    let light = L::times(rows, [1.0, 1.0, 1.0, *factor]);
                    store::<L, S>(light, particle, view);
                    store::<L, S>(light, copy, view);
                }
                Self::Merge => {
                    let between = L::between(load::<L, S>(copy, view), rows);
                    let mean = L::plus(rows, L::times(between, [0.5, 0.5, 0.5, 0.0]));
                    let heavy = L::times(mean, [1.0, 1.0, 1.0, 1.0 / factor]);
                    store::<L, S>(heavy, particle, view);
                }
            }
        }
        places.start + whole
    }

    /// For particles one by one.
    #[inline(always)]
    fn of_all<S: Storage>(self, copies: &Copies, places: Range<usize>, view: &View<S>) {
        for place in places {
            self.of_one(copies, place, view);
        }
    }

    /// For one particle.
    #[inline(always)]
    fn of_one<S: Storage>(self, copies: &Copies, index: usize, view: &View<S>) {
        let (particle, end) = copies.ends[index];
        let own = copies.start(index)..end as usize;
        let place = view.positions.get(particle as usize);
        let heavy = copies.inverse_masses[index];
        match self {
            Self::Split => {
                let [x, y, z, _] = place;
                let light = [x, y, z, heavy * copies.factors[index]];
                view.positions.set(particle as usize, light);
                for copy in own {
                    view.positions.set(copy, light);
                }
            }
            Self::Merge => {
                let weight = 1.0 / (own.len() + 1) as f32;
                // Differences, not places, are averaged: where nothing moved, nothing may move, and
                // the mean of equal places is rarely the same place after rounding.
                let mut sum = [0.0; 4];
                for copy in own {
                    sum = f32::plus(sum, f32::between(view.positions.get(copy), place));
                }
                let [x, y, z, _] = f32::plus(place, f32::scaled(sum, weight));
                view.positions.set(particle as usize, [x, y, z, heavy]);
            }
        }
    }
}

/// Particles that follow each other, as many as there are lanes.
#[inline(always)]
fn load<L: Lane, S: Storage>(first: usize, view: &View<S>) -> L::Rows {
    let mut rows = [[0.0; 4]; MAX_WIDTH];
    view.positions.read(first, &mut rows[..L::WIDTH]);
    L::gather(|lane| rows[lane])
}

#[inline(always)]
fn store<L: Lane, S: Storage>(rows: L::Rows, first: usize, view: &View<S>) {
    let mut kept = [[0.0; 4]; MAX_WIDTH];
    L::scatter(rows, |lane, row| kept[lane] = row);
    view.positions.write(first, &kept[..L::WIDTH]);
}
