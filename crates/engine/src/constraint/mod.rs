//! Constraints: each kind is C(x) and ∇C(x), written once over the lane type, in a file of its
//! own. This file has the only match over the kinds.
//!
//! To add one, see 'Add a constraint in five steps' in CONTRIBUTING.md.

mod bend;
mod distance;
mod project;
mod volume;

use std::ops::Range;

use taut_partition::Schedule;

use crate::math::{Lane, Vec3};
use crate::state::{Access, State, View};

pub use bend::Bend;
pub use distance::Distance;
pub use project::{Response, Sweep};
pub use volume::Volume;

/// Smallest length (m), squared length or area² that is divided by.
const TINY: f32 = 1e-20;

/// C and its gradient for `N` particles.
pub trait Constraint<const N: usize> {
    /// The constraint's value and its gradient with respect to each particle.
    fn evaluate<L: Lane>(x: &[Vec3<L>; N], rest: L) -> (L, [Vec3<L>; N]);
}

/// The kinds of constraints, in the order in which a sweep solves them: what is solved last is
/// satisfied best, so length comes after shape, and attachments after length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Dihedral angle between two triangles.
    Bend,
    /// Distance between the far corners of two triangles.
    BendDistance,
    /// Volume of a tetrahedron.
    Volume,
    /// Length of an edge.
    Stretch,
    /// Two particles in one place.
    Attachment,
}

impl Kind {
    /// All kinds, in the order of a sweep.
    pub const ALL: [Kind; 5] =
        [Kind::Bend, Kind::BendDistance, Kind::Volume, Kind::Stretch, Kind::Attachment];

    /// The kind's name in scene files, on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bend => "bend",
            Kind::BendDistance => "bend-distance",
            Kind::Volume => "volume",
            Kind::Stretch => "stretch",
            Kind::Attachment => "attachment",
        }
    }

    /// The number of particles of one constraint.
    pub fn arity(self) -> usize {
        match self {
            Kind::Bend | Kind::Volume => 4,
            Kind::BendDistance | Kind::Stretch | Kind::Attachment => 2,
        }
    }

    /// What an error of this kind is compared with: its rest value, a half turn for angles, and a
    /// meter where the rest value is 0.
    fn scale(self, rest: f32) -> f32 {
        match self {
            Kind::Bend => std::f32::consts::PI,
            Kind::BendDistance | Kind::Volume | Kind::Stretch => rest.abs(),
            Kind::Attachment => 1.0,
        }
    }
}

/// Runs `$body` with `$C` and `$N` bound to the constraint type and arity of a kind.
macro_rules! with_kind {
    ($kind:expr, $C:ident, $N:ident, $body:expr) => {
        match $kind {
            Kind::Bend => {
                type $C = Bend;
                const $N: usize = 4;
                $body
            }
            Kind::Volume => {
                type $C = Volume;
                const $N: usize = 4;
                $body
            }
            Kind::BendDistance | Kind::Stretch | Kind::Attachment => {
                type $C = Distance;
                const $N: usize = 2;
                $body
            }
        }
    };
}

/// Constraints of one kind and one response, with the schedule that runs them.
#[derive(Clone, Debug)]
pub struct Group {
    /// What the constraints are.
    pub kind: Kind,
    /// How they answer.
    pub response: Response,
    /// Who runs when, and the particles of each constraint.
    pub schedule: Schedule,
    /// Rest values in schedule order.
    pub rest: Vec<f32>,
    /// Stiffness or compliance in schedule order.
    pub softness: Vec<f32>,
    /// Where this group's part of the state's multipliers starts (compliance only).
    pub first_multiplier: usize,
    /// Particles that the schedule splits into copies, if it is one of phantoms, in the order of
    /// the copies' ids.
    pub copies: Vec<Copies>,
}

/// A particle that takes part in a sweep several times over (paper A's phantoms).
#[derive(Clone, Debug, PartialEq)]
pub struct Copies {
    /// The particle, itself one of those who take part.
    pub particle: usize,
    /// Where its copies stand, at the end of the state's arrays.
    pub ids: Range<usize>,
    /// What its inverse mass is multiplied with while it is split: the number of those who take
    /// part, so that together they weigh as much as the particle does and momentum is kept; 1 in
    /// the paper.
    pub mass_factor: f32,
}

impl Group {
    /// Whether the constraints have a compliance, and so a multiplier each.
    pub fn is_compliant(&self) -> bool {
        self.response == Response::Compliance
    }

    /// Solves the constraints of one block of the schedule, once.
    #[inline(always)]
    pub fn solve_block<L, V, F>(
        &self,
        block: usize,
        inverse_step_squared: f32,
        first: bool,
        view: &View<'_, V, F>,
    ) where
        L: Lane,
        V: Access<[f32; 4]> + ?Sized,
        F: Access<f32> + ?Sized,
    {
        let sweep = Sweep {
            rest: &self.rest,
            softness: &self.softness,
            response: self.response,
            first_multiplier: self.first_multiplier,
            inverse_step_squared,
            first,
        };
        for batch in self.schedule.batches(block) {
            self.solve::<L, V, F>(self.schedule.batch(batch), &sweep, view);
        }
    }

    /// Solves a batch: whole vectors of `L` lanes, then what is left over one by one.
    #[inline(always)]
    fn solve<L, V, F>(&self, places: Range<usize>, sweep: &Sweep<'_>, view: &View<'_, V, F>)
    where
        L: Lane,
        V: Access<[f32; 4]> + ?Sized,
        F: Access<f32> + ?Sized,
    {
        let whole = places.start..places.end - places.len() % L::WIDTH;
        let rest = whole.end..places.end;
        with_kind!(self.kind, C, N, {
            if let Some(bodies) = self.schedule.bodies::<N>() {
                project::project::<C, L, N, V, F>(bodies, whole, sweep, view);
                project::project::<C, f32, N, V, F>(bodies, rest, sweep, view);
            }
        });
    }

    /// The particle that an id in the schedule stands for: copies have a place of their own only
    /// during a sweep.
    fn original(&self, id: usize) -> usize {
        let after = self.copies.partition_point(|copies| copies.ids.end <= id);
        match self.copies.get(after) {
            Some(copies) if copies.ids.contains(&id) => copies.particle,
            _ => id,
        }
    }

    /// Errors of all constraints relative to their scale.
    pub fn residual(&self, state: &State) -> Residual {
        with_kind!(self.kind, C, N, {
            let bodies = self.schedule.bodies::<N>().unwrap_or_default();
            let errors = bodies.iter().zip(&self.rest).map(|(ids, &rest)| {
                let x = ids.map(|id| {
                    let [x, y, z, _] = state.positions[self.original(id as usize)];
                    Vec3::new(x, y, z)
                });
                f64::from(C::evaluate(&x, rest).0) / f64::from(self.kind.scale(rest))
            });
            Residual::of(errors)
        })
    }
}

/// The value of C with rest value 0: what a constraint measures. In double precision.
pub fn measure(kind: Kind, places: &[glam::Vec3]) -> f64 {
    with_kind!(kind, C, N, {
        let x: [Vec3<f64>; N] = std::array::from_fn(|corner| {
            let [x, y, z] = places[corner].to_array().map(f64::from);
            Vec3::new(x, y, z)
        });
        C::evaluate(&x, 0.0).0
    })
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
