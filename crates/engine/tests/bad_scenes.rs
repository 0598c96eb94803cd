//! Contract: a broken scene gives, for every mistake, one message with file, line, key and
//! remedy; nothing in a file makes the reader panic or ask for unbounded memory.
//!
//! The files of `bad_scenes` open with what is expected of them: each line `#! 5: key: message`
//! is one line of the error, without the name of the file.

// Helpers of tests are tests, too.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use taut::scene::{Override, Place, Scene, SceneErrors};

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

#[test]
fn the_suite_is_as_large_as_it_should_be() {
    let scenes = broken_scenes();
    assert!(scenes.len() >= 35, "{} broken scenes", scenes.len());
    assert!(scenes.iter().any(|path| expected_errors(path).len() > 10));
}

fn message(result: Result<Scene, SceneErrors>) -> String {
    result.expect_err("the scene is broken").to_string()
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let missing = Scene::load(Path::new("tests/nothing-here.toml"), &[]);
    let expected =
        "tests/nothing-here.toml: cannot be read: No such file or directory (os error 2)";
    assert_eq!(message(missing), expected);
    let folder = message(Scene::load(Path::new(FOLDER), &[]));
    assert_eq!(folder, format!("{FOLDER}: cannot be read: Is a directory (os error 21)"));
}

#[test]
fn text_in_another_encoding_is_located() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), b"title = \"a\"\ntitle = \"caf\xe9\"\n").unwrap();
    let expected =
        format!("{}: is not UTF-8 text (line 2); save it as UTF-8", file.path().display());
    assert_eq!(message(Scene::load(file.path(), &[])), expected);
}

#[test]
fn a_file_without_end_is_not_read_to_its_end() {
    let endless = Path::new("/dev/zero");
    assert_eq!(
        message(Scene::load(endless, &[])),
        "/dev/zero: is larger than 16 MB; that is no scene"
    );
}

#[test]
fn a_flood_of_errors_is_counted() {
    let text: String = (0..500).map(|number| format!("key-{number} = 1\n")).collect();
    let errors = Scene::parse("flood", &text, Path::new(""), &[]).unwrap_err().errors;
    assert_eq!(errors.len(), 101);
    assert_eq!(errors.last().unwrap().message, "and 400 more errors");
}

const SOUND: &str = r#"
title = "everything at once"
gravity = [0, -9.81, 0]
dt = 0.01
steps = 100
substeps = 2
iterations = 4
solver = "gauss-seidel"
partition = { method = "coloring", order = "balanced" }
integrate = true

[wind]
velocity = [1, 0, 0]
gust = 0.5

[[bodies]]
name = "cloth"
mesh.grid = { particles = [5, 6], size = [1, 1.5], diagonals = "random", seed = 3 }
transform = { position = [0, 1, 0], rotation = [0, 90, 0], scale = 2 }
deform = [2, 1, 1]
density = 0.3
pins = [{ group = "left" }, { region.sphere = { center = [0, 1, 0], radius = 1 } }]
elements.stretch = { stiffness = 0.5 }
elements.bend = { compliance = 1e-3 }
weld = 1e-4

[[bodies]]
name = "jelly"
kind = "soft"
mesh.block = { size = [1, 1, 1], cells = [2, 2, 2] }
mass = 3
elements = { stretch = { compliance = 0 }, volume = { compliance = 0 } }
repeat = { count = [2, 2, 1], spacing = [2, 2, 0], jitter = 0.1, seed = 9 }

[[shapes]]
name = "ring"
geometry.torus = { radius = 1, tube-radius = 0.25 }
keyframes = [{ time = 0 }, { time = 1, position = [0, 1, 0] }]

[[shapes]]
name = "ball"
geometry.mesh = { source.sphere = { radius = 1, subdivisions = 3 }, cell = 0.1 }

[[attachments]]
body = "cloth"
particles.indices = [0, 1, 2, 3]
to.body = { name = "jelly", particles.indices = [4] }
compliance = 1e-5

[[attachments]]
body = "cloth"
particles.group = "right"
to.shape = { name = "ring" }
stiffness = 1

[expect]
residual.stretch = { rms = 0.01, max = 0.1 }
extent = { min = [-9, -9, -9], max = [9, 9, 9] }
"#;

#[test]
fn the_scene_that_is_broken_below_is_sound() {
    Scene::parse("sound", SOUND, Path::new(""), &[]).unwrap();
}

