//! What each stage does to one worker's share.
//!
//! This is the contract that makes parallel runs sound: between two waits a worker writes only
//!
//! | stage | writes | reads besides |
//! |---|---|---|
//! | wind | `previous` of its own range of particles | all positions and velocities |
//! | force | velocities of movable particles of its own blocks of the phase | all positions, velocities of fixed particles |
//! | predict, remember, accelerate, velocity | particles of its own range | nothing of others |
//! | contact | particles of its own chunks | nothing of others |
//! | measure | scratch memory of its own chunks of the balloon | all positions |
//! | inflate | particles and multipliers of its own chunks of the balloon | scratch memory |
//! | detect | boxes, ways and lists of its own patches; the tree is one worker's | what the pass before wrote, and all positions |
//! | touch: count, correct | counts, lists and corrections of its own places | all positions, `previous` and normals; all counts in the second pass |
//! | touch: apply | the particles at its own places | their corrections |
//! | split, merge, renew | its own split particles and their copies | nothing of others |
//! | sweep | movable particles and multipliers of its own blocks of the phase, or of its own columns of blocks | fixed particles |
//! | pieces | movable particles and multipliers of its own blocks, again and again | fixed particles, `previous` of its own blocks |
//!
//! Patches, chunks, blocks and columns are a worker's own when they were dealt to it, each to one ([`Team::deal`]).
//! Ranges of different workers are disjoint, the order of places is a permutation of the members. So are the
//! movable particles of different blocks of a phase, because a [`Schedule`](taut_partition::Schedule) exists
//! only if it passed that check, and those of different columns, because it has columns only if it looked.

use std::ops::Range;

use super::run::{Share, Team};
use crate::collide::{Obstacle, Pose};
use crate::constraint::{Balloon, Group};
use crate::math::{Lane, Vec3, Work};
use crate::model::Model;
use crate::state::{Access, Storage, View};

/// The conditions of one substep.
#[derive(Clone, Debug, Default)]
pub struct Substep {
    /// Length h, s.
    pub step: f32,
    /// The farthest that a particle may move in it, m: beyond, the simulation has diverged.
    pub longest_way: f32,
    /// m/s².
    pub gravity: [f32; 3],
    /// Velocity of the air, m/s.
    pub wind: [f32; 3],
    /// What is left of a velocity after damping, per body.
    pub damping: Vec<f32>,
    /// Where the shapes stand, one each.
    pub placed: Vec<Placed>,
}

/// Where a shape stands in a substep.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// At the end of the substep.
    pub pose: Pose,
    /// At its start, if the shape moves.
    pub before: Option<Pose>,
}

#[inline(always)]
pub(super) fn vector([x, y, z, _]: [f32; 4]) -> Vec3<f32> {
    Vec3::new(x, y, z)
}

#[inline(always)]
pub(super) fn with_fourth(v: Vec3<f32>, fourth: f32) -> [f32; 4] {
    [v.x, v.y, v.z, fourth]
}

/// Works out how the air changes velocities and leaves the change in `previous`, which nobody
/// needs until predict overwrites it: neighbors may still be reading the velocities themselves.
///
/// A triangle feels F = ½ ρ C A (v·n)|v·n| n, a third of it at each corner, with v the velocity of
/// the air against it. Dividing by 1 + h w |F|/|v·n| keeps light cloth in strong wind from
/// overshooting the air.
pub(super) fn wind<S: Storage>(model: &Model, substep: &Substep, view: &View<S>, share: Share) {
    let Some(air) = &model.wind else { return };
    let wind = Vec3::splat(substep.wind);
    for particle in share.of(model.body_of.len()) {
        let w = view.positions.get(particle)[3];
        let drag = 0.5 * air.density * model.bodies[model.body_of[particle] as usize].drag;
        let mut change = Vec3::<f32>::zero();
        for &triangle in air.triangles_of(particle) {
            let corners = model.triangles[triangle as usize];
            let [x1, x2, x3] = corners.map(|corner| vector(view.positions.get(corner as usize)));
            let [v1, v2, v3] = corners.map(|corner| vector(view.velocities.get(corner as usize)));
            let area_vector = (x2 - x1).cross(x3 - x1) * 0.5;
            let area = area_vector.length().max(f32::MIN_POSITIVE);
            let normal = area_vector * (1.0 / area);
            let speed = (wind - (v1 + v2 + v3) * (1.0 / 3.0)).dot(normal);
            let pull = substep.step * w * drag * area * (1.0 / 3.0) * speed.abs();
            change = change + normal * (speed * pull / (1.0 + pull));
        }
        view.previous.set(particle, with_fourth(change, 0.0));
    }
}

