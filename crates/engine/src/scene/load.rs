//! From the text of a scene file to a [`Scene`], or to all that is wrong with it.

use std::fs::File;
use std::io::Read;
use std::path::Path as FilePath;
use std::sync::Arc;

use serde_json::Value as Json;

use super::check::check;
use super::error::{Place, SceneError, SceneErrors};
use super::file::SceneFile;
use super::library;
use super::meshes::{Folder, MeshFiles, make_meshes};
use super::overrides::Override;
use super::particles::check_particles;
use super::path::{ENOUGH, Finding, Path, Segment};
use super::prune::{Lost, prune};
use super::schema::schema;
use super::text::{self, Text};
use super::tree::{Node, Origin};
use super::validate::validate;
use crate::mesh::Mesh;

/// Scene files are written by people; one larger than this is not a scene.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// A scene that is fit to be simulated: every name, index, number and mesh in it is checked.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The file's name without its ending, or the name of a built-in scene.
    pub name: String,
    /// What the file says, with defaults filled in and overrides applied.
    pub file: SceneFile,
    /// For each body its mesh, welded, before its transform. Copies of a body share it.
    pub meshes: Vec<Arc<Mesh>>,
    /// For each body that has one, its embedded surface, before the body's transform.
    pub surfaces: Vec<Option<Arc<Mesh>>>,
    /// For each shape that is a mesh, that mesh, scaled, before its position and rotation.
    pub shape_meshes: Vec<Option<Arc<Mesh>>>,
    /// What a user should know although it is no error.
    pub notes: Vec<String>,
    pub(super) text: Arc<Text>,
}

impl Scene {
    /// Reads a scene file.
    ///
    /// # Errors
    /// Everything that is wrong with the file, the overrides or the meshes.
    pub fn load(path: &FilePath, overrides: &[Override]) -> Result<Self, SceneErrors> {
        let label = path.display().to_string();
        let text = read_text(path).map_err(|problem| SceneErrors::about_file(&label, problem))?;
        let name = path
            .file_stem()
            .map_or_else(|| label.clone(), |stem| stem.to_string_lossy().into_owned());
        let files = &Folder(path.parent().unwrap_or(FilePath::new("")));
        Reader { file: &label, text: &text, overrides, files }.read(name)
    }

    /// Reads the text of a scene. `name` is shown as its file; mesh files are looked up in
    /// `directory`.
    ///
    /// # Errors
    /// Everything that is wrong with the text, the overrides or the meshes.
    pub fn parse(
        name: &str,
        text: &str,
        directory: &FilePath,
        overrides: &[Override],
    ) -> Result<Self, SceneErrors> {
        let files = &Folder(directory);
        Reader { file: name, text, overrides, files }.read(name.to_owned())
    }

    /// As [`Scene::parse`], with mesh files from wherever `files` takes them.
    ///
    /// # Errors
    /// As [`Scene::parse`].
    pub fn parse_with(
        name: &str,
        text: &str,
        files: &dyn MeshFiles,
        overrides: &[Override],
    ) -> Result<Self, SceneErrors> {
        Reader { file: name, text, overrides, files }.read(name.to_owned())
    }

    /// Reads a scene file or, by its name, a built-in scene. Built-in names come first: a file
    /// of the same name is `./name`.
    ///
    /// # Errors
    /// As [`Scene::load`], and for what is neither a file nor the name of a built-in scene.
    pub fn find(name_or_path: &str, overrides: &[Override]) -> Result<Self, SceneErrors> {
        let path = FilePath::new(name_or_path);
        if let Some(text) = library::text(name_or_path) {
            let file = format!("scenes/{name_or_path}.toml");
            let files = &Folder(FilePath::new("scenes"));
            let reader = Reader { file: &file, text, overrides, files };
            return reader.read(name_or_path.to_owned());
        }
        let looks_like_path = path.extension().is_some() || path.components().count() > 1;
        if looks_like_path || path.is_file() {
            return Self::load(path, overrides);
        }
        Err(SceneErrors::about_file(name_or_path, library::unknown(name_or_path)))
    }
}

/// The text of a scene file.
///
/// # Errors
/// What is wrong with the file, in words: it cannot be read, is too large or no text.
pub fn read_text(path: &FilePath) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("is larger than {} MB; that is no scene", MAX_FILE_BYTES >> 20));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        format!("is not UTF-8 text (line {line}); save it as UTF-8")
    })
}

