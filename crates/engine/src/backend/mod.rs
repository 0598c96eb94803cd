//! Where a program runs: on one thread (`serial.rs`, the reference) or on a team of workers
//! (`multicore.rs`, as many as `team_size.rs` finds best). Both run the same loop over the same stages and
//! give the same bits. The folder `gpu`, with the feature of that name, finds and opens graphics processors.

mod crew;
mod disjoint;
#[cfg(feature = "gpu")]
pub mod gpu;
mod multicore;
mod serial;
mod shares;
mod team_size;

use std::time::Instant;

use thiserror::Error;

use crate::constraint::Residual;
use crate::model::Model;
use crate::solver::{Findings, Hands, Job};
use crate::state::State;

pub use multicore::Multicore;
pub use serial::Serial;
pub use team_size::TeamSize;

/// Something that can make a step.
pub trait Backend: Send {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// How many threads work at most.
    fn threads(&self) -> usize;

    /// Makes one step. `seconds` has an entry for every stage of the program: the time it took,
    /// all substeps together, is added to it. A back-end that keeps the state elsewhere may return
    /// before the step is made, with what it noticed in an earlier one ([`Backend::behind`] says in
    /// which), and how long that took.
    ///
    /// # Errors
    /// If the device fails.
    fn step(
        &mut self,
        job: Job<'_>,
        state: &mut State,
        seconds: &mut [f64],
    ) -> Result<Findings, BackendError>;

    /// Has particles pulled in the next step. Gives the hands back if the state is at home: then it is
    /// for the caller to pull.
    fn grab(&mut self, hands: Hands) -> Option<Hands> {
        Some(hands)
    }

    /// Takes up a program and a state: called before the first step, and before the next one when
    /// the program has changed.
    ///
    /// # Errors
    /// If the device has no room for it.
    fn load(&mut self, _: Job<'_>, _: &State) -> Result<(), BackendError> {
        Ok(())
    }

    /// Takes up a state that was changed at home; the program is the same.
    ///
    /// # Errors
    /// If the device fails.
    fn put(&mut self, _: &State) -> Result<(), BackendError> {
        Ok(())
    }

    /// Brings the state home.
    ///
    /// # Errors
    /// If the device fails.
    fn fetch(&mut self, _: &mut State) -> Result<(), BackendError> {
        Ok(())
    }

    /// Sends the state home as it is after the steps made so far, without waiting for them; returns
    /// whether that takes a while. More steps may be made and more states be requested meanwhile.
    ///
    /// # Errors
    /// If the device fails.
    fn request(&mut self, _: &State) -> Result<bool, BackendError> {
        Ok(false)
    }

    /// Takes up the oldest state that was requested, if it has arrived; returns whether it had.
    ///
    /// # Errors
    /// If the device fails.
    fn receive(&mut self, _: &mut State) -> Result<bool, BackendError> {
        Ok(false)
    }

    /// How many of the steps are still under way: [`Backend::step`], [`Backend::hear`] and
    /// [`Backend::wait`] told what was noticed in the one before these. Nothing more is told of steps
    /// after one that went out of bounds.
    fn behind(&self) -> u64 {
        0
    }

    /// What was noticed in the oldest step under way, if it is made, and how long its stages took. Does
    /// not wait.
    ///
    /// # Errors
    /// If the device fails.
    fn hear(&mut self, _seconds: &mut [f64]) -> Result<Option<Findings>, BackendError> {
        Ok(None)
    }

    /// Waits until the oldest step under way is made; returns what was noticed in it, and how long its
    /// stages took. Where none is under way, waits until all states that were requested have arrived.
    ///
    /// # Errors
    /// If the device fails.
    fn wait(&mut self, _seconds: &mut [f64]) -> Result<Option<Findings>, BackendError> {
        Ok(None)
    }

    /// Residuals of the model's groups, measured where the state is, if that is not at home.
    ///
    /// # Errors
    /// If the device fails.
    fn residuals(&mut self, _: &Model) -> Result<Option<Vec<Residual>>, BackendError> {
        Ok(None)
    }

    /// The device that it runs on, if that is not this processor.
    fn device(&self) -> Option<&str> {
        None
    }

    /// The positions on a device that others may read there: four numbers each, in the order of memory.
    #[cfg(feature = "gpu")]
    fn positions(&self) -> Option<wgpu::Buffer> {
        None
    }

    /// How many kernels a device runs in a step.
    fn dispatches(&self) -> Option<usize> {
        None
    }
}

/// A back-end that cannot be had.
#[derive(Debug, Error)]
pub enum BackendError {
    /// The operating system gave no threads.
    #[error("could not start {threads} worker threads: {reason}; try fewer with --threads")]
    NoThreads {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        reason: String,
    },
    /// The graphics processor failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] gpu::GpuError),
}

/// Measures stages: each one from the end of the one before.
struct Stopwatch<'a> {
    last: Instant,
    seconds: &'a mut [f64],
}

impl<'a> Stopwatch<'a> {
    fn start(seconds: &'a mut [f64]) -> Self {
        Self { last: Instant::now(), seconds }
    }

    fn lap(&mut self, place: usize) {
        let now = Instant::now();
        self.seconds[place] += (now - self.last).as_secs_f64();
        self.last = now;
    }
}

#[cfg(test)]
mod tests;
