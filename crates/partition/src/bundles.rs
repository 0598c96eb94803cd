//! Bundles: a few elements that share bodies, for one lane to solve one after another.
//!
//! What costs time in a sweep is moving bodies between memory and registers. Three edges of a triangle
//! have three bodies, where three edges one by one have six; four tetrahedra around an edge have six
//! instead of sixteen. A bundle is an element of its own to all partitioners: sets of sets, once
//! more.

mod tetrahedra;
mod triangles;

pub use tetrahedra::tetrahedra_around_edges;
pub use triangles::triangles;

/// In place of a member that a bundle does not have.
pub const NO_MEMBER: u32 = u32::MAX;

/// Elements put together, each in one bundle. All bundles have the same shape; some have members
/// missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundles {
    /// The bodies of the bundles, one bundle after another, all different within a bundle.
    pub bodies: Vec<u32>,
    /// The elements of the bundles, one bundle after another, or [`NO_MEMBER`].
    pub members: Vec<u32>,
}