#[test]
fn line_ends_and_marks_of_other_systems_do_no_harm() {
    let text = format!("\u{feff}{}", SOUND.replace('\n', "\r\n"));
    Scene::parse("sound", &text, Path::new(""), &[]).unwrap();
    let error =
        message(Scene::parse("broken", &text.replace("dt = 0.01", "dt = 0"), Path::new(""), &[]));
    assert_eq!(error, "broken:4: dt: is 0; give a number above 0");
}

/// What people and programs write where something else was wanted.
const STRANGE_VALUES: &[&str] = &[
    "-1",
    "0",
    "1",
    "0.5",
    "1e39",
    "-1e-60",
    "nan",
    "-inf",
    "4294967295",
    "18446744073709551616",
    "0xffff",
    "\"\"",
    "\"left\"",
    "true",
    "[]",
    "{}",
    "[[]]",
    "1979-05-27",
    "[1, 2, 3]",
    "=",
    "\u{0}",
];

#[derive(Clone, Debug)]
enum Mutation {
    Cut { from: usize, length: usize },
    Repeat { line: usize, at: usize },
    Replace { word: usize, value: &'static str },
    Insert { at: usize, text: String },
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = || 0..SOUND.len();
    prop_oneof![
        (place(), 1..40_usize).prop_map(|(from, length)| Mutation::Cut { from, length }),
        (place(), place()).prop_map(|(line, at)| Mutation::Repeat { line, at }),
        (place(), prop::sample::select(STRANGE_VALUES))
            .prop_map(|(word, value)| Mutation::Replace { word, value }),
        (place(), ".{0,8}").prop_map(|(at, text)| Mutation::Insert { at, text }),
    ]
}

impl Mutation {
    fn apply(&self, text: &str) -> String {
        let characters: Vec<char> = text.chars().collect();
        let string = |part: &[char]| part.iter().collect::<String>();
        let at = |place: usize| place % (characters.len() + 1);
        match self {
            Self::Cut { from, length } => {
                let end = (at(*from) + length).min(characters.len());
                string(&characters[..at(*from)]) + &string(&characters[end..])
            }
            Self::Insert { at: place, text } => {
                string(&characters[..at(*place)]) + text + &string(&characters[at(*place)..])
            }
            Self::Repeat { line, at } => {
                let mut lines: Vec<&str> = text.lines().collect();
                let count = lines.len().max(1);
                let repeated = lines.get(line % count).copied().unwrap_or("");
                lines.insert((at % count).min(lines.len()), repeated);
                lines.join("\n")
            }
            Self::Replace { word, value } => {
                let words: Vec<_> = text.split(' ').collect();
                let replaced = words.iter().enumerate();
                let replaced =
                    replaced.map(|(i, old)| if i == word % words.len() { *value } else { *old });
                replaced.collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// Whatever the text, the answer is a scene or errors that say where and what.
fn parses_or_explains(text: &str, overrides: &[Override]) -> Result<(), TestCaseError> {
    let Err(errors) = Scene::parse("random", text, Path::new("no-such-folder"), overrides) else {
        return Ok(());
    };
    prop_assert!(!errors.errors.is_empty());
    for error in &errors.errors {
        prop_assert!(!error.message.is_empty() && !error.message.contains('\n'), "{error:?}");
        prop_assert!(!error.message.contains("mistake in taut"), "{error:?}");
        if let Place::Line { line, .. } = error.place {
            prop_assert!((1..=text.split('\n').count()).contains(&line), "{error:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_text_never_panics(text in "(?s).{0,400}") {
        parses_or_explains(&text, &[])?;
    }

    #[test]
    fn random_keys_and_values_never_panic(
        lines in prop::collection::vec("(\\[\\[?)?(bodies|shapes|mesh|grid|pins|name|expect|dt|[a-z\"'.]{1,6}){1,3}(\\]\\]?| = [-0-9.\\[\\]{}\"a-z, ]{0,12})", 0..12)
    ) {
        parses_or_explains(&lines.join("\n"), &[])?;
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), &bytes).unwrap();
        // Random bytes are never a whole scene.
        prop_assert!(Scene::load(file.path(), &[]).is_err());
    }

    #[test]
    fn mutated_scenes_never_panic(mutations in prop::collection::vec(mutation(), 1..6)) {
        let text = mutations.iter().fold(SOUND.to_owned(), |text, mutation| mutation.apply(&text));
        parses_or_explains(&text, &[])?;
    }

    #[test]
    fn random_overrides_never_panic(
        texts in prop::collection::vec("(bodies|shapes|dt|expect)?([.\\[\\]\"'0-9a-z-]{0,12}=?){0,2}.{0,12}", 0..4)
    ) {
        let overrides: Vec<Override> = texts.iter().filter_map(|text| text.parse().ok()).collect();
        parses_or_explains(SOUND, &overrides)?;
    }
}
