//! The text of an OBJ file, reduced to what geometry needs before `tobj` reads it.
//!
//! `tobj` renumbers vertices in the order of their first use, gives every object and group
//! vertices of its own (so that cloth made of two groups would come apart), stops at texture
//! coordinates it finds odd, and has no line numbers. So it only gets to see `v` and `f`
//! lines, as one object, without texture and normal indices; the number of each vertex rides
//! along as its color. Names of objects and groups, and line numbers, are kept here.

use std::fmt::Write;
use std::ops::Range;

/// What is wrong, and on which line (from 1).
pub(super) struct Problem {
    pub(super) line: usize,
    pub(super) message: String,
}

/// More names than this on one `g` line are left out: each costs a copy of the group.
const MOST_NAMES: usize = 32;

/// An OBJ file without what geometry does not need.
#[derive(Default)]
pub(super) struct Outline {
    /// `v` and `f` lines only.
    pub(super) text: String,
    /// The line of each vertex.
    pub(super) vertex_lines: Vec<usize>,
    /// The line of each face.
    pub(super) face_lines: Vec<usize>,
    /// Runs of faces between `o` and `g` lines, with the names that hold for them.
    pub(super) parts: Vec<Part>,
}

/// A run of faces that share their object and groups.
pub(super) struct Part {
    pub(super) names: Vec<String>,
    pub(super) faces: Range<usize>,
}

impl Outline {
    /// Reads all lines.
    pub(super) fn new(source: &str) -> Result<Self, Problem> {
        let mut outline = Self::default();
        let [mut object, mut groups] = [Vec::new(), Vec::new()];
        for (line, content) in logical_lines(source) {
            match content.split_whitespace().next() {
                Some("v") => outline.add_vertex(line, &content)?,
                Some("f") => outline.add_face(line, &content)?,
                Some("o") => {
                    outline.end_part(&object, &groups);
                    // An object's name may contain spaces.
                    let name = content.trim_start().trim_start_matches('o').trim();
                    object = vec![name.to_owned()];
                    groups.clear();
                }
                Some("g") => {
                    outline.end_part(&object, &groups);
                    let names = content.split_whitespace().skip(1).take(MOST_NAMES);
                    groups = names.map(str::to_owned).collect();
                }
                // Lines, points, curves, materials, texture coordinates, comments, …
                _ => {}
            }
        }
        outline.end_part(&object, &groups);
        Ok(outline)
    }

    fn add_vertex(&mut self, line: usize, content: &str) -> Result<(), Problem> {
        let number = self.vertex_lines.len();
        self.vertex_lines.push(line);
        // What may follow, a weight for curves or a color, has no place in a mesh.
        let coordinates: Vec<&str> = arguments(content).take(3).collect();
        let [x, y, z] = coordinates[..] else {
            let found = coordinates.len();
            let message = format!("this vertex has {found} coordinates, it must have 3: `v x y z`");
            return Err(Problem { line, message });
        };
        // Two halves, because a float is exact to 24 bits only. Writing to a string cannot fail.
        let _ = writeln!(self.text, "v {x} {y} {z} {} {} 0", number >> 16, number & 0xFFFF);
        Ok(())
    }

    fn add_face(&mut self, line: usize, content: &str) -> Result<(), Problem> {
        self.face_lines.push(line);
        self.text.push('f');
        let mut count = 0;
        for corner in arguments(content) {
            let vertex = corner.split('/').next().filter(|vertex| !vertex.is_empty());
            // Without a vertex number the corner stays as it is, and tobj refuses it.
            let _ = write!(self.text, " {}", vertex.unwrap_or(corner));
            count += 1;
        }
        self.text.push('\n');
        if count < 3 {
            let message = format!("this face has {count} corners, it must have 3 or more");
            return Err(Problem { line, message });
        }
        Ok(())
    }

    fn end_part(&mut self, object: &[String], groups: &[String]) {
        let start = self.parts.last().map_or(0, |part| part.faces.end);
        let faces = start..self.face_lines.len();
        let mut names = [object, groups].concat();
        names.retain(|name| !name.is_empty());
        self.parts.push(Part { names, faces });
    }

    /// Finds the line that made `tobj` refuse the text, and says what is wrong with it.
    pub(super) fn find_problem(&self) -> Option<Problem> {
        let [mut vertices, mut faces] = [0, 0];
        for content in self.text.lines() {
            let (line, message) = if content.starts_with('v') {
                vertices += 1;
                (self.vertex_lines[vertices - 1], bad_coordinate(content))
            } else {
                faces += 1;
                let counts = [vertices, self.vertex_lines.len()];
                (self.face_lines[faces - 1], bad_corner(content, counts))
            };
            if let Some(message) = message {
                return Some(Problem { line, message });
            }
        }
        None
    }
}

/// The position of a vertex in the file, from the color that rode along with it.
pub(super) fn vertex_number(color: &[f32]) -> usize {
    ((color[0] as usize) << 16) | color[1] as usize
}

/// Words after the first, up to a comment.
fn arguments(content: &str) -> impl Iterator<Item = &str> {
    let content = content.split('#').next().unwrap_or_default();
    content.split_whitespace().skip(1)
}

fn bad_coordinate(content: &str) -> Option<String> {
    let word = arguments(content).find(|word| word.parse::<f32>().is_err())?;
    Some(format!("`{}` is not a number", shorten(word)))
}

fn bad_corner(content: &str, [before, vertices]: [usize; 2]) -> Option<String> {
    arguments(content).find_map(|word| match word.parse::<i64>() {
        Err(_) => Some(format!("`{}` is not the number of a vertex", shorten(word))),
        Ok(0) => Some("vertex 0 does not exist: vertices are counted from 1".to_owned()),
        Ok(number) if number < 0 && number.unsigned_abs() > before as u64 => Some(format!(
            "vertex {number} counts back beyond the first of the {before} vertices before this line"
        )),
        Ok(number) if number > 0 && number.unsigned_abs() > vertices as u64 => {
            Some(format!("vertex {number} does not exist: the file has {vertices} vertices"))
        }
        Ok(_) => None,
    })
}

/// Enough of a word to find it by, whatever the file holds.
fn shorten(word: &str) -> String {
    let start: String = word.chars().take(24).collect();
    if start.len() < word.len() { start + "…" } else { start }
}

/// Lines with their numbers; a backslash at the end of a line goes on with the next one.
fn logical_lines(source: &str) -> impl Iterator<Item = (usize, std::borrow::Cow<'_, str>)> {
    let mut lines = (1..).zip(source.lines());
    std::iter::from_fn(move || {
        let (number, first) = lines.next()?;
        let Some(start) = first.strip_suffix('\\') else { return Some((number, first.into())) };
        let mut joined = start.to_owned();
        for (_, next) in lines.by_ref() {
            joined.push(' ');
            match next.strip_suffix('\\') {
                Some(part) => joined.push_str(part),
                None => {
                    joined.push_str(next);
                    break;
                }
            }
        }
        Some((number, joined.into()))
    })
}
