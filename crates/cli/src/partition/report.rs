//! The figures of a partition: the JSON list that scripts rely on, and a table for people.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use taut::model::Partitioned;
use taut::scene::file::{Partition, PartitionMethod};
use taut_partition::{Elements, Incidence, Schedule};

use super::Part;

/// The fields and their order are a contract: see docs/cli.md.
#[derive(Serialize)]
pub(super) struct Row {
    kind: &'static str,
    elements: usize,
    bodies: usize,
    partition: Value,
    order: Value,
    phases: usize,
    blocks: usize,
    batches: usize,
    largest_phase: usize,
    smallest_phase: usize,
    imbalance: f64,
    lower_bound: usize,
    phantoms: usize,
    build_ms: f64,
    valid: bool,
}

impl Row {
    pub(super) fn new(part: &Part<'_>, settings: &Partition) -> Self {
        let schedule = &part.partitioned.schedule;
        let sizes = phase_sizes(schedule);
        let largest_phase = sizes.iter().copied().max().unwrap_or(0);
        let mean = schedule.len() as f64 / sizes.len().max(1) as f64;
        let order = match settings.method {
            PartitionMethod::Coloring => json!(settings.order),
            // The others color smallest-last (grid: first fit) inside.
            _ => Value::Null,
        };
        Self {
            kind: part.kind.name(),
            elements: part.elements.len(),
            bodies: part.elements.body_count(),
            partition: json!(settings.method),
            order,
            phases: schedule.phase_count(),
            blocks: schedule.block_count(),
            batches: schedule.batch_count(),
            largest_phase,
            smallest_phase: sizes.iter().copied().min().unwrap_or(0),
            imbalance: if mean > 0.0 { largest_phase as f64 / mean } else { 1.0 },
            lower_bound: Incidence::new(&part.elements).max_valence(),
            phantoms: part.partitioned.owners.len(),
            build_ms: part.build_ms,
            valid: is_valid(part),
        }
    }
}

/// Checks the schedule once more, against the elements with their copies. (`--dump` is for those who
/// trust nobody.)
fn is_valid(part: &Part<'_>) -> bool {
    let Partitioned { schedule, bodies, .. } = &part.partitioned;
    let fixed: Vec<bool> =
        (0..schedule.body_count() as u32).map(|body| schedule.is_fixed(body)).collect();
    Elements::flat(part.kind.arity(), bodies, schedule.body_count())
        .and_then(|elements| elements.with_fixed(&fixed))
        .is_ok_and(|elements| Schedule::new(&elements, schedule.parts().clone()).is_ok())
}

/// The number of elements of each phase.
pub(super) fn phase_sizes(schedule: &Schedule) -> Vec<usize> {
    (0..schedule.phase_count()).map(|phase| schedule.phase(phase).len()).collect()
}

pub(super) fn table(rows: &[Row]) -> String {
    let mut table = format!(
        "{:14} {:>9} {:>7} {:>7} {:>8} {:>9} {:>9} {:>10} {:>6} {:>9} {:>9}  valid\n",
        "kind",
        "elements",
        "phases",
        "blocks",
        "batches",
        "largest",
        "smallest",
        "imbalance",
        "bound",
        "phantoms",
        "ms"
    );
    for row in rows {
        let _ = writeln!(
            table,
            "{:14} {:>9} {:>7} {:>7} {:>8} {:>9} {:>9} {:>10.3} {:>6} {:>9} {:>9.2}  {}",
            row.kind,
            row.elements,
            row.phases,
            row.blocks,
            row.batches,
            row.largest_phase,
            row.smallest_phase,
            row.imbalance,
            row.lower_bound,
            row.phantoms,
            row.build_ms,
            if row.valid { "yes" } else { "NO" }
        );
    }
    table
}
