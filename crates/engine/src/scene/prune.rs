//! Takes what is broken out of a file, so that the rest can be read and checked on.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::check::check;
use super::overrides::name_of;
use super::path::{Finding, Path, Segment};
use super::tree::{Node, Value};

/// Bodies and shapes that were taken out, by name where they have one: whoever refers to
/// them is not to blame.
#[derive(Debug, Default)]
pub(super) struct Lost {
    pub(super) bodies: Vec<Option<String>>,
    pub(super) shapes: Vec<Option<String>>,
}

/// What is left of `tree` without everything that `findings` name.
///
/// Taking a value out can leave its table without a required key: then the table goes too,
/// and so on outward, until what is left fits the schema.
pub(super) fn prune(tree: &Node, schema: &Json, findings: &[Finding]) -> (Node, Lost) {
    let mut left = tree.clone();
    let mut findings = findings.to_vec();
    while !findings.is_empty() && remove_all(&mut left, findings) {
        findings = check(&left, schema);
    }
    let lost = Lost {
        bodies: lost_names(tree, &left, "bodies"),
        shapes: lost_names(tree, &left, "shapes"),
    };
    (left, lost)
}

/// Takes out, for each finding, the innermost value that contains what its path names. The
/// root cannot be taken out; `false` if that is what a finding asks for.
fn remove_all(tree: &mut Node, findings: Vec<Finding>) -> bool {
    let mut doomed = Doomed::default();
    for Finding { path, .. } in findings {
        let depth = (1..=path.0.len())
            .rev()
            .find(|&depth| tree.get(&Path(path.0[..depth].to_vec())).is_some());
        doomed.mark(&path.0[..depth.unwrap_or(0)]);
    }
    doomed.remove_from(tree);
    !doomed.whole
}

/// The paths to take out, as a tree, so that one walk takes out all of them.
#[derive(Default)]
struct Doomed {
    whole: bool,
    children: BTreeMap<Segment, Doomed>,
}

impl Doomed {
    fn mark(&mut self, path: &[Segment]) {
        match path {
            [] => self.whole = true,
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().mark(rest),
        }
    }

    fn remove_from(&self, node: &mut Node) {
        let keep = |segment: Segment, child: &mut Node| match self.children.get(&segment) {
            Some(doomed) if doomed.whole => false,
            Some(doomed) => {
                doomed.remove_from(child);
                true
            }
            None => true,
        };
        match &mut node.value {
            Value::Table(table) => {
                table.retain(|key, child| keep(Segment::Key(key.clone()), child));
            }
            Value::Array(entries) => {
                entries.retain_mut(|entry| keep(Segment::Index(entry.index), &mut entry.node));
            }
            _ => {}
        }
    }
}

fn lost_names(before: &Node, after: &Node, array: &str) -> Vec<Option<String>> {
    let array = Path::default().key(array);
    let entries = match before.get(&array).map(|node| &node.value) {
        Some(Value::Array(entries)) => entries,
        Some(_) => return vec![None],
        None => return Vec::new(),
    };
    let lost = entries.iter().filter(|entry| after.get(&array.index(entry.index)).is_none());
    lost.map(|entry| name_of(&entry.node).map(str::to_owned)).collect()
}
