//! What can be wrong with a mesh. Each message says what, where, and what would be right.

use std::path::PathBuf;

/// The most vertices a mesh may have.
///
/// A solid of this many takes about 20 GB, and three corners for each triangle of any
/// generated surface still count in a `u32`, which `topology.rs` relies on.
pub const MAX_VERTICES: u64 = 1 << 27;

/// Errors of the mesh module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A generator was asked for too few of something.
    #[error("{mesh}: `{what}` is {count}, it must be at least {least}")]
    TooFew {
        /// The generator.
        mesh: &'static str,
        /// The parameter, as scene files name it.
        what: &'static str,
        /// What was asked for.
        count: u32,
        /// What would do.
        least: u32,
    },
    /// A length that is zero, negative, infinite or not a number.
    #[error("{mesh}: `{what}` is {value}, it must be a finite number above 0 (in meters)")]
    BadLength {
        /// The generator or function.
        mesh: &'static str,
        /// The parameter, as scene files name it.
        what: &'static str,
        /// What was given.
        value: f32,
    },
    /// A solid that would become finer inside, or coarser without end.
    #[error("solid: `grading` is {grading}, it must be a finite number, 0 or above")]
    BadGrading {
        /// What was given.
        grading: f32,
    },
    /// A torus that would pass through itself.
    #[error("torus: `tube-radius` is {tube_radius}, it must be below `radius`, which is {radius}")]
    FatTorus {
        /// From the center to the middle of the tube.
        radius: f32,
        /// Radius of the tube.
        tube_radius: f32,
    },
    /// More vertices than [`MAX_VERTICES`].
    #[error("{mesh}: {vertices} vertices are too many, the most is {MAX_VERTICES}; ask for fewer")]
    TooManyVertices {
        /// The generator or file.
        mesh: String,
        /// How many there would be.
        vertices: u128,
    },
    /// More triangles than corner numbers fit a `u32`.
    #[error("{triangles} triangles are too many, the most is {}", u32::MAX / 3)]
    TooManyTriangles {
        /// How many there are.
        triangles: usize,
    },
    /// An element or a group names a vertex that does not exist.
    #[error("{what} {number} names vertex {index}, but the mesh has {vertices} vertices (0 to {})", .vertices.saturating_sub(1))]
    IndexOutOfRange {
        /// 'triangle', 'tetrahedron' or 'entry of group `name`'.
        what: String,
        /// Which one, from 0.
        number: usize,
        /// The vertex it names.
        index: u32,
        /// Vertices of the mesh.
        vertices: usize,
    },
    /// A coordinate that is infinite or not a number.
    #[error("vertex {vertex} is at ({}, {}, {}): coordinates must be finite", .position[0], .position[1], .position[2])]
    NotFinite {
        /// Number of the vertex, from 0.
        vertex: usize,
        /// Its coordinates.
        position: [f32; 3],
    },
    /// A tetrahedron with no volume, or inside out.
    #[error(
        "tetrahedron {number} has volume {volume} m³: it must be above 0; swap two of its corners if it is inside out"
    )]
    BadTetrahedron {
        /// Which one, from 0.
        number: usize,
        /// Its signed volume.
        volume: f32,
    },
    /// A group that is not sorted, or names a vertex twice.
    #[error("group `{name}` must be sorted and name each vertex once")]
    UnsortedGroup {
        /// The group.
        name: String,
    },
    /// A weld distance that is negative, infinite or not a number.
    #[error("the weld distance is {distance}, it must be a finite number, 0 or above (in meters)")]
    BadWeldDistance {
        /// What was given.
        distance: f32,
    },
    /// A file that cannot be read at all.
    #[error("cannot read {}: {error}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file without any line that OBJ files have.
    #[error("{} is not a Wavefront OBJ file: it has no lines `v x y z` and `f 1 2 3`", .path.display())]
    NotObj {
        /// The file.
        path: PathBuf,
    },
    /// A file without a single proper face.
    #[error("{} has {vertices} vertices but no faces (lines `f 1 2 3`)", .path.display())]
    NoFaces {
        /// The file.
        path: PathBuf,
        /// How many vertices it has.
        vertices: usize,
    },
    /// A file without a single triangle or tetrahedron.
    #[error("{} has {vertices} vertices but no triangles or tetrahedra", .path.display())]
    NoElements {
        /// The file.
        path: PathBuf,
        /// How many vertices it has.
        vertices: usize,
    },
    /// A file that is not what its ending says.
    #[error("{} is not {format}", .path.display())]
    WrongFormat {
        /// The file.
        path: PathBuf,
        /// What it should be, and how to make it so.
        format: &'static str,
    },
    /// A line that is wrong.
    #[error("{}:{line}: {message}", .path.display())]
    BadLine {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it, and what would be right.
        message: String,
    },
    /// A surface that does not enclose a space.
    #[error(
        "the mesh is not closed: {boundary} edges have one triangle only and {non_manifold} have \
         more than two; close the holes, and weld vertices that lie in one place"
    )]
    NotClosed {
        /// Edges of one triangle.
        boundary: usize,
        /// Edges of more than two triangles.
        non_manifold: usize,
    },
    /// A surface that is partly inside out.
    #[error(
        "{edges} edges lie between triangles that face opposite sides; turn triangles around \
         until all face outward"
    )]
    NotOriented {
        /// How many edges.
        edges: usize,
    },
    /// A closed surface that is flat.
    #[error("the mesh encloses no volume, so it has no inside")]
    NoVolume,
    /// A signed distance field with too many blocks.
    #[error(
        "a cell of {cell} m makes {blocks} blocks of cells, the most is {most}; a cell of \
         {enough} m would do"
    )]
    CellTooSmall {
        /// What was asked for.
        cell: f32,
        /// How many blocks it would take.
        blocks: f64,
        /// How many there may be.
        most: f64,
        /// About what would do.
        enough: f32,
    },
    /// A lattice with too many nodes.
    #[error(
        "a cell of {cell} m makes a lattice of {nodes:.1e} nodes, the most is {most}; a cell of \
         {enough} m would do"
    )]
    LatticeTooFine {
        /// What was asked for.
        cell: f32,
        /// How many nodes it would take.
        nodes: f64,
        /// How many there may be.
        most: f64,
        /// What would do.
        enough: f32,
    },
    /// A solid that no node of the lattice lies in.
    #[error("no part of the solid is as thick as a cell of {cell} m; give a smaller cell")]
    NothingInside {
        /// What was asked for.
        cell: f32,
    },
}
