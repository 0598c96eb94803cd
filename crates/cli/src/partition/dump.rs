//! `--dump`: everything that somebody else needs to check a schedule with a program of their own.

use std::path::Path;

use serde::Serialize;
use taut::model::ConstraintLists;
use taut::output::write_beside;
use taut_partition::Placement;

use super::Part;
use crate::failure::Failure;

/// One kind. The fields are a contract: see docs/cli.md.
#[derive(Serialize)]
struct Dump {
    kind: &'static str,
    /// Particles of each element.
    elements: Vec<Vec<u32>>,
    /// The same after splitting.
    bodies: Vec<Vec<u32>>,
    /// The original particle of each copy.
    owner: Vec<u32>,
    particles: usize,
    pinned: Vec<u32>,
    phase: Vec<u32>,
    block: Vec<u32>,
    batch: Vec<u32>,
}

pub(super) fn write(
    path: &Path,
    lists: &ConstraintLists,
    parts: &[Part<'_>],
) -> Result<(), Failure> {
    let dumps: Vec<Dump> = parts.iter().map(|part| dump(part, lists)).collect();
    write_beside(path, |file| serde_json::to_writer(file, &dumps).map_err(Into::into))
        .map_err(|error| Failure::Work(format!("{}: {error}", path.display())))
}

fn dump(part: &Part<'_>, lists: &ConstraintLists) -> Dump {
    let schedule = &part.partitioned.schedule;
    let placements = schedule.placements();
    let each = |part: fn(&Placement) -> u32| placements.iter().map(part).collect();
    // Copies have no place in the scene: they keep their ids, which come after all particles.
    let scene_id = |&id: &u32| lists.scene_ids.get(id as usize).copied().unwrap_or(id);
    let in_scene = |ids: &[u32]| ids.iter().map(scene_id).collect::<Vec<_>>();
    let by_element = |ids: &[u32]| ids.chunks_exact(part.kind.arity()).map(in_scene).collect();
    let fixed = lists.scene_ids.iter().zip(&lists.fixed);
    let mut pinned: Vec<u32> = fixed.filter(|(_, fixed)| **fixed).map(|(&id, _)| id).collect();
    pinned.sort_unstable();
    Dump {
        kind: part.kind.name(),
        elements: by_element(part.elements.bodies()),
        bodies: by_element(&part.partitioned.bodies),
        owner: in_scene(&part.partitioned.owners),
        particles: lists.positions.len(),
        pinned,
        phase: each(|placement| placement.phase),
        block: each(|placement| placement.block),
        batch: each(|placement| placement.batch),
    }
}
