//! Conflict-free parallel schedules for anything that sweeps over elements and writes bodies.

pub mod bundles;
pub mod change;
mod check;
pub mod cliques;
pub mod clusters;
pub mod coloring;
mod disjoint_sets;
mod elements;
mod error;
pub mod grid;
mod incidence;
pub mod phantoms;
pub mod ranks;
mod schedule;
mod sort;
pub mod stats;

pub use disjoint_sets::DisjointSets;
pub use elements::Elements;
pub use error::{InputError, PartitionError, Place, ScheduleError};
pub use incidence::Incidence;
pub use schedule::{Parts, Placement, Schedule};

/// The examples of the README are tests too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
