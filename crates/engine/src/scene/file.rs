//! The types of a scene file: what serde reads, what `taut schema` describes and what
//! docs/scene.md explains, key by key.
//!
//! Plain data with defaults. Nothing here is checked beyond its type (see `validate.rs`)
//! and nothing here knows a solver.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub dt: f32,
    /// How many steps `taut run` makes unless told otherwise.
    #[serde(default = "defaults::steps")]
    pub steps: u32,
    /// Substeps of a step: each predicts, sweeps and updates velocities on its own.
    #[serde(default = "defaults::one")]
    pub substeps: u32,
    /// Sweeps over all constraints in a substep.
    #[serde(default = "defaults::iterations")]
    pub iterations: u32,
    /// How a sweep goes over the constraints.
    #[serde(default)]
    pub solver: Solver,
    /// How constraints are partitioned for parallel sweeps.
    #[serde(default)]
    pub partition: Partition,
    /// `false` leaves out time: no gravity, no velocities, constraints and contacts only.
    #[serde(default = "defaults::yes")]
    pub integrate: bool,
    /// Moving air.
    #[serde(default)]
    pub wind: Option<Wind>,
    /// What moves.
    #[serde(default)]
    pub bodies: Vec<Body>,
    /// What things collide with.
    #[serde(default)]
    pub shapes: Vec<Shape>,
    /// Particles tied to points, to shapes or to each other.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
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
}

/// How constraints are partitioned. One schedule is made for each kind of constraint.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Partition {
    /// The partitioner.
    pub method: PartitionMethod,
    /// The order in which the greedy coloring visits constraints.
    pub order: ColoringOrder,
}

/// The partitioners a simulation can run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PartitionMethod {
    /// One phase per color of the constraint graph.
    #[default]
    Coloring,
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
    pub gust: f32,
    /// Period of the slowest gust in seconds.
    #[serde(default = "defaults::gust_period")]
    pub gust_period: f32,
    /// Density of the air, kg/m³.
    #[serde(default = "defaults::air_density")]
    pub density: f32,
}

/// Something that moves.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Body {
    /// Name, unique in the scene.
    pub name: String,
    /// Cloth (a surface) or soft (a solid of tetrahedra).
    #[serde(default)]
    pub kind: BodyKind,
    /// The rest shape.
    pub mesh: MeshSource,
    /// Vertices closer than this (in meters, before the transform) become one.
    #[serde(default)]
    pub weld: Option<f32>,
    /// Where the rest shape is put.
    #[serde(default)]
    pub transform: Transform,
    /// Scales the start positions about the body's center without changing its rest shape.
    #[serde(default)]
    pub deform: Option<[f32; 3]>,
    /// Velocity at the start, m/s.
    #[serde(default)]
    pub velocity: [f32; 3],
    /// kg/m² for cloth, kg/m³ for soft bodies. Give this or `mass`; default 0.2 or 1000.
    #[serde(default)]
    pub density: Option<f32>,
    /// kg for the whole body (each instance of it).
    #[serde(default)]
    pub mass: Option<f32>,
    /// Distance that contacts keep between particles and shapes, m.
    #[serde(default)]
    pub thickness: f32,
    /// Rate at which velocities decay, 1/s.
    #[serde(default)]
    pub damping: f32,
    /// Drag coefficient of the surface in the scene's wind.
    #[serde(default = "defaults::drag")]
    pub drag: f32,
    /// Particles that never move.
    #[serde(default)]
    pub pins: Vec<Selection>,
    /// What holds the body together.
    #[serde(default)]
    pub elements: Elements,
    /// Repeats the body on a grid; a stack is a grid of one column.
    #[serde(default)]
    pub repeat: Option<Repeat>,
}

/// What a body is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BodyKind {
    /// A surface of triangles.
    #[default]
    Cloth,
    /// A solid of tetrahedra.
    Soft,
}

