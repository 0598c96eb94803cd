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
mod group;
mod in_turn;
mod long_range;
mod neo_hookean;
mod plain;
mod project;
mod residual;
mod softness;
mod strain;
#[cfg(feature = "gpu")]
mod twins;
mod volume;

use std::ops::Range;

use taut_partition::Elements;
use taut_partition::bundles::{self, Bundles};

use crate::math::{Lane, Vec3};
use crate::state::{Access, Bodies};

pub use ahead::{Ahead, Lines};
pub use balloon::{BALLOON, Balloon};
pub use bend::Bend;
pub use copies::Copies;
pub(crate) use copies::Run;
pub use distance::Distance;
pub use group::{Group, Placed};
pub use in_turn::{AroundEdge, InTurn, MISSING, Shape, ThreeEdges};
pub use long_range::LongRange;
pub use neo_hookean::NeoHookean;
pub use plain::PlainGroup;
use project::ByRows;
pub use project::{Response, Sweep};
pub use residual::Residual;
pub use softness::Softness;
pub use strain::Strain;
#[cfg(feature = "gpu")]
pub(crate) use twins::Packing;
pub use volume::Volume;

/// Smallest length (m), squared length or area² that is divided by.
const TINY: f32 = 1e-20;

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

use with_form;

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

#[cfg(test)]
mod tests;
