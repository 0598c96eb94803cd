//! `taut scenes`: the scenes inside the binary.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use taut::model::ConstraintLists;
use taut::output::write_beside;
use taut::scene::{Scene, library};

use crate::console;
use crate::failure::Failure;

/// List the built-in scenes, or copy them out
#[derive(Args)]
pub(crate) struct Arguments {
    /// Copy the scene files into this folder
    #[arg(long, value_name = "DIR")]
    write: Option<PathBuf>,
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    title: String,
    particles: usize,
    constraints: usize,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(folder) = &arguments.write {
        write_all(folder)?;
    }
    let rows = library::SCENES.iter().map(|(name, _)| row(name));
    let rows = rows.collect::<Result<Vec<_>, _>>()?;
    if arguments.json {
        return Ok(console::print_json(&rows)?);
    }
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let mut table =
        format!("{:width$}  {:>9}  {:>11}  title\n", "name", "particles", "constraints");
    for Row { name, title, particles, constraints } in rows {
        let _ = writeln!(table, "{name:width$}  {particles:>9}  {constraints:>11}  {title}");
    }
    Ok(console::print(&table)?)
}

fn row(name: &'static str) -> Result<Row, Failure> {
    let scene = Scene::find(name, &[])?;
    let lists = ConstraintLists::of(&scene)?;
    Ok(Row {
        name,
        title: scene.file.title.clone(),
        particles: lists.particles,
        constraints: lists.lists.iter().map(|(kind, ids)| ids.len() / kind.arity()).sum(),
    })
}

fn write_all(folder: &Path) -> Result<(), Failure> {
    for (name, text) in library::SCENES {
        let path = folder.join(format!("{name}.toml"));
        write_beside(&path, |file| file.write_all(text.as_bytes()))
            .map_err(|error| Failure::Work(format!("{}: {error}", path.display())))?;
    }
    Ok(())
}