/// A generated mesh or one from a file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum MeshSource {
    /// A rectangle of cloth in the x–z plane, centered on the origin.
    /// Groups: left, right (x), front, back (z), left-front, right-front, left-back, right-back, corners.
    Grid(Grid),
    /// A round piece of cloth in the x–z plane. Groups: center, rim.
    Disc(Disc),
    /// A closed surface of a ball. Groups: top, bottom.
    Sphere(Sphere),
    /// An open tube of cloth along the x axis. Groups: start, end.
    Tube(Tube),
    /// A closed surface of a torus around the y axis. Groups: none.
    Torus(Torus),
    /// A closed surface of a box. Groups: top, bottom, left, right, front, back.
    Box(BoxSurface),
    /// A solid box of tetrahedra, six to a cell. Groups as for the box.
    Block(Block),
    /// A Wavefront OBJ file. Groups: the file's objects and groups.
    File(MeshFile),
}

/// See [`MeshSource::Grid`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Grid {
    /// Particles along x and along z.
    pub particles: [u32; 2],
    /// Size along x and z, m.
    pub size: [f32; 2],
    /// How the squares are cut into triangles.
    #[serde(default)]
    pub diagonals: Diagonals,
    /// Seed of random diagonals.
    #[serde(default)]
    pub seed: u64,
}

/// How the squares of a grid are cut into triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Diagonals {
    /// All the same way.
    #[default]
    Regular,
    /// In turn, like a chessboard.
    Alternating,
    /// At random, from the grid's seed.
    Random,
}

/// See [`MeshSource::Disc`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Disc {
    /// m.
    pub radius: f32,
    /// Rings of triangles around the center: 6 · rings² triangles in all.
    pub rings: u32,
}

/// See [`MeshSource::Sphere`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sphere {
    /// m.
    pub radius: f32,
    /// Pieces that each edge of an icosahedron is cut into: 20 · subdivisions² triangles.
    pub subdivisions: u32,
}

/// See [`MeshSource::Tube`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tube {
    /// m.
    pub radius: f32,
    /// m.
    pub length: f32,
    /// Particles around.
    pub around: u32,
    /// Particles along.
    pub along: u32,
}

/// See [`MeshSource::Torus`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Torus {
    /// From the center to the middle of the tube, m.
    pub radius: f32,
    /// Radius of the tube, m.
    pub tube_radius: f32,
    /// Particles around the axis.
    pub around: u32,
    /// Particles around the tube.
    pub tube_around: u32,
}

/// See [`MeshSource::Box`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BoxSurface {
    /// m.
    pub size: [f32; 3],
    /// Squares along x, y and z.
    pub cells: [u32; 3],
}

/// See [`MeshSource::Block`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Block {
    /// m.
    pub size: [f32; 3],
    /// Cubes along x, y and z.
    pub cells: [u32; 3],
}

/// See [`MeshSource::File`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MeshFile {
    /// Path of the file, relative to the scene file.
    pub path: PathBuf,
}

/// Scale, then rotate, then move.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transform {
    /// m.
    pub position: [f32; 3],
    /// Degrees about x, then about y, then about z (fixed axes).
    pub rotation: [f32; 3],
    /// Factor for all three axes.
    pub scale: f32,
}

impl Default for Transform {
    fn default() -> Self {
        Self { position: [0.0; 3], rotation: [0.0; 3], scale: 1.0 }
    }
}

/// Some particles of a body. All conditions given must hold.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Selection {
    /// Particles by number, from 0, in the mesh's order.
    pub indices: Option<Vec<u32>>,
    /// A group that the mesh names.
    pub group: Option<String>,
    /// Particles whose place at the start lies in a region of the world.
    pub region: Option<Region>,
}

/// A part of the world.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Region {
    /// Between two corners.
    Box {
        /// Smallest x, y, z.
        min: [f32; 3],
        /// Largest x, y, z.
        max: [f32; 3],
    },
    /// Around a point.
    Sphere {
        /// m.
        center: [f32; 3],
        /// m.
        radius: f32,
    },
}

/// The constraints of a body, by kind. A kind that is absent is not made.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Elements {
    /// Every edge keeps its length.
    pub stretch: Option<Material>,
    /// Two triangles on an edge keep the angle between them.
    pub bend: Option<Material>,
    /// The far corners of two triangles on an edge keep their distance.
    pub bend_distance: Option<Material>,
    /// Every tetrahedron keeps its volume (soft bodies).
    pub volume: Option<Material>,
}

