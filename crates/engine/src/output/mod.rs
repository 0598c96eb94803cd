//! What comes out of a simulation: figures (`metrics.rs`), bounds (`expect.rs`) and meshes on disk
//! (`frames.rs`).

mod expect;
mod frames;
mod metrics;

pub use expect::{Outcome, check_expectations};
pub use frames::{FrameError, FrameFormat, FrameWriter, surface, write_beside};
pub use metrics::{Energy, Penetration};
