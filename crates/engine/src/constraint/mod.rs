//! Constraints: each kind is C(x) and ∇C(x), written once over the lane type, in a file of its
//! own. This file has the only match over the kinds.
//!
//! To add one, see 'Add a constraint in five steps' in CONTRIBUTING.md.

mod ahead;
mod balloon;
mod bend;
mod block;
mod copies;
mod distance;
mod force;
mod in_turn;
mod long_range;
mod neo_hookean;
mod plain;
mod project;
mod softness;
mod strain;
#[cfg(feature = "gpu")]
mod twins;
mod volume;

use std::marker::PhantomData;
use std::ops::Range;

use taut_partition::bundles::{self, Bundles, NO_MEMBER};
use taut_partition::{Elements, Schedule};

use crate::math::{Lane, PARTICLES_IN_LINE, Vec3, Work, fetch_all};
use crate::state::{Access, Bodies, State, Storage, View};

pub use ahead::{Ahead, Lines, Next};
pub use balloon::{BALLOON, Balloon};
pub use bend::Bend;
pub use copies::Copies;
pub(crate) use copies::Run;
pub use distance::Distance;
use force::Springs;
pub use in_turn::{AroundEdge, InTurn, MISSING, Shape, ThreeEdges};
pub use long_range::LongRange;
pub use neo_hookean::NeoHookean;
pub use plain::PlainGroup;
use project::ByRows;
pub use project::{Response, Sweep};
pub use softness::Softness;
pub use strain::Strain;
#[cfg(feature = "gpu")]
pub(crate) use twins::Packing;
pub use volume::Volume;

/// Smallest length (m), squared length or area² that is divided by.
const TINY: f32 = 1e-20;

/// So many bodies, copies among them, need not be fetched early for a tile: they and what else a sweep reads
/// are in a cache, from where processors fetch well by themselves. More of edges, which are over so soon that
/// fetching takes a larger share of their time.
const NEAR_BODIES: usize = 1 << 18;
const NEAR_BODIES_OF_EDGES: usize = 1 << 20;

/// One C(x) of an element and its gradient with respect to each of the `N` particles.
#[derive(Clone, Copy, Debug)]
pub struct Row<L, const N: usize> {
    /// C.
    pub value: L,
    /// ∇ᵢC.
    pub gradients: [Vec3<L>; N],
}

/// A kind of element: `M` constraints over the same `N` particles, which are solved as one block,
/// made from `K` constants that the rest shape gives.
pub trait Constraint<const N: usize, const M: usize, const K: usize> {
    /// Length, area or volume of an element whose particles rest at these places: what moduli are
    /// multiplied with, and what must not be 0.
    fn size(rest: &[Vec3<f64>; N]) -> f64;
    /// The constants of an element whose particles rest at these places.
    fn constants(rest: &[Vec3<f64>; N], matter: &Matter) -> [f64; K];
    /// All rows at these places.
    fn evaluate<L: Lane>(x: &[Vec3<L>; N], constants: &[L; K]) -> [Row<L, N>; M];
    /// J W Jᵀ: how much each row moves each other one. The lower half is enough. A kind whose
    /// gradients have a known length says so here, and is spared a long chain of operations.
    #[inline(always)]
    fn mobility<L: Lane>(rows: &[Row<L, N>; M], w: &[L; N]) -> [[L; M]; M] {
        block::mobility(rows, w)
    }

    /// Solves the elements at `places` of the schedule, which share no movable particle. A kind that
    /// knows a shorter way than the one for all kinds goes it here. `SOME_FIXED` says that some may
    /// have particles that cannot move.
    #[inline(always)]
    fn project<L, P, F, const SOME_FIXED: bool>(
        particles: P,
        places: Range<usize>,
        sweep: &Sweep<'_>,
        multipliers: F,
    ) where
        Self: Sized,
        L: Lane,
        P: Bodies<[f32; 4], N>,
        F: Access<f32>,
    {
        project::project::<ByRows<Self>, L, P, F, N, M, K, SOME_FIXED>(
            particles,
            places,
            sweep,
            multipliers,
        );
    }

