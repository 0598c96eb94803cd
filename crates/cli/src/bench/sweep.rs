//! `taut bench sweep`: nanoseconds per projection, for every kind of constraint, from meshes that
//! fit into the first-level cache to meshes that only memory holds.
//!
//! Each schedule of a mesh is one simulation that goes from back-end to back-end in turn, and schedules take
//! turns, too, so that whatever else the machine does hits all of them alike. A turn is a few steps, of which
//! the last one counts; medians are compared. There are two references, both with the same kernel over single
//! numbers: the serial back-end, which follows the schedule, and the plain loop over the mesh that one writes
//! without a partition.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use taut::backend::{Backend, Serial};
use taut::constraint::PlainGroup;
use taut::model::Model;
use taut::scene::Scene;
use taut::state::Particles;
use taut::{BackendChoice, Simulation, SimulationError};

use super::{Arguments, bandwidth, write_csv};
use crate::console;
use crate::failure::Failure;
use crate::measure::median;

/// Projections of a step, at least: long enough for the clock, and for caches to be filled again after the
/// turns of the others.
const PROJECTIONS: usize = 1_200_000;
/// Sweeps of a step, at least: as many as most scenes of the papers have.
const SWEEPS: usize = 8;
/// Steps of every back-end: at least this many, and more as long as there is time.
const STEPS: usize = 5;
/// Time to spend on a schedule of a mesh.
const PATIENCE: Duration = Duration::from_millis(2000);
/// Steps of a turn before the one that counts take so long: while others had their turns threads have slept, and
/// it takes a virtual machine some time to give a core that slept its full speed.
const WARMING_UP: Duration = Duration::from_millis(50);

/// A kind of constraint, how a scene asks for it, and the meshes to measure it on.
struct Kind {
    name: &'static str,
    elements: &'static str,
    meshes: &'static [Mesh],
}

/// A square of cloth or a cube of tetrahedra, by the number of particles or cells along a side.
#[derive(Clone, Copy)]
enum Mesh {
    Cloth(usize),
    Cube(usize),
}

use Mesh::{Cloth, Cube};

const KINDS: &[Kind] = &[
    Kind {
        name: "stretch",
        elements: "stretch = { stiffness = 0.9 }",
        meshes: &[Cloth(16), Cloth(96), Cloth(320), Cloth(600), Cloth(1500)],
    },
    Kind {
        name: "bend",
        elements: "bend = { stiffness = 0.5 }",
        meshes: &[Cloth(16), Cloth(96), Cloth(320), Cloth(600)],
    },
    Kind {
        name: "volume",
        elements: "volume = { stiffness = 0.9 }",
        meshes: &[Cube(4), Cube(16), Cube(37)],
    },
    Kind {
        name: "strain",
        elements: "strain = { stiffness = 0.9 }",
        meshes: &[Cloth(16), Cloth(96), Cloth(320)],
    },
    Kind {
        name: "neo-hookean",
        elements: "neo-hookean = { young = 1e5, poisson = 0.4 }",
        meshes: &[Cube(4), Cube(16), Cube(37)],
    },
];

const SCHEDULES: [&str; 3] = ["coloring", "cluster", "phantom"];

/// The fields are a contract: see docs/cli.md.
#[derive(Serialize)]
struct Row {
    kind: &'static str,
    elements: usize,
    schedule: &'static str,
    threads: usize,
    ns_per_projection: f64,
    scalar_ns_per_projection: f64,
    speedup: f64,
    plain_ns_per_projection: f64,
    speedup_over_plain: f64,
}

#[derive(Serialize)]
struct Report {
    bandwidth_gb_s: BTreeMap<usize, f64>,
    rows: Vec<Row>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let bandwidth = |&threads: &usize| (threads, bandwidth::gigabytes_per_second(threads));
    let bandwidth_gb_s = arguments.threads.iter().map(bandwidth).collect();
    let mut rows = Vec::new();
    for kind in KINDS {
        for mesh in kind.meshes {
            let is_wanted =
                |schedule: &&str| format!("{} {schedule}", kind.name).contains(&arguments.only);
            let schedules: Vec<_> = SCHEDULES.into_iter().filter(is_wanted).collect();
            rows.extend(measure(kind, *mesh, &schedules, &arguments.threads)?);
        }
    }
    let report = Report { bandwidth_gb_s, rows };
    if let Some(path) = &arguments.csv {
        write_csv(path, &report.cells())?;
    }
    if arguments.json {
        return Ok(console::print_json(&report)?);
    }
    Ok(console::print(&report.table())?)
}

