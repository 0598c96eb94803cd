//! A group: constraints of one kind and one response, with the schedule that runs them.

use std::marker::PhantomData;

use taut_partition::Schedule;
use taut_partition::bundles::NO_MEMBER;

use super::force::{self, Springs};
use super::in_turn::{AroundEdge, InTurn, ThreeEdges};
use super::{
    Ahead, Bend, Constraint, Copies, Distance, Form, Kind, Lines, LongRange, NeoHookean, Residual,
    Response, Softness, Strain, Sweep, Volume, with_form, with_kind,
};
use crate::math::{Lane, Vec3, Work};
use crate::state::{Access, State, Storage, View};

/// So many bodies, copies among them, need not be fetched early for a tile: they and what else a sweep reads
/// are in a cache, from where processors fetch well by themselves. More of edges, which are over so soon that
/// fetching takes a larger share of their time.
const NEAR_BODIES: usize = 1 << 18;
const NEAR_BODIES_OF_EDGES: usize = 1 << 20;

/// Constraints of one kind and one response, with the schedule that runs them.
#[derive(Clone, Debug)]
pub struct Group {
    /// What the constraints are.
    pub kind: Kind,
    /// How they answer.
    pub response: Response,
    /// Who runs when, and the particles of each element: a constraint or a bundle.
    pub schedule: Schedule,
    /// Bundles: their members in schedule order, constraints of the scene or [`NO_MEMBER`]. Empty
    /// where elements are single constraints.
    pub members: Vec<u32>,
    /// How many constraints there are.
    pub count: usize,
    /// The elements' constants in schedule order: a list for each constant.
    pub constants: Vec<Vec<f32>>,
    /// Stiffness, compliance or spring constant of every row.
    pub softness: Softness,
    /// Damping of springs in schedule order; empty for other responses.
    pub damping: Vec<f32>,
    /// For each batch of the schedule, whether it has particles that cannot move.
    pub some_fixed: Vec<bool>,
    /// For each batch of the schedule, whether the first particles of its elements ascend, so that some may
    /// be rows: with copies only.
    pub ascending: Vec<bool>,
    /// What of memory each block needs, if that is fetched early.
    pub lines: Lines,
    /// Factor for every change.
    pub relaxation: f32,
    /// Where this group's part of the state's multipliers starts, row after row (compliance only).
    pub first_multiplier: usize,
    /// Particles that the schedule splits into copies, if it is one of phantoms.
    pub copies: Copies,
    /// Whether its blocks have the particles of the blocks of the group before it, so that both can be
    /// solved block after block.
    pub goes_along: bool,
}

impl Group {
    /// What the elements of the schedule are.
    pub fn form(&self) -> Form {
        Form { kind: self.kind, is_bundled: !self.members.is_empty() }
    }

    /// How many multipliers the constraints keep: one each, if they have a compliance.
    pub fn multipliers(&self) -> usize {
        match self.response {
            Response::Stiffness | Response::Force => 0,
            Response::Compliance => self.schedule.len() * self.form().rows(),
        }
    }

    /// How often workers meet in a sweep: between phases, unless blocks are columns that need not wait for
    /// each other.
    pub fn rounds(&self) -> usize {
        if self.schedule.has_columns() { 1 } else { self.schedule.phase_count() }
    }

    /// Whether it is swept over in blocks that share nothing that moves, so that all can run at the same
    /// time: clusters that are pieces.
    pub fn has_separate_blocks(&self) -> bool {
        self.response != Response::Force
            && self.copies.is_empty()
            && self.schedule.phase_count() == 1
            && self.schedule.batch_count() > self.schedule.block_count()
    }

