//! Holds a file to the JSON Schema of scenes and finds everything that is wrong with its
//! structure: unknown and missing keys, wrong types, numbers out of range, unknown choices.
//!
//! Only the keywords that `schema.rs` produces are understood; a test there fails when the
//! types of `file.rs` need another one.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::describe::{expected, found, largest_integer, rounded, table_keys, tags, words};
use super::path::{Finding, Path, Segment};
use super::suggest::remedy;
use super::tree::{Entry, Node, Value};

/// The keywords that limit what a file may say.
#[cfg(test)]
pub(super) const KEYWORDS: &[&str] = &[
    "$ref",
    "type",
    "format",
    "const",
    "oneOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "minimum",
    "exclusiveMinimum",
    "maximum",
];

/// Everything in which `tree` departs from `schema`.
pub(super) fn check(tree: &Node, schema: &Json) -> Vec<Finding> {
    let mut checker = Checker { root: schema, path: Path::default(), findings: Vec::new() };
    checker.check(tree, schema);
    checker.findings
}

/// Follows references: `{"$ref": "#/$defs/Grid"}` stands for the definition of `Grid`.
pub(super) fn resolve<'schema>(schema: &'schema Json, root: &'schema Json) -> &'schema Json {
    let reference = schema.get("$ref").and_then(Json::as_str);
    let target = reference.and_then(|name| root.pointer(name.trim_start_matches('#')));
    target.map_or(schema, |target| resolve(target, root))
}

struct Checker<'schema> {
    root: &'schema Json,
    /// Where the value being checked is.
    path: Path,
    findings: Vec<Finding>,
}

impl<'schema> Checker<'schema> {
    fn check(&mut self, node: &Node, schema: &'schema Json) {
        let schema = resolve(schema, self.root);
        if let Some(choices) = schema.get("oneOf").and_then(Json::as_array) {
            return self.check_choice(node, choices, schema);
        }
        match (schema.get("type").and_then(Json::as_str), &node.value) {
            (Some("object"), Value::Table(table)) => self.check_table(table, schema),
            (Some("array"), Value::Array(entries)) => self.check_array(entries, node, schema),
            _ => self.demand(fits(&node.value, schema), node, schema),
        }
    }

    fn check_child(&mut self, segment: Segment, node: &Node, schema: &'schema Json) {
        self.path.0.push(segment);
        self.check(node, schema);
        self.path.0.pop();
    }

    /// The one message for a value that is of the wrong type or out of range.
    fn demand(&mut self, holds: bool, node: &Node, schema: &Json) {
        if !holds {
            let (found, rounded) = (found(&node.value), rounded(&node.value, schema));
            let message = format!("is {found}{rounded}; give {}", expected(schema, self.root));
            self.findings.push(Finding::new(&self.path, message));
        }
    }

    fn complain_about_key(&mut self, key: &str, message: impl Into<String>) {
        self.findings.push(Finding::new(&self.path.key(key), message));
    }

    fn check_table(&mut self, table: &BTreeMap<String, Node>, schema: &'schema Json) {
        for (key, node) in table {
            match schema.get("properties").and_then(|properties| properties.get(key)) {
                Some(property) => self.check_child(Segment::Key(key.clone()), node, property),
                None => self.check_extra(key, node, schema),
            }
        }
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        for key in required.filter_map(Json::as_str).filter(|key| !table.contains_key(*key)) {
            let property = schema.get("properties").and_then(|properties| properties.get(key));
            let expected = expected(property.unwrap_or(&Json::Null), self.root);
            self.complain_about_key(key, format!("is missing; give {expected}"));
        }
    }

