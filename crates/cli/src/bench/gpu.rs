//! `taut bench gpu`: built-in scenes on a graphics processor, by every way of going through the
//! constraints, beside the serial back-end in the same run (paper A, tables 1 and 2).
//!
//! - Every scene with colors and with clusters: kernel calls and time of a step, and how many times as
//!   long the scalar reference takes.
//! - Paper A's scenes also with phantoms and with Jacobi, which gets as many sweeps as it takes to be as
//!   close to rest as Gauss–Seidel with the scene's own (table 2).
//! - A cloth of three sizes with three numbers of kernel calls (table 1).

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use taut::backend::gpu::{DeviceChoice, Gpu, Graphics};
use taut::scene::{Override, Scene, library};
use taut::{BackendChoice, Simulation};

use super::{Arguments, write_csv};
use crate::console;
use crate::failure::Failure;
use crate::measure::median;

/// Steps that are measured after one that is not.
const STEPS: usize = 5;

/// The scenes of paper A's table 2. Those that would be in free fall at first, with nothing to solve,
/// start pressed flat, as the omotondo does.
const TABLE_2: [&str; 4] = ["squishy-ball", "omotondo", "tori-100", "tori-400"];
const FLAT: &str = "bodies.0.deform=[1,0.7,1]";

/// Jacobi gets at most so many times the sweeps of Gauss–Seidel.
const MOST_SWEEPS: u32 = 8;

/// Constraints and kernel calls of table 1, but for three. A cloth without alternating diagonals has six
/// colors.
const TABLE_1_SIDES: [usize; 3] = [260, 367, 518];
const TABLE_1_CALLS: [u32; 3] = [344, 688, 1032];
const CLOTH_COLORS: u32 = 6;

/// The fields are a contract: see docs/cli.md.
#[derive(Serialize)]
struct Row {
    scene: String,
    schedule: &'static str,
    particles: usize,
    constraints: usize,
    copies: usize,
    iterations: u32,
    dispatches_per_step: usize,
    ms_per_step: f64,
    kernel_ms: f64,
    residual: f64,
    serial_ms_per_step: f64,
    speedup_over_serial: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    speedup_over_jacobi: Option<f64>,
}

#[derive(Serialize)]
struct Report {
    device: String,
    rows: Vec<Row>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let gpu = Gpu::open(&DeviceChoice::Best)?;
    let mut rows = Vec::new();
    for (name, _) in library::SCENES {
        if name.contains(&arguments.only) {
            rows.extend(scene_rows(&gpu, name)?);
        }
    }
    if "table-1".contains(&arguments.only) {
        rows.extend(table_1(&gpu)?);
    }
    let report = Report { device: gpu.info.name.clone(), rows };
    if let Some(path) = &arguments.csv {
        write_csv(path, &report.cells())?;
    }
    if arguments.json {
        return Ok(console::print_json(&report)?);
    }
    Ok(console::print(&report.table())?)
}

/// A scene with all schedules that are of interest.
fn scene_rows(gpu: &Gpu, name: &str) -> Result<Vec<Row>, Failure> {
    let is_falling = TABLE_2.contains(&name) && name != "omotondo";
    let flat = if is_falling { &[FLAT][..] } else { &[] };
    let scene = |set: &str| scene(name, &[flat, &[set]].concat());
    let own = scene("partition.method=\"coloring\"")?;
    let mut schedules =
        vec![("coloring", own.clone()), ("cluster", scene("partition.method=\"cluster\"")?)];
    if TABLE_2.contains(&name) {
        schedules.push(("phantom", scene("solver=\"phantom\"")?));
        let mut jacobi = scene("solver=\"jacobi\"")?;
        jacobi.file.iterations = equal_sweeps(&own, &jacobi)?;
        schedules.push(("jacobi", jacobi));
    }
    let mut rows = measure(gpu, &own, &schedules)?;
    if let Some(jacobi) = rows.iter().find(|row| row.schedule == "jacobi") {
        let jacobi_ms = jacobi.ms_per_step;
        for row in rows.iter_mut().filter(|row| row.schedule != "jacobi") {
            row.speedup_over_jacobi = Some(jacobi_ms / row.ms_per_step);
        }
    }
    Ok(rows)
}

fn scene(name: &str, sets: &[&str]) -> Result<Scene, Failure> {
    let parse = |set: &&str| set.parse::<Override>();
    let sets = sets.iter().map(parse).collect::<Result<Vec<_>, _>>();
    Ok(Scene::find(name, &sets.map_err(|error| Failure::Input(error.to_string()))?)?)
}

/// The sweeps that another solver needs to be as close to rest after the same steps.
fn equal_sweeps(own: &Scene, other: &Scene) -> Result<u32, Failure> {
    let goal = residual_after(own, own.file.iterations)?;
    let mut sweeps = own.file.iterations;
    while sweeps < own.file.iterations * MOST_SWEEPS && residual_after(other, sweeps)? > goal {
        sweeps *= 2;
    }
    Ok(sweeps)
}

/// The residual after the steps that are measured. Where it is worked out makes no difference.
fn residual_after(scene: &Scene, iterations: u32) -> Result<f64, Failure> {
    let mut scene = scene.clone();
    scene.file.iterations = iterations;
    let mut simulation = Simulation::new(&scene, BackendChoice::Cpu(0))?;
    for _ in 0..=STEPS {
        simulation.step()?;
    }
    Ok(residual(&simulation))
}