    /// How far the rows are from rest: C, unless a row has another value there.
    fn errors(x: &[Vec3<f32>; N], constants: &[f32; K]) -> [f32; M] {
        Self::evaluate(x, constants).map(|row| row.value)
    }
}

/// What the constants of an element depend on besides its rest shape.
#[derive(Clone, Copy, Debug)]
pub struct Matter {
    /// Direction of the warp, of any length but 0.
    pub warp: Vec3<f64>,
    /// γ − 1 of a neo-Hookean solid.
    pub swelling: f64,
}

impl Default for Matter {
    fn default() -> Self {
        Self { warp: Vec3::new(1.0, 0.0, 0.0), swelling: 0.0 }
    }
}

/// Runs `$body` with `$C`, `$N`, `$M` and `$K` bound to the constraint type of a kind, its number of
/// particles, of rows and of constants.
macro_rules! with_kind {
    ($kind:expr, $C:ident, $N:ident, $M:ident, $K:ident, $body:expr) => {
        match $kind {
            Kind::Bend => with_kind!(@ Bend, 4, 1, 1, $C, $N, $M, $K, $body),
            Kind::Volume => with_kind!(@ Volume, 4, 1, 1, $C, $N, $M, $K, $body),
            Kind::NeoHookean => with_kind!(@ NeoHookean, 4, 2, 10, $C, $N, $M, $K, $body),
            Kind::Strain => with_kind!(@ Strain, 3, 3, 4, $C, $N, $M, $K, $body),
            Kind::LongRange => with_kind!(@ LongRange, 2, 1, 1, $C, $N, $M, $K, $body),
            Kind::BendDistance | Kind::Stretch | Kind::Attachment => {
                with_kind!(@ Distance, 2, 1, 1, $C, $N, $M, $K, $body)
            }
        }
    };
    (@ $type:ty, $n:literal, $m:literal, $k:literal, $C:ident, $N:ident, $M:ident, $K:ident, $body:expr) => {{
        #[allow(dead_code, reason = "not every use needs every name")]
        type $C = $type;
        #[allow(dead_code, reason = "not every use needs every name")]
        const $N: usize = $n;
        #[allow(dead_code, reason = "not every use needs every name")]
        const $M: usize = $m;
        #[allow(dead_code, reason = "not every use needs every name")]
        const $K: usize = $k;
        $body
    }};
}

use with_kind;

/// The same for a form.
macro_rules! with_form {
    ($form:expr, $C:ident, $N:ident, $M:ident, $K:ident, $body:expr) => {
        match $form {
            Form { kind: Kind::Stretch | Kind::BendDistance, is_bundled: true } => {
                with_kind!(@ InTurn<Distance, ThreeEdges, 2>, 3, 3, 3, $C, $N, $M, $K, $body)
            }
            Form { kind: Kind::Volume, is_bundled: true } => {
                with_kind!(@ InTurn<Volume, AroundEdge, 4>, 6, 4, 4, $C, $N, $M, $K, $body)
            }
            Form { kind, .. } => with_kind!(kind, $C, $N, $M, $K, $body),
        }
    };
}

/// Makes [`Kind`] from its list of variants and names.
macro_rules! kinds {
    ($($(#[$meta:meta])* $variant:ident = $name:literal,)*) => {
        /// The kinds of constraints, in the order in which a sweep solves them: what is solved last
        /// is satisfied best, so length comes after shape, and attachments after length.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$meta])* $variant,)*
        }

        impl Kind {
            /// All kinds, in the order of a sweep.
            pub const ALL: &[Kind] = &[$(Kind::$variant,)*];

            /// The kind's name in scene files, on the command line and in results.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$variant => $name,)* }
            }

            /// The name of a sweep over the kind in tables and traces.
            pub fn sweep_name(self) -> &'static str {
                match self { $(Kind::$variant => concat!("sweep ", $name),)* }
            }

            /// The name of the kind's forces in tables and traces.
            pub fn force_name(self) -> &'static str {
                match self { $(Kind::$variant => concat!("force ", $name),)* }
            }
        }
    };
}

