//! How a scene is solved, and where: flags that commands share.

use clap::{Args, ValueEnum};
use taut::BackendChoice;
#[cfg(feature = "gpu")]
use taut::backend::gpu::{Gpu, Limits};
use taut::scene::Override;

use crate::console;
use crate::failure::Failure;
use crate::overrides::with_flags;

#[derive(Args)]
pub(crate) struct How {
    /// Where to run
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    backend: Backend,
    /// The graphics device: part of its name, its number in `taut devices`, or best
    #[arg(long, default_value = "best")]
    device: String,
    /// Refuse scenes that take more memory of the graphics device than this
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    device_memory: Option<u64>,
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
    /// A graphics processor
    Gpu,
    /// A graphics processor if there is one, else worker threads
    Auto,
}

impl How {
    /// The back-end.
    ///
    /// # Errors
    /// If there is no such graphics device.
    pub(crate) fn backend(&self) -> Result<BackendChoice, Failure> {
        match self.backend {
            Backend::Serial => Ok(BackendChoice::Serial),
            Backend::Cpu => Ok(BackendChoice::Cpu(self.threads)),
            Backend::Gpu => self.on_device(),
            Backend::Auto => Ok(self.on_device().unwrap_or_else(|failure| {
                console::complain(&format!("note: {failure}; running on the processor"));
                BackendChoice::Cpu(self.threads)
            })),
        }
    }

    /// Whether a graphics device shall do the work.
    #[cfg(feature = "gpu")]
    pub(crate) fn is_on_device(&self) -> bool {
        matches!(self.backend, Backend::Gpu | Backend::Auto)
    }

    #[cfg(feature = "gpu")]
    fn on_device(&self) -> Result<BackendChoice, Failure> {
        Ok(BackendChoice::OpenGpu(self.open_device()?))
    }

    #[cfg(not(feature = "gpu"))]
    fn on_device(&self) -> Result<BackendChoice, Failure> {
        let _ = (&self.device, self.device_memory);
        Err(crate::devices::failure())
    }

    /// Opens the graphics device.
    ///
    /// # Errors
    /// If there is none of that name, or its driver refuses.
    #[cfg(feature = "gpu")]
    pub(crate) fn open_device(&self) -> Result<Gpu, Failure> {
        // Any text stands for a device.
        let Ok(choice) = self.device.parse();
        let most = |mebibytes: u64| mebibytes.saturating_mul(1 << 20);
        let memory = self.device_memory.map_or(u64::MAX, most);
        Ok(Gpu::open_within(&choice, Limits { memory, ..Limits::default() })?)
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
