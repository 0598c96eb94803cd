//! The types of a scene file: what serde reads, what `taut schema` describes and what
//! docs/scene.md explains, key by key.
//!
//! Plain data with defaults. A type, and the range that a `schemars(transform = range::…)`
//! gives it, is all that is said here: `check.rs` holds files to that, `validate.rs` to the
//! rest. Nothing here knows a solver.

mod body;
mod mesh_source;
mod shape;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use body::*;
pub use mesh_source::*;
pub use shape::*;

use super::schema::range;

/// A whole scene file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SceneFile {
    /// One line for people: what the scene shows.
    #[serde(default)]
    pub title: String,
    /// Acceleration of free fall, m/s².
    #[serde(default = "defaults::gravity")]
    pub gravity: [f32; 3],
    /// Length of a step in seconds.
    #[serde(default = "defaults::dt")]
    #[schemars(transform = range::positive)]
    pub dt: f32,
    /// How many steps `taut run` makes unless told otherwise.
    #[serde(default = "defaults::steps")]
    pub steps: u32,
    /// Substeps of a step: each predicts, sweeps and updates velocities on its own.
    #[serde(default = "defaults::one")]
    #[schemars(transform = range::at_least::<1>)]
    pub substeps: u32,
    /// Sweeps over all constraints in a substep.
    #[serde(default = "defaults::iterations")]
    #[schemars(transform = range::at_least::<1>)]
    pub iterations: u32,
    /// How a sweep goes over the constraints.
    #[serde(default)]
    pub solver: Solver,
    /// Factor for what a sweep changes: above 1 over-relaxes, below 1 damps.
    #[serde(default = "defaults::unit")]
    #[schemars(transform = range::up_to_two)]
    pub relaxation: f32,
    /// Chebyshev acceleration: an estimate of the share of the error that a sweep leaves, above 0
    /// and up to 1.
    #[serde(default)]
    #[schemars(transform = range::share)]
    pub chebyshev: Option<f32>,
    /// How constraints are partitioned for parallel sweeps.
    #[serde(default)]
    pub partition: Partition,
    /// `false` leaves out time: no gravity, no velocities, constraints and contacts only.
    #[serde(default = "defaults::yes")]
    pub integrate: bool,
    /// Moving air.
    #[serde(default)]
    pub wind: Option<Wind>,
    /// Contacts between particles: of different bodies, and of a body with itself.
    #[serde(default)]
    pub particle_contacts: Option<ParticleContacts>,
    /// What moves.
    #[serde(default)]
    pub bodies: Vec<Body>,
    /// What things collide with.
    #[serde(default)]
    pub shapes: Vec<Shape>,
    /// Particles tied to points, to shapes or to each other.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// Where pictures are taken from; default: what frames the whole scene.
    #[serde(default)]
    pub camera: Option<Camera>,
    /// Bounds that must hold after `steps` steps: they make the scene a test.
    #[serde(default)]
    pub expect: Expect,
}

/// How a sweep goes over the constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// The phases of the schedule in order, in parallel inside a phase.
    #[default]
    GaussSeidel,
    /// All constraints from the same places; each particle moves by the mean of its corrections.
    Jacobi,
    /// The first `partition.colors` colors by Gauss–Seidel, all other constraints by Jacobi.
    Hybrid,
    /// Gauss–Seidel with exactly `partition.colors` colors: the same as `partition.method` phantom.
    Phantom,
}

/// How constraints are partitioned. One schedule is made for each kind of constraint.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Partition {
    /// The partitioner.
    pub method: PartitionMethod,
    /// Coloring: the order in which constraints get their colors.
    pub order: ColoringOrder,
    /// Phantom and hybrid: the number of colors q̂; default: half of the clique number.
    #[schemars(transform = range::between::<2, 4096>)]
    pub colors: Option<u32>,
    /// Phantom: what copies of a particle weigh.
    pub phantom_masses: PhantomMasses,
    /// Cluster: the number of clusters of each kind. Give this or `subset-size`.
    #[schemars(transform = range::at_least::<1>)]
    pub subsets: Option<u32>,
    /// Cluster: the most constraints of a cluster; default 2048, or half as many more where that takes fewer
    /// phases, and small pieces of a scene of many are not cut. Phantom: about as many constraints of a tile;
    /// by default scenes of 32 to 131 thousand particles (edges: 65) have tiles, and those of a million and more.
    #[schemars(transform = range::at_least::<1>)]
    pub subset_size: Option<u32>,
    /// Cluster: constraints that share particles go together, as one element: three edges of a triangle,
    /// up to four tetrahedra around an edge. Off, every constraint is an element; default on.
    pub bundles: Option<bool>,
}

/// What the copies of a particle weigh while a sweep treats them as particles of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PhantomMasses {
    /// The particle's mass is shared out among its copies: momentum is kept.
    #[default]
    Split,
    /// Every copy has the whole mass, as in paper A: momentum is lost.
    Paper,
}

