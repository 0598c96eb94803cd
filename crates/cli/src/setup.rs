//! What `run` and `render` have in common: which scene, for how long, and how.

use clap::Args;
use taut::backend::Backend;
#[cfg(feature = "gpu")]
use taut::backend::gpu::{Gpu, Graphics};
use taut::scene::Scene;
use taut::{Simulation, SimulationError};

use crate::console;
use crate::failure::Failure;
use crate::how::How;

#[derive(Args)]
pub(crate) struct Setup {
    /// A scene file, or the name of a built-in scene
    scene: String,
    /// Number of steps (default: as the scene says)
    #[arg(long)]
    steps: Option<u64>,
    #[command(flatten)]
    how: How,
}

impl Setup {
    /// Reads the scene and starts it.
    pub(crate) fn start(&self) -> Result<(Scene, Simulation), Failure> {
        let scene = self.read()?;
        let backend = self.how.backend()?.start().map_err(SimulationError::from)?;
        self.simulate(scene, backend)
    }

    /// Opens the graphics device, reads the scene and starts it: on that device, if it shall run on one.
    #[cfg(feature = "gpu")]
    pub(crate) fn start_on_device(&self) -> Result<(Gpu, Scene, Simulation), Failure> {
        let scene = self.read()?;
        let gpu = self.how.open_device()?;
        let (scene, simulation) = if self.how.is_on_device() {
            self.simulate(scene, Box::new(Graphics::on(gpu.clone())))?
        } else {
            let backend = self.how.backend()?.start().map_err(SimulationError::from)?;
            self.simulate(scene, backend)?
        };
        Ok((gpu, scene, simulation))
    }

    fn read(&self) -> Result<Scene, Failure> {
        Ok(Scene::find(&self.scene, &self.how.overrides()?)?)
    }

    fn simulate(
        &self,
        scene: Scene,
        backend: Box<dyn Backend>,
    ) -> Result<(Scene, Simulation), Failure> {
        for note in &scene.notes {
            console::complain(&format!("note: {note}"));
        }
        let simulation = Simulation::on(&scene, backend)?;
        Ok((scene, simulation))
    }

    /// How many steps to make.
    pub(crate) fn steps(&self, scene: &Scene) -> u64 {
        self.steps.unwrap_or_else(|| scene.file.steps.into())
    }
}
