//! Contract: a broken scene gives, for every mistake, one message with file, line, key and
//! remedy; nothing in a file makes the reader panic or ask for unbounded memory.
//!
//! The files of `bad_scenes` open with what is expected of them: each line `#! 5: key: message`
//! is one line of the error, without the name of the file.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use taut::scene::Scene;

const FOLDER: &str = "tests/bad_scenes";

fn broken_scenes() -> Vec<PathBuf> {
    let entries = fs::read_dir(FOLDER).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    paths.sort();
    paths
}

fn expected_errors(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix("#! "));
    lines.map(|line| format!("{}:{line}", path.display())).collect()
}

#[test]
fn each_broken_scene_gives_exactly_its_messages() {
    let mut wrong = String::new();
    for path in broken_scenes() {
        let errors = match Scene::load(&path, &[]) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.to_string().lines().map(str::to_owned).collect(),
        };
        let expected = expected_errors(&path);
        if errors != expected || errors.is_empty() {
            wrong +=
                &format!("\n{}\n  expected {expected:#?}\n  got {errors:#?}\n", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
