//! `[[shapes]]`: what bodies collide with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MeshSource, defaults};
use crate::scene::schema::range;

/// Something fixed, or moving along keyframes, that bodies collide with.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Shape {
    /// Name, unique in the scene.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Form and size.
    pub geometry: Geometry,
    /// Where it stands, m.
    #[serde(default)]
    pub position: [f32; 3],
    /// Degrees about x, then about y, then about z (fixed axes).
    #[serde(default)]
    pub rotation: [f32; 3],
    /// Coulomb's coefficient of friction.
    #[serde(default = "defaults::friction")]
    #[schemars(transform = range::not_negative)]
    pub friction: f32,
    /// Whether pictures show it. A wall may stand between the eye and what happens behind it.
    #[serde(default = "defaults::yes")]
    pub visible: bool,
    /// Motion: places at rising times; before the first and after the last it rests there.
    /// Replaces `position` and `rotation`.
    #[serde(default)]
    pub keyframes: Vec<Keyframe>,
}

/// The form of a shape, around its own origin.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Geometry {
    /// The half space below y = 0.
    Plane {},
    /// A ball.
    Sphere {
        /// From the center to the surface, m.
        #[schemars(transform = range::positive)]
        radius: f32,
    },
    /// A box.
    Box {
        /// Full lengths along x, y and z, m.
        #[schemars(transform = range::positive)]
        size: [f32; 3],
    },
    /// A cylinder along x with round ends.
    Capsule {
        /// From the axis to the surface, m.
        #[schemars(transform = range::positive)]
        radius: f32,
        /// Between the centers of the two ends, m.
        #[schemars(transform = range::positive)]
        length: f32,
    },
    /// A cylinder along x with flat ends.
    Tube {
        /// From the axis to the surface, m.
        #[schemars(transform = range::positive)]
        radius: f32,
        /// From end to end, m.
        #[schemars(transform = range::positive)]
        length: f32,
    },
    /// A ring around the y axis.
    Torus {
        /// From the center to the middle of the tube, m.
        #[schemars(transform = range::positive)]
        radius: f32,
        /// Radius of the tube, m.
        #[schemars(transform = range::positive)]
        tube_radius: f32,
    },
    /// A closed mesh as a sparse field of signed distances.
    Mesh {
        /// The surface.
        source: MeshSource,
        /// Size of a cell of the field, m; default: 1/64 of the longest side.
        #[serde(default)]
        #[schemars(transform = range::positive)]
        cell: Option<f32>,
        /// Factor for the mesh's size.
        #[serde(default = "defaults::unit")]
        #[schemars(transform = range::positive)]
        scale: f32,
    },
}

/// A place at a time.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Keyframe {
    /// When, in seconds from the start.
    #[schemars(transform = range::not_negative)]
    pub time: f32,
    /// Where the shape is then, m.
    #[serde(default)]
    pub position: [f32; 3],
    /// Degrees about x, then about y, then about z (fixed axes).
    #[serde(default)]
    pub rotation: [f32; 3],
}
