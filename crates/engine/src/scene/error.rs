//! What is wrong with a scene: every error of the file, each with its place and its remedy.

use std::fmt;

/// All errors of one scene.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SceneErrors {
    /// The scene file as it was named, or the name of a built-in scene's file.
    pub file: String,
    /// At least one, in the order of the file; those of overrides come last.
    pub errors: Vec<SceneError>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// Where the wrong value comes from.
    pub place: Place,
    /// Path of the key, such as `bodies[0].mesh.grid.size`. Empty when the error has none.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Where a wrong value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of the file, from 1, and a column of it in characters, from 1.
    Line {
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
    },
    /// An override, as it was given.
    Override(String),
}

impl SceneErrors {
    /// One error about the file as a whole.
    pub(super) fn about_file(file: &str, message: impl Into<String>) -> Self {
        let error = SceneError { place: Place::File, key: String::new(), message: message.into() };
        Self { file: file.to_owned(), errors: vec![error] }
    }
}

impl fmt::Display for SceneErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, error) in self.errors.iter().enumerate() {
            if position > 0 {
                writeln!(formatter)?;
            }
            error.write(&self.file, formatter)?;
        }
        Ok(())
    }
}

impl SceneError {
    fn write(&self, file: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File => write!(formatter, "{file}: ")?,
            // A key says more than a column; without one the column is all there is.
            Place::Line { line, column } if self.key.is_empty() => {
                write!(formatter, "{file}:{line}:{column}: ")?;
            }
            Place::Line { line, .. } => write!(formatter, "{file}:{line}: ")?,
            Place::Override(text) => write!(formatter, "--set {text}: ")?,
        }
        if !self.key.is_empty() {
            write!(formatter, "{}: ", self.key)?;
        }
        formatter.write_str(&self.message)
    }
}