kinds! {
    /// Dihedral angle between two triangles.
    Bend = "bend",
    /// Distance between the far corners of two triangles.
    BendDistance = "bend-distance",
    /// Volume of a tetrahedron.
    Volume = "volume",
    /// Elasticity of a tetrahedron.
    NeoHookean = "neo-hookean",
    /// Strain of a triangle in its plane.
    Strain = "strain",
    /// Length of an edge.
    Stretch = "stretch",
    /// Largest distance from a pinned particle.
    LongRange = "long-range",
    /// Two particles in one place.
    Attachment = "attachment",
}

impl Kind {
    /// The number of particles of one element.
    pub fn arity(self) -> usize {
        with_kind!(self, C, N, M, K, N)
    }

    /// The number of constraints of one element, each with a stiffness or compliance of its own.
    pub fn rows(self) -> usize {
        with_kind!(self, C, N, M, K, M)
    }

    /// The constants of an element whose particles rest at these places, in double precision.
    ///
    /// # Panics
    /// If there are fewer places than the element has particles.
    pub fn constants(self, rest: &[glam::Vec3], matter: &Matter) -> Vec<f64> {
        with_kind!(self, C, N, M, K, C::constants(&places::<N>(rest), matter).to_vec())
    }

    /// Length, area or volume of an element whose particles rest at these places.
    ///
    /// # Panics
    /// If there are fewer places than the element has particles.
    pub fn size(self, rest: &[glam::Vec3]) -> f64 {
        with_kind!(self, C, N, M, K, C::size(&places::<N>(rest)))
    }

    /// What an error of this kind is compared with: whether with the row's constant, which is its
    /// rest value, or else with a number of the kind: a half turn for angles, 1 for strains, and
    /// a meter where the rest value is 0.
    pub(crate) fn error_scale(self) -> (bool, f32) {
        match self {
            Kind::Bend => (false, std::f32::consts::PI),
            Kind::BendDistance | Kind::Volume | Kind::Stretch | Kind::LongRange => (true, 1.0),
            Kind::NeoHookean | Kind::Strain | Kind::Attachment => (false, 1.0),
        }
    }
}

/// What the elements of a group are: single ones of a kind, or bundles of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The kind.
    pub kind: Kind,
    /// Whether several that share particles are one element to the schedule.
    pub is_bundled: bool,
}

impl Form {
    /// The number of particles of one element of the schedule.
    pub fn arity(self) -> usize {
        with_form!(self, C, N, M, K, N)
    }

    /// The number of rows of one element of the schedule: a bundle has one for each member.
    pub fn rows(self) -> usize {
        with_form!(self, C, N, M, K, M)
    }

    /// Which of the particles of a bundle are those of a member; none where all are.
    pub fn corners(self, member: usize) -> Option<&'static [usize]> {
        match self.kind {
            _ if !self.is_bundled => None,
            Kind::Stretch | Kind::BendDistance => Some(&ThreeEdges::CORNERS[member]),
            Kind::Volume => Some(&AroundEdge::CORNERS[member]),
            _ => None,
        }
    }

    /// Puts elements of a kind together, if there are bundles of it and all elements fit into them.
    pub fn bundles(self, elements: &Elements<'_>) -> Option<Bundles> {
        match self.kind {
            _ if !self.is_bundled => None,
            Kind::Stretch | Kind::BendDistance => bundles::triangles(elements),
            Kind::Volume => bundles::tetrahedra_around_edges(elements),
            _ => None,
        }
    }
}

