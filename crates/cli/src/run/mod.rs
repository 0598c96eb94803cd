//! `taut run`: simulate without a viewer.

mod plot;
mod report;
mod trace;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use taut::Simulation;
use taut::output::FrameWriter;
use taut::scene::Scene;

use self::plot::Plot;
use self::report::Report;
use self::trace::Trace;
use crate::console;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::measure::Measurements;
use crate::setup::Setup;

/// Simulate a scene without a viewer
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    setup: Setup,
    /// Write meshes: FILE.obj or FILE.ply; with # in the name or --every, a sequence (repeatable)
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Write a frame every N steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    /// Write a CSV table with a row per step: time, residuals, energies, stage times
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
    /// Draw residuals and times of the stages over the steps: FILE.svg or FILE.png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Fail (exit code 1) unless the scene's own `expect` bounds hold at the end
    #[arg(long)]
    expect: bool,
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (scene, mut simulation) = arguments.setup.start()?;
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
    let plot = arguments.plot.as_deref().map(|path| Plot::new(path, &scene.name));
    let mut plot = plot.transpose()?;
    let steps = arguments.setup.steps(scene);
    let interrupt = Interrupt::watch()?;
    let mut measurements = Measurements::default();

    write_frames(&writers, simulation, steps == 0)?;
    let bar = console::progress(steps);
    let mut end = Ok(());
    for step in 1..=steps {
        let start = Instant::now();
        // A device goes on by itself: its time is known when it is done.
        let stepped = simulation.step().and_then(|()| simulation.wait());
        measurements.record(start.elapsed().as_secs_f64(), simulation.stage_seconds());
        bar.inc(1);
        if let Err(error) = stepped {
            end = Err(error.into());
            break;
        }
        if let Some(trace) = &mut trace {
            trace.row(simulation, &measurements)?;
        }
        if let Some(plot) = &mut plot {
            plot.record(simulation);
        }
        let stopped = interrupt.came();
        write_frames(&writers, simulation, step == steps || stopped)?;
        if stopped {
            end = Err(Failure::Interrupted);
            break;
        }
    }
    bar.finish_and_clear();
    trace.map(Trace::finish).transpose()?;
    plot.map(|plot| plot.finish(&measurements)).transpose()?;
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
