//! Figures of a running simulation, ten times a second.

use std::time::{Duration, Instant};

use serde_json::json;
use taut::Simulation;

use crate::protocol::{EnergyInfo, Stats};

const PERIOD: Duration = Duration::from_millis(100);
/// Residuals of large scenes take a while: figures take at most this part of the time.
const MOST_SHARE: u32 = 20;

/// Collects times between two reports.
#[derive(Debug)]
pub(crate) struct Meter {
    since: Instant,
    next: Instant,
    steps: u32,
    seconds: f64,
    simulated: f64,
    last: Stats,
}

impl Meter {
    pub(crate) fn new(now: Instant) -> Self {
        let last = Stats::default();
        Self { since: now, next: now, steps: 0, seconds: 0.0, simulated: 0.0, last }
    }

    /// A step was made.
    pub(crate) fn step(&mut self, seconds: f64, simulated: f64) {
        self.steps += 1;
        self.seconds += seconds;
        self.simulated += simulated;
    }

    /// When the next report is due.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// A report as soon as possible: something was changed.
    pub(crate) fn hurry(&mut self, now: Instant) {
        self.next = now;
    }

    /// The figures of a simulation. What is about the run itself is the caller's to add.
    pub(crate) fn report(&mut self, simulation: &Simulation, now: Instant) -> Stats {
        let elapsed = now.duration_since(self.since).as_secs_f64();
        let stats = &mut self.last;
        stats.rate = if elapsed > 0.0 { self.simulated / elapsed } else { 0.0 };
        if self.steps > 0 {
            let seconds = self.seconds / f64::from(self.steps);
            stats.ms_per_step = seconds * 1e3;
            let (model, settings) = (simulation.model(), simulation.settings());
            let sweeps = f64::from(settings.substeps) * f64::from(settings.iterations);
            stats.projections_per_second = model.constraint_count() as f64 * sweeps / seconds;
            stats.particles_per_second = model.body_of.len() as f64 / seconds;
        }
        describe(stats, simulation);
        let report = stats.clone();
        (self.since, self.steps, self.seconds, self.simulated) = (now, 0, 0.0, 0.0);
        self.next = now + PERIOD.max(now.elapsed() * MOST_SHARE);
        report
    }
}

/// The figures that belong to the present state.
fn describe(stats: &mut Stats, simulation: &Simulation) {
    stats.step = simulation.steps();
    stats.time = simulation.time();
    let stages = simulation.stage_seconds().into_iter();
    stats.stage_ms =
        stages.map(|(stage, seconds)| (stage.to_owned(), json!(seconds * 1e3))).collect();
    let residuals = simulation.residuals().into_iter();
    stats.residual = residuals
        .map(|(kind, residual)| {
            (kind.to_owned(), json!({"rms": residual.rms, "max": residual.max}))
        })
        .collect();
    stats.contacts = simulation.contacts();
    stats.dropped_contacts = simulation.dropped_contacts();
    let energy = simulation.energy();
    stats.energy = EnergyInfo { kinetic: energy.kinetic, potential: energy.potential };
}
