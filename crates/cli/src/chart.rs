//! Charts on disk: SVG or PNG, as the file's ending says. The font is built in, so that charts look the
//! same everywhere.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use taut::output::write_beside;

use crate::failure::Failure;

pub(crate) type Drawn = Result<(), Box<dyn Error>>;
pub(crate) type Area<B> = DrawingArea<B, Shift>;

/// Something to draw.
pub(crate) trait Chart {
    /// Pixels.
    fn size(&self) -> (u32, u32);

    fn draw<B: DrawingBackend<ErrorType: 'static>>(&self, area: &Area<B>) -> Drawn;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Svg,
    Png,
}

impl Format {
    /// The ending decides; to be asked before any work is done.
    pub(crate) fn of(path: &Path) -> Result<Self, Failure> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => {
                let path = path.display();
                let message = format!("{path}: charts are .svg or .png; give one of these endings");
                Err(Failure::Input(message))
            }
        }
    }
}

/// Draws a chart and writes it.
pub(crate) fn write(path: &Path, chart: &impl Chart) -> Result<(), Failure> {
    let failure =
        |error: &dyn std::fmt::Display| Failure::Work(format!("{}: {error}", path.display()));
    let _ = register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular());
    match Format::of(path)? {
        Format::Svg => {
            let svg = svg(chart).map_err(|error| failure(&error))?;
            write_beside(path, |file| file.write_all(svg.as_bytes()))
        }
        Format::Png => {
            let pixels = pixels(chart).map_err(|error| failure(&error))?;
            write_beside(path, |file| write_png(file, chart.size(), &pixels))
        }
    }
    .map_err(|error| failure(&error))
}

fn svg(chart: &impl Chart) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, chart.size()).into_drawing_area();
    chart.draw(&area)?;
    area.present()?;
    drop(area);
    Ok(text)
}

fn pixels(chart: &impl Chart) -> Result<Vec<u8>, Box<dyn Error>> {
    let (width, height) = chart.size();
    let mut pixels = vec![255; 3 * width as usize * height as usize];
    let area = BitMapBackend::with_buffer(&mut pixels, (width, height)).into_drawing_area();
    chart.draw(&area)?;
    area.present()?;
    drop(area);
    Ok(pixels)
}

fn write_png(file: impl io::Write, (width, height): (u32, u32), pixels: &[u8]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    Ok(writer.finish()?)
}
