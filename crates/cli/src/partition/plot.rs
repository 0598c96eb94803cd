//! `--plot`: the sizes of the phases as a histogram, one panel per kind (paper A, figures 7 and 8).

use std::io::Write as _;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use taut::output::write_beside;
use taut_partition::stats::Stats;

use super::Part;
use crate::failure::Failure;

const PANEL: (u32, u32) = (760, 300);
const HEADING: u32 = 44;
const BAR: RGBColor = RGBColor(66, 110, 180);
const MEAN: RGBColor = RGBColor(200, 80, 40);

pub(super) fn write(path: &Path, name: &str, parts: &[Part<'_>]) -> Result<(), Failure> {
    let mut svg = String::new();
    draw(&mut svg, name, parts)
        .map_err(|error| Failure::Work(format!("{}: {error}", path.display())))?;
    write_beside(path, |file| file.write_all(svg.as_bytes()))
        .map_err(|error| Failure::Work(format!("{}: {error}", path.display())))
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw(svg: &mut String, name: &str, parts: &[Part<'_>]) -> Drawn {
    let size = (PANEL.0, HEADING + PANEL.1 * parts.len() as u32);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&WHITE)?;
    let (heading, panels) = root.split_vertically(HEADING);
    let style = ("sans-serif", 22).into_font().color(&BLACK);
    heading.draw_text(&format!("Sizes of the phases of {name}"), &style, (16, 12))?;
    for (panel, part) in panels.split_evenly((parts.len(), 1)).iter().zip(parts) {
        histogram(panel, part)?;
    }
    root.present()?;
    Ok(())
}

fn histogram(panel: &DrawingArea<SVGBackend<'_>, Shift>, part: &Part<'_>) -> Drawn {
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
