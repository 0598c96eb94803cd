//! What is written while a scene runs: frames, a table, a chart.

use taut::Simulation;
use taut::output::FrameWriter;
use taut::scene::Scene;

use super::Arguments;
use super::plot::Plot;
use super::trace::Trace;
use crate::failure::Failure;
use crate::measure::Measurements;

/// All that was asked for.
pub(super) struct Outputs {
    frames: Vec<FrameWriter>,
    trace: Option<Trace>,
    plot: Option<Plot>,
    /// The last step, once it is known.
    last: Option<u64>,
}

impl Outputs {
    pub(super) fn create(arguments: &Arguments, scene: &Scene) -> Result<Self, Failure> {
        let frames = arguments.out.iter().map(|path| FrameWriter::new(path, arguments.every));
        let frames = frames.collect::<Result<_, _>>()?;
        let trace = arguments.trace.as_deref().map(Trace::create).transpose()?;
        let plot = arguments.plot.as_deref().map(|path| Plot::new(path, &scene.name));
        Ok(Self { frames, trace, plot: plot.transpose()?, last: None })
    }

    /// Writes the frames of the start, which may be the end, too.
    pub(super) fn start(&mut self, now: &Simulation, is_last: bool) -> Result<(), Failure> {
        self.last = is_last.then_some(now.steps());
        self.write_frames(now)
    }

    /// Whether anything is to be written after a step.
    pub(super) fn is_due(&mut self, step: u64, is_last: bool) -> bool {
        self.last = is_last.then_some(step);
        let is_due = |frame: &FrameWriter| frame.is_due(step, is_last);
        self.trace.is_some() || self.plot.is_some() || self.frames.iter().any(is_due)
    }

    /// Writes what is due of a step that has been measured.
    pub(super) fn write(
        &mut self,
        then: &Simulation,
        measurements: &Measurements,
    ) -> Result<(), Failure> {
        if let Some(trace) = &mut self.trace {
            trace.row(then, measurements)?;
        }
        if let Some(plot) = &mut self.plot {
            plot.record(then);
        }
        self.write_frames(then)
    }

    fn write_frames(&self, then: &Simulation) -> Result<(), Failure> {
        let step = then.steps();
        let is_due = |frame: &&FrameWriter| frame.is_due(step, self.last == Some(step));
        for frame in self.frames.iter().filter(is_due) {
            frame.write(then)?;
        }
        Ok(())
    }

    /// Closes the table and draws the chart.
    pub(super) fn finish(self, measurements: &Measurements) -> Result<(), Failure> {
        self.trace.map(Trace::finish).transpose()?;
        self.plot.map(|plot| plot.finish(measurements)).transpose()?;
        Ok(())
    }
}
