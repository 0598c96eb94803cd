//! What `run` and `render` have in common: which scene, how it is solved, and where.

use clap::{Args, ValueEnum};
use taut::scene::{Override, Scene};
use taut::{BackendChoice, Simulation};

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

impl Setup {
    /// Reads the scene and starts it.
    pub(crate) fn start(&self) -> Result<(Scene, Simulation), Failure> {
        let scene = Scene::find(&self.scene, &self.overrides()?)?;
        for note in &scene.notes {
            console::complain(&format!("note: {note}"));
        }
        let choice = match self.backend {
            Backend::Serial => BackendChoice::Serial,
            Backend::Cpu => BackendChoice::Cpu(self.threads),
        };
        let simulation = Simulation::new(&scene, choice)
            .map_err(|error| Failure::from(error).in_scene(&self.scene))?;
        Ok((scene, simulation))
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
