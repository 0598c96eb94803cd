//! One thread, no unsafe code, the shortest back-end: what the others are compared with.

use super::{Backend, BackendError, Stopwatch};
use crate::math::Work;
use crate::solver::{Findings, Job, Share, Team, run};
use crate::state::State;

/// The reference back-end.
#[derive(Clone, Copy, Debug)]
pub struct Serial;

impl Backend for Serial {
    fn name(&self) -> &'static str {
        "serial"
    }

    fn threads(&self) -> usize {
        1
    }

    fn step(
        &mut self,
        job: Job<'_>,
        state: &mut State,
        seconds: &mut [f64],
    ) -> Result<Findings, BackendError> {
        Ok(run(job, &state.cells(), &mut Timed(Stopwatch::start(seconds))))
    }
}

/// A team of one with a stopwatch.
struct Timed<'a>(Stopwatch<'a>);

impl Team for Timed<'_> {
    fn compute<W: Work>(&self, work: W) -> W::Output {
        work.run::<f32>()
    }
    fn share(&self) -> Share {
        Share { worker: 0, workers: 1 }
    }
    fn wait(&self) {}
    fn finished(&mut self, place: usize) {
        self.0.lap(place);
    }
}
