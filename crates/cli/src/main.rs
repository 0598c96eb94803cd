//! The `taut` command: one file per subcommand, none of the work.

mod bench;
mod chart;
mod check;
mod console;
#[cfg(feature = "gpu")]
mod devices;
mod failure;
mod how;
mod interrupt;
mod measure;
mod overrides;
mod partition;
#[cfg(feature = "gpu")]
mod render;
mod run;
mod scenes;
mod schema;
mod setup;
mod view;
#[cfg(not(feature = "gpu"))]
mod without_gpu;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[cfg(not(feature = "gpu"))]
use without_gpu::{self as devices, self as render};

/// Parallel constraint dynamics: cloth, garments, soft bodies.
#[derive(Parser)]
#[command(name = "taut", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    View(view::Arguments),
    Run(run::Arguments),
    Render(render::Arguments),
    Partition(partition::Arguments),
    Bench(bench::Arguments),
    Check(check::Arguments),
    Scenes(scenes::Arguments),
    Schema(schema::Arguments),
    Devices(devices::Arguments),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::View(arguments) => view::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Partition(arguments) => partition::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Scenes(arguments) => scenes::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Devices(arguments) => devices::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
