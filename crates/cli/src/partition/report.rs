//! The figures of a partition: the JSON list that scripts rely on, and a table for people.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value, json};
use taut::model::Partitioned;
use taut::scene::file::{Partition, PartitionMethod};
use taut_partition::stats::{self, Costs, Stats};
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
    lane_utilization: f64,
    block_bytes: usize,
    speed_up: Map<String, Value>,
}

/// Lanes of a vector register.
const LANES: usize = 8;
/// A particle in the sweep.
const BODY_BYTES: usize = 16;
/// An edge: two ids, a rest length and a softness.
const ELEMENT_BYTES: usize = 16;
/// Numbers of workers that a speed-up is predicted for.
const WORKERS: [usize; 6] = [2, 4, 6, 8, 12, 16];
/// Nanoseconds, as measured on a 2.8 GHz core: a scalar projection, and a spinning barrier.
const COSTS: Costs = Costs { element: 15.0, barrier: 500.0 };

impl Row {
    pub(super) fn new(part: &Part<'_>, settings: &Partition) -> Self {
        let schedule = &part.partitioned.schedule;
        let stats = Stats::new(schedule);
        let order = match settings.method {
            PartitionMethod::Coloring => json!(settings.order),
            // The others color smallest-last (grid: first fit) inside.
            _ => Value::Null,
        };
        Self {
            kind: part.kind.name(),
            elements: stats.elements,
            bodies: part.elements.body_count(),
            partition: json!(settings.method),
            order,
            phases: stats.phases,
            blocks: stats.blocks,
            batches: stats.batches,
            largest_phase: stats.largest_phase,
            smallest_phase: stats.smallest_phase,
            imbalance: stats.imbalance,
            // Of the elements as they were: copies have lower valences.
            lower_bound: Incidence::new(&part.elements).max_valence(),
            phantoms: part.partitioned.owners.len(),
            build_ms: part.build_ms,
            valid: is_valid(part),
            lane_utilization: stats::lane_utilization(schedule, LANES),
            block_bytes: stats::footprint(schedule, BODY_BYTES, ELEMENT_BYTES).largest,
            speed_up: WORKERS
                .map(|workers| {
                    let speed_up = stats::predict(schedule, workers, &COSTS).speed_up;
                    (workers.to_string(), json!(speed_up))
                })
                .into_iter()
                .collect(),
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

/// A line per figure, a column per kind.
pub(super) fn table(rows: &[Row]) -> String {
    let mut table = String::new();
    let mut line = |name: &str, cell: &dyn Fn(&Row) -> String| {
        let _ = write!(table, "{name:18}");
        for row in rows {
            let _ = write!(table, " {:>14}", cell(row));
        }
        table.push('\n');
    };
    line("kind", &|row| row.kind.to_owned());
    line("elements", &|row| row.elements.to_string());
    line("phases", &|row| row.phases.to_string());
    line("blocks", &|row| row.blocks.to_string());
    line("batches", &|row| row.batches.to_string());
    line("largest phase", &|row| row.largest_phase.to_string());
    line("smallest phase", &|row| row.smallest_phase.to_string());
    line("imbalance", &|row| format!("{:.3}", row.imbalance));
    line("highest valence", &|row| row.lower_bound.to_string());
    line("phantoms", &|row| row.phantoms.to_string());
    line("full lanes", &|row| format!("{:.1} %", 100.0 * row.lane_utilization));
    line("largest block", &|row| format!("{} kB", row.block_bytes.div_ceil(1000)));
    for workers in WORKERS {
        let workers = workers.to_string();
        let speed_up = |row: &Row| row.speed_up[&workers].as_f64().unwrap_or(1.0);
        line(&format!("{workers:>2} workers"), &|row| format!("{:.2} x", speed_up(row)));
    }
    line("built in", &|row| format!("{:.2} ms", row.build_ms));
    line("valid", &|row| if row.valid { "yes" } else { "NO" }.to_owned());
    table
}