/// One scene being read.
struct Reader<'text> {
    /// Shown in messages.
    file: &'text str,
    text: &'text str,
    overrides: &'text [Override],
    /// Where mesh files come from.
    files: &'text dyn MeshFiles,
}

impl Reader<'_> {
    fn read(&self, name: String) -> Result<Scene, SceneErrors> {
        let mut tree = Node::parse_file(self.text).map_err(|error| self.syntax_error(&error))?;
        let errors = self.apply_overrides(&mut tree);
        let schema = schema();
        let mut findings = check(&tree, &schema);
        if findings.len() < ENOUGH {
            match self.read_rest(name, &tree, &schema, &findings) {
                Ok(scene) if findings.is_empty() && errors.is_empty() => return Ok(scene),
                Ok(_) => {}
                Err(more) => findings.extend(more),
            }
        }
        Err(self.explain(errors, findings, &tree))
    }

    /// Reads what is left without `broken` and returns what else is wrong.
    fn read_rest(
        &self,
        name: String,
        tree: &Node,
        schema: &Json,
        broken: &[Finding],
    ) -> Result<Scene, Vec<Finding>> {
        let (left, lost) = prune(tree, schema, broken);
        let scene = self.build(name, &left, &lost);
        scene.map_err(|findings| {
            let in_file = findings.into_iter().map(|mut finding| {
                finding.path = left.path_in_file(&finding.path);
                finding
            });
            // What contains something broken is complained about already.
            in_file
                .filter(|finding| !broken.iter().any(|broken| broken.path.is_within(&finding.path)))
                .collect()
        })
    }

    fn build(&self, name: String, tree: &Node, lost: &Lost) -> Result<Scene, Vec<Finding>> {
        let file: SceneFile = serde_path_to_error::deserialize(tree.to_json())
            .map_err(|error| vec![unforeseen(&error)])?;
        let mut findings = validate(&file, lost);
        let meshes = make_meshes(&file, self.files, &mut findings);
        check_particles(&file, &meshes, &mut findings);
        if !findings.is_empty() {
            return Err(findings);
        }
        let bodies = meshes.bodies.into_iter().flatten().collect();
        let notes = meshes.notes.into_iter().chain(loose_bodies(&file)).collect();
        let (surfaces, shape_meshes) = (meshes.surfaces, meshes.shapes);
        let text = Arc::new(Text {
            file: self.file.to_owned(),
            text: self.text.to_owned(),
            overrides: self.overrides.to_vec(),
            tree: tree.clone(),
        });
        Ok(Scene { name, file, meshes: bodies, surfaces, shape_meshes, notes, text })
    }

    fn apply_overrides(&self, tree: &mut Node) -> Vec<SceneError> {
        let mut errors = Vec::new();
        for (number, given) in self.overrides.iter().enumerate() {
            if let Err(Finding { path, message }) = given.apply(number, tree) {
                errors.push(SceneError {
                    place: Place::Override(given.to_string()),
                    key: path.to_string(),
                    message,
                });
            }
        }
        errors
    }

    fn syntax_error(&self, error: &toml::de::Error) -> SceneErrors {
        let place = error.span().map_or(Place::File, |span| self.place(Origin::File(span.start)));
        let message = error.message().trim_end().replace('\n', ", ");
        let error = SceneError { place, key: String::new(), message };
        SceneErrors { file: self.file.to_owned(), errors: vec![error] }
    }

    /// All errors in the order of the file.
    fn explain(
        &self,
        mut errors: Vec<SceneError>,
        mut findings: Vec<Finding>,
        tree: &Node,
    ) -> SceneErrors {
        let more = findings.len().saturating_sub(ENOUGH);
        // Lines are counted only for what is shown.
        findings.sort_by_cached_key(|finding| tree.locate(&finding.path));
        findings.truncate(ENOUGH);
        errors.extend(findings.into_iter().map(|Finding { path, message }| SceneError {
            place: self.place(tree.locate(&path)),
            key: path.to_string(),
            message,
        }));
        errors.sort_by(|left, right| left.place.cmp(&right.place));
        if more > 0 {
            let message = format!("and {more} more errors");
            errors.push(SceneError { place: Place::File, key: String::new(), message });
        }
        SceneErrors { file: self.file.to_owned(), errors }
    }

    fn place(&self, origin: Origin) -> Place {
        text::place(self.text, self.overrides, origin)
    }
}

