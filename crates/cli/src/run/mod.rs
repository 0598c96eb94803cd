//! `taut run`: simulate without a viewer.

mod outputs;
mod plot;
mod report;
mod trace;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::ProgressBar;
use taut::Simulation;
use taut::scene::Scene;

use self::outputs::Outputs;
use self::report::Report;
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
    let interrupt = Interrupt::watch()?;
    let (measurements, end) = simulate(&mut simulation, &scene, arguments, &interrupt)?;
    if end.is_err() && measurements.count() == 0 {
        // It ended before it began: there is nothing to report.
        return end;
    }
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
    interrupt: &Interrupt,
) -> Result<(Measurements, Result<(), Failure>), Failure> {
    let outputs = Outputs::create(arguments, scene)?;
    let steps = arguments.setup.steps(scene);
    let (measurements, since) = (Measurements::default(), Instant::now());
    let mut run = Run { simulation, outputs, measurements, since };
    run.outputs.start(run.simulation, steps == 0)?;
    let bar = console::progress(steps);
    let mut end = run.step(steps, interrupt, &bar);
    if matches!(end, Ok(()) | Err(Failure::Interrupted)) {
        end = run.complete().and(end);
    }
    bar.finish_and_clear();
    run.outputs.finish(&run.measurements)?;
    Ok((run.measurements, end))
}

/// A scene that runs, what is written of it, and how long steps take.
///
/// A device goes on by itself: while it makes a step, what has come home of the steps before is written.
struct Run<'a> {
    simulation: &'a mut Simulation,
    outputs: Outputs,
    measurements: Measurements,
    /// When the last step that was measured ended.
    since: Instant,
}

impl Run<'_> {
    fn step(
        &mut self,
        steps: u64,
        interrupt: &Interrupt,
        bar: &ProgressBar,
    ) -> Result<(), Failure> {
        for step in 1..=steps {
            if self.simulation.done() == self.simulation.steps() {
                // Nothing is under way: what was written meanwhile is not the step's.
                self.since = Instant::now();
            }
            let stepped = self.simulation.step();
            self.measure();
            bar.inc(1);
            stepped?;
            self.write_arrived()?;
            let stopped = interrupt.came();
            if self.outputs.is_due(step, step == steps || stopped) {
                let Self { simulation, outputs, measurements, .. } = self;
                simulation.ask(|now| outputs.write(now, measurements))?.transpose()?;
            }
            if stopped {
                return Err(Failure::Interrupted);
            }
        }
        Ok(())
    }

    /// Waits for the steps that are still under way, and writes what is to be written of them.
    fn complete(&mut self) -> Result<(), Failure> {
        while self.simulation.catch_up()? {
            self.measure();
            self.write_arrived()?;
        }
        self.write_arrived()
    }

    /// Records a step that is known to be made since somebody last asked; only one can be.
    fn measure(&mut self) {
        if self.simulation.done() > self.measurements.count() {
            let seconds = self.since.elapsed().as_secs_f64();
            self.measurements.record(seconds, self.simulation.stage_seconds());
            self.since = Instant::now();
        }
    }

    fn write_arrived(&mut self) -> Result<(), Failure> {
        let Self { simulation, outputs, measurements, .. } = self;
        while let Some(written) = simulation.take(|then| outputs.write(then, measurements))? {
            written?;
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "gpu"))]
mod tests;
