//! Lines of a text file with their numbers, and numbers on them.

use std::path::Path;

use crate::mesh::error::MeshError;

/// The lines of a file that say something.
pub(super) struct Lines<'text> {
    path: &'text Path,
    /// Line numbers from 1, and what they hold without comments.
    rest: Box<dyn Iterator<Item = (usize, &'text str)> + 'text>,
    /// The last line that was read.
    line: usize,
}

impl<'text> Lines<'text> {
    /// `comment` starts a comment that reaches to the end of its line.
    pub(super) fn new(text: &'text str, path: &'text Path, comment: Option<char>) -> Self {
        let content = move |line: &'text str| {
            let end = comment.and_then(|comment| line.find(comment)).unwrap_or(line.len());
            line[..end].trim()
        };
        let numbered = (1..).zip(text.lines()).map(move |(number, line)| (number, content(line)));
        let rest = Box::new(numbered.filter(|(_, line)| !line.is_empty()));
        Self { path, rest, line: 0 }
    }

    /// The next line, if there is one.
    pub(super) fn next(&mut self) -> Option<&'text str> {
        let (line, content) = self.rest.next()?;
        self.line = line;
        Some(content)
    }

    /// The next line, where the file must not end yet.
    pub(super) fn expect(&mut self, what: &str) -> Result<Words<'text>, MeshError> {
        match self.next() {
            Some(content) => Ok(self.words(content)),
            None => Err(self.error(format!("the file ends here, but {what} should follow"))),
        }
    }

    /// The words of the line that was read last.
    pub(super) fn words(&self, content: &'text str) -> Words<'text> {
        Words { path: self.path, line: self.line, rest: content.split_whitespace() }
    }

    /// Number of the line that was read last.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// An error on the line that was read last.
    pub(super) fn error(&self, message: String) -> MeshError {
        MeshError::BadLine { path: self.path.to_owned(), line: self.line.max(1), message }
    }
}

/// The words of one line.
pub(super) struct Words<'text> {
    path: &'text Path,
    line: usize,
    rest: std::str::SplitWhitespace<'text>,
}

impl Words<'_> {
    /// The next word as a number.
    pub(super) fn number<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, MeshError> {
        let word = self.rest.next();
        let number = word.and_then(|word| word.parse().ok());
        number.ok_or_else(|| {
            self.error(match word {
                Some(word) => format!("`{}` is not {what}", shorten(word)),
                None => format!("the line ends before {what}"),
            })
        })
    }

    /// The next word as a number, if there is a word.
    pub(super) fn optional<N: std::str::FromStr>(&mut self) -> Option<N> {
        self.rest.next()?.parse().ok()
    }

    /// The next three words as coordinates.
    pub(super) fn place(&mut self) -> Result<glam::Vec3, MeshError> {
        let mut coordinate = || self.number::<f32>("a coordinate");
        let place = glam::Vec3::new(coordinate()?, coordinate()?, coordinate()?);
        if place.is_finite() {
            return Ok(place);
        }
        let message = "coordinates must be finite numbers that fit single precision";
        Err(self.error(message.to_owned()))
    }

    /// What is left of the line, words parted by single spaces.
    pub(super) fn rest(&mut self) -> String {
        self.rest.by_ref().collect::<Vec<_>>().join(" ")
    }

    /// An error on this line.
    pub(super) fn error(&self, message: String) -> MeshError {
        MeshError::BadLine { path: self.path.to_owned(), line: self.line, message }
    }
}

/// Enough of a word to find it by, whatever the file holds.
fn shorten(word: &str) -> String {
    let start: String = word.chars().take(24).collect();
    if start.len() < word.len() { start + "…" } else { start }
}
