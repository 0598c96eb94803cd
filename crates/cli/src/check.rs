//! `taut check`: validate a scene without simulating it.

use clap::Args;
use taut::model::Model;
use taut::scene::{Override, Scene};

use crate::console;
use crate::failure::Failure;

/// Validate a scene: all its errors, each with file, line, key and what would be right
#[derive(Args)]
pub(crate) struct Arguments {
    /// A scene file, or the name of a built-in scene
    scene: String,
    /// Replace a value of the scene: key=value (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Override>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let scene = Scene::find(&arguments.scene, &arguments.set)?;
    for note in &scene.notes {
        console::complain(&format!("note: {note}"));
    }
    let (model, _) = Model::build(&scene)?;
    let counts = format!(
        "{}: fine, {} bodies, {} particles, {} constraints\n",
        scene.name,
        model.bodies.len(),
        model.body_of.len(),
        model.constraint_count()
    );
    Ok(console::print(&counts)?)
}
