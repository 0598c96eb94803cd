//! `taut render`: pictures and films without a window.

mod film;
mod output;
mod painter;

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use serde::Serialize;
use taut::Simulation;
use taut::scene::Scene;

use self::output::Output;
use self::painter::{Painter, View};
use crate::console;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::measure::median;
use crate::setup::Setup;

/// Draw a scene without a window: a picture, a folder of pictures, or a film
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    setup: Setup,
    /// FILE.png: the end (with # in the name or --every, a sequence); FILE.mp4: a film; else a folder
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// A picture every N steps (default of films and folders: as --fps says)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    /// Pictures a second of films and folders; they show time as it passes, if steps allow
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    fps: u32,
    /// Pixels: WIDTHxHEIGHT
    #[arg(long, default_value = "1280x720", value_parser = parse_size)]
    size: [u32; 2],
    /// Draw N times as large in each direction and take means: smoother, and slower
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4))]
    supersample: u32,
    /// What colors mean
    #[arg(long, value_enum, default_value_t = Coloring::Material)]
    color: Coloring,
    /// The value that the last color stands for, with --color strain or speed
    #[arg(long, value_parser = parse_scale, allow_hyphen_values = true)]
    scale: Option<f32>,
    /// The constraints that --color partition shows (default: the first of the scene's)
    #[arg(long)]
    kind: Option<String>,
    /// What has a color of its own with --color partition
    #[arg(long, value_enum, default_value_t = Part::Phase)]
    part: Part,
    /// What stands behind things
    #[arg(long, value_enum, default_value_t = Theme::Light)]
    theme: Theme,
    /// Draw the edges of triangles
    #[arg(long)]
    wireframe: bool,
    /// Leave out a shape (repeatable)
    #[arg(long, value_name = "SHAPE")]
    hide: Vec<String>,
    /// Turn the camera by so many degrees from picture to picture
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, allow_hyphen_values = true)]
    turntable: f32,
    /// Look from AZIMUTH,ELEVATION[,ZOOM] in degrees: 0,0 is the front, 90,0 the right
    #[arg(long, value_parser = parse_view, allow_hyphen_values = true)]
    camera: Option<View>,
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Coloring {
    /// Bodies in colors of their own
    Material,
    /// Constraints by when they are solved
    Partition,
    /// How far edges are from their rest length
    Strain,
    /// How fast particles are
    Speed,
    /// Who touches something
    Contact,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Theme {
    /// A pale backdrop
    Light,
    /// A dark one
    Dark,
}

impl From<Theme> for taut_render::Theme {
    fn from(theme: Theme) -> Self {
        match theme {
            Theme::Light => Self::Light,
            Theme::Dark => Self::Dark,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Phases, which run one after another
    Phase,
    /// Blocks, which run at the same time inside a phase
    Block,
    /// Batches inside a block
    Batch,
}

/// What `--json` prints. The fields are a contract: see docs/cli.md.
#[derive(Serialize)]
struct Report {
    scene: String,
    device: String,
    size: [u32; 2],
    steps: u64,
    frames: u64,
    out: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<f32>,
    ms_per_frame: f64,
    state_hash: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let (gpu, scene, mut simulation) = arguments.setup.start_on_device()?;
    let dt = f64::from(simulation.settings().dt);
    let mut output = Output::plan(&arguments.out, arguments.every, arguments.fps, dt)?;
    let device = gpu.info.name.clone();
    let mut painter = Painter::new(&gpu, &scene, &simulation, arguments, output.is_sequence())?;
    output.open(arguments.size, arguments.fps)?;
    let mut seconds = Vec::new();
    let end = film(arguments, &scene, &mut simulation, &mut painter, &mut output, &mut seconds);
    // What was drawn is complete, however it ended; what ended it is what is reported.
    let closed = output.close();
    end?;
    let report = Report {
        scene: scene.name.clone(),
        device,
        size: arguments.size,
        steps: simulation.steps(),
        frames: seconds.len() as u64,
        out: closed?,
        scale: painter.scale(),
        ms_per_frame: median(&seconds) * 1e3,
        state_hash: format!("{:016x}", simulation.state_hash()),
    };
    if arguments.json {
        Ok(console::print_json(&report)?)
    } else {
        Ok(console::print(&report.line())?)
    }
}

impl Report {
    fn line(&self) -> String {
        let Self { frames, out, device, ms_per_frame, .. } = self;
        let pictures = if *frames == 1 { "picture" } else { "pictures" };
        let scale = self.scale.map_or(String::new(), |scale| format!(", last color at {scale:.3}"));
        let out = out.display();
        format!("{out}: {frames} {pictures}, {ms_per_frame:.0} ms each on {device}{scale}\n")
    }
}

/// Makes the steps and the pictures.
fn film(
    arguments: &Arguments,
    scene: &Scene,
    simulation: &mut Simulation,
    painter: &mut Painter,
    output: &mut Output,
    seconds: &mut Vec<f64>,
) -> Result<(), Failure> {
    let steps = arguments.setup.steps(scene);
    let interrupt = Interrupt::watch()?;
    let bar = console::progress(steps);
    let mut end = Ok(());
    for step in 0..=steps {
        if step > 0 {
            simulation.step()?;
            bar.inc(1);
        }
        let stopped = interrupt.came();
        if output.is_due(step, step == steps || stopped) {
            let start = Instant::now();
            let picture = painter.paint(simulation)?;
            output.add(&picture)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        if stopped {
            end = Err(Failure::Interrupted);
            break;
        }
    }
    bar.finish_and_clear();
    end
}

fn parse_size(text: &str) -> Result<[u32; 2], String> {
    let parts = text.split_once(['x', 'X', '×']);
    let parsed =
        parts.and_then(|(width, height)| Some([width.parse().ok()?, height.parse().ok()?]));
    parsed.filter(|size| !size.contains(&0)).ok_or("give a width and a height: 1280x720".to_owned())
}

fn parse_scale(text: &str) -> Result<f32, String> {
    let scale = text.parse().ok().filter(|scale: &f32| scale.is_finite() && *scale > 0.0);
    scale.ok_or("give a number above 0".to_owned())
}

fn parse_view(text: &str) -> Result<View, String> {
    let numbers: Option<Vec<f32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some([azimuth, elevation, rest @ ..])
            if rest.len() <= 1 && text.split(',').count() <= 3 =>
        {
            let zoom = rest.first().copied().unwrap_or(1.0);
            let is_fine = azimuth.is_finite() && elevation.is_finite() && zoom.is_finite();
            if is_fine && zoom > 0.0 && elevation.abs() <= 90.0 {
                return Ok(View { azimuth: *azimuth, elevation: *elevation, zoom });
            }
        }
        _ => {}
    }
    Err("give AZIMUTH,ELEVATION[,ZOOM]: elevations are from -90 to 90, zooms above 0; for example 30,20,1.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_views_are_read_or_explained() {
        assert_eq!(parse_size("640x480"), Ok([640, 480]));
        for bad in ["640", "0x480", "640x-1", "axb", ""] {
            assert!(parse_size(bad).unwrap_err().contains("1280x720"));
        }
        let view = |azimuth, elevation, zoom| Ok(View { azimuth, elevation, zoom });
        assert_eq!(parse_view("30, 20"), view(30.0, 20.0, 1.0));
        assert_eq!(parse_view("-30,90,2"), view(-30.0, 90.0, 2.0));
        for bad in ["30", "1,2,3,4", "a,b", "1,91", "1,2,0", "nan,1"] {
            assert!(parse_view(bad).is_err(), "{bad}");
        }
        assert!(parse_scale("0").is_err() && parse_scale("0.5") == Ok(0.5));
    }
}
