//! `--dump`: everything that somebody else needs to check a schedule with a program of their own.

use std::path::Path;

use serde::Serialize;
use taut::model::ConstraintLists;
use taut::output::write_beside;

use super::Part;
use crate::failure::Failure;

/// One kind. The fields are a contract: see docs/cli.md.
#[derive(Serialize)]
struct Dump<'a> {
    kind: &'static str,
    /// Particles of each element.
    elements: Vec<&'a [u32]>,
    /// The same after splitting.
    bodies: Vec<&'a [u32]>,
    /// The original particle of each copy.
    owner: &'a [u32],
    particles: usize,
    pinned: Vec<usize>,
    phase: Vec<u32>,
    block: Vec<u32>,
    batch: Vec<u32>,
}

pub(super) fn write(
    path: &Path,
    lists: &ConstraintLists,
    parts: &[Part<'_>],
) -> Result<(), Failure> {
    let dumps: Vec<Dump<'_>> = parts.iter().map(|part| dump(part, lists)).collect();
    write_beside(path, |file| serde_json::to_writer(file, &dumps).map_err(Into::into))
        .map_err(|error| Failure::Work(format!("{}: {error}", path.display())))
}

fn dump<'a>(part: &'a Part<'a>, lists: &ConstraintLists) -> Dump<'a> {
    let schedule = &part.partitioned.schedule;
    let [mut phases, mut blocks, mut batches] = [(); 3].map(|()| vec![0; schedule.len()]);
    for phase in 0..schedule.phase_count() {
        for block in schedule.blocks(phase) {
            for batch in schedule.batches(block) {
                for &element in &schedule.order()[schedule.batch(batch)] {
                    phases[element as usize] = phase as u32;
                    blocks[element as usize] = block as u32;
                    batches[element as usize] = batch as u32;
                }
            }
        }
    }
    let arity = part.kind.arity();
    Dump {
        kind: part.kind.name(),
        elements: part.elements.bodies().chunks_exact(arity).collect(),
        bodies: part.partitioned.bodies.chunks_exact(arity).collect(),
        owner: &part.partitioned.owners,
        particles: lists.positions.len(),
        pinned: (0..lists.fixed.len()).filter(|&particle| lists.fixed[particle]).collect(),
        phase: phases,
        block: blocks,
        batch: batches,
    }
}
