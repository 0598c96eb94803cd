//! Contacts between particles that detection found close to each other, solved all at once: see
//! `collide/pair.rs` for the maths.
//!
//! 1. *count*: how many partners each particle touches;
//! 2. *correct*: where it should go, from the places and counts of all;
//! 3. *apply*.

use std::ops::Range;

use super::run::Team;
use super::stage::Substep;
use crate::collide::{Law, Moving, share};
use crate::math::{Lane, MAX_WIDTH, Vec3, Work};
use crate::model::ParticleContacts;
use crate::state::{Access, MOST_PARTNERS, Storage, View};

/// A pass of contacts between particles: all workers meet after each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchPass {
    /// How many partners each particle touches.
    Count,
    /// Where particles should go.
    Correct,
    /// There they go.
    Apply,
}

impl TouchPass {
    /// The passes in the first iteration of a substep. Later ones use its count.
    pub const FIRST: [Self; 3] = [Self::Count, Self::Correct, Self::Apply];
    /// The passes in a later iteration.
    pub const LATER: [Self; 2] = [Self::Correct, Self::Apply];
}

/// Does a worker's share of a pass; the first returns how many particles touch another one.
pub(super) fn touch<S: Storage, T: Team>(
    pass: TouchPass,
    contacts: &ParticleContacts,
    substep: &Substep,
    view: &View<S>,
    team: &T,
) -> Option<usize> {
    let law = Law {
        diameter: contacts.diameter,
        push: contacts.push(substep.step),
        friction: contacts.friction,
    };
    let places = team.share().of(contacts.patches.slots.len());
    let particles = &contacts.patches.slots[..];
    match pass {
        TouchPass::Count => return Some(team.compute(Count { law, places, particles, view })),
        TouchPass::Correct => team.compute(Correct { law, places, particles, view }),
        TouchPass::Apply => apply(places, particles, view),
    }
    None
}

/// Up to as many places with partners as there are lanes.
struct Active {
    places: [usize; MAX_WIDTH],
    filled: usize,
    /// The most partners that one of them has.
    most: u32,
}

impl Active {
    /// The next places of a range that have partners; the range loses what was looked at. Lanes
    /// beyond the last one repeat it.
    #[inline(always)]
    fn next<S: Storage>(places: &mut Range<usize>, width: usize, view: &View<S>) -> Self {
        let mut active = Self { places: [0; MAX_WIDTH], filled: 0, most: 0 };
        while active.filled < width && places.start < places.end {
            let place = places.start;
            places.start += 1;
            let count = view.contacts.counts.get(place);
            if count > 0 {
                for lane in active.filled..MAX_WIDTH {
                    active.places[lane] = place;
                }
                active.filled += 1;
                active.most = active.most.max(count);
            }
        }
        active
    }
}

/// Particles side by side.
struct Side<L> {
    ids: [usize; MAX_WIDTH],
    moving: Moving<L>,
    /// Inverse masses.
    w: L,
}

#[inline(always)]
fn load<L: Lane, S: Storage>(ids: [usize; MAX_WIDTH], view: &View<S>) -> Side<L> {
    let [x, y, z, w] = L::from_quadruples(|lane| view.positions.get(ids[lane]));
    let [px, py, pz, _] = L::from_quadruples(|lane| view.previous.get(ids[lane]));
    let [nx, ny, nz, _] = L::from_quadruples(|lane| view.contacts.normals.get(ids[lane]));
    let moving = Moving {
        x: Vec3::new(x, y, z),
        previous: Vec3::new(px, py, pz),
        normal: Vec3::new(nx, ny, nz),
    };
    Side { ids, moving, w }
}

/// The particles at some places, and how many partners each has.
#[inline(always)]
fn load_own<L: Lane, S: Storage>(
    active: &Active,
    particles: &[u32],
    view: &View<S>,
) -> (Side<L>, L) {
    let mut ids = [0; MAX_WIDTH];
    for (id, &place) in ids.iter_mut().zip(&active.places).take(L::WIDTH) {
        *id = particles[place] as usize;
    }
    let counts = L::from_lanes(|lane| view.contacts.counts.get(active.places[lane]) as f32);
    (load(ids, view), counts)
}

