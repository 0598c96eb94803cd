//! What `taut run` says at the end: the JSON document that scripts rely on, and a table for people.

use std::fmt::Write as _;
use std::fs;

use serde::Serialize;
use serde_json::{Map, Value, json};
use taut::Simulation;
use taut::constraint::BALLOON;
use taut::output::{Outcome, check_expectations};
use taut::scene::Scene;
use taut::scene::file::{PartitionMethod, SceneFile, Solver};

use crate::failure::Failure;
use crate::measure::Measurements;

/// The fields and their order are a contract: see docs/cli.md.
#[derive(Serialize)]
pub(super) struct Report {
    scene: String,
    backend: &'static str,
    device: String,
    threads: usize,
    solver: Value,
    partition: Value,
    particles: usize,
    bodies: usize,
    constraints: Map<String, Value>,
    colors: Map<String, Value>,
    phantoms: usize,
    steps: u64,
    substeps: u32,
    iterations: u32,
    dispatches_per_step: usize,
    ms_per_step: Spread,
    stage_ms: Map<String, Value>,
    projections_per_second: f64,
    residual: Map<String, Value>,
    contacts: usize,
    dropped_contacts: usize,
    max_penetration: f64,
    energy: Energy,
    momentum: [f64; 3],
    state_hash: String,
    expect: Vec<Expectation>,
}

#[derive(Serialize)]
struct Spread {
    median: f64,
    min: f64,
    max: f64,
}

#[derive(Serialize)]
struct Energy {
    kinetic: f64,
    potential: f64,
}

#[derive(Serialize)]
struct Expectation {
    key: String,
    value: f64,
    bound: String,
    holds: bool,
}

impl Report {
    pub(super) fn new(scene: &Scene, simulation: &Simulation, measurements: &Measurements) -> Self {
        let (model, settings) = (simulation.model(), simulation.settings());
        let (backend, threads) = simulation.backend();
        let [median, min, max] = measurements.step_seconds().map(|seconds| seconds * 1e3);
        let mut constraints = Map::new();
        let mut colors = Map::new();
        for group in &model.groups {
            add(&mut constraints, group.kind.name(), group.count);
            add(&mut colors, group.kind.name(), group.schedule.phase_count());
        }
        for _ in &model.balloons {
            add(&mut constraints, BALLOON, 1);
            add(&mut colors, BALLOON, 1);
        }
        let sweeps = f64::from(settings.substeps * settings.iterations);
        let projections = model.constraint_count() as f64 * sweeps;
        let energy = simulation.energy();
        Self {
            scene: scene.name.clone(),
            backend,
            device: simulation.device().unwrap_or_else(processor),
            threads,
            solver: json!(scene.file.solver),
            partition: partition(&scene.file),
            particles: model.body_of.len(),
            bodies: model.bodies.len(),
            constraints,
            colors,
            phantoms: model.copy_count(),
            steps: simulation.steps(),
            substeps: settings.substeps,
            iterations: settings.iterations,
            dispatches_per_step: simulation.dispatches_per_step(),
            ms_per_step: Spread { median, min, max },
            stage_ms: measurements
                .stage_seconds()
                .into_iter()
                .map(|(stage, seconds)| (stage.to_owned(), json!(seconds * 1e3)))
                .collect(),
            projections_per_second: if median > 0.0 { projections / (median * 1e-3) } else { 0.0 },
            residual: simulation
                .residuals()
                .into_iter()
                .map(|(kind, residual)| {
                    (kind.to_owned(), json!({"rms": residual.rms, "max": residual.max}))
                })
                .collect(),
            contacts: simulation.contacts(),
            dropped_contacts: simulation.dropped_contacts(),
            max_penetration: simulation.penetration().depth,
            energy: Energy { kinetic: energy.kinetic, potential: energy.potential },
            momentum: simulation.momentum(),
            state_hash: format!("{:016x}", simulation.state_hash()),
            expect: check_expectations(simulation, &scene.file.expect)
                .into_iter()
                .map(|Outcome { key, value, bound, holds }| Expectation {
                    key,
                    value,
                    bound,
                    holds,
                })
                .collect(),
        }
    }

    /// Fails if a bound of the scene does not hold.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let broken: Vec<String> = self
            .expect
            .iter()
            .filter(|outcome| !outcome.holds)
            .map(|Expectation { key, value, bound, .. }| {
                format!("{}: expect.{key} is {value:.6}, should be {bound}", self.scene)
            })
            .collect();
        if broken.is_empty() { Ok(()) } else { Err(Failure::Work(broken.join("\n"))) }
    }

    /// A short table.
    pub(super) fn table(&self) -> String {
        let mut table = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(table, "{name:16} {value}");
        };
        line("scene", self.scene.clone());
        line("back-end", format!("{}, {} threads", self.backend, self.threads));
        line("particles", format!("{} in {} bodies", self.particles, self.bodies));
        for (kind, count) in &self.constraints {
            let colors = self.colors.get(kind).cloned().unwrap_or_default();
            line(kind, format!("{count} constraints in {colors} colors"));
        }
        let Self { steps, substeps, iterations, .. } = self;
        line("steps", format!("{steps} of {substeps} substeps with {iterations} iterations"));
        let Spread { median, min, max } = self.ms_per_step;
        line("time per step", format!("{median:.3} ms ({min:.3} to {max:.3})"));
        for (stage, milliseconds) in &self.stage_ms {
            let milliseconds = milliseconds.as_f64().unwrap_or(0.0);
            line("", format!("{milliseconds:8.3} ms {stage}"));
        }
        line("projections", format!("{:.1} million a second", self.projections_per_second * 1e-6));
        for (kind, residual) in &self.residual {
            let percent = |key: &str| 100.0 * residual[key].as_f64().unwrap_or(0.0);
            let (rms, max) = (percent("rms"), percent("max"));
            line("residual", format!("{kind}: rms {rms:.3} %, max {max:.3} %"));
        }
        line("contacts", format!("{}, deepest {:.2e} m", self.contacts, self.max_penetration));
        if self.dropped_contacts > 0 {
            line("", format!("{} left out: particles are crowded", self.dropped_contacts));
        }
        let Energy { kinetic, potential } = self.energy;
        line("energy", format!("kinetic {kinetic:.4} J, potential {potential:.4} J"));
        for Expectation { key, value, bound, holds } in &self.expect {
            let verdict = if *holds { "holds" } else { "BROKEN" };
            line("expect", format!("{key} = {value:.5} {bound}: {verdict}"));
        }
        line("state hash", self.state_hash.clone());
        table
    }
}

fn add(map: &mut Map<String, Value>, key: &str, count: usize) {
    let before = map.get(key).and_then(Value::as_u64).unwrap_or(0);
    map.insert(key.to_owned(), json!(before + count as u64));
}

/// How constraints were partitioned: as the scene asks for, unless its solver has its own way.
fn partition(file: &SceneFile) -> Value {
    match file.solver {
        Solver::GaussSeidel => json!(file.partition.method),
        Solver::Phantom => json!(PartitionMethod::Phantom),
        Solver::Hybrid => json!(PartitionMethod::Coloring),
        // Everything at once.
        Solver::Jacobi => Value::Null,
    }
}

/// The processor's name where the system tells it, else its architecture.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
    name.map_or_else(|| std::env::consts::ARCH.to_owned(), |name| name.trim().to_owned())
}