    /// Every constraint in the order of execution.
    pub fn constraints(&self) -> impl Iterator<Item = Placed> + '_ {
        let rows = if self.members.is_empty() { 1 } else { self.form().rows() };
        let order = self.schedule.order();
        let placed = move |index: usize| {
            let (place, row) = (index / rows, index % rows);
            let constraint =
                if self.members.is_empty() { order[place] } else { self.members[index] };
            Placed { constraint: constraint as usize, place, row }
        };
        let is_there = |placed: &Placed| placed.constraint != NO_MEMBER as usize;
        (0..rows * order.len()).map(placed).filter(is_there)
    }

    /// The particles of a constraint; of copies, their ids.
    pub fn ids(&self, placed: Placed) -> impl Iterator<Item = u32> + '_ {
        let bodies = self.schedule.bodies_at(placed.place);
        let corners = self.form().corners(placed.row);
        let count = corners.map_or(bodies.len(), <[usize]>::len);
        (0..count).map(move |corner| bodies[corners.map_or(corner, |corners| corners[corner])])
    }

    /// Solves the constraints of one block of the schedule, once. What is next is fetched meanwhile, if it is far away.
    #[inline(always)]
    pub fn solve_block<L: Lane, S: Storage>(
        &self,
        block: usize,
        ahead: Option<Ahead<'_>>,
        inverse_step_squared: f32,
        first: bool,
        view: &View<S>,
    ) {
        let sweep = Sweep {
            constants: &self.constants,
            softness: &self.softness,
            is_compliant: self.response == Response::Compliance,
            relaxation: self.relaxation,
            first_multiplier: self.first_multiplier,
            inverse_step_squared,
            first,
            ahead: ahead.map(|ahead| ahead.over(self.schedule.block(block).len())),
            is_ascending: false,
        };
        with_form!(self.form(), C, N, M, K, {
            let kind = PhantomData::<C>;
            L::apart(Block::<C, S, N, M, K> { group: self, block, sweep, view, kind });
        });
    }

    /// Whether it pays to fetch what a tile of phantoms needs while the one before is solved.
    #[inline(always)]
    pub(crate) fn has_far_tiles(&self) -> bool {
        let near = if self.kind.arity() == 2 { NEAR_BODIES_OF_EDGES } else { NEAR_BODIES };
        self.schedule.body_count() > near
    }

    /// Lets the springs of one block of the schedule push on velocities.
    #[inline(always)]
    pub fn push_block<L: Lane, S: Storage>(&self, block: usize, step: f32, view: &View<S>) {
        let springs = Springs {
            constants: &self.constants,
            stiffness: &self.softness,
            damping: &self.damping,
            step,
        };
        with_kind!(self.kind, C, N, M, K, {
            let positions = view.positions.bodies::<N>(&self.schedule);
            let velocities = view.velocities.bodies::<N>(&self.schedule);
            for batch in self.schedule.batches(block) {
                let places = self.schedule.batch(batch);
                force::push::<C, L, _, N, M, K>(positions, velocities, places, &springs);
            }
        });
    }

    /// Errors of all constraints relative to their scale.
    pub fn residual(&self, state: &State) -> Residual {
        with_form!(self.form(), C, N, M, K, {
            let places = 0..self.schedule.len();
            Residual::of(places.flat_map(|place| self.errors::<C, N, M, K>(place, state)).flatten())
        })
    }

    /// Of the constraints that have a particle, the one with the largest relative error: that error and
    /// the constraint's particles. An error that is no number is the largest of all.
    pub fn worst_at(&self, particle: usize, state: &State) -> Option<(f64, Vec<usize>)> {
        let mut worst: Option<(f64, Vec<usize>)> = None;
        for placed in self.constraints() {
            let ids: Vec<usize> =
                self.ids(placed).map(|id| self.copies.original(id) as usize).collect();
            if ids.contains(&particle) {
                let error = self.largest_error(placed, state);
                if worst.as_ref().is_none_or(|(largest, _)| error > *largest) {
                    worst = Some((error, ids));
                }
            }
        }
        worst
    }

    fn largest_error(&self, Placed { place, row, .. }: Placed, state: &State) -> f64 {
        let number = |error: f64| if error.is_nan() { f64::INFINITY } else { error.abs() };
        with_form!(self.form(), C, N, M, K, {
            let errors = self.errors::<C, N, M, K>(place, state);
            let own = if self.members.is_empty() { &errors[..] } else { &errors[row..=row] };
            own.iter().flatten().copied().map(number).fold(0.0, f64::max)
        })
    }

    /// Errors of the rows of an element relative to their scale; none of members that are missing.
    fn errors<C, const N: usize, const M: usize, const K: usize>(
        &self,
        place: usize,
        state: &State,
    ) -> [Option<f64>; M]
    where
        C: Constraint<N, M, K>,
    {
        let ids = self.schedule.bodies_at(place);
        let x: [Vec3<f32>; N] = std::array::from_fn(|corner| {
            let [x, y, z, _] = state.positions[self.copies.original(ids[corner]) as usize];
            Vec3::new(x, y, z)
        });
        let constants: [f32; K] = std::array::from_fn(|k| self.constants[k][place]);
        let (is_relative, scale) = self.kind.error_scale();
        let errors = C::errors(&x, &constants);
        std::array::from_fn(|row| {
            let is_there = self.members.get(place * M + row) != Some(&NO_MEMBER);
            let scale = if is_relative { constants[row].abs() } else { scale };
            is_there.then(|| f64::from(errors[row]) / f64::from(scale))
        })
    }
}

/// A block of constraints of one type: what a lane type solves in a function of its own.
struct Block<'a, C, S: Storage, const N: usize, const M: usize, const K: usize> {
    group: &'a Group,
    block: usize,
    sweep: Sweep<'a>,
    view: &'a View<S>,
    kind: PhantomData<C>,
}

impl<C, S, const N: usize, const M: usize, const K: usize> Work for Block<'_, C, S, N, M, K>
where
    C: Constraint<N, M, K>,
    S: Storage,
{
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { group, block, mut sweep, view, .. } = self;
        let batches = group.schedule.batches(block);
        let particles = view.positions.bodies::<N>(&group.schedule);
        let multipliers = view.multipliers;
        let start = group.schedule.block(block).start;
        for batch in batches {
            let places = group.schedule.batch(batch);
            if let Some(spread) = &mut sweep.ahead {
                spread.passed = places.start - start;
            }
            sweep.is_ascending = group.ascending[batch];
            if group.some_fixed[batch] {
                C::project::<L, _, _, true>(particles, places, &sweep, multipliers);
            } else {
                C::project::<L, _, _, false>(particles, places, &sweep, multipliers);
            }
        }
    }
}

/// A constraint of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Which one it is, in the order of the scene.
    pub constraint: usize,
    /// Where the schedule has the element that it is, or is a member of.
    pub place: usize,
    /// Which of the members it is.
    pub row: usize,
}
