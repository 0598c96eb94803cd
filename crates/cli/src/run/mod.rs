//! `taut run`: simulate without a viewer.

mod report;
mod trace;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::{Args, ValueEnum};
use taut::output::FrameWriter;
use taut::scene::{Override, Scene};
use taut::{BackendChoice, Simulation};

use self::report::Report;
use self::trace::Trace;
use crate::console;
use crate::failure::Failure;
use crate::measure::Measurements;
use crate::overrides::with_flags;

/// Simulate a scene without a viewer
#[derive(Args)]
pub(crate) struct Arguments {
    /// A scene file, or the name of a built-in scene
    scene: String,
    /// Number of steps (default: as the scene says)
    #[arg(long)]
    steps: Option<u64>,
    /// Where to run
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    backend: Backend,
    /// Worker threads of the cpu back-end; 0: one per core
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// How a sweep goes over the constraints: `solver` of the scene
    #[arg(long)]
    solver: Option<String>,
    /// How constraints are partitioned: `partition.method` of the scene
    #[arg(long)]
    partition: Option<String>,
    /// Number of colors of a phantom partition: `partition.colors` of the scene
    #[arg(long)]
    colors: Option<u32>,
    /// Replace a value of the scene: key=value (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
    /// Write meshes: FILE.obj or FILE.ply; with # in the name or --every, a sequence (repeatable)
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Write a frame every N steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    /// Write a CSV table with a row per step: time, residuals, energies, stage times
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
    /// Fail (exit code 1) unless the scene's own `expect` bounds hold at the end
    #[arg(long)]
    expect: bool,
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Backend {
    /// One thread, the reference
    Serial,
    /// A team of worker threads
    Cpu,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scene = Scene::find(&arguments.scene, &arguments.overrides()?)?;
    for note in &scene.notes {
        console::complain(&format!("note: {note}"));
    }
    let choice = match arguments.backend {
        Backend::Serial => BackendChoice::Serial,
        Backend::Cpu => BackendChoice::Cpu(arguments.threads),
    };
    let mut simulation = Simulation::new(&scene, choice)
        .map_err(|error| Failure::from(error).in_scene(&arguments.scene))?;
    let (measurements, end) = simulate(&mut simulation, &scene, arguments)?;
    let report = Report::new(&scene, &simulation, &measurements);
    if arguments.json {
        console::print_json(&report)?;
    } else {
        console::print(&report.table())?;
    }
    end?;
    if arguments.expect { report.check() } else { Ok(()) }
}

impl Arguments {
    /// `--set` and the flags that are short for it.
    fn overrides(&self) -> Result<Vec<Override>, Failure> {
        let flags = [
            ("solver", self.solver.clone()),
            ("partition.method", self.partition.clone()),
            ("partition.colors", self.colors.map(|colors| colors.to_string())),
        ];
        with_flags(&self.set, flags)
    }
}

/// Makes the steps and writes what was asked for. The outer error is one of setting up; the inner
/// result says how the run ended: outputs are complete up to the last step in either case.
fn simulate(
    simulation: &mut Simulation,
    scene: &Scene,
    arguments: &Arguments,
) -> Result<(Measurements, Result<(), Failure>), Failure> {
    let frames = |path: &PathBuf| FrameWriter::new(path, arguments.every);
    let writers = arguments.out.iter().map(frames).collect::<Result<Vec<_>, _>>()?;
    let mut trace = arguments.trace.as_deref().map(Trace::create).transpose()?;
    let steps = arguments.steps.unwrap_or_else(|| scene.file.steps.into());
    let stop = stop_on_interrupt()?;
    let mut measurements = Measurements::default();

    write_frames(&writers, simulation, steps == 0)?;
    let bar = console::progress(steps);
    let mut end = Ok(());
    for step in 1..=steps {
        let start = Instant::now();
        let stepped = simulation.step();
        measurements.record(start.elapsed().as_secs_f64(), simulation.stage_seconds());
        bar.inc(1);
        if let Err(error) = stepped {
            end = Err(error.into());
            break;
        }
        if let Some(trace) = &mut trace {
            trace.row(simulation, &measurements)?;
        }
        let stopped = stop.load(Ordering::Relaxed);
        write_frames(&writers, simulation, step == steps || stopped)?;
        if stopped {
            end = Err(Failure::Interrupted);
            break;
        }
    }
    bar.finish_and_clear();
    trace.map(Trace::finish).transpose()?;
    Ok((measurements, end))
}

fn write_frames(
    writers: &[FrameWriter],
    simulation: &Simulation,
    last: bool,
) -> Result<(), Failure> {
    for writer in writers.iter().filter(|writer| writer.is_due(simulation.steps(), last)) {
        writer.write(simulation)?;
    }
    Ok(())
}

/// A flag that Ctrl-C raises; the run then stops at the end of the step.
fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::Work(format!("could not watch for Ctrl-C: {error}")))?;
    Ok(stop)
}
