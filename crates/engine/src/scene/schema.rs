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
    let mut schema =
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<SceneFile>();
    schema.insert("title".into(), "taut scene".into());
    RecursiveTransform(without_null).transform(&mut schema);
    RecursiveTransform(readable_default).transform(&mut schema);
    RecursiveTransform(described_choices).transform(&mut schema);
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

/// Editors show the description of a key: that of `grid` in `mesh.grid` is its choice's.
fn described_choices(schema: &mut Schema) {
    for choice in schema.get_mut("oneOf").and_then(Value::as_array_mut).into_iter().flatten() {
        let description = choice.get("description").cloned().unwrap_or_default();
        let key = choice.get_mut("properties").and_then(Value::as_object_mut);
        for table in
            key.into_iter().flat_map(|key| key.values_mut()).filter_map(Value::as_object_mut)
        {
            table.entry("description").or_insert_with(|| description.clone());
        }
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
        Value::Object(entries) => {
            entries.retain(|_, entry| !entry.is_null());
            entries.values_mut().for_each(shorten);
        }
        _ => {}
    }
}

/// Ranges of numbers, for single ones and for each number of an array.
pub(in crate::scene) mod range {
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

    /// Above 0 and up to 2.
    pub(in crate::scene) fn up_to_two(schema: &mut Schema) {
        positive(schema);
        bound(schema, "maximum", 2.into());
    }

    /// `LEAST` or above.
    pub(in crate::scene) fn at_least<const LEAST: u32>(schema: &mut Schema) {
        bound(schema, "minimum", LEAST.into());
    }

    /// `LEAST` to `MOST`.
    pub(in crate::scene) fn between<const LEAST: u32, const MOST: u32>(schema: &mut Schema) {
        at_least::<LEAST>(schema);
        bound(schema, "maximum", MOST.into());
    }

    /// Poisson's number: at 0.5 a solid would be incompressible and its moduli infinite.
    pub(in crate::scene) fn poisson(schema: &mut Schema) {
        not_negative(schema);
        bound(schema, "maximum", Value::from(0.499));
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
    //! Contract: `check.rs` understands the whole schema, and every key explains itself.
    use super::*;
    use crate::scene::ELEMENT_KINDS;
    use crate::scene::check::KEYWORDS;

    /// Says nothing about what a file may contain.
    const NOTES: &[&str] = &["$schema", "$defs", "title", "description", "default"];

    /// Calls `visit(where, schema)` for every schema inside `schema`, itself included.
    fn each(schema: &Value, place: &str, visit: &mut dyn FnMut(&str, &Value)) {
        visit(place, schema);
        for keyword in ["$defs", "properties"] {
            for (name, inner) in
                schema.get(keyword).and_then(Value::as_object).into_iter().flatten()
            {
                each(inner, &format!("{place}/{name}"), visit);
            }
        }
        for keyword in ["items", "additionalProperties"] {
            if let Some(inner @ Value::Object(_)) = schema.get(keyword) {
                each(inner, &format!("{place}/{keyword}"), visit);
            }
        }
        for choice in schema.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
            each(choice, place, visit);
        }
    }

    #[test]
    fn every_keyword_is_understood() {
        each(&schema(), "", &mut |place, schema| {
            for keyword in schema.as_object().unwrap().keys() {
                let known =
                    KEYWORDS.contains(&keyword.as_str()) || NOTES.contains(&keyword.as_str());
                assert!(known, "{place}: check.rs does not understand {keyword}");
            }
        });
    }

    #[test]
    fn every_choice_is_all_words_or_all_tables() {
        each(&schema(), "", &mut |place, schema| {
            let choices =
                schema.get("oneOf").and_then(Value::as_array).cloned().unwrap_or_default();
            let words = choices.iter().filter(|choice| choice.get("const").is_some()).count();
            assert!(words == 0 || words == choices.len(), "{place}");
        });
    }

    #[test]
    fn every_key_and_choice_has_a_description() {
        each(&schema(), "", &mut |place, schema| {
            let choices = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
            let keys = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            for described in choices.chain(keys.map(|(_, key)| key)) {
                let description = described.get("description").and_then(Value::as_str);
                assert!(description.is_some_and(|text| text.len() > 5), "{place}: {described}");
            }
        });
    }

    #[test]
    fn defaults_are_short_numbers_without_nulls() {
        let text = schema().to_string();
        assert!(!text.contains("null"), "{text}");
        assert!(text.contains("\"default\":0.3,"), "{text}");
    }

    #[test]
    fn the_schema_is_the_same_every_time() {
        assert_eq!(schema().to_string(), schema().to_string());
    }

    #[test]
    fn element_kinds_are_the_keys_of_elements() {
        let schema = schema();
        let elements = schema.pointer("/$defs/Elements/properties").and_then(Value::as_object);
        let keys: Vec<_> = elements.unwrap().keys().collect();
        assert_eq!(keys, ELEMENT_KINDS);
    }
}