/// What passed the schema and still cannot be read. Both come from the same types, so this is
/// a mistake in `check.rs`; a message is better than a panic.
fn unforeseen(error: &serde_path_to_error::Error<serde_json::Error>) -> Finding {
    use serde_path_to_error::Segment as Step;
    let segments = error.path().iter().filter_map(|step| match step {
        Step::Seq { index } => Some(Segment::Index(*index)),
        Step::Map { key } | Step::Enum { variant: key } => Some(Segment::Key(key.clone())),
        Step::Unknown => None,
    });
    let message = format!("{}; this is a mistake in taut, please report it", error.inner());
    Finding::new(&Path(segments.collect()), message)
}

/// Particles that nothing holds together are seldom meant.
fn loose_bodies(file: &SceneFile) -> impl Iterator<Item = String> {
    let loose = file.bodies.iter().filter(|body| body.elements.kinds().next().is_none());
    loose.map(|body| {
        format!("body {:?} has no elements: nothing holds its particles together", body.name)
    })
}

#[cfg(test)]
mod tests {
    //! Contract: a sound scene comes out whole, with defaults and overrides in place.
    use super::*;

    const SCENE: &str = r#"
title = "a hanging cloth"
gravity = [0, -10, 0]

[[bodies]]
name = "cloth"
mesh.grid = { particles = [4, 5], size = [1, 1] }
pins = [{ group = "left-back" }, { indices = [3] }]
elements.stretch = { stiffness = 1 }
repeat = { count = [2, 1, 1], spacing = [2, 0, 0] }

[[shapes]]
name = "ball"
geometry.mesh = { source.sphere = { radius = 1, subdivisions = 4 }, scale = 0.5 }
"#;

    fn parse(overrides: &[&str]) -> Result<Scene, SceneErrors> {
        let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
        Scene::parse("test", SCENE, FilePath::new(""), &overrides)
    }

    #[test]
    fn a_sound_scene_is_read_whole() {
        let scene = parse(&[]).unwrap();
        assert_eq!(scene.file.gravity, [0.0, -10.0, 0.0]);
        assert_eq!(scene.file.steps, 300);
        assert_eq!(scene.meshes.len(), 1);
        assert_eq!(scene.meshes[0].positions.len(), 20);
        let ball = scene.shape_meshes[0].as_ref().unwrap();
        assert!((ball.bounds().unwrap().size().y - 1.0).abs() < 1e-5);
        assert_eq!(scene.notes, [""; 0]);
    }

    #[test]
    fn overrides_replace_and_add_values() {
        let scene = parse(&[
            "dt=0.5",
            "bodies.0.mesh.grid.particles=[6, 7]",
            "bodies.cloth.damping=0.25",
            "bodies[0].transform.position=[0, 3, 0]",
            "bodies.0.mesh.grid.diagonals=random",
            "partition.order=\"natural\"",
        ]);
        let scene = scene.unwrap();
        assert_eq!(scene.file.dt.to_bits(), 0.5f32.to_bits());
        assert_eq!(scene.meshes[0].positions.len(), 42);
        assert_eq!(scene.file.bodies[0].damping.to_bits(), 0.25f32.to_bits());
        assert_eq!(scene.file.bodies[0].transform.position, [0.0, 3.0, 0.0]);
        assert_eq!(scene.file.partition.order, crate::scene::file::ColoringOrder::Natural);
    }

    #[test]
    fn errors_of_overrides_say_so() {
        let error = parse(&["bodies.clot.damping=1", "dt=fast", "dt.x=1"]).unwrap_err();
        let lines: Vec<_> = error.to_string().lines().map(str::to_owned).collect();
        let expected = [
            "--set bodies.clot.damping=1: bodies: has no entry `clot`; did you mean `cloth`?",
            "--set dt.x=1: dt: is \"fast\", so there is no `x` in it",
            "--set dt=fast: dt: is \"fast\"; give a number above 0",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn an_unknown_name_is_neither_file_nor_scene() {
        let error = Scene::find("no-such-scene-at-all", &[]).unwrap_err().to_string();
        assert!(error.starts_with("no-such-scene-at-all: is neither a file nor"), "{error}");
        let error = Scene::find("no/such/file.toml", &[]).unwrap_err().to_string();
        assert!(error.starts_with("no/such/file.toml: cannot be read: "), "{error}");
    }
}
