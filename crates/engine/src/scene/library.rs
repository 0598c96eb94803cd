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
pub const SCENES: &[(&str, &str)] = scenes![
    "cloth-on-tube",
    "hanging-cloth",
    "disc-on-torus",
    "stretched-cloth",
    "flag",
    "falling-cube",
    "bunny",
    "omotondo",
    "tori-100",
    "tori-400",
    "squishy-ball",
    "big-torus",
    "disc-on-torus-triangles",
    "balloon",
    "rubber-blocks",
    "spring-cloth",
    "long-range-cloth",
    "ribbon",
];

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

#[cfg(test)]
mod tests {
    //! Contract: the built-in scenes are the files of the folder, sound and self-contained.
    use super::*;
    use crate::scene::Scene;

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let scenes = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
        let mut files: Vec<_> =
            scenes.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        files.sort();
        let mut names: Vec<_> = SCENES.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(files, names);
    }

    #[test]
    fn every_built_in_scene_is_sound_and_needs_no_other_file() {
        for (name, text) in SCENES {
            assert!(!text.contains("path ="), "{name} names a file that is not built in");
            let scene = Scene::find(name, &[]).unwrap_or_else(|errors| panic!("{errors}"));
            assert_eq!(scene.name, *name);
            assert_eq!(scene.notes, [""; 0], "{name}");
            assert!(!scene.file.title.is_empty(), "{name} has no title");
        }
    }

    #[test]
    fn a_misspelled_name_is_recognized() {
        let message = Scene::find("hanging-clot", &[]).unwrap_err().to_string();
        let expected = "hanging-clot: is neither a file nor a built-in scene; \
                        did you mean hanging-cloth?";
        assert_eq!(message, expected);
    }
}
