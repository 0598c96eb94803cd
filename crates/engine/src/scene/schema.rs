//! The JSON Schema of scene files, made from the types in `file.rs`.
//!
//! It serves editors (`taut schema`) and taut itself: `check.rs` holds every scene to it, so
//! that what an editor underlines and what `taut check` reports cannot drift apart.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Number, Value};

use super::file::SceneFile;

/// JSON Schema (draft 2020-12) of scene files.
pub fn schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<SceneFile>();
    schema.insert("title".into(), "taut scene".into());
    RecursiveTransform(without_null).transform(&mut schema);
    RecursiveTransform(readable_default).transform(&mut schema);
    schema.into()
}

/// TOML has no null: an optional key is absent.
fn without_null(schema: &mut Schema) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(choices)) = schema.get_mut("anyOf") {
        choices.retain(|choice| choice.get("type") != Some(&"null".into()));
        if let [only] = choices.as_slice()
            && let Some(reference) = only.get("$ref").cloned()
        {
            schema.remove("anyOf");
            schema.insert("$ref".into(), reference);
        }
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}

/// Defaults are single precision: 0.3, not 0.30000001192092896.
fn readable_default(schema: &mut Schema) {
    if let Some(default) = schema.get_mut("default") {
        shorten(default);
    }
}

fn shorten(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let short = number.as_f64().and_then(|long| (long as f32).to_string().parse().ok());
            if let Some(short) = short.and_then(Number::from_f64) {
                *number = short;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(entries) => entries.values_mut().for_each(shorten),
        _ => {}
    }
}

/// Ranges of numbers, for single ones and for each number of an array.
pub(super) mod range {
    use schemars::Schema;
    use serde_json::Value;

    /// Above 0.
    pub(in crate::scene) fn positive(schema: &mut Schema) {
        bound(schema, "exclusiveMinimum", 0.into());
    }

    /// 0 or above.
    pub(in crate::scene) fn not_negative(schema: &mut Schema) {
        bound(schema, "minimum", 0.into());
    }

    /// Above 0 and up to 1.
    pub(in crate::scene) fn share(schema: &mut Schema) {
        positive(schema);
        bound(schema, "maximum", 1.into());
    }

    /// `LEAST` or above.
    pub(in crate::scene) fn at_least<const LEAST: u32>(schema: &mut Schema) {
        bound(schema, "minimum", LEAST.into());
    }

    fn bound(schema: &mut Schema, keyword: &str, limit: Value) {
        match schema.get_mut("items").and_then(Value::as_object_mut) {
            Some(items) => items.insert(keyword.into(), limit),
            None => schema.insert(keyword.into(), limit),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn print_it() {
        println!("{}", serde_json::to_string_pretty(&schema()).unwrap());
    }
}