    /// A key that the table does not name: wrong, unless any key will do (`expect.residual`).
    fn check_extra(&mut self, key: &str, node: &Node, schema: &'schema Json) {
        if let Some(extra @ Json::Object(_)) = schema.get("additionalProperties") {
            return self.check_child(Segment::Key(key.to_owned()), node, extra);
        }
        let known = table_keys(schema);
        let advice =
            if known.is_empty() { "remove it".to_owned() } else { remedy(key, &known, "`") };
        self.complain_about_key(key, format!("is no key taut knows here; {advice}"));
    }

    fn check_array(&mut self, entries: &[Entry], node: &Node, schema: &'schema Json) {
        let limit = |keyword| schema.get(keyword).and_then(Json::as_u64);
        let count = entries.len() as u64;
        let is_short = limit("minItems").is_some_and(|least| count < least);
        if is_short || limit("maxItems").is_some_and(|most| count > most) {
            return self.demand(false, node, schema);
        }
        if let Some(items) = schema.get("items") {
            for entry in entries {
                self.check_child(Segment::Index(entry.index), &entry.node, items);
            }
        }
    }

    /// A choice is a word (`solver = "jacobi"`) or a table with one key (`mesh.grid = { … }`).
    fn check_choice(&mut self, node: &Node, choices: &'schema [Json], schema: &'schema Json) {
        let words = words(choices);
        match &node.value {
            Value::String(word) if words.contains(&word.as_str()) => {}
            Value::String(word) if !words.is_empty() => {
                let message = format!("is {}; {}", found(&node.value), remedy(word, &words, "\""));
                self.findings.push(Finding::new(&self.path, message));
            }
            Value::Table(table) if words.is_empty() && !table.is_empty() => {
                self.check_tagged(table, choices);
            }
            _ => self.demand(false, node, schema),
        }
    }

    fn check_tagged(&mut self, table: &BTreeMap<String, Node>, choices: &'schema [Json]) {
        let tags = tags(choices);
        let names: Vec<_> = tags.iter().map(|&(name, _)| name).collect();
        let mut chosen = Vec::new();
        for (key, node) in table {
            match tags.iter().find(|(name, _)| name == key) {
                Some((name, schema)) => {
                    chosen.push(*name);
                    self.check_child(Segment::Key(key.clone()), node, schema);
                }
                None => {
                    let advice = remedy(key, &names, "`");
                    self.complain_about_key(key, format!("is none of the choices here; {advice}"));
                }
            }
        }
        if chosen.len() > 1 {
            let message = format!("has `{}` at once; give one of them", chosen.join("` and `"));
            self.findings.push(Finding::new(&self.path, message));
        }
    }
}

/// Is a single value of the right type and in range?
fn fits(value: &Value, schema: &Json) -> bool {
    match (schema.get("type").and_then(Json::as_str), value) {
        (Some("string"), Value::String(text)) => {
            let shortest = schema.get("minLength").and_then(Json::as_u64).unwrap_or(0);
            text.chars().count() as u64 >= shortest
        }
        (Some("boolean"), Value::Boolean(_)) => true,
        (Some("integer"), Value::Integer(integer)) => fits_integer(*integer, schema),
        (Some("number"), Value::Integer(integer)) => fits_number(*integer as f64, schema),
        (Some("number"), Value::Float(float)) => fits_number(*float, schema),
        _ => false,
    }
}

/// Whole numbers: the range, and what the type can hold.
fn fits_integer(integer: i128, schema: &Json) -> bool {
    let least = schema.get("minimum").and_then(Json::as_u64).unwrap_or(0);
    (i128::from(least)..=largest_integer(schema).into()).contains(&integer)
}

/// Numbers: finite and in range also after rounding to the single precision of `file.rs`.
fn fits_number(number: f64, schema: &Json) -> bool {
    let limit = |keyword| schema.get(keyword).and_then(Json::as_f64);
    let number = f64::from(number as f32);
    number.is_finite()
        && limit("minimum").is_none_or(|least| number >= least)
        && limit("exclusiveMinimum").is_none_or(|below| number > below)
        && limit("maximum").is_none_or(|most| number <= most)
}
