//! The loop over substeps and stages that every worker runs.

use std::ops::Range;

use super::detect::detect;
use super::phantom;
use super::program::{Program, Stage};
use super::stage::{self, Substep};
use super::sweep::{pieces, sweep};
use super::touch::touch;
use crate::math::Work;
use crate::model::Model;
use crate::state::{Storage, View};

/// All that a back-end needs to know to make one step.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// What is simulated.
    pub model: &'a Model,
    /// The stages of a substep.
    pub program: &'a Program,
    /// The conditions of each substep of the step.
    pub substeps: &'a [Substep],
}

/// Which part of the work is a worker's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// This worker, counted from 0.
    pub worker: usize,
    /// How many workers there are.
    pub workers: usize,
}

impl Share {
    /// This worker's part of `count` things: contiguous, and as large as the others' up to one.
    #[inline]
    pub fn of(self, count: usize) -> Range<usize> {
        count * self.worker / self.workers..count * (self.worker + 1) / self.workers
    }
}

/// The workers of a back-end, as one of them sees them.
pub trait Team {
    /// Does this worker's share of some work, with the lanes of the back-end.
    fn compute<W: Work>(&self, work: W) -> W::Output;
    /// This worker's share.
    fn share(&self) -> Share;
    /// Does work on some of `count` things, each of which needs no other, so that all workers together do it on
    /// each of them once. Between two calls they must [`wait`](Self::wait).
    fn deal(&self, count: usize, mut work: impl FnMut(Range<usize>)) {
        work(self.share().of(count));
    }
    /// Waits until every worker has come this far and its writes can be seen.
    fn wait(&self);
    /// Told after each stage, with its place in the program: for those who measure time.
    fn finished(&mut self, place: usize);
}

/// A team of one that measures nothing.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Team for Alone {
    fn compute<W: Work>(&self, work: W) -> W::Output {
        work.run::<f32>()
    }
    fn share(&self) -> Share {
        Share { worker: 0, workers: 1 }
    }
    fn wait(&self) {}
    fn finished(&mut self, _: usize) {}
}

/// What a worker noticed during a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Findings {
    /// Contacts in the last contact stage.
    pub contacts: usize,
    /// Particles that touched others in the last stage of contacts between particles.
    pub touching: usize,
    /// Partners that found no room in a particle's list, in all substeps.
    pub dropped: usize,
    /// Whether all its particles have finite places and none has moved farther than it can have.
    pub in_bounds: bool,
}

impl Findings {
    /// Before anything was noticed.
    pub const NONE: Self = Self { contacts: 0, touching: 0, dropped: 0, in_bounds: true };

    /// What two workers noticed together.
    pub fn merge(self, other: Self) -> Self {
        Self {
            contacts: self.contacts + other.contacts,
            touching: self.touching + other.touching,
            dropped: self.dropped + other.dropped,
            in_bounds: self.in_bounds && other.in_bounds,
        }
    }
}

/// Makes one step: every worker of a team calls this at the same time with the same job.
pub fn run<S: Storage, T: Team>(job: Job<'_>, view: &View<S>, team: &mut T) -> Findings {
    let mut findings = Findings::NONE;
    let share = team.share();
    for substep in job.substeps {
        for (place, stage) in job.program.stages.iter().enumerate() {
            match *stage {
                Stage::Wind => stage::wind(job.model, substep, view, share),
                Stage::Force { group, .. } => {
                    stage::force(&job.model.groups[group], substep, view, team);
                }
                Stage::Predict => stage::predict(job.model, substep, view, share),
                Stage::Copies { group, pass } => {
                    phantom::copy(&job.model.groups[group].copies, pass, view, team);
                }
                Stage::Sweep { group, more, first, copies, .. } => {
                    let groups = &job.model.groups[group..=group + more];
                    sweep(groups, substep, first, copies, view, team);
                }
                Stage::Pieces { iterations, .. } => {
                    findings.contacts = pieces(job.model, substep, iterations, view, team);
                }
                Stage::Remember { slot } => stage::remember(job.model, slot, view, share),
                Stage::Accelerate { slot, iteration } => {
                    stage::accelerate(job.model, slot, iteration, view, share);
                }
                Stage::Measure { balloon } => {
                    stage::measure(&job.model.balloons[balloon], view, share);
                }
                Stage::Inflate { balloon, first } => {
                    stage::inflate(&job.model.balloons[balloon], substep, first, view, share);
                }
                Stage::Detect(pass) => {
                    if let Some(contacts) = &job.model.particle_contacts {
                        findings.dropped += detect(pass, contacts, view, team);
                    }
                }
                Stage::Touch(pass) => {
                    if let Some(contacts) = &job.model.particle_contacts {
                        let touching = touch(pass, contacts, substep, view, team);
                        findings.touching = touching.unwrap_or(findings.touching);
                    }
                }
                Stage::Contact => {
                    findings.contacts = stage::contact(job.model, substep, view, team);
                }
                Stage::Velocity => {
                    findings.in_bounds = stage::velocity(job.model, substep, view, team);
                }
            }
            team.wait();
            team.finished(place);
        }
    }
    if job.program.stages.last() != Some(&Stage::Velocity) {
        let longest_way = job.substeps.last().map_or(f32::MAX, |substep| substep.longest_way);
        findings.in_bounds = stage::is_in_bounds(job.model, longest_way, view, share);
    }
    findings
}
