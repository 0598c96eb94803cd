//! Contacts between particles that detection found close to each other, solved all at once: see
//! `collide/pair.rs` for the maths.
//!
//! 1. *count*: how many partners each particle touches, and which are near enough to be touched in this substep;
//! 2. *correct*: where it should go, from the places and counts of all;
//! 3. *apply*.
//!
//! Detection looks farther than contacts reach, so that lists last; in a pile of tori two of three partners are too far
//! apart to touch. They are passed over once a substep and not in every iteration.

use std::ops::Range;

use super::run::Team;
use super::stage::Substep;
use crate::collide::{Law, Moving, share};
use crate::math::{Lane, MAX_WIDTH, Vec3, Work};
use crate::model::{PATCH, ParticleContacts};
use crate::state::{Access, MOST_PARTNERS, Storage, View};

/// A pass of contacts between particles: all workers meet after each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchPass {
    /// How many partners each particle touches, and which are near.
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
    let particles = &contacts.patches.slots[..];
    let close = contacts.close();
    let mut touching = None;
    team.deal(contacts.patches.all.len(), |patches| {
        let places = patches.start * PATCH..patches.end * PATCH;
        match pass {
            TouchPass::Count => {
                let found = team.compute(Count { law, close, places, particles, view });
                touching = Some(touching.unwrap_or(0) + found);
            }
            TouchPass::Correct => team.compute(Correct { law, places, particles, view }),
            TouchPass::Apply => apply(places, particles, view),
        }
    });
    touching
}

/// Up to as many places with partners as there are lanes.
struct Active {
    places: [usize; MAX_WIDTH],
    /// How many partners they have.
    counts: [u32; MAX_WIDTH],
    filled: usize,
    /// The most partners that one of them has.
    most: u32,
}

impl Active {
    /// The next places of a range that have partners; the range loses what was looked at. Lanes
    /// beyond the last one repeat it.
    #[inline(always)]
    fn next(places: &mut Range<usize>, width: usize, count: impl Fn(usize) -> u32) -> Self {
        let mut active =
            Self { places: [0; MAX_WIDTH], counts: [0; MAX_WIDTH], filled: 0, most: 0 };
        while active.filled < width && places.start < places.end {
            let (place, count) = (places.start, count(places.start));
            places.start += 1;
            // Stored in any case, and overwritten if it has none: no processor can foresee which ones have.
            (active.places[active.filled], active.counts[active.filled]) = (place, count);
            active.filled += usize::from(count > 0);
            active.most = active.most.max(count);
        }
        if let Some(last) = active.filled.checked_sub(1) {
            for lane in active.filled..MAX_WIDTH {
                active.places[lane] = active.places[last];
                active.counts[lane] = active.counts[last];
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
    (load(ids, view), L::from_lanes(|lane| active.counts[lane] as f32))
}

/// The partners of some places with a number; where there is none, any particle.
#[inline(always)]
fn load_partners<L: Lane, S: Storage>(active: &Active, number: u32, view: &View<S>) -> Side<L> {
    let mut ids = [0; MAX_WIDTH];
    for (lane, id) in ids.iter_mut().enumerate().take(L::WIDTH) {
        let number = number.min(active.counts[lane] - 1) as usize;
        let slot = active.places[lane] * MOST_PARTNERS + number;
        *id = view.contacts.partners.get(slot) as usize;
    }
    load(ids, view)
}

/// Counts the partners that the particles at some places touch, and puts those first that are near.
struct Count<'a, S: Storage> {
    law: Law,
    /// Who is farther apart is not near, m.
    close: f32,
    places: Range<usize>,
    particles: &'a [u32],
    view: &'a View<S>,
}

impl<S: Storage> Work for Count<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lane>(self) -> usize {
        let mut total = 0;
        let mut places = self.places.clone();
        loop {
            let known = |place| self.view.contacts.counts.get(place)[0];
            let active = Active::next(&mut places, L::WIDTH, known);
            if active.filled == 0 {
                return total;
            }
            total += self.count::<L>(&active);
        }
    }
}

impl<S: Storage> Count<'_, S> {
    /// Returns how many of the particles touch another one.
    #[inline(always)]
    fn count<L: Lane>(&self, active: &Active) -> usize {
        let (own, counts) = load_own::<L, S>(active, self.particles, self.view);
        let mut touching = L::splat(0.0);
        let mut near = [0; MAX_WIDTH];
        for number in 0..active.most {
            let partners = load_partners::<L, S>(active, number, self.view);
            let is_real = L::splat(number as f32).less(counts);
            let touches = L::splat(0.0).less(self.law.depth(&own.moving, &partners.moving));
            let one = L::select(touches, L::splat(1.0), L::splat(0.0));
            touching = touching + L::select(is_real, one, L::splat(0.0));
            let apart = own.moving.x - partners.moving.x;
            let is_close = apart.length_squared().less(L::splat(self.close * self.close));
            let mut bits = (L::bits(touches) | L::bits(is_close)) & L::bits(is_real);
            while bits != 0 {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if lane < active.filled {
                    self.bring_forward(active.places[lane], near[lane], number);
                    near[lane] += 1;
                }
            }
        }
        let memory = &self.view.contacts;
        let mut total = 0;
        for (lane, &near) in near.iter().enumerate().take(active.filled) {
            let touching = touching.lane(lane);
            memory.touching.set(own.ids[lane], touching);
            memory.counts.set(active.places[lane], [active.counts[lane], near]);
            total += usize::from(touching > 0.0);
        }
        total
    }

