//! `--set key=value`: single values of a scene replaced from outside.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::describe::{found, list};
use super::path::{Finding, Path, Segment};
use super::suggest::nearest;
use super::tree::{Entry, Node, Origin, Value};

/// One value to replace: `dt=0.01`, `bodies.0.mesh.grid.particles=[50, 50]`,
/// `bodies.cloth.damping=0.1`, `partition.method=cluster`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// As it was given, for messages.
    text: String,
    /// Keys, array indices and names of array entries.
    keys: Vec<String>,
    /// TOML, or a string without its quotes.
    value: String,
}

/// The tree that overrides grow is walked by recursion, so its depth must have an end.
const DEEPEST: usize = 32;

/// A text that is not `key=value`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--set {text}: {problem}; give key=value, for example dt=0.01 or bodies.0.damping=0.1")]
pub struct OverrideError {
    text: String,
    problem: &'static str,
}

impl FromStr for Override {
    type Err = OverrideError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = |problem| OverrideError { text: text.to_owned(), problem };
        let equals = end_of_key(text).ok_or_else(|| error("has no `=`"))?;
        let (key, value) = (&text[..equals], &text[equals + 1..]);
        let keys =
            split_key(key).ok_or_else(|| error("has an empty key or an open quote or bracket"))?;
        if keys.len() > DEEPEST {
            return Err(error("has more keys than any scene is deep"));
        }
        Ok(Self { text: text.to_owned(), keys, value: value.trim().to_owned() })
    }
}

impl std::fmt::Display for Override {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Override {
    /// Puts the value into the tree. `number` is its place in the list of overrides.
    pub(super) fn apply(&self, number: usize, tree: &mut Node) -> Result<(), Finding> {
        let origin = Origin::Override(number);
        let mut node = tree;
        let mut path = Path::default();
        for key in &self.keys {
            node = enter(node, key, &mut path, origin)?;
        }
        // What is not TOML is a string: shells eat the quotes of partition.method="cluster".
        let string = |_| Node { origin, value: Value::String(self.value.clone()) };
        *node = Node::parse_override(&self.value, number).unwrap_or_else(string);
        Ok(())
    }
}

/// Where the `=` between key and value stands: the first one outside quotes.
fn end_of_key(text: &str) -> Option<usize> {
    let mut quote = None;
    text.char_indices().find_map(|(position, character)| {
        match (quote, character) {
            (None, '=') => return Some(position),
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
        None
    })
}

/// Splits `bodies[0]."odd name".damping` at its dots and brackets.
fn split_key(key: &str) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    let mut rest = key.trim();
    loop {
        let (part, after) = match rest.chars().next()? {
            quote @ ('"' | '\'') => rest[1..].split_once(quote)?,
            '[' => rest[1..].split_once(']')?,
            _ => rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len())),
        };
        if part.is_empty() {
            return None;
        }
        keys.push(part.trim().to_owned());
        rest = match after.strip_prefix('.') {
            Some(after) => after,
            None if after.is_empty() => return Some(keys),
            None if after.starts_with('[') => after,
            None => return None,
        };
    }
}

/// The node behind a key, made where a table lacks it; `path` grows along.
fn enter<'tree>(
    node: &'tree mut Node,
    key: &str,
    path: &mut Path,
    origin: Origin,
) -> Result<&'tree mut Node, Finding> {
    match &mut node.value {
        Value::Table(table) => {
            path.0.push(Segment::Key(key.to_owned()));
            let empty = || Node { origin, value: Value::Table(BTreeMap::new()) };
            Ok(table.entry(key.to_owned()).or_insert_with(empty))
        }
        Value::Array(entries) => {
            let Some(index) = entry_index(entries, key) else {
                let message = format!("has no entry `{key}`; {}", entries_in_words(entries, key));
                return Err(Finding::new(path, message));
            };
            path.0.push(Segment::Index(index));
            Ok(&mut entries[index].node)
        }
        value => {
            Err(Finding::new(path, format!("is {}, so there is no `{key}` in it", found(value))))
        }
    }
}

/// An index, or the name of an entry that has one.
fn entry_index(entries: &[Entry], key: &str) -> Option<usize> {
    let by_number = key.parse().ok().filter(|&index| index < entries.len());
    by_number.or_else(|| entries.iter().position(|entry| name_of(&entry.node) == Some(key)))
}

/// The `name` of a body or shape.
pub(super) fn name_of(node: &Node) -> Option<&str> {
    match &node.child(&Segment::Key("name".to_owned()))?.value {
        Value::String(name) => Some(name),
        _ => None,
    }
}

fn entries_in_words(entries: &[Entry], key: &str) -> String {
    let names: Vec<_> = entries.iter().filter_map(|entry| name_of(&entry.node)).collect();
    if let Some(name) = nearest(key, names.iter().copied()) {
        return format!("did you mean `{name}`?");
    }
    let numbers = match entries.len() {
        0 => return "it is empty".to_owned(),
        1 => "0".to_owned(),
        count => format!("a number from 0 to {}", count - 1),
    };
    if names.is_empty() {
        return format!("give {numbers}");
    }
    format!("give {numbers} or a name: {}", list(names.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        text.parse::<Override>().unwrap().keys
    }

    #[test]
    fn keys_are_split_at_dots_and_brackets() {
        assert_eq!(keys("dt=1"), ["dt"]);
        assert_eq!(keys(" bodies.0.mesh = 1"), ["bodies", "0", "mesh"]);
        assert_eq!(keys("bodies[0].pins[1].group=a.b=c"), ["bodies", "0", "pins", "1", "group"]);
        assert_eq!(keys("bodies.\"a.b=c\".'d'=1"), ["bodies", "a.b=c", "d"]);
    }

    #[test]
    fn the_value_is_what_follows_the_first_equals_sign() {
        assert_eq!("title= a=b ".parse::<Override>().unwrap().value, "a=b");
        assert_eq!("title=".parse::<Override>().unwrap().value, "");
    }

    #[test]
    fn a_key_without_end_is_refused() {
        let text = format!("a{}=1", ".a".repeat(100_000));
        let error = text.parse::<Override>().unwrap_err();
        assert_eq!(error.problem, "has more keys than any scene is deep");
    }

    #[test]
    fn what_is_no_key_and_value_is_refused() {
        for text in
            ["", "=", "dt", "=1", "a..b=1", ".a=1", "a.=1", "a[0=1", "\"a=1", "a[]=1", "[0]b=1"]
        {
            let error = text.parse::<Override>().unwrap_err().to_string();
            assert!(error.starts_with(&format!("--set {text}: has ")), "{error}");
        }
    }
}