/// How hard a constraint pulls. Give `stiffness` or `compliance`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Material {
    /// PBD: the share of the error that one sweep removes, above 0 and up to 1.
    pub stiffness: Option<f32>,
    /// XPBD: inverse stiffness in the units of the kind (m/N for stretch, rad/(N·m) for bend,
    /// m³/Pa… for volume); 0 is rigid.
    pub compliance: Option<f32>,
}

/// A body repeated on a grid.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Repeat {
    /// Copies along x, y and z.
    pub count: [u32; 3],
    /// Distance between copies along x, y and z, m.
    pub spacing: [f32; 3],
    /// Random displacement of each copy along each axis, at most this many meters.
    #[serde(default)]
    pub jitter: f32,
    /// Random turn of each copy about each axis, at most this many degrees.
    #[serde(default)]
    pub jitter_rotation: f32,
    /// Seed of the randomness.
    #[serde(default)]
    pub seed: u64,
}

/// Something fixed, or moving along keyframes, that bodies collide with.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Shape {
    /// Name, unique in the scene.
    pub name: String,
    /// Form and size.
    pub geometry: Geometry,
    /// Where it stands.
    #[serde(default)]
    pub position: [f32; 3],
    /// Degrees about x, then about y, then about z (fixed axes).
    #[serde(default)]
    pub rotation: [f32; 3],
    /// Coulomb's coefficient of friction.
    #[serde(default = "defaults::friction")]
    pub friction: f32,
    /// Motion: places at rising times; before the first and after the last it rests there.
    /// Replaces `position` and `rotation`.
    #[serde(default)]
    pub keyframes: Vec<Keyframe>,
}

/// The form of a shape, around its own origin.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Geometry {
    /// The half space below y = 0.
    Plane {},
    /// A ball.
    Sphere {
        /// m.
        radius: f32,
    },
    /// A box.
    Box {
        /// Full lengths along x, y and z, m.
        size: [f32; 3],
    },
    /// A cylinder along x with round ends.
    Capsule {
        /// m.
        radius: f32,
        /// Between the centers of the two ends, m.
        length: f32,
    },
    /// A cylinder along x with flat ends.
    Tube {
        /// m.
        radius: f32,
        /// m.
        length: f32,
    },
    /// A ring around the y axis.
    Torus {
        /// From the center to the middle of the tube, m.
        radius: f32,
        /// Radius of the tube, m.
        tube_radius: f32,
    },
    /// A closed mesh as a sparse field of signed distances.
    Mesh {
        /// The surface.
        source: MeshSource,
        /// Size of a cell of the field, m; default: 1/64 of the longest side.
        #[serde(default)]
        cell: Option<f32>,
        /// Factor for the mesh's size.
        #[serde(default = "defaults::unit")]
        scale: f32,
    },
}

/// A place at a time.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Keyframe {
    /// s.
    pub time: f32,
    /// m.
    #[serde(default)]
    pub position: [f32; 3],
    /// Degrees about x, then about y, then about z (fixed axes).
    #[serde(default)]
    pub rotation: [f32; 3],
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
    pub stiffness: Option<f32>,
    /// XPBD: inverse stiffness, m/N; 0 is rigid.
    #[serde(default)]
    pub compliance: Option<f32>,
}

/// What attached particles are tied to.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
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

/// Bounds that must hold at the end of a run.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Expect {
    /// Per kind of constraint, the largest relative residuals.
    pub residual: BTreeMap<String, ResidualBound>,
    /// All particles lie in this box.
    pub extent: Option<Extent>,
    /// No particle is deeper than this in a shape, m.
    pub penetration: Option<f32>,
    /// Kinetic energy is at most this, J.
    pub kinetic_energy: Option<f32>,
}

/// Bounds of the relative residual of one kind.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResidualBound {
    /// Root mean square.
    pub rms: Option<f32>,
    /// Largest.
    pub max: Option<f32>,
}

/// A box in the world.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Extent {
    /// Smallest x, y, z.
    pub min: [f32; 3],
    /// Largest x, y, z.
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
}