    /// Puts a partner of a place among those that are near, of which there are some already, in the order of the
    /// particles. So sums do not depend on how partners were found.
    #[inline(always)]
    fn bring_forward(&self, place: usize, near: u32, number: u32) {
        let partners = &self.view.contacts.partners;
        let first = place * MOST_PARTNERS;
        let [mut hole, from] = [near, number].map(|number| first + number as usize);
        let partner = partners.get(from);
        partners.set(from, partners.get(hole));
        while hole > first && partners.get(hole - 1) > partner {
            partners.set(hole, partners.get(hole - 1));
            hole -= 1;
        }
        partners.set(hole, partner);
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
    fn run<L: Lane>(self) {
        let mut places = self.places.clone();
        loop {
            let active = Active::next(&mut places, L::WIDTH, |place| near(place, self.view));
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

/// How many partners of a place are near.
#[inline(always)]
fn near<S: Storage>(place: usize, view: &View<S>) -> u32 {
    view.contacts.counts.get(place)[1]
}

fn apply<S: Storage>(places: Range<usize>, particles: &[u32], view: &View<S>) {
    for place in places {
        if near(place, view) > 0 {
            let particle = particles[place] as usize;
            let [x, y, z, w] = view.positions.get(particle);
            let [dx, dy, dz, _] = view.contacts.corrections.get(place);
            view.positions.set(particle, [x + dx, y + dy, z + dz, w]);
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: who is close or touches comes first in a list, in the order of the particles, and nobody gets lost.

    use std::path::Path;

    use super::*;
    use crate::model::Model;
    use crate::scene::Scene;
    use crate::solver::{Alone, DetectPass, Job, Program, Stage, run};
    use crate::state::State;

    fn state_after(stages: Vec<Stage>, model: &Model, state: &mut State) {
        let program = Program { stages };
        let substeps = [Substep { step: 1e-3, ..Substep::default() }];
        run(Job { model, program: &program, substeps: &substeps }, &state.cells(), &mut Alone);
    }

    #[test]
    fn the_near_ones_come_first() {
        let text = r#"
            particle-contacts.radius = 0.05
            [[bodies]]
            name = "upper"
            mesh.grid = { particles = [12, 12], size = [1, 1] }
            transform = { position = [0, 0.09, 0], rotation = [0, 0, 4] }
            [[bodies]]
            name = "lower"
            mesh.grid = { particles = [15, 15], size = [1, 1] }
            self-collision = false
        "#;
        let scene = Scene::parse("test", text, Path::new("."), &[]).unwrap();
        let (model, mut state) = Model::build(&scene).unwrap();
        let contacts = model.particle_contacts.as_ref().unwrap();
        state_after(DetectPass::ALL.map(Stage::Detect).to_vec(), &model, &mut state);
        let before = state.contacts.clone();
        state_after(vec![Stage::Touch(TouchPass::Count)], &model, &mut state);

        let place_of = |particle: usize| super::super::stage::vector(state.positions[particle]);
        let (mut known, mut near_and_known, mut touching) = (0, 0, 0.0);
        for (place, &own) in contacts.patches.slots.iter().enumerate() {
            let [count, near] = state.contacts.counts[place].map(|count| count as usize);
            let list = place * MOST_PARTNERS..place * MOST_PARTNERS + count;
            let mut partners = state.contacts.partners[list.clone()].to_vec();
            for (number, &partner) in partners.iter().enumerate() {
                // Nobody has moved, so whoever touches is closer than a diameter.
                let way = place_of(own as usize) - place_of(partner as usize);
                assert_eq!(way.length() < contacts.close(), number < near, "{own}, {partner}");
            }
            assert!(partners[..near].is_sorted(), "{own}");
            let mut all = before.partners[list].to_vec();
            all.sort_unstable();
            partners.sort_unstable();
            assert_eq!(partners, all);
            (known, near_and_known) = (known + count, near_and_known + near);
            touching += state.contacts.touching[own as usize];
        }
        assert!(touching > 0.0 && near_and_known > 50 && known > 2 * near_and_known, "{known}");
    }
}
