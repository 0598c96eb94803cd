//! What comes out of a simulation: figures (`metrics.rs`), bounds (`expect.rs`), meshes on disk
//! (`frames.rs`), and what viewers draw (`drawing.rs`, `elements.rs`).

mod drawing;
mod elements;
mod expect;
mod frames;
mod metrics;

pub use drawing::{Drawing, DrawnBody, DrawnShape, Field, ShapePose};
pub use elements::{KindElements, NO_PARTICLE, elements_by_kind};
pub use expect::{Outcome, check_expectations};
pub use frames::{FrameError, FrameFormat, FrameWriter, numbered, surface, write_beside};
pub use metrics::{Energy, Penetration};
