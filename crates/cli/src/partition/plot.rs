//! `--plot`: the sizes of the phases as a histogram, one panel per kind (paper A, figures 7 and 8).

use std::path::Path;

use plotters::prelude::*;
use taut_partition::stats::Stats;

use super::Part;
use crate::chart::{self, Area, Chart, Drawn};
use crate::failure::Failure;

const PANEL: (u32, u32) = (760, 300);
const HEADING: u32 = 44;
const BAR: RGBColor = RGBColor(66, 110, 180);
const MEAN: RGBColor = RGBColor(200, 80, 40);

pub(super) fn write(path: &Path, name: &str, parts: &[Part<'_>]) -> Result<(), Failure> {
    chart::write(path, &Histograms { name, parts })
}

struct Histograms<'a> {
    name: &'a str,
    parts: &'a [Part<'a>],
}

impl Chart for Histograms<'_> {
    fn size(&self) -> (u32, u32) {
        (PANEL.0, HEADING + PANEL.1 * self.parts.len() as u32)
    }

    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn {
        area.fill(&WHITE)?;
        let (heading, panels) = area.split_vertically(HEADING);
        let style = ("sans-serif", 22).into_font().color(&BLACK);
        heading.draw_text(&format!("Sizes of the phases of {}", self.name), &style, (16, 12))?;
        for (panel, part) in panels.split_evenly((self.parts.len(), 1)).iter().zip(self.parts) {
            histogram(panel, part)?;
        }
        Ok(())
    }
}

fn histogram<B: DrawingBackend<ErrorType: 'static>>(panel: &Area<B>, part: &Part<'_>) -> Drawn {
    let mut sizes = Stats::new(&part.partitioned.schedule).phase_sizes;
    // Largest first, so that one glance shows how even they are.
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let count = sizes.len();
    let largest = sizes.first().copied().unwrap_or(1).max(1) as f64;
    let mean = part.elements.len() as f64 / count.max(1) as f64;
    let copies = match part.partitioned.owners.len() {
        0 => String::new(),
        copies => format!(", {copies} phantoms"),
    };
    let caption = format!(
        "{}: {} elements in {count} phases, mean {mean:.0}{copies}",
        part.kind.name(),
        part.elements.len()
    );
    let mut chart = ChartBuilder::on(panel)
        .margin(12)
        .caption(caption, ("sans-serif", 16))
        .x_label_area_size(36)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..count as f64, 0.0..largest * 1.08)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .max_light_lines(0)
        .x_labels(count.min(16))
        .x_label_formatter(&|phase| format!("{phase:.0}"))
        .y_label_formatter(&|elements| format!("{elements:.0}"))
        .x_desc("phase, largest first")
        .y_desc("elements")
        .draw()?;
    chart.draw_series(sizes.iter().enumerate().map(|(phase, &size)| {
        let (left, right) = (phase as f64 + 0.08, phase as f64 + 0.92);
        Rectangle::new([(left, 0.0), (right, size as f64)], BAR.filled())
    }))?;
    chart.draw_series([PathElement::new(
        [(0.0, mean), (count as f64, mean)],
        MEAN.stroke_width(2),
    )])?;
    Ok(())
}
