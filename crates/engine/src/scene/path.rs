//! The path of a key in a scene file, printed as `bodies[0].mesh.grid.size`.

use std::fmt;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Segment {
    Key(String),
    Index(usize),
}

/// A path from the root of a file to one of its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path(pub(super) Vec<Segment>);

impl Path {
    /// The path of `key` in the table at this path.
    pub(super) fn key(&self, key: &str) -> Self {
        self.join(Segment::Key(key.to_owned()))
    }

    /// The path of the entry `index` of the array at this path.
    pub(super) fn index(&self, index: usize) -> Self {
        self.join(Segment::Index(index))
    }

    /// Does the path lead into (or to) what `outer` names?
    pub(super) fn is_within(&self, outer: &Self) -> bool {
        self.0.starts_with(&outer.0)
    }

    fn join(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(formatter, "[{index}]")?,
                Segment::Key(key) => {
                    let dot = if position > 0 { "." } else { "" };
                    write!(formatter, "{dot}{}", Quoted(key))?;
                }
            }
        }
        Ok(())
    }
}

/// A key, in quotes where TOML would ask for them.
struct Quoted<'key>(&'key str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if !self.0.is_empty() && self.0.bytes().all(is_bare) {
            formatter.write_str(self.0)
        } else {
            write!(formatter, "{:?}", self.0)
        }
    }
}

/// Something wrong at a path; where that is in the file is looked up later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) path: Path,
    pub(super) message: String,
}

/// More findings than this are counted, not listed, and enough to look no further.
pub(super) const ENOUGH: usize = 100;

/// Is something in what `path` names wrong already? Then the rest of it is not looked at.
pub(super) fn is_blamed(path: &Path, findings: &[Finding]) -> bool {
    findings.len() >= ENOUGH || findings.iter().any(|finding| finding.path.is_within(path))
}

impl Finding {
    pub(super) fn new(path: &Path, message: impl Into<String>) -> Self {
        Self { path: path.clone(), message: message.into() }
    }
}
