//! What `run` and `render` have in common: which scene, how it is solved, and where.

use clap::{Args, ValueEnum};
use taut::backend::Backend as Runner;
use taut::scene::{Override, Scene};
use taut::{BackendChoice, Simulation, SimulationError};

use crate::console;
use crate::failure::Failure;
use crate::overrides::with_flags;

#[derive(Args)]
pub(crate) struct Setup {
    /// A scene file, or the name of a built-in scene
    scene: String,
    /// Number of steps (default: as the scene says)
    #[arg(long)]
    steps: Option<u64>,
    /// Where to run
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    backend: Backend,
    /// The graphics device of the gpu back-end: part of its name, its number in `taut devices`, or best
    #[arg(long, default_value = "best")]
    device: String,
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

impl Setup {
    /// Reads the scene and starts it.
    pub(crate) fn start(&self) -> Result<(Scene, Simulation), Failure> {
        let scene = Scene::find(&self.scene, &self.overrides()?)?;
        for note in &scene.notes {
            console::complain(&format!("note: {note}"));
        }
        let simulation = Simulation::on(&scene, self.runner()?)
            .map_err(|error| Failure::from(error).in_scene(&self.scene))?;
        Ok((scene, simulation))
    }

    /// Starts the back-end that was asked for.
    fn runner(&self) -> Result<Box<dyn Runner>, Failure> {
        let choice = match self.backend {
            Backend::Serial => BackendChoice::Serial,
            Backend::Cpu => BackendChoice::Cpu(self.threads),
            Backend::Gpu => return graphics::open(&self.device),
            Backend::Auto => match graphics::open(&self.device) {
                Ok(graphics) => return Ok(graphics),
                Err(failure) => {
                    console::complain(&format!("note: {failure}; running on the processor"));
                    BackendChoice::Cpu(self.threads)
                }
            },
        };
        choice.start().map_err(|error| SimulationError::from(error).into())
    }

    /// The graphics device that was asked for.
    pub(crate) fn device(&self) -> &str {
        &self.device
    }

    /// How many steps to make.
    pub(crate) fn steps(&self, scene: &Scene) -> u64 {
        self.steps.unwrap_or_else(|| scene.file.steps.into())
    }

    /// `--set` and the flags that are short for it.
    fn overrides(&self) -> Result<Vec<Override>, Failure> {
        let flags = [
            ("solver", self.solver.clone()),
            ("partition.method", self.partition.clone()),
            ("partition.colors", self.colors.map(|colors| colors.to_string())),
        ];
        with_flags(&self.set, flags)
    }
}

#[cfg(feature = "gpu")]
mod graphics {
    use taut::backend::Backend;
    use taut::backend::gpu::Graphics;

    use crate::failure::Failure;

    pub(super) fn open(device: &str) -> Result<Box<dyn Backend>, Failure> {
        // Any text stands for a device.
        let Ok(choice) = device.parse();
        Ok(Box::new(Graphics::open(&choice)?))
    }
}

#[cfg(not(feature = "gpu"))]
mod graphics {
    use taut::backend::Backend;

    use crate::failure::Failure;

    pub(super) fn open(_: &str) -> Result<Box<dyn Backend>, Failure> {
        Err(crate::devices::failure())
    }
}
