//! `taut bench`: benchmarks with a reference in the same run.

mod bandwidth;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "peers")]
mod peers;
mod sweep;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use taut::output::write_beside;

use crate::failure::Failure;

/// Measure this machine: every figure beside a reference from the same run
#[derive(Args)]
pub(crate) struct Arguments {
    /// What to measure
    #[arg(value_enum, default_value_t = Suite::Sweep)]
    suite: Suite,
    /// Numbers of worker threads
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Only cases whose name contains this, such as stretch or cluster
    #[arg(long, default_value = "")]
    only: String,
    /// Write the rows as a table
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// Projections of every kind of constraint, from the first-level cache to memory
    Sweep,
    /// Steps of cloth and soft bodies, beside other engines
    Peers,
    /// Steps of the built-in scenes on a graphics processor, beside the serial back-end
    Gpu,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.suite {
        Suite::Sweep => sweep::run(arguments),
        Suite::Peers => peers::run(arguments),
        Suite::Gpu => gpu::run(arguments),
    }
}

/// Stands in for the other engines where they are left out.
#[cfg(not(feature = "peers"))]
mod peers {
    use super::{Arguments, Failure};

    pub(super) fn run(_: &Arguments) -> Result<(), Failure> {
        let message = "this taut was built without other engines to measure against; \
                       build it with `cargo build --release --features peers`";
        Err(Failure::Input(message.to_owned()))
    }
}

/// Stands in for graphics processors where they are left out.
#[cfg(not(feature = "gpu"))]
mod gpu {
    use super::{Arguments, Failure};

    pub(super) fn run(_: &Arguments) -> Result<(), Failure> {
        Err(crate::devices::failure())
    }
}

/// Writes a table of comma-separated values.
fn write_csv(path: &Path, rows: &[Vec<String>]) -> Result<(), Failure> {
    write_beside(path, |file| rows.iter().try_for_each(|row| writeln!(file, "{}", row.join(","))))
        .map_err(|error| Failure::Work(format!("{}: {error}", path.display())))
}
