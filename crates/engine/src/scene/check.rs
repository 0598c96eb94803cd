//! Holds a file to the JSON Schema of scenes and finds everything that is wrong with its
//! structure: unknown and missing keys, wrong types, numbers out of range, unknown choices.
//!
//! Only the keywords that `schema.rs` produces are understood; a test there fails when the
//! types of `file.rs` need another one.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::describe::{expected, found, rounded, table_keys, tags};
use super::path::{Finding, Path};
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
    let mut checker = Checker { root: schema, findings: Vec::new() };
    checker.check(tree, schema, &Path::default());
    checker.findings
}

/// Follows references: `{"$ref": "#/$defs/Grid"}` stands for the definition of `Grid`.
pub(super) fn resolve<'schema>(schema: &'schema Json, root: &'schema Json) -> &'schema Json {
    let target = schema
        .get("$ref")
        .and_then(Json::as_str)
        .and_then(|name| root.pointer(name.trim_start_matches('#')));
    target.map_or(schema, |target| resolve(target, root))
}

struct Checker<'schema> {
    root: &'schema Json,
    findings: Vec<Finding>,
}

impl<'schema> Checker<'schema> {
    fn check(&mut self, node: &Node, schema: &'schema Json, path: &Path) {
        let schema = resolve(schema, self.root);
        if let Some(choices) = schema.get("oneOf").and_then(Json::as_array) {
            return self.check_choice(node, choices, schema, path);
        }
        match (schema.get("type").and_then(Json::as_str), &node.value) {
            (Some("object"), Value::Table(table)) => self.check_table(table, schema, path),
            (Some("array"), Value::Array(entries)) => self.check_array(entries, node, schema, path),
            (Some("string"), Value::String(text)) => {
                let shortest = schema.get("minLength").and_then(Json::as_u64).unwrap_or(0);
                self.demand((text.chars().count() as u64) >= shortest, node, schema, path);
            }
            (Some("boolean"), Value::Boolean(_)) => {}
            (Some("integer"), Value::Integer(integer)) => {
                self.demand(fits_integer(*integer, schema), node, schema, path);
            }
            (Some("number"), Value::Integer(integer)) => {
                self.demand(fits_number(*integer as f64, schema), node, schema, path);
            }
            (Some("number"), Value::Float(float)) => {
                self.demand(fits_number(*float, schema), node, schema, path);
            }
            _ => self.demand(false, node, schema, path),
        }
    }

    /// The one message for a value that is of the wrong type or out of range.
    fn demand(&mut self, holds: bool, node: &Node, schema: &Json, path: &Path) {
        if !holds {
            let (found, rounded) = (found(&node.value), rounded(&node.value, schema));
            let message = format!("is {found}{rounded}; give {}", expected(schema, self.root));
            self.findings.push(Finding::new(path, message));
        }
    }

    fn check_table(&mut self, table: &BTreeMap<String, Node>, schema: &'schema Json, path: &Path) {
        let properties = schema.get("properties").and_then(Json::as_object);
        for (key, node) in table {
            match properties.and_then(|properties| properties.get(key)) {
                Some(property) => self.check(node, property, &path.key(key)),
                None => self.check_extra(key, node, schema, path),
            }
        }
        for key in schema
            .get("required")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
        {
            let property = properties.and_then(|properties| properties.get(key));
            if let (false, Some(property)) = (table.contains_key(key), property) {
                let message = format!("is missing; give {}", expected(property, self.root));
                self.findings.push(Finding::new(&path.key(key), message));
            }
        }
    }

    /// A key that the table does not name: wrong, unless any key will do (`expect.residual`).
    fn check_extra(&mut self, key: &str, node: &Node, schema: &'schema Json, path: &Path) {
        match schema.get("additionalProperties") {
            Some(extra @ Json::Object(_)) => self.check(node, extra, &path.key(key)),
            _ => {
                let known = table_keys(schema);
                let advice = if known.is_empty() {
                    "remove it".to_owned()
                } else {
                    remedy(key, &known, "`")
                };
                self.findings.push(Finding::new(
                    &path.key(key),
                    format!("is no key taut knows here; {advice}"),
                ));
            }
        }
    }

    fn check_array(&mut self, entries: &[Entry], node: &Node, schema: &'schema Json, path: &Path) {
        let limit = |keyword| schema.get(keyword).and_then(Json::as_u64);
        let count = entries.len() as u64;
        if limit("minItems").is_some_and(|least| count < least)
            || limit("maxItems").is_some_and(|most| count > most)
        {
            return self.demand(false, node, schema, path);
        }
        if let Some(items) = schema.get("items") {
            for entry in entries {
                self.check(&entry.node, items, &path.index(entry.index));
            }
        }
    }

    /// A choice is a word (`solver = "jacobi"`) or a table with one key (`mesh.grid = { … }`).
    fn check_choice(
        &mut self,
        node: &Node,
        choices: &'schema [Json],
        schema: &'schema Json,
        path: &Path,
    ) {
        let words: Vec<_> =
            choices.iter().filter_map(|choice| choice.get("const")?.as_str()).collect();
        match &node.value {
            Value::String(word) if words.contains(&word.as_str()) => {}
            Value::String(word) if !words.is_empty() => {
                let message = format!("is {}; {}", found(&node.value), remedy(word, &words, "\""));
                self.findings.push(Finding::new(path, message));
            }
            Value::Table(table) if words.is_empty() && !table.is_empty() => {
                self.check_tagged(table, choices, path);
            }
            _ => self.demand(false, node, schema, path),
        }
    }

    fn check_tagged(
        &mut self,
        table: &BTreeMap<String, Node>,
        choices: &'schema [Json],
        path: &Path,
    ) {
        let tags = tags(choices);
        let names: Vec<_> = tags.iter().map(|&(name, _)| name).collect();
        let mut chosen = Vec::new();
        for (key, node) in table {
            match tags.iter().find(|(name, _)| name == key) {
                Some((name, schema)) => {
                    chosen.push(*name);
                    self.check(node, schema, &path.key(key));
                }
                None => {
                    let message =
                        format!("is none of the choices here; {}", remedy(key, &names, "`"));
                    self.findings.push(Finding::new(&path.key(key), message));
                }
            }
        }
        if chosen.len() > 1 {
            let message = format!("has `{}` at once; give one of them", chosen.join("` and `"));
            self.findings.push(Finding::new(path, message));
        }
    }
}

/// Whole numbers: the range, and what the type can hold.
fn fits_integer(integer: i128, schema: &Json) -> bool {
    let largest = match schema.get("format").and_then(Json::as_str) {
        Some("uint32") => u32::MAX.into(),
        _ => u64::MAX.into(),
    };
    let least = schema.get("minimum").and_then(Json::as_u64).unwrap_or(0);
    (i128::from(least)..=largest).contains(&integer)
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