/// Root mean square of the relative errors of all constraints.
fn residual(simulation: &Simulation) -> f64 {
    let residuals = simulation.residuals();
    let squares = residuals.iter().map(|(_, one)| one.rms.powi(2) * one.count as f64);
    let count: usize = residuals.iter().map(|(_, one)| one.count).sum();
    (squares.sum::<f64>() / count.max(1) as f64).sqrt()
}

/// Measures some schedules of a scene on a device, and the scene itself on the serial back-end. All of
/// them take turns, step by step, so that whatever else the machine does hits all of them alike.
fn measure(
    gpu: &Gpu,
    scene: &Scene,
    schedules: &[(&'static str, Scene)],
) -> Result<Vec<Row>, Failure> {
    let mut serial = Timed::new(Simulation::new(scene, BackendChoice::Serial)?);
    let on_device = |(_, scene): &(&str, Scene)| {
        Ok(Timed::new(Simulation::on(scene, Box::new(Graphics::on(gpu.clone())))?))
    };
    let mut cases = schedules.iter().map(on_device).collect::<Result<Vec<_>, Failure>>()?;
    for step in 0..=STEPS {
        for case in cases.iter_mut().chain([&mut serial]) {
            case.step(step > 0)?;
        }
    }
    let serial_ms = median(&serial.times);
    let rows = schedules.iter().zip(&cases);
    Ok(rows.map(|((schedule, scene), case)| case.row(schedule, scene, serial_ms)).collect())
}

/// A simulation and what its steps took, ms.
struct Timed {
    simulation: Simulation,
    times: Vec<f64>,
}

impl Timed {
    fn new(simulation: Simulation) -> Self {
        Self { simulation, times: Vec::new() }
    }

    /// Makes a step, which counts or not.
    fn step(&mut self, counts: bool) -> Result<(), taut::SimulationError> {
        let start = Instant::now();
        self.simulation.step()?;
        self.simulation.wait()?;
        if counts {
            self.times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        Ok(())
    }

    fn row(&self, schedule: &'static str, scene: &Scene, serial_ms_per_step: f64) -> Row {
        let simulation = &self.simulation;
        let ms_per_step = median(&self.times);
        let kernel_ms = simulation.stage_seconds().iter().map(|(_, seconds)| seconds * 1e3).sum();
        let model = simulation.model();
        Row {
            scene: scene.name.clone(),
            schedule,
            particles: model.body_of.len(),
            constraints: model.constraint_count(),
            copies: model.groups.iter().map(|group| group.copies.count()).sum(),
            iterations: scene.file.iterations,
            dispatches_per_step: simulation.dispatches_per_step(),
            ms_per_step,
            kernel_ms,
            residual: residual(simulation),
            serial_ms_per_step,
            speedup_over_serial: serial_ms_per_step / ms_per_step,
            speedup_over_jacobi: None,
        }
    }
}

/// Kernel calls against the number of constraints.
fn table_1(gpu: &Gpu) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for side in TABLE_1_SIDES {
        for calls in TABLE_1_CALLS {
            let text = format!(
                "integrate = false\niterations = {}\n[[bodies]]\nname = \"cloth\"\n\
                 deform = [1.05, 1, 0.97]\nmesh.grid = {{ particles = [{side}, {side}], size = [1, 1] }}\n\
                 elements.stretch = {{ stiffness = 0.9 }}\n",
                calls / CLOTH_COLORS
            );
            let scene = Scene::parse("table-1", &text, Path::new("."), &[])?;
            rows.extend(measure(gpu, &scene, &[("coloring", scene.clone())])?);
        }
    }
    Ok(rows)
}

impl Row {
    fn cells(&self) -> Vec<String> {
        vec![
            self.scene.clone(),
            self.schedule.to_owned(),
            self.particles.to_string(),
            self.constraints.to_string(),
            self.copies.to_string(),
            self.iterations.to_string(),
            self.dispatches_per_step.to_string(),
            format!("{:.2}", self.ms_per_step),
            format!("{:.2}", self.kernel_ms),
            format!("{:.5}", self.residual),
            format!("{:.2}", self.serial_ms_per_step),
            format!("{:.2}", self.speedup_over_serial),
            self.speedup_over_jacobi.map_or(String::new(), |times| format!("{times:.2}")),
        ]
    }
}

impl Report {
    fn cells(&self) -> Vec<Vec<String>> {
        let header = "scene,schedule,particles,constraints,copies,iterations,dispatches_per_step,\
                      ms_per_step,kernel_ms,residual,serial_ms_per_step,speedup_over_serial,\
                      speedup_over_jacobi";
        let mut rows = vec![header.split(',').map(str::to_owned).collect()];
        rows.extend(self.rows.iter().map(Row::cells));
        rows
    }

    fn table(&self) -> String {
        let mut text = format!(
            "{}\n\n{:24} {:9} {:>11} {:>5} {:>8} {:>10} {:>9} {:>10} {:>9}\n",
            self.device,
            "scene",
            "schedule",
            "constraints",
            "its",
            "kernels",
            "ms a step",
            "residual",
            "/ serial",
            "/ Jacobi"
        );
        for row in &self.rows {
            let over_jacobi = row.speedup_over_jacobi.map(|times| format!("{times:.2}"));
            let _ = writeln!(
                text,
                "{:24} {:9} {:>11} {:>5} {:>8} {:>10.2} {:>9.5} {:>10.2} {:>9}",
                row.scene,
                row.schedule,
                row.constraints,
                row.iterations,
                row.dispatches_per_step,
                row.ms_per_step,
                row.residual,
                row.speedup_over_serial,
                over_jacobi.unwrap_or_default()
            );
        }
        text
    }
}
