//! A scene file as a tree in which every value knows where it came from.
//!
//! It owns its data, unlike the parser's own, so that values from overrides can be put in
//! and broken ones taken out.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::path::{Path, Segment};

/// A value and its origin: that of its key in a table, its own in an array.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) origin: Origin,
    pub(super) value: Value,
}

/// Where a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Byte offset in the file.
    File(usize),
    /// Number of the override.
    Override(usize),
}

/// What TOML can say.
#[derive(Clone, Debug)]
pub(super) enum Value {
    String(String),
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// No key of a scene wants one, so its text is enough.
    Datetime(String),
    Array(Vec<Entry>),
    Table(BTreeMap<String, Node>),
}

/// An entry of an array, with its index in the file: entries before it may have been taken out.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) index: usize,
    pub(super) node: Node,
}

impl Node {
    /// Reads a whole file.
    pub(super) fn parse_file(text: &str) -> Result<Self, toml::de::Error> {
        let table = DeTable::parse(text)?.into_inner();
        Ok(Self { origin: Origin::File(0), value: convert_table(table, &Origin::File) })
    }

    /// Reads the value of override number `number`.
    pub(super) fn parse_override(text: &str, number: usize) -> Result<Self, toml::de::Error> {
        let value = DeValue::parse(text)?.into_inner();
        let origin = Origin::Override(number);
        Ok(Self { origin, value: convert(value, &|_| origin) })
    }

    /// The value at a path.
    pub(super) fn get(&self, path: &Path) -> Option<&Self> {
        path.0.iter().try_fold(self, |node, segment| node.child(segment))
    }

    /// The origin of what is at a path or, where nothing is, of what would contain it.
    pub(super) fn locate(&self, path: &Path) -> Origin {
        let mut node = self;
        for segment in &path.0 {
            match node.child(segment) {
                Some(child) => node = child,
                None => break,
            }
        }
        node.origin
    }

    /// The path of a value whose array indices count the entries that are left.
    pub(super) fn path_in_file(&self, path: &Path) -> Path {
        let mut node = Some(self);
        let mut in_file = Path::default();
        for segment in &path.0 {
            let mut segment = segment.clone();
            if let (Segment::Index(position), Some(Value::Array(entries))) =
                (&segment, node.map(|node| &node.value))
                && let Some(entry) = entries.get(*position)
            {
                segment = Segment::Index(entry.index);
            }
            node = node.and_then(|node| node.child(&segment));
            in_file.0.push(segment);
        }
        in_file
    }

    /// The value as JSON, for serde. Numbers must be finite.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::String(text) | Value::Datetime(text) => text.clone().into(),
            Value::Integer(integer) => integer_to_json(*integer),
            Value::Float(float) => (*float).into(),
            Value::Boolean(boolean) => (*boolean).into(),
            Value::Array(entries) => entries.iter().map(|entry| entry.node.to_json()).collect(),
            Value::Table(table) => {
                table.iter().map(|(key, node)| (key.clone(), node.to_json())).collect()
            }
        }
    }

    pub(super) fn child(&self, segment: &Segment) -> Option<&Self> {
        match (&self.value, segment) {
            (Value::Table(table), Segment::Key(key)) => table.get(key),
            (Value::Array(entries), Segment::Index(index)) => {
                let position = entries.binary_search_by_key(index, |entry| entry.index).ok()?;
                Some(&entries[position].node)
            }
            _ => None,
        }
    }
}

fn integer_to_json(integer: i128) -> serde_json::Value {
    match (i64::try_from(integer), u64::try_from(integer)) {
        (Ok(integer), _) => integer.into(),
        (_, Ok(integer)) => integer.into(),
        _ => (integer as f64).into(),
    }
}

fn convert(value: DeValue<'_>, origin: &dyn Fn(usize) -> Origin) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.into_owned()),
        // The parser has checked the digits; too many of them read as a float or as infinity.
        DeValue::Integer(integer) => i128::from_str_radix(integer.as_str(), integer.radix())
            .map_or_else(|_| Value::Float(float(integer.as_str())), Value::Integer),
        DeValue::Float(text) => Value::Float(float(text.as_str())),
        DeValue::Boolean(boolean) => Value::Boolean(boolean),
        DeValue::Datetime(datetime) => Value::Datetime(datetime.to_string()),
        DeValue::Array(values) => Value::Array(
            values
                .into_iter()
                .enumerate()
                .map(|(index, value)| {
                    let node = Node {
                        origin: origin(value.span().start),
                        value: convert(value.into_inner(), origin),
                    };
                    Entry { index, node }
                })
                .collect(),
        ),
        DeValue::Table(table) => convert_table(table, origin),
    }
}

fn float(digits: &str) -> f64 {
    digits.parse().unwrap_or(f64::INFINITY)
}

fn convert_table(table: DeTable<'_>, origin: &dyn Fn(usize) -> Origin) -> Value {
    let entries = table.into_iter().map(|(key, value)| {
        let node =
            Node { origin: origin(key.span().start), value: convert(value.into_inner(), origin) };
        (key.into_inner().into_owned(), node)
    });
    Value::Table(entries.collect())
}