/// The partitioners a simulation can run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionMethod {
    /// One phase per color of the constraint graph.
    #[default]
    Coloring,
    /// Exactly `colors` colors, by copies of particles that are merged after each sweep.
    Phantom,
    /// Clusters of constraints that are close together, colored.
    Cluster,
    /// Cells of a grid in eight sets.
    Grid,
    /// Colors or clusters, whichever is predicted to be done first.
    Auto,
}

/// The order in which a greedy coloring visits constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ColoringOrder {
    /// Matula and Beck's order: few colors.
    #[default]
    SmallestLast,
    /// As the constraints come.
    Natural,
    /// Highest valence first.
    LargestFirst,
    /// Smallest-last order, least loaded permissible color.
    Balanced,
    /// Deterministic parallel coloring: fast to build, a few more colors.
    Parallel,
}

/// Moving air that pushes on the triangles of every body with `drag`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Wind {
    /// Velocity of the air, m/s.
    pub velocity: [f32; 3],
    /// Strength of gusts relative to the mean wind: 0 is steady, 1 swings between calm and double.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub gust: f32,
    /// Period of the slowest gust in seconds.
    #[serde(default = "defaults::gust_period")]
    #[schemars(transform = range::positive)]
    pub gust_period: f32,
    /// Density of the air, kg/m³.
    #[serde(default = "defaults::air_density")]
    #[schemars(transform = range::not_negative)]
    pub density: f32,
}

/// Contacts between particles, which are balls of one size.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ParticleContacts {
    /// Radius of a particle, m; default: half of the mean edge of all triangles.
    #[serde(default)]
    #[schemars(transform = range::positive)]
    pub radius: Option<f32>,
    /// Coulomb's coefficient of friction.
    #[serde(default = "defaults::friction")]
    #[schemars(transform = range::not_negative)]
    pub friction: f32,
}

/// Particles of a body tied to where they start, to a shape, or to particles of a body.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Attachment {
    /// The body.
    pub body: String,
    /// Its particles.
    pub particles: Selection,
    /// What they are tied to.
    pub to: Target,
    /// PBD: the share of the error that one sweep removes, above 0 and up to 1.
    #[serde(default)]
    #[schemars(transform = range::share)]
    pub stiffness: Option<f32>,
    /// XPBD: inverse stiffness, m/N; 0 is rigid.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub compliance: Option<f32>,
}

/// What attached particles are tied to.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Target {
    /// Each particle to the place where it starts.
    Place {},
    /// Each particle to its place in the frame of a shape, whose motion it follows.
    Shape {
        /// The shape's name.
        name: String,
    },
    /// Each particle to one of another body (or the same), in order; as many as there are.
    Body {
        /// The body's name.
        name: String,
        /// Its particles.
        particles: Selection,
    },
}

/// Where pictures are taken from.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Camera {
    /// Where the camera stands, m.
    pub eye: [f32; 3],
    /// What it looks at, m.
    #[serde(default)]
    pub target: [f32; 3],
    /// Angle between the lower and the upper edge of the picture, degrees.
    #[serde(default = "defaults::field_of_view")]
    #[schemars(transform = range::between::<1, 170>)]
    pub fov: f32,
}

/// Bounds that must hold at the end of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Expect {
    /// Per kind of constraint, the largest relative residuals.
    pub residual: BTreeMap<String, ResidualBound>,
    /// All particles lie in this box.
    pub extent: Option<Extent>,
    /// No particle is deeper than this in a shape, m.
    #[schemars(transform = range::not_negative)]
    pub penetration: Option<f32>,
    /// Kinetic energy is at most this, J.
    #[schemars(transform = range::not_negative)]
    pub kinetic_energy: Option<f32>,
}

/// Bounds of the relative residual of one kind.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResidualBound {
    /// Root mean square.
    #[schemars(transform = range::not_negative)]
    pub rms: Option<f32>,
    /// Largest.
    #[schemars(transform = range::not_negative)]
    pub max: Option<f32>,
}

/// A box in the world.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Extent {
    /// Smallest x, y and z, m.
    pub min: [f32; 3],
    /// Largest x, y and z, m.
    pub max: [f32; 3],
}

mod defaults {
    pub(super) fn gravity() -> [f32; 3] {
        [0.0, -9.81, 0.0]
    }
    pub(super) fn dt() -> f32 {
        1.0 / 60.0
    }
    pub(super) fn steps() -> u32 {
        300
    }
    pub(super) fn one() -> u32 {
        1
    }
    pub(super) fn iterations() -> u32 {
        8
    }
    pub(super) fn yes() -> bool {
        true
    }
    pub(super) fn gust_period() -> f32 {
        2.0
    }
    pub(super) fn air_density() -> f32 {
        1.2
    }
    pub(super) fn drag() -> f32 {
        1.0
    }
    pub(super) fn friction() -> f32 {
        0.3
    }
    pub(super) fn unit() -> f32 {
        1.0
    }
    pub(super) fn field_of_view() -> f32 {
        30.0
    }
    pub(super) fn warp() -> [f32; 3] {
        [1.0, 0.0, 0.0]
    }
}