/// A scene with one body and one kind of constraint, a little out of shape, without time.
fn scene(kind: &Kind, mesh: Mesh, schedule: &str) -> Result<Scene, Failure> {
    let (body, mesh) = match mesh {
        Cloth(side) => {
            ("cloth", format!("grid = {{ particles = [{side}, {side}], size = [1, 1] }}"))
        }
        Cube(cells) => {
            ("soft", format!("block = {{ size = [1, 1, 1], cells = [{cells}, {cells}, {cells}] }}"))
        }
    };
    let text = format!(
        "integrate = false\npartition.method = \"{schedule}\"\n[[bodies]]\nname = \"body\"\n\
         kind = \"{body}\"\ndeform = [1.05, 1, 0.97]\nmesh.{mesh}\nelements.{}\n",
        kind.elements
    );
    Ok(Scene::parse("bench", &text, Path::new("."), &[])?)
}

/// Measures some schedules of a kind on a mesh. All of them take turns, back-end by back-end.
fn measure(
    kind: &Kind,
    mesh: Mesh,
    schedules: &[&'static str],
    threads: &[usize],
) -> Result<Vec<Row>, Failure> {
    let case = |&schedule: &&'static str| Case::new(kind, mesh, schedule, threads);
    let mut cases = schedules.iter().map(case).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = cases.first() else { return Ok(Vec::new()) };
    let iterations = first.scene.file.iterations;
    let mut plain = Plain::new(&first.scene)?;
    let mut plain_times = Vec::new();
    let start = Instant::now();
    while plain_times.len() < STEPS || start.elapsed() < PATIENCE * cases.len() as u32 {
        for case in &mut cases {
            case.step()?;
        }
        plain.seconds(iterations);
        plain_times.push(plain.seconds(iterations));
    }
    let rows = |case: &Case| case.rows(kind.name, threads, &plain_times);
    Ok(cases.iter().flat_map(rows).collect())
}

/// A simulation that goes from back-end to back-end.
struct Case {
    schedule: &'static str,
    scene: Scene,
    simulation: Simulation,
    /// One for each number of threads, and the serial one.
    backends: Vec<Box<dyn Backend>>,
    /// Seconds of sweeps in the steps of each.
    times: Vec<Vec<f64>>,
}

impl Case {
    fn new(
        kind: &Kind,
        mesh: Mesh,
        schedule: &'static str,
        threads: &[usize],
    ) -> Result<Self, Failure> {
        let mut scene = scene(kind, mesh, schedule)?;
        let mut simulation = Simulation::new(&scene, BackendChoice::Serial)?;
        let elements = simulation.model().constraint_count();
        scene.file.iterations = PROJECTIONS.div_ceil(elements).max(SWEEPS) as u32;
        simulation.continue_with(&scene)?;
        let parallel = threads.iter().map(|&threads| BackendChoice::Cpu(threads));
        let choices = parallel.chain([BackendChoice::Serial]);
        let start = |choice: BackendChoice| choice.start().map_err(SimulationError::from);
        let backends = choices.map(start).collect::<Result<Vec<_>, _>>()?;
        let times = vec![Vec::new(); backends.len()];
        Ok(Self { schedule, scene, simulation, backends, times })
    }

    /// A turn on each back-end.
    fn step(&mut self) -> Result<(), Failure> {
        for (backend, times) in self.backends.iter_mut().zip(&mut self.times) {
            let before = self.simulation.run_on(std::mem::replace(backend, Box::new(Serial)));
            let start = Instant::now();
            while start.elapsed() < WARMING_UP {
                self.simulation.step()?;
            }
            self.simulation.step()?;
            times.push(sweep_seconds(&self.simulation));
            *backend = self.simulation.run_on(before);
        }
        Ok(())
    }

    /// A row for each number of threads.
    fn rows(&self, kind: &'static str, threads: &[usize], plain_times: &[f64]) -> Vec<Row> {
        let elements = self.simulation.model().constraint_count();
        let projections = elements as f64 * f64::from(self.scene.file.iterations);
        let nanoseconds = |times: &[f64]| median(times) * 1e9 / projections;
        let scalar = self.times.last().map_or(0.0, |times| nanoseconds(times));
        let plain = nanoseconds(plain_times);
        let row = |(&threads, times): (&usize, &Vec<f64>)| Row {
            kind,
            elements,
            schedule: self.schedule,
            threads,
            ns_per_projection: nanoseconds(times),
            scalar_ns_per_projection: scalar,
            speedup: scalar / nanoseconds(times),
            plain_ns_per_projection: plain,
            speedup_over_plain: plain / nanoseconds(times),
        };
        threads.iter().zip(&self.times).map(row).collect()
    }
}

/// The same constraints and particles, solved by the plain loop.
struct Plain {
    groups: Vec<PlainGroup>,
    particles: Particles,
    step: f32,
}

impl Plain {
    fn new(scene: &Scene) -> Result<Self, Failure> {
        let (model, state) = Model::build(scene).map_err(SimulationError::from)?;
        let groups = model.groups.iter().map(PlainGroup::new).collect();
        Ok(Self { groups, particles: state.positions, step: scene.file.dt })
    }

    /// Seconds for so many sweeps.
    fn seconds(&mut self, sweeps: u32) -> f64 {
        let start = Instant::now();
        for sweep in 0..sweeps {
            for group in &mut self.groups {
                group.sweep(self.step, sweep == 0, &mut self.particles);
            }
        }
        start.elapsed().as_secs_f64()
    }
}

/// Seconds that the last step spent on sweeps, copies of particles and their merging included.
fn sweep_seconds(simulation: &Simulation) -> f64 {
    let of_sweep =
        |name: &str| name.starts_with("sweep") || ["split", "merge", "renew"].contains(&name);
    let stages = simulation.stage_seconds().into_iter();
    stages.filter(|(name, _)| of_sweep(name)).map(|(_, seconds)| seconds).sum()
}

impl Report {
    fn cells(&self) -> Vec<Vec<String>> {
        let header = "kind,elements,schedule,threads,ns_per_projection,scalar_ns_per_projection,\
             speedup,plain_ns_per_projection,speedup_over_plain";
        let mut rows = vec![header.split(',').map(str::to_owned).collect()];
        rows.extend(self.rows.iter().map(|row| {
            vec![
                row.kind.to_owned(),
                row.elements.to_string(),
                row.schedule.to_owned(),
                row.threads.to_string(),
                format!("{:.3}", row.ns_per_projection),
                format!("{:.3}", row.scalar_ns_per_projection),
                format!("{:.2}", row.speedup),
                format!("{:.3}", row.plain_ns_per_projection),
                format!("{:.2}", row.speedup_over_plain),
            ]
        }));
        rows
    }

    fn table(&self) -> String {
        let mut table = String::new();
        for (threads, rate) in &self.bandwidth_gb_s {
            let _ = writeln!(table, "memory bandwidth, {threads} threads: {rate:.1} GB/s");
        }
        let _ = writeln!(
            table,
            "\n{:14} {:>9}  {:9} {:>7} {:>9} {:>9} {:>8} {:>9} {:>8}",
            "kind",
            "elements",
            "schedule",
            "threads",
            "ns",
            "scalar ns",
            "speed-up",
            "plain ns",
            "speed-up"
        );
        for row in &self.rows {
            let Row { kind, elements, schedule, threads, speedup, .. } = row;
            let (own, scalar) = (row.ns_per_projection, row.scalar_ns_per_projection);
            let (plain, over_plain) = (row.plain_ns_per_projection, row.speedup_over_plain);
            let _ = writeln!(
                table,
                "{kind:14} {elements:>9}  {schedule:9} {threads:>7} {own:>9.2} {scalar:>9.2} \
                 {speedup:>8.2} {plain:>9.2} {over_plain:>8.2}"
            );
        }
        table
    }
}
