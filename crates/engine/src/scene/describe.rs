//! What a file says and what the schema wants, in words for error messages.

use serde_json::Value as Json;

use super::check::resolve;
use super::suggest::one_of;
use super::tree::Value;

/// A value as a message shows it: `-1`, `"fast"`, `an array of 2`.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => format!("{:?}", shortened(text)),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(float) if float.is_nan() => "nan".to_owned(),
        Value::Float(float) => format!("{float:?}"),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Datetime(text) => format!("the date {text}"),
        Value::Array(entries) => format!("an array of {}", entries.len()),
        Value::Table(table) if table.is_empty() => "an empty table".to_owned(),
        Value::Table(table) => format!("a table with {}", list(table.keys().map(String::as_str))),
    }
}

/// Why a number that looks right is not.
pub(super) fn rounded(value: &Value, schema: &Json) -> &'static str {
    match value {
        _ if schema.get("type") != Some(&"number".into()) => "",
        Value::Float(float) if !float.is_finite() => ", which is not finite",
        Value::Float(float) if !(*float as f32).is_finite() => ", too large for single precision",
        Value::Float(float) if *float > 0.0 && *float as f32 <= 0.0 => {
            ", which single precision rounds to 0"
        }
        _ => "",
    }
}

/// What the schema wants: `a number above 0`, `an array of 3 numbers`.
pub(super) fn expected(schema: &Json, root: &Json) -> String {
    let schema = resolve(schema, root);
    if let Some(choices) = schema.get("oneOf").and_then(Json::as_array) {
        return expected_choice(choices);
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("object") => expected_table(schema),
        Some("array") => expected_array(schema, root),
        Some("string") if schema.get("minLength").is_some() => "a non-empty string".to_owned(),
        Some("string") => "a string".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => format!("a whole number{}", range(schema)),
        _ => format!("a number{}", range(schema)),
    }
}

/// The keys a table may have.
pub(super) fn table_keys(schema: &Json) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.into_iter().flatten().map(|(key, _)| key.as_str()).collect()
}

/// Choices that are tables with one key: that key, and the schema of its value.
pub(super) fn tags(choices: &[Json]) -> Vec<(&str, &Json)> {
    let properties = choices.iter().filter_map(|choice| choice.get("properties")?.as_object());
    properties.flatten().map(|(key, schema)| (key.as_str(), schema)).collect()
}

/// Choices that are words.
pub(super) fn words(choices: &[Json]) -> Vec<&str> {
    choices.iter().filter_map(|choice| choice.get("const")?.as_str()).collect()
}

fn expected_choice(choices: &[Json]) -> String {
    let words = words(choices);
    if !words.is_empty() {
        return one_of(&words, "\"");
    }
    let names: Vec<_> = tags(choices).into_iter().map(|(name, _)| name).collect();
    format!("a table with {}", one_of(&names, "`"))
}

fn expected_table(schema: &Json) -> String {
    match table_keys(schema).as_slice() {
        [] if schema.get("additionalProperties") == Some(&Json::Bool(false)) => {
            "an empty table, {}".to_owned()
        }
        [] => "a table".to_owned(),
        keys => format!("a table with {}", list(keys.iter().copied())),
    }
}

fn expected_array(schema: &Json, root: &Json) -> String {
    let count = schema.get("minItems").and_then(Json::as_u64);
    let items = resolve(schema.get("items").unwrap_or(&Json::Null), root);
    let entries = match items.get("type").and_then(Json::as_str) {
        Some("integer") => format!("whole numbers{}", range(items)),
        Some("number") => format!("numbers{}", range(items)),
        _ => "tables, [[…]] or [{ … }]".to_owned(),
    };
    match count {
        Some(count) => format!("an array of {count} {entries}"),
        None => format!("an array of {entries}"),
    }
}

/// The largest whole number that a schema allows.
pub(super) fn largest_integer(schema: &Json) -> u64 {
    let of_type = match schema.get("format").and_then(Json::as_str) {
        Some("uint32") => u32::MAX.into(),
        _ => u64::MAX,
    };
    schema.get("maximum").and_then(Json::as_u64).unwrap_or(of_type)
}

fn range(schema: &Json) -> String {
    let limit = |keyword| schema.get(keyword).filter(|limit| limit.is_number());
    let largest = match schema.get("type").and_then(Json::as_str) {
        Some("integer") => Some(largest_integer(schema).to_string()),
        _ => limit("maximum").map(Json::to_string),
    };
    match (limit("exclusiveMinimum"), limit("minimum"), largest) {
        (Some(below), _, Some(most)) => format!(" above {below} and up to {most}"),
        (Some(below), _, None) => format!(" above {below}"),
        (None, Some(least), Some(most)) => format!(" from {least} to {most}"),
        (None, Some(least), None) => format!(", {least} or above"),
        (None, None, _) => String::new(),
    }
}

/// `a, b and c`.
pub(super) fn list<'word>(words: impl Iterator<Item = &'word str>) -> String {
    let words: Vec<_> = words.map(|word| format!("`{}`", shortened(word))).collect();
    match words.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Enough of a text to recognize it: a message is one line.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
