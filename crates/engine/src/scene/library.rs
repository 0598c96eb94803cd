//! The built-in scenes: the files of the top-level `scenes` folder, embedded in the program.

use super::describe::list;
use super::suggest::nearest;

/// Embeds the scene files of these names.
macro_rules! scenes {
    ($($name:literal,)*) => {
        &[$((
            $name,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/", $name, ".toml")),
        ),)*]
    };
}

/// Name and text of every built-in scene.
pub const SCENES: &[(&str, &str)] =
    scenes!["cloth-on-tube", "hanging-cloth", "disc-on-torus", "stretched-cloth", "flag",];

/// The text of a built-in scene.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

pub(super) fn unknown(name: &str) -> String {
    let names = || SCENES.iter().map(|(name, _)| *name);
    match nearest(name, names()) {
        Some(near) => format!("is neither a file nor a built-in scene; did you mean {near}?"),
        None => format!("is neither a file nor a built-in scene; those are {}", list(names())),
    }
}
