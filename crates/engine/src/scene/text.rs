//! The text of a scene, kept for what shows only when a model is built from it: such errors name their
//! lines, too.

use super::error::{Place, SceneError, SceneErrors};
use super::load::Scene;
use super::overrides::Override;
use super::path::Path;
use super::sources::source_path;
use super::tree::{Node, Origin};

/// Whose mesh an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A body's.
    Body,
    /// The surface that is embedded in a body.
    Surface,
    /// A shape's, which becomes a field of distances.
    Shape,
}

/// Where a scene was read from.
#[derive(Debug)]
pub(super) struct Text {
    /// The file as it was named.
    pub(super) file: String,
    pub(super) text: String,
    pub(super) overrides: Vec<Override>,
    pub(super) tree: Node,
}

impl Scene {
    /// An error about the mesh of a body or shape. Copies of a body have a number after its name.
    pub(crate) fn flaw(&self, part: Part, name: &str, message: String) -> SceneErrors {
        let Text { file, text, overrides, tree } = &*self.text;
        let path = self.mesh_path(part, name);
        let place = place(text, overrides, tree.locate(&path));
        let error = SceneError { place, key: path.to_string(), message };
        SceneErrors { file: file.clone(), errors: vec![error] }
    }

    fn mesh_path(&self, part: Part, name: &str) -> Path {
        let root = Path::default();
        if part == Part::Shape {
            let shapes = root.key("shapes");
            let Some(index) = self.file.shapes.iter().position(|shape| shape.name == name) else {
                return shapes;
            };
            // The mesh itself is sound: what may not fit is the field of distances made from it.
            return shapes.index(index).key("geometry").key("mesh").key("cell");
        }
        let bodies = root.key("bodies");
        let find = |name: &str| self.file.bodies.iter().position(|body| body.name == name);
        let original = || name.rsplit_once('[').and_then(|(name, _)| find(name));
        let Some(index) = find(name).or_else(original) else { return bodies };
        let body = &self.file.bodies[index];
        match &body.surface {
            Some(surface) if part == Part::Surface => {
                source_path(surface, &bodies.index(index).key("surface"))
            }
            _ => source_path(&body.mesh, &bodies.index(index).key("mesh")),
        }
    }
}

/// The line, or the override, that a value comes from.
pub(super) fn place(text: &str, overrides: &[Override], origin: Origin) -> Place {
    match origin {
        Origin::Override(number) => Place::Override(overrides[number].to_string()),
        Origin::File(offset) => {
            let before = text.get(..offset).unwrap_or(text);
            let start_of_line = before.rfind('\n').map_or(0, |newline| newline + 1);
            let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
            Place::Line { line, column: 1 + before[start_of_line..].chars().count() }
        }
    }
}
