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
        let is_last = step == steps || stopped;
        // A device that fails now leaves the frames before this one.
        if is_due(&writers, simulation, is_last)
            && let Err(error) = simulation.synchronize()
        {
            end = Err(error.into());
            break;
        }
        write_frames(&writers, simulation, is_last)?;
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

fn is_due(writers: &[FrameWriter], simulation: &Simulation, last: bool) -> bool {
    writers.iter().any(|writer| writer.is_due(simulation.steps(), last))
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

#[cfg(all(test, feature = "gpu"))]
mod tests {
    //! Contract: a run whose device is lost ends with an error, and with all frames up to then complete.

    use clap::Parser;
    use taut::backend::gpu::{DeviceChoice, Gpu, Graphics};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn a_lost_device_ends_a_run_with_its_frames_complete() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("cloth-#.ply");
        let line = [
            "taut",
            "hanging-cloth",
            "--steps",
            "100000",
            "--every",
            "1",
            "--out",
            out.to_str().unwrap(),
        ];
        let arguments = Line::parse_from(line).arguments;
        let scene = Scene::find("hanging-cloth", &[]).unwrap();
        let gpu = Gpu::open(&DeviceChoice::Best).unwrap();
        let mut simulation = Simulation::on(&scene, Box::new(Graphics::on(gpu.clone()))).unwrap();
        let frames = || std::fs::read_dir(folder.path()).unwrap().count();
        let end = std::thread::scope(|scope| {
            scope.spawn(|| {
                while frames() < 4 {
                    std::thread::yield_now();
                }
                gpu.device.destroy();
            });
            simulate(&mut simulation, &scene, &arguments).unwrap().1
        });
        // Exit code 1.
        assert!(
            matches!(&end, Err(Failure::Work(message)) if message.contains("was lost")),
            "{end:?}"
        );
        assert!(frames() >= 4);
        let frame = |number: usize| {
            std::fs::read(folder.path().join(format!("cloth-{number}.ply"))).unwrap()
        };
        for number in 1..frames() {
            let (before, after) = (frame(number - 1), frame(number));
            assert_eq!(before.len(), after.len());
            assert_ne!(before, after, "frame {number} is not of another step");
        }
    }
}
