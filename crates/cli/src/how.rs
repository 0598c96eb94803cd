//! How a scene is solved, and where: flags that commands share.

use clap::{Args, ValueEnum};
use taut::BackendChoice;
use taut::scene::Override;

use crate::failure::Failure;
use crate::overrides::with_flags;

#[derive(Args)]
pub(crate) struct How {
    /// Where to run
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    backend: Backend,
    /// Worker threads of the cpu back-end; 0: one per core
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// How a sweep goes over the constraints: `solver` of the scene
    #[arg(long)]
    solver: Option<String>,
    /// How constraints are partitioned: `partition.method` of the scene
    #[arg(long)]
    partition: Option<String>,
    /// Number of colors of a phantom partition: `partition.colors` of the scene
    #[arg(long)]
    colors: Option<u32>,
    /// Replace a value of the scene: key=value (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Backend {
    /// One thread, the reference
    Serial,
    /// A team of worker threads
    Cpu,
}

impl How {
    /// The back-end.
    pub(crate) fn backend(&self) -> BackendChoice {
        match self.backend {
            Backend::Serial => BackendChoice::Serial,
            Backend::Cpu => BackendChoice::Cpu(self.threads),
        }
    }

    /// `--set` and the flags that are short for it.
    pub(crate) fn overrides(&self) -> Result<Vec<Override>, Failure> {
        let flags = [
            ("solver", self.solver.clone()),
            ("partition.method", self.partition.clone()),
            ("partition.colors", self.colors.map(|colors| colors.to_string())),
        ];
        with_flags(&self.set, flags)
    }
}