/// The partners of some places with a number; where there is none, any particle.
#[inline(always)]
fn load_partners<L: Lane, S: Storage>(active: &Active, number: u32, view: &View<S>) -> Side<L> {
    let mut ids = [0; MAX_WIDTH];
    for (id, &place) in ids.iter_mut().zip(&active.places).take(L::WIDTH) {
        let last = view.contacts.counts.get(place) - 1;
        let slot = place * MOST_PARTNERS + number.min(last) as usize;
        *id = view.contacts.partners.get(slot) as usize;
    }
    load(ids, view)
}

/// Counts the partners that the particles at some places touch.
struct Count<'a, S: Storage> {
    law: Law,
    places: Range<usize>,
    particles: &'a [u32],
    view: &'a View<S>,
}

impl<S: Storage> Work for Count<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lane>(mut self) -> usize {
        let mut total = 0;
        loop {
            let active = Active::next(&mut self.places, L::WIDTH, self.view);
            if active.filled == 0 {
                return total;
            }
            let (own, counts) = load_own::<L, S>(&active, self.particles, self.view);
            let mut touching = L::splat(0.0);
            for number in 0..active.most {
                let partners = load_partners::<L, S>(&active, number, self.view);
                let depth = self.law.depth(&own.moving, &partners.moving);
                let one = L::select(L::splat(0.0).less(depth), L::splat(1.0), L::splat(0.0));
                let is_real = L::splat(number as f32).less(counts);
                touching = touching + L::select(is_real, one, L::splat(0.0));
            }
            for lane in 0..active.filled {
                let touching = touching.lane(lane);
                self.view.contacts.touching.set(own.ids[lane], touching);
                total += usize::from(touching > 0.0);
            }
        }
    }
}

/// Works out where the particles at some places should go.
struct Correct<'a, S: Storage> {
    law: Law,
    places: Range<usize>,
    particles: &'a [u32],
    view: &'a View<S>,
}

impl<S: Storage> Work for Correct<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(mut self) {
        loop {
            let active = Active::next(&mut self.places, L::WIDTH, self.view);
            if active.filled == 0 {
                return;
            }
            let way = self.way::<L>(&active);
            for lane in 0..active.filled {
                let way = [way.x.lane(lane), way.y.lane(lane), way.z.lane(lane), 0.0];
                self.view.contacts.corrections.set(active.places[lane], way);
            }
        }
    }
}

impl<S: Storage> Correct<'_, S> {
    #[inline(always)]
    fn way<L: Lane>(&self, active: &Active) -> Vec3<L> {
        let (own, counts) = load_own::<L, S>(active, self.particles, self.view);
        let touching = self.touching::<L>(&own.ids);
        let mut sum = Vec3::zero();
        for number in 0..active.most {
            let partners = load_partners::<L, S>(active, number, self.view);
            let parting = self.law.part(&own.moving, &partners.moving);
            let share = share([own.w, touching], [partners.w, self.touching(&partners.ids)]);
            let is_real = L::splat(number as f32).less(counts);
            sum = sum + parting.way * L::select(is_real, share, L::splat(0.0));
        }
        sum
    }

    #[inline(always)]
    fn touching<L: Lane>(&self, ids: &[usize; MAX_WIDTH]) -> L {
        L::from_lanes(|lane| self.view.contacts.touching.get(ids[lane]))
    }
}

fn apply<S: Storage>(places: Range<usize>, particles: &[u32], view: &View<S>) {
    for place in places {
        if view.contacts.counts.get(place) > 0 {
            let particle = particles[place] as usize;
            let [x, y, z, w] = view.positions.get(particle);
            let [dx, dy, dz, _] = view.contacts.corrections.get(place);
            view.positions.set(particle, [x + dx, y + dy, z + dz, w]);
        }
    }
}
