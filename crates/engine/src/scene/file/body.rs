//! `[[bodies]]`: what moves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MeshSource, defaults};
use crate::scene::schema::range;

/// Something that moves.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Body {
    /// Name, unique in the scene.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Cloth (a surface) or soft (a solid of tetrahedra).
    #[serde(default)]
    pub kind: BodyKind,
    /// The rest shape.
    pub mesh: MeshSource,
    /// For soft bodies: a finer surface that follows the tetrahedra, for frames and pictures.
    #[serde(default)]
    pub surface: Option<MeshSource>,
    /// Vertices closer than this (in meters, before the transform) become one.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub weld: Option<f32>,
    /// Where the rest shape is put.
    #[serde(default)]
    pub transform: Transform,
    /// Scales the start positions about the body's center without changing its rest shape.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub deform: Option<[f32; 3]>,
    /// Velocity at the start, m/s.
    #[serde(default)]
    pub velocity: [f32; 3],
    /// kg/m² for cloth, kg/m³ for soft bodies. Give this or `mass`; default 0.2 or 1000.
    #[serde(default)]
    #[schemars(transform = range::positive)]
    pub density: Option<f32>,
    /// kg for the whole body (each instance of it).
    #[serde(default)]
    #[schemars(transform = range::positive)]
    pub mass: Option<f32>,
    /// Distance that contacts keep between particles and shapes, m.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub thickness: f32,
    /// Whether the body touches itself in scenes with contacts between particles.
    #[serde(default = "defaults::yes")]
    pub self_collision: bool,
    /// Rate at which velocities decay, 1/s.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub damping: f32,
    /// Drag coefficient of the surface in the scene's wind.
    #[serde(default = "defaults::drag")]
    #[schemars(transform = range::not_negative)]
    pub drag: f32,
    /// Direction of the warp in the mesh, projected into the plane of each triangle.
    #[serde(default = "defaults::warp")]
    pub warp: [f32; 3],
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

/// Scale, then rotate, then move.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transform {
    /// Where the origin of the mesh goes, m.
    pub position: [f32; 3],
    /// Degrees about x, then about y, then about z (fixed axes).
    pub rotation: [f32; 3],
    /// Factor for all three axes.
    #[schemars(transform = range::positive)]
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
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Region {
    /// Between two corners.
    Box {
        /// Smallest x, y and z, m.
        min: [f32; 3],
        /// Largest x, y and z, m.
        max: [f32; 3],
    },
    /// Around a point.
    Sphere {
        /// The middle of the ball, m.
        center: [f32; 3],
        /// Largest distance from the center, m.
        #[schemars(transform = range::positive)]
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
    /// Every triangle keeps its shape in its plane, along warp and weft and between them.
    pub strain: Option<StrainMaterial>,
    /// Every tetrahedron keeps its volume (soft bodies).
    pub volume: Option<Material>,
    /// Every tetrahedron is an elastic solid (soft bodies).
    pub neo_hookean: Option<ElasticMaterial>,
    /// No particle gets farther from its nearest pins than along the unstretched body.
    pub long_range: Option<Reach>,
    /// The closed surface of the body keeps the volume it encloses.
    pub balloon: Option<BalloonMaterial>,
}

/// How hard a constraint pulls. Give `stiffness`, `compliance` or `spring`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Material {
    /// PBD: the share of the error that one sweep removes, above 0 and up to 1.
    #[schemars(transform = range::share)]
    pub stiffness: Option<f32>,
    /// XPBD: inverse stiffness; 0 is rigid. m/N for stretch and bend-distance, rad²/J for
    /// bend, m⁵/N for volume.
    #[schemars(transform = range::not_negative)]
    pub compliance: Option<f32>,
    /// A force instead of a constraint: spring constant; N/m for stretch and bend-distance, J/rad²
    /// for bend, N/m⁵ for volume. Needs small steps.
    #[schemars(transform = range::positive)]
    pub spring: Option<f32>,
    /// Damping of the spring: force over speed, N·s/m for stretch and bend-distance.
    #[schemars(transform = range::not_negative)]
    pub damping: f32,
}

/// How cloth resists strain: three moduli, or `stiffness` alone.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct StrainMaterial {
    /// PBD: the share of all three errors that one sweep removes, above 0 and up to 1.
    #[schemars(transform = range::share)]
    pub stiffness: Option<f32>,
    /// XPBD: modulus along the warp, N/m.
    #[schemars(transform = range::positive)]
    pub warp: Option<f32>,
    /// XPBD: modulus along the weft, N/m.
    #[schemars(transform = range::positive)]
    pub weft: Option<f32>,
    /// XPBD: modulus against shear between warp and weft, N/m.
    #[schemars(transform = range::positive)]
    pub shear: Option<f32>,
    /// The moduli act as forces instead of constraints. Needs small steps.
    pub forces: bool,
    /// Damping of the forces, N·s/m.
    #[schemars(transform = range::not_negative)]
    pub damping: f32,
}

/// An elastic solid.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ElasticMaterial {
    /// Young's modulus, Pa.
    #[schemars(transform = range::positive)]
    pub young: f32,
    /// Poisson's number: 0 keeps its width when pulled, near 0.5 its volume.
    #[schemars(transform = range::poisson)]
    pub poisson: f32,
}

/// Long-range attachments. Give `stiffness` or `compliance`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reach {
    /// PBD: the share of the error that one sweep removes, above 0 and up to 1.
    #[serde(default)]
    #[schemars(transform = range::share)]
    pub stiffness: Option<f32>,
    /// XPBD: inverse stiffness, m/N; 0 is rigid.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub compliance: Option<f32>,
    /// What the way to the pin along the edges is multiplied with.
    #[serde(default = "defaults::unit")]
    #[schemars(transform = range::positive)]
    pub slack: f32,
    /// How many pins, the nearest ones, each particle is held by.
    #[serde(default = "defaults::one")]
    #[schemars(transform = range::between::<1, 64>)]
    pub anchors: u32,
}

/// Pressure in a closed surface. Give `stiffness` or `compliance`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BalloonMaterial {
    /// PBD: the share of the error that one sweep removes, above 0 and up to 1.
    #[serde(default)]
    #[schemars(transform = range::share)]
    pub stiffness: Option<f32>,
    /// XPBD: inverse stiffness, m⁵/N; 0 is rigid.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub compliance: Option<f32>,
    /// The volume to keep, relative to that of the rest shape.
    #[serde(default = "defaults::unit")]
    #[schemars(transform = range::positive)]
    pub pressure: f32,
}

/// A body repeated on a grid.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Repeat {
    /// Copies along x, y and z.
    #[schemars(transform = range::at_least::<1>)]
    pub count: [u32; 3],
    /// Distance between copies along x, y and z, m.
    pub spacing: [f32; 3],
    /// Random displacement of each copy along each axis, at most this many meters.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub jitter: f32,
    /// Random turn of each copy about each axis, at most this many degrees.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub jitter_rotation: f32,
    /// Seed of the randomness.
    #[serde(default)]
    pub seed: u64,
}
