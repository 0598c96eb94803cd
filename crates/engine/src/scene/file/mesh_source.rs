//! `mesh`: the generators and mesh files that bodies and shapes are made from.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scene::schema::range;

/// A generated mesh or one from a file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum MeshSource {
    /// A rectangle of cloth in the x–z plane, centered on the origin.
    /// Groups: left (smallest x), right, front (largest z), back, left-front, right-front,
    /// left-back, right-back, corners.
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
    /// A solid of tetrahedra inside blended forms or a closed surface. Groups: none.
    Solid(Solid),
    /// A file: Wavefront OBJ, Gmsh (.msh) or TetGen (.node and .ele). Groups: the file's.
    File(MeshFile),
}

/// See [`MeshSource::Grid`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Grid {
    /// Particles along x and along z.
    #[schemars(transform = range::at_least::<2>)]
    pub particles: [u32; 2],
    /// Size along x and z, m.
    #[schemars(transform = range::positive)]
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
    /// From the center to the rim, m.
    #[schemars(transform = range::positive)]
    pub radius: f32,
    /// Rings of triangles around the center: 6 · rings² triangles in all.
    #[schemars(transform = range::at_least::<1>)]
    pub rings: u32,
}

/// See [`MeshSource::Sphere`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sphere {
    /// From the center to the surface, m.
    #[schemars(transform = range::positive)]
    pub radius: f32,
    /// Pieces that each edge of an icosahedron is cut into: 20 · subdivisions² triangles.
    #[schemars(transform = range::at_least::<1>)]
    pub subdivisions: u32,
}

/// See [`MeshSource::Tube`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tube {
    /// From the axis to the surface, m.
    #[schemars(transform = range::positive)]
    pub radius: f32,
    /// From end to end, m.
    #[schemars(transform = range::positive)]
    pub length: f32,
    /// Particles around.
    #[schemars(transform = range::at_least::<3>)]
    pub around: u32,
    /// Particles along.
    #[schemars(transform = range::at_least::<2>)]
    pub along: u32,
}

/// See [`MeshSource::Torus`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Torus {
    /// From the center to the middle of the tube, m.
    #[schemars(transform = range::positive)]
    pub radius: f32,
    /// Radius of the tube, m.
    #[schemars(transform = range::positive)]
    pub tube_radius: f32,
    /// Particles around the axis.
    #[schemars(transform = range::at_least::<3>)]
    pub around: u32,
    /// Particles around the tube.
    #[schemars(transform = range::at_least::<3>)]
    pub tube_around: u32,
}

/// See [`MeshSource::Box`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BoxSurface {
    /// Full lengths along x, y and z, m.
    #[schemars(transform = range::positive)]
    pub size: [f32; 3],
    /// Squares along x, y and z.
    #[schemars(transform = range::at_least::<1>)]
    pub cells: [u32; 3],
}

/// See [`MeshSource::Block`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Block {
    /// Full lengths along x, y and z, m.
    #[schemars(transform = range::positive)]
    pub size: [f32; 3],
    /// Cubes along x, y and z.
    #[schemars(transform = range::at_least::<1>)]
    pub cells: [u32; 3],
}

/// See [`MeshSource::Solid`]. Give `parts` or `surface`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Solid {
    /// Side of the cubes, of twelve tetrahedra each, that fill the solid, m.
    #[schemars(transform = range::positive)]
    pub cell: f32,
    /// How much longer edges may be for each meter below the surface, m; 0: the inside is as fine as
    /// the surface.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub grading: f32,
    /// Forms that together make the solid.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Width of the seams between parts that are rounded, m.
    #[serde(default)]
    #[schemars(transform = range::not_negative)]
    pub blend: f32,
    /// Thickness of the wall of a hollow solid, m; default: the solid is full.
    #[serde(default)]
    #[schemars(transform = range::positive)]
    pub wall: Option<f32>,
    /// A closed surface that bounds the solid.
    #[serde(default)]
    pub surface: Option<Box<MeshSource>>,
}

/// A form that is part of a solid.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Part {
    /// A ball.
    Sphere {
        /// Its middle, m.
        #[serde(default)]
        center: [f32; 3],
        /// From the center to the surface, m.
        #[schemars(transform = range::positive)]
        radius: f32,
    },
    /// A ball stretched along the axes.
    Ellipsoid {
        /// Its middle, m.
        #[serde(default)]
        center: [f32; 3],
        /// From the center to the surface along x, y and z, m.
        #[schemars(transform = range::positive)]
        radii: [f32; 3],
    },
    /// All that is close to a line.
    Capsule {
        /// Where the line starts, m.
        from: [f32; 3],
        /// Where it ends, m.
        to: [f32; 3],
        /// From the line to the surface, m.
        #[schemars(transform = range::positive)]
        radius: f32,
    },
    /// A box along the axes.
    Box {
        /// Its middle, m.
        #[serde(default)]
        center: [f32; 3],
        /// Full lengths along x, y and z, m.
        #[schemars(transform = range::positive)]
        size: [f32; 3],
    },
    /// A ring around the y axis.
    Torus {
        /// Its middle, m.
        #[serde(default)]
        center: [f32; 3],
        /// From the center to the middle of the tube, m.
        #[schemars(transform = range::positive)]
        radius: f32,
        /// Radius of the tube, m.
        #[schemars(transform = range::positive)]
        tube_radius: f32,
    },
    /// Hairs that stand on a ball, evenly spread. They start in its center; the ball is not
    /// part of it.
    Hairs {
        /// Middle of the ball, m.
        #[serde(default)]
        center: [f32; 3],
        /// Radius of the ball, m.
        #[schemars(transform = range::positive)]
        radius: f32,
        /// From the ball to the middle of a hair's round tip, m.
        #[schemars(transform = range::positive)]
        length: f32,
        /// Half of a hair's thickness, m.
        #[schemars(transform = range::positive)]
        hair_radius: f32,
        /// How many there are.
        #[schemars(transform = range::between::<1, 4096>)]
        count: u32,
    },
}

/// See [`MeshSource::File`].
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MeshFile {
    /// Path of the file, relative to the scene file.
    pub path: PathBuf,
}