fn places<const N: usize>(rest: &[glam::Vec3]) -> [Vec3<f64>; N] {
    std::array::from_fn(|corner| {
        let [x, y, z] = rest[corner].to_array().map(f64::from);
        Vec3::new(x, y, z)
    })
}

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

    /// Solves the constraints of one block of the schedule, once. What is next is fetched meanwhile.
    #[inline(always)]
    pub fn solve_block<L: Lane, S: Storage>(
        &self,
        block: usize,
        next: Option<Next>,
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
            ahead: None,
            is_ascending: false,
        };
        with_form!(self.form(), C, N, M, K, {
            let kind = PhantomData::<C>;
            L::apart(Block::<C, S, N, M, K> { group: self, block, next, sweep, view, kind });
        });
    }

    /// Whether it pays to fetch what a tile of phantoms needs while the one before is solved.
    #[inline(always)]
    pub(crate) fn has_far_tiles(&self) -> bool {
        let near = if self.kind.arity() == 2 { NEAR_BODIES_OF_EDGES } else { NEAR_BODIES };
        self.schedule.body_count() > near
    }

    /// Fetches one of several parts of what a block needs: its constants, its particles, and the ids of the
    /// block after it. All at once would be more than a processor can wait for.
    #[inline(always)]
    fn fetch<P: Bodies<[f32; 4], N>, const N: usize>(
        &self,
        particles: P,
        block: usize,
        [part, parts]: [usize; 2],
    ) {
        // Two divisions for all lists: each takes as long as a dozen other instructions.
        let shares = [part, part + 1].map(|part| ((part as u64) << 32) / parts as u64);
        let of = |places: Range<usize>| {
            let [start, end] = shares.map(|share| (places.len() as u64 * share) >> 32);
            places.start + start as usize..places.start + end as usize
        };
        let places = self.schedule.block(block);
        for constants in &self.constants {
            fetch_all(&constants[of(places.clone())]);
        }
        let end = self.schedule.len().min(places.end + places.len());
        if let Some(ids) = self.schedule.bodies::<N>() {
            fetch_all(&ids[of(places.end..end)]);
        }
        let lines = self.lines.of(block);
        for &line in &lines[of(0..lines.len())] {
            particles.prefetch_body(line as usize * PARTICLES_IN_LINE);
        }
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
    next: Option<Next>,
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
        let Self { group, block, next, mut sweep, view, .. } = self;
        let next = match next {
            Some(Next::Block(next)) => Some(next).filter(|&next| !group.lines.of(next).is_empty()),
            Some(Next::Tile(ahead)) => {
                sweep.ahead = Some(ahead);
                None
            }
            _ => None,
        };
        let batches = group.schedule.batches(block);
        let particles = view.positions.bodies::<N>(&group.schedule);
        let multipliers = view.multipliers;
        for batch in batches.clone() {
            if let Some(next) = next {
                group.fetch(particles, next, [batch - batches.start, batches.len()]);
            }
            let places = group.schedule.batch(batch);
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

/// How far the constraints of a kind are from being satisfied.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// Root mean square of the relative errors.
    pub rms: f64,
    /// Largest relative error.
    pub max: f64,
    /// Number of constraints.
    pub count: usize,
}

impl Residual {
    /// The residual of a list of relative errors.
    fn of(errors: impl Iterator<Item = f64>) -> Self {
        let (mut squares, mut max, mut count) = (0.0, 0.0_f64, 0);
        for error in errors {
            squares += error * error;
            max = max.max(error.abs());
            count += 1;
        }
        Self { rms: (squares / f64::max(count as f64, 1.0)).sqrt(), max, count }
    }

    /// The residual of two lists of constraints together.
    pub fn merge(self, other: Self) -> Self {
        let count = self.count + other.count;
        let squares = self.rms.powi(2) * self.count as f64 + other.rms.powi(2) * other.count as f64;
        Self {
            rms: (squares / f64::max(count as f64, 1.0)).sqrt(),
            max: self.max.max(other.max),
            count,
        }
    }
}

#[cfg(test)]
mod tests;
