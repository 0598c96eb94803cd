//! Contract: docs/scene.md has every key with its default, every choice, and examples that work.
//!
//! Blocks of `toml` are whole scenes; blocks of `toml fragment` need something around them.

use std::path::Path as FilePath;

use serde_json::Value as Json;

use super::check::check;
use super::tree::Node;
use super::{MAX_CELLS, MAX_PARTICLES, Scene, schema};

const TEXT: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scene.md"));

/// Where each type of the schema is explained.
const SECTIONS: &[(&str, &str)] = &[
    ("", "The whole scene"),
    ("Partition", "Partition"),
    ("Wind", "Wind"),
    ("ParticleContacts", "Particle contacts"),
    ("Body", "Bodies"),
    ("Grid", "Grid"),
    ("Disc", "Disc"),
    ("Sphere", "Sphere"),
    ("Tube", "Tube"),
    ("Torus", "Torus"),
    ("BoxSurface", "Box"),
    ("Block", "Block"),
    ("Solid", "Solid"),
    ("Part", "Solid"),
    ("MeshFile", "File"),
    ("Transform", "Transform"),
    ("Selection", "Selections"),
    ("Elements", "Elements"),
    ("Material", "Material"),
    ("StrainMaterial", "Strain"),
    ("ElasticMaterial", "Elastic solid"),
    ("Reach", "Long range"),
    ("BalloonMaterial", "Balloon"),
    ("Repeat", "Repeat"),
    ("Shape", "Shapes"),
    ("Keyframe", "Keyframes"),
    ("Attachment", "Attachments"),
    ("Camera", "Camera"),
    ("Expect", "Expect"),
    ("ResidualBound", "Residual"),
    ("Extent", "Extent"),
    ("MeshSource", "Meshes"),
    ("Region", "Selections"),
    ("Geometry", "Geometry"),
    ("Target", "Attachments"),
    ("Solver", "The whole scene"),
    ("PartitionMethod", "Partition"),
    ("ColoringOrder", "Partition"),
    ("PhantomMasses", "Partition"),
    ("BodyKind", "Bodies"),
    ("Diagonals", "Grid"),
];

/// The text below a heading, up to the next heading.
fn section(title: &str) -> &'static str {
    let headings = [format!("\n## {title}\n"), format!("\n### {title}\n")];
    let start = headings.iter().find_map(|heading| Some(TEXT.find(heading)? + heading.len()));
    let start = start.unwrap_or_else(|| panic!("docs/scene.md has no section {title}"));
    let rest = &TEXT[start..];
    &rest[..rest.find("\n## ").into_iter().chain(rest.find("\n### ")).min().unwrap_or(rest.len())]
}

fn section_of(definition: &str) -> &'static str {
    let found = SECTIONS.iter().find(|(name, _)| *name == definition);
    section(found.unwrap_or_else(|| panic!("no section explains {definition}")).1)
}

/// All types of the schema, the root as "".
fn definitions() -> Vec<(String, Json)> {
    let schema = schema();
    let inner = schema["$defs"].as_object().unwrap().clone();
    inner.into_iter().chain([(String::new(), schema.clone())]).collect()
}

fn objects<'json>(schema: &'json Json, keyword: &str) -> Vec<(&'json String, &'json Json)> {
    schema.get(keyword).and_then(Json::as_object).into_iter().flatten().collect()
}

/// Does a table show the default of a key as the schema has it?
fn is_default(text: &str, key: &str, property: &Json, table: &Json) -> bool {
    let is_required = table["required"].as_array().is_some_and(|keys| keys.contains(&key.into()));
    match property.get("default") {
        _ if is_required => text == "required",
        // What is left to the engine is told in words.
        None => !text.is_empty() && text != "required" && !text.contains('`'),
        Some(Json::Object(_)) => text == "none",
        Some(Json::Array(entries)) if entries.is_empty() => text == "none",
        Some(default) => text == format!("`{}`", shown(default)),
    }
}

/// JSON as TOML shows it; `0.0` needs no fraction.
fn shown(value: &Json) -> String {
    match value {
        Json::Number(number) => number.as_f64().unwrap().to_string(),
        Json::Array(entries) => {
            format!("[{}]", entries.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[test]
fn every_key_has_a_row_with_its_default() {
    for (name, table) in definitions() {
        for (key, property) in objects(&table, "properties") {
            let start = format!("| `{key}` | ");
            let row = section_of(&name).lines().find(|line| line.starts_with(&start));
            let row = row.unwrap_or_else(|| panic!("no row for `{key}` of {name:?}"));
            let columns: Vec<_> = row.split('|').map(str::trim).collect();
            assert!(is_default(columns[3], key, property, &table), "{name}: {row}\n{property}");
            assert!(columns[4].len() > 5, "{name}: {row}");
        }
    }
}

#[test]
fn every_row_is_a_key() {
    let rows = TEXT.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let definitions = definitions();
    let known =
        |row: &str| definitions.iter().any(|(_, table)| table["properties"].get(row).is_some());
    for row in rows {
        assert!(known(row), "docs/scene.md explains `{row}`, which is no key");
    }
}

#[test]
fn every_choice_is_explained_with_its_keys() {
    for (name, schema) in definitions() {
        for choice in schema.get("oneOf").and_then(Json::as_array).into_iter().flatten() {
            if let Some(word) = choice.get("const") {
                assert!(section_of(&name).contains(&format!("`{word}`")), "{name}: {word}");
            }
            for (tag, table) in objects(choice, "properties") {
                let start = format!("- `{tag}");
                let item = section_of(&name).lines().find(|line| line.starts_with(&start));
                let item = item.unwrap_or_else(|| panic!("{name}: no item for `{tag}`"));
                for (key, _) in objects(table, "properties") {
                    assert!(item.contains(key), "{name}: {tag}.{key}");
                }
            }
        }
    }
}

/// The code blocks with this info string.
fn blocks(info: &str) -> Vec<&'static str> {
    let fence = format!("\n```{info}\n");
    let starts = TEXT.match_indices(&fence).map(|(start, _)| &TEXT[start + fence.len()..]);
    starts.map(|rest| rest.split("\n```").next().unwrap()).collect()
}

#[test]
fn whole_scenes_in_the_text_are_sound() {
    let scenes = blocks("toml");
    assert!(scenes.len() >= 3, "{} scenes", scenes.len());
    for text in scenes {
        let scene = Scene::parse("docs/scene.md", text, FilePath::new(""), &[]);
        let scene = scene.unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        assert!(scene.notes.is_empty(), "{text}\n{:?}", scene.notes);
    }
}

#[test]
fn fragments_in_the_text_lack_keys_but_have_no_wrong_ones() {
    let fragments = blocks("toml fragment");
    assert!(fragments.len() >= 5, "{} fragments", fragments.len());
    for text in fragments {
        // Fragments of bodies stand on their own here and in a body there.
        let in_body =
            format!("[[bodies]]\nname = \"b\"\nmesh.disc = {{ radius = 1, rings = 1 }}\n{text}");
        let wrong = |text: &str| check(&Node::parse_file(text).unwrap(), &schema());
        let (alone, in_body) = (wrong(text), wrong(&in_body));
        let is_sound = alone.iter().all(|finding| finding.message.starts_with("is missing"));
        assert!(is_sound || in_body.is_empty(), "{text}\n{alone:?}\n{in_body:?}");
    }
}

#[test]
fn limits_in_the_text_are_the_limits() {
    assert!(TEXT.contains(&format!("- {MAX_PARTICLES} particles")));
    assert!(TEXT.contains(&format!("- {MAX_CELLS} cells")));
}