/// `v ← v + h g (+ wind)`, `x ← x + h v` for movable particles; kinematic ones follow their shape.
pub(super) fn predict<S: Storage>(model: &Model, substep: &Substep, view: &View<S>, share: Share) {
    let own = model.body_of.len();
    let fall = Vec3::splat(substep.gravity) * substep.step;
    for particle in share.of(own) {
        let old = view.positions.get(particle);
        if old[3] != 0.0 {
            let mut velocity = vector(view.velocities.get(particle)) + fall;
            if model.wind.is_some() {
                velocity = velocity + vector(view.previous.get(particle));
            }
            let moved = vector(old) + velocity * substep.step;
            view.velocities.set(particle, with_fourth(velocity, 0.0));
            view.positions.set(particle, with_fourth(moved, old[3]));
        }
        view.previous.set(particle, old);
    }
    for target in share.of(model.targets.len()) {
        if let Some((shape, local)) = model.targets[target] {
            let place = substep.placed[shape].pose.apply(Vec3::<f32>::splat(local));
            view.positions.set(own + target, with_fourth(place, 0.0));
        }
    }
}

/// Calls `compute` with some blocks of each phase; all workers meet between two phases.
pub(super) fn each_phase<T: Team>(group: &Group, team: &T, compute: impl Fn(Range<usize>)) {
    let phases = group.schedule.phase_count();
    for phase in 0..phases {
        let all = group.schedule.blocks(phase);
        team.deal(all.len(), |own| compute(all.start + own.start..all.start + own.end));
        // The caller waits after the last phase.
        if phase + 1 < phases {
            team.wait();
        }
    }
}

/// Lets every spring of a group push on velocities: phase after phase, each worker its own blocks.
pub(super) fn force<S: Storage, T: Team>(
    group: &Group,
    substep: &Substep,
    view: &View<S>,
    team: &T,
) {
    each_phase(group, team, |blocks| {
        team.compute(PushBlocks { group, blocks, step: substep.step, view });
    });
}

/// The springs of some blocks of a phase.
struct PushBlocks<'a, S: Storage> {
    group: &'a Group,
    blocks: Range<usize>,
    step: f32,
    view: &'a View<S>,
}

impl<S: Storage> Work for PushBlocks<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        for block in self.blocks {
            self.group.push_block::<L, S>(block, self.step, self.view);
        }
    }
}

/// Keeps the places of a worker's share before a sweep.
pub(super) fn remember<S: Storage>(model: &Model, slot: usize, view: &View<S>, share: Share) {
    for particle in share.of(model.body_of.len()) {
        view.memories[slot].set(particle, view.positions.get(particle));
    }
}

/// Chebyshev acceleration (Wang 2015, equation 17, without under-relaxation):
/// x ← ω (x − x″) + x″, with x″ the place before the last sweep but one.
pub(super) fn accelerate<S: Storage>(
    model: &Model,
    slot: usize,
    iteration: u32,
    view: &View<S>,
    share: Share,
) {
    let Some(radius) = model.chebyshev else { return };
    let weight = chebyshev_weight(radius, iteration);
    for particle in share.of(model.body_of.len()) {
        let [.., w] = view.positions.get(particle);
        if w != 0.0 {
            let before = vector(view.memories[slot].get(particle));
            let moved = (vector(view.positions.get(particle)) - before) * weight + before;
            view.positions.set(particle, with_fourth(moved, w));
        }
    }
}

