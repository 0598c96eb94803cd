//! Solvers as programs: a short list of stages (`program.rs`), what each stage does to a share of
//! the particles or constraints (`stage.rs`, `sweep.rs`), and the loop that runs them (`run.rs`).
//!
//! What is pulled by hand meanwhile is in `hand.rs`.
//!
//! Nothing here knows a thread: a back-end calls [`run()`] once per worker with a [`Team`] that says
//! which share is this worker's and how to wait for the others.

mod detect;
mod hand;
mod phantom;
mod program;
mod run;
mod stage;
mod sweep;
mod touch;

pub use detect::DetectPass;
pub use hand::{Hand, Hands};
pub use phantom::CopyPass;
#[cfg(feature = "gpu")]
pub(crate) use program::iterate;
pub use program::{Program, Stage};
pub use run::{Alone, Findings, Job, Share, Team, run};
#[cfg(feature = "gpu")]
pub(crate) use stage::chebyshev_weight;
pub use stage::{Placed, Substep};
pub use touch::TouchPass;
