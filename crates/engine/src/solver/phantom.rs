//! Phantoms (paper A): particles are split into copies before a sweep and merged after it.
//!
//! Particles that follow each other and have one copy each, which in cloth is nearly all of them, go
//! several at a time.

use std::ops::Range;

use super::run::Team;
use crate::constraint::{Copies, Group};
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
        let mut first = own.start;
        while first < own.end {
            if L::WIDTH > 1 && first + L::WIDTH <= own.end && copies.is_run(first, L::WIDTH) {
                each.of_run::<L, S>(copies, first, view);
                first += L::WIDTH;
            } else {
                each.of_one(copies, first, view);
                first += 1;
            }
        }
    }
}

impl Each {
    /// For particles that follow each other, as many as there are lanes, with one copy each.
    #[inline(always)]
    fn of_run<L: Lane, S: Storage>(self, copies: &Copies, first: usize, view: &View<S>) {
        let (particle, copy) = (copies.ends[first].0 as usize, copies.start(first));
        let rows = load::<L, S>(particle, view);
        let heavy = L::load(&copies.inverse_masses[first..first + L::WIDTH]);
        match self {
            Self::Split => {
                let factors = L::load(&copies.factors[first..first + L::WIDTH]);
                let light = L::with_fourth(rows, heavy * factors);
                store::<L, S>(light, particle, view);
                store::<L, S>(light, copy, view);
            }
            Self::Merge => {
                let sum = L::between(load::<L, S>(copy, view), rows);
                let mean = L::plus(rows, L::scaled(sum, L::splat(0.5)));
                store::<L, S>(L::with_fourth(mean, heavy), particle, view);
            }
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
                let light = f32::with_fourth(place, heavy * copies.factors[index]);
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
                let mean = f32::plus(place, f32::scaled(sum, weight));
                view.positions.set(particle as usize, f32::with_fourth(mean, heavy));
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