/// ω of a sweep, counted from 0: 1, then 2/(2 − ρ²), then 4/(4 − ρ²ω) of the ω before.
pub(crate) fn chebyshev_weight(radius: f32, iteration: u32) -> f32 {
    let square = radius * radius;
    let mut weight = 1.0;
    for sweep in 1..=iteration {
        weight = if sweep == 1 { 2.0 / (2.0 - square) } else { 4.0 / (4.0 - square * weight) };
    }
    weight
}

/// Works out gradients and partial sums of a balloon, each worker its own chunks.
pub(super) fn measure<S: Storage>(balloon: &Balloon, view: &View<S>, share: Share) {
    for chunk in share.of(balloon.chunk_count()) {
        balloon.measure(chunk, view);
    }
}

/// Moves the particles of a balloon, each worker its own chunks.
pub(super) fn inflate<S: Storage>(
    balloon: &Balloon,
    substep: &Substep,
    first: bool,
    view: &View<S>,
    share: Share,
) {
    let chunks = share.of(balloon.chunk_count());
    balloon.inflate(chunks, 1.0 / (substep.step * substep.step), first, view);
}

/// Particles whose contacts with shapes are found together: as many as any lanes have, several times.
const CONTACT_CHUNK: usize = 256;

/// Moves particles out of the shapes; returns how many were inside one.
pub(super) fn contact<S: Storage, T: Team>(
    model: &Model,
    substep: &Substep,
    view: &View<S>,
    team: &T,
) -> usize {
    let count = model.body_of.len();
    let mut contacts = 0;
    team.deal(count.div_ceil(CONTACT_CHUNK), |chunks| {
        let particles = chunks.start * CONTACT_CHUNK..count.min(chunks.end * CONTACT_CHUNK);
        contacts += team.compute(Contacts { model, particles, substep, view });
    });
    contacts
}

/// Contacts of a range of particles.
struct Contacts<'a, S: Storage> {
    model: &'a Model,
    particles: Range<usize>,
    substep: &'a Substep,
    view: &'a View<S>,
}

impl<S: Storage> Work for Contacts<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lane>(self) -> usize {
        contact_range::<L, S>(self.model, self.substep, self.view, self.particles)
    }
}

/// Contacts of a range of particles, `L::WIDTH` at a time.
#[inline(always)]
pub(super) fn contact_range<L: Lane, S: Storage>(
    model: &Model,
    substep: &Substep,
    view: &View<S>,
    particles: Range<usize>,
) -> usize {
    let whole = particles.end - particles.len() % L::WIDTH;
    let mut contacts = 0;
    for first in (particles.start..whole).step_by(L::WIDTH) {
        contacts += contact_lanes::<L, S>(model, substep, view, first);
    }
    for particle in whole..particles.end {
        contacts += contact_lanes::<f32, S>(model, substep, view, particle);
    }
    contacts
}

/// Contacts of `L::WIDTH` particles from `first` on, with every shape in turn.
#[inline(always)]
fn contact_lanes<L: Lane, S: Storage>(
    model: &Model,
    substep: &Substep,
    view: &View<S>,
    first: usize,
) -> usize {
    let [x, y, z, w] = L::from_quadruples(|lane| view.positions.get(first + lane));
    let thickness = of_bodies(model, first, |body| model.bodies[body].thickness);
    let zero = L::splat(0.0);
    let start = Vec3::new(x, y, z);
    let mut place = start;
    let mut depth = zero;
    for (shape, placed) in model.shapes.iter().zip(&substep.placed) {
        let obstacle = Obstacle {
            form: &shape.form,
            friction: shape.friction,
            pose: placed.pose,
            before: placed.before,
        };
        if let Some(touch) = obstacle.touch(place, thickness) {
            let [px, py, pz, _] = L::from_quadruples(|lane| view.previous.get(first + lane));
            place = obstacle.resolve(touch, place, Vec3::new(px, py, pz));
            depth = depth.max(touch.depth);
        }
    }
    // Pinned particles stay where they are.
    let depth = L::select(zero.less(w), depth, zero);
    let contacts = L::bits(zero.less(depth)).count_ones() as usize;
    if contacts > 0 {
        let Vec3 { x, y, z } = Vec3::select(zero.less(w), place, start);
        L::into_quadruples([x, y, z, w], |lane, moved| view.positions.set(first + lane, moved));
    }
    contacts
}

