//! `--plot`: how residuals fall, and where the time of a step goes.

use std::path::{Path, PathBuf};

use plotters::prelude::*;
use taut::Simulation;

use crate::chart::{self, Area, Chart, Drawn, Format};
use crate::failure::Failure;
use crate::measure::Measurements;

const PANEL: (u32, u32) = (960, 360);
const HEADING: u32 = 44;
/// Room for names at the right of a panel.
const NAMES: u32 = 170;
/// Below this a residual is rounding.
const LEAST: f64 = 1e-6;

/// Residuals of every step, gathered while a scene runs.
pub(super) struct Plot {
    path: PathBuf,
    title: String,
    residuals: Vec<(&'static str, Vec<f64>)>,
}

impl Plot {
    pub(super) fn new(path: &Path, scene: &str) -> Result<Self, Failure> {
        Format::of(path)?;
        let title = format!("Convergence and times of {scene}");
        Ok(Self { path: path.to_owned(), title, residuals: Vec::new() })
    }

    /// Adds a state.
    pub(super) fn record(&mut self, simulation: &Simulation) {
        for (index, (kind, residual)) in simulation.residuals().into_iter().enumerate() {
            if self.residuals.len() <= index {
                self.residuals.push((kind, Vec::new()));
            }
            self.residuals[index].1.push(residual.rms);
        }
    }

    /// Draws what was gathered.
    pub(super) fn finish(self, measurements: &Measurements) -> Result<(), Failure> {
        let milliseconds = measurements
            .stages()
            .map(|(name, seconds)| (name, seconds.iter().map(|seconds| seconds * 1e3).collect()));
        let charts = Charts {
            title: self.title,
            residuals: self.residuals,
            milliseconds: milliseconds.collect(),
        };
        chart::write(&self.path, &charts)
    }
}

type Series = Vec<(&'static str, Vec<f64>)>;

struct Charts {
    title: String,
    residuals: Series,
    milliseconds: Series,
}

impl Chart for Charts {
    fn size(&self) -> (u32, u32) {
        (PANEL.0, HEADING + 2 * PANEL.1)
    }

    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        area.fill(&WHITE)?;
        let (heading, panels) = area.split_vertically(HEADING);
        heading.draw_text(&self.title, &("sans-serif", 22).into_font().color(&BLACK), (16, 12))?;
        let panels = panels.split_evenly((2, 1));
        let [upper, lower] = [0, 1].map(|panel| panels[panel].split_horizontally(PANEL.0 - NAMES));
        residuals(&upper.0, &self.residuals)?;
        names(&upper.1, &self.residuals)?;
        times(&lower.0, &self.milliseconds)?;
        names(&lower.1, &self.milliseconds)
    }
}

fn color(index: usize) -> RGBColor {
    const COLORS: [RGBColor; 8] = [
        RGBColor(62, 108, 170),
        RGBColor(196, 92, 70),
        RGBColor(84, 146, 104),
        RGBColor(216, 164, 76),
        RGBColor(132, 98, 160),
        RGBColor(70, 150, 166),
        RGBColor(200, 118, 142),
        RGBColor(120, 120, 120),
    ];
    COLORS[index % COLORS.len()]
}

fn steps_of(series: &Series) -> f64 {
    series.first().map_or(1, |(_, values)| values.len().max(1)) as f64
}

/// Root mean square of each kind, on a logarithmic scale.
fn residuals<B: DrawingBackend<ErrorType: 'static>>(panel: &Area<B>, series: &Series) -> Drawn {
    let all = series.iter().flat_map(|(_, values)| values).map(|value| value.max(LEAST));
    let (low, high) = all.fold((1.0_f64, LEAST), |(low, high), v| (low.min(v), high.max(v)));
    let range = (low / 1.5)..(high.max(2.0 * low) * 1.5);
    let mut chart = ChartBuilder::on(panel)
        .margin(12)
        .caption("Residual by kind (root mean square)", ("sans-serif", 16))
        .x_label_area_size(36)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..steps_of(series), range.log_scale())?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .x_label_formatter(&|step| format!("{step:.0}"))
        .y_label_formatter(&|value| format!("{value:.0e}"))
        .x_desc("step")
        .y_desc("relative error")
        .draw()?;
    for (index, (_, values)) in series.iter().enumerate() {
        let points = (1..).zip(values).map(|(step, value)| (f64::from(step), value.max(LEAST)));
        let line = LineSeries::new(points, color(index).stroke_width(2));
        chart.draw_series(line)?;
    }
    Ok(())
}

/// Times of the stages, one upon the other.
fn times<B: DrawingBackend<ErrorType: 'static>>(panel: &Area<B>, series: &Series) -> Drawn {
    let stacked = stack(series);
    let highest = stacked.last().map_or(0.0, |(_, top)| percentile(top, 0.995));
    let mut chart = ChartBuilder::on(panel)
        .margin(12)
        .caption("Time of a step by stage", ("sans-serif", 16))
        .x_label_area_size(36)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..steps_of(series), 0.0..(highest * 1.15).max(1e-6))?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .x_label_formatter(&|step| format!("{step:.0}"))
        .x_desc("step")
        .y_desc("ms")
        .draw()?;
    // The highest first: those below are painted over it.
    for (index, (_, top)) in stacked.iter().enumerate().rev() {
        let points = (1..).zip(top).map(|(step, value)| (f64::from(step), *value));
        let band = AreaSeries::new(points, 0.0, color(index));
        chart.draw_series(band)?;
    }
    Ok(())
}

/// Each series raised by those before it.
fn stack(series: &Series) -> Series {
    let mut sums = vec![0.0; steps_of(series) as usize];
    let raised = series.iter().map(|(name, values)| {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        (*name, sums[..values.len()].to_vec())
    });
    raised.collect()
}

/// The value that this share of all values does not exceed: one slow step should not flatten a chart.
fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
}

/// Names and their colors, the last one on top, as in a stack.
fn names<B: DrawingBackend<ErrorType: 'static>>(side: &Area<B>, series: &Series) -> Drawn {
    let font = ("sans-serif", 13).into_font().color(&BLACK);
    for (place, (index, (name, _))) in (0..).zip(series.iter().enumerate().rev()) {
        let y = 46 + 20 * place;
        side.draw(&Rectangle::new([(2, y + 2), (16, y + 12)], color(index).filled()))?;
        side.draw_text(name, &font, (24, y))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    //! Contract: stages are stacked in their order, and outliers do not set the scale.

    use super::*;

    #[test]
    fn stages_are_raised_by_those_before_them() {
        let stacked = stack(&vec![("a", vec![1.0, 2.0]), ("b", vec![3.0, 4.0])]);
        assert_eq!(stacked, [("a", vec![1.0, 2.0]), ("b", vec![4.0, 6.0])]);
    }

    #[test]
    fn one_slow_step_in_a_thousand_is_left_out_of_the_scale() {
        let mut values = vec![1.0; 999];
        values.push(100.0);
        assert_eq!(percentile(&values, 0.995), 1.0);
        assert_eq!(percentile(&[], 0.995), 0.0);
    }
}