/// `v ← (x − x_prev) / h`, then damping. Returns what [`is_in_bounds`] would: the ways are at hand here.
pub(super) fn velocity<S: Storage, T: Team>(
    model: &Model,
    substep: &Substep,
    view: &View<S>,
    team: &T,
) -> bool {
    let particles = team.share().of(model.body_of.len());
    team.compute(Velocities { model, particles, substep, view })
}

/// Velocities of a range of particles.
struct Velocities<'a, S: Storage> {
    model: &'a Model,
    particles: Range<usize>,
    substep: &'a Substep,
    view: &'a View<S>,
}

impl<S: Storage> Work for Velocities<'_, S> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lane>(self) -> bool {
        let Self { model, particles, substep, view } = self;
        let whole = particles.end - particles.len() % L::WIDTH;
        let mut all_in_bounds = true;
        for first in (particles.start..whole).step_by(L::WIDTH) {
            all_in_bounds &= velocity_lanes::<L, S>(model, substep, view, first);
        }
        for particle in whole..particles.end {
            all_in_bounds &= velocity_lanes::<f32, S>(model, substep, view, particle);
        }
        all_in_bounds
    }
}

/// Velocities of `L::WIDTH` particles from `first` on, and whether none has moved too far.
#[inline(always)]
fn velocity_lanes<L: Lane, S: Storage>(
    model: &Model,
    substep: &Substep,
    view: &View<S>,
    first: usize,
) -> bool {
    let places = L::gather(|lane| view.positions.get(first + lane));
    let before = L::gather(|lane| view.previous.get(first + lane));
    let way = L::between(places, before);
    let kept: L = of_bodies(model, first, |body| substep.damping[body] / substep.step);
    L::scatter(L::scaled(way, kept), |lane, moved| view.velocities.set(first + lane, moved));
    let [x, y, z, _] = L::columns(way);
    let limit = L::splat(limit(substep.longest_way));
    let in_bounds = L::bits(Vec3::new(x, y, z).length_squared().less(limit));
    in_bounds.count_ones() as usize == L::WIDTH
}

/// A number of each particle's body, for as many particles as there are lanes. Bodies follow each other: if the
/// first and the last particle are of one, all are.
#[inline(always)]
fn of_bodies<L: Lane>(model: &Model, first: usize, number: impl Fn(usize) -> f32) -> L {
    let body_of = &model.body_of[first..first + L::WIDTH];
    if body_of[0] == body_of[L::WIDTH - 1] {
        L::splat(number(body_of[0] as usize))
    } else {
        L::from_lanes(|lane| number(body_of[lane] as usize))
    }
}

/// Whether all particles of a worker's share have finite places, and none has moved farther than
/// `longest_way` in the last substep.
pub(super) fn is_in_bounds<S: Storage>(
    model: &Model,
    longest_way: f32,
    view: &View<S>,
    share: Share,
) -> bool {
    let limit = limit(longest_way);
    share.of(model.body_of.len()).all(|particle| {
        let way = vector(view.positions.get(particle)) - vector(view.previous.get(particle));
        way.length_squared() < limit
    })
}

/// What the square of a way is less than that is not longer. A way that is no number compares as false.
fn limit(longest_way: f32) -> f32 {
    (longest_way * longest_way).min(f32::MAX).next_up()
}
