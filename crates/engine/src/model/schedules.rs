//! From pools of constraints to groups with a checked schedule: the only place where the engine
//! meets the partitioner.

use taut_partition::{Elements, Schedule, coloring};

use super::elements::{Pool, Pools};
use crate::constraint::{Group, Kind, Response};
use crate::scene::file::{ColoringOrder, Partition, PartitionMethod};

/// Schedules every pool and lays its constants out in the order of execution.
pub(super) fn schedule(pools: Pools, fixed: &[bool], partition: &Partition) -> Vec<Group> {
    let mut first_multiplier = 0;
    let mut groups = Vec::new();
    for ((kind, compliant), pool) in pools {
        let response = if compliant { Response::Compliance } else { Response::Stiffness };
        let mut group = group(kind, response, &pool, fixed, partition);
        if compliant {
            group.first_multiplier = first_multiplier;
            first_multiplier += group.schedule.len();
        }
        groups.push(group);
    }
    groups
}

fn group(
    kind: Kind,
    response: Response,
    pool: &Pool,
    fixed: &[bool],
    partition: &Partition,
) -> Group {
    // Sites come from checked meshes: their particles exist and differ.
    let elements = Elements::flat(kind.arity(), &pool.particles, fixed.len())
        .and_then(|elements| elements.with_fixed(fixed))
        .unwrap_or_else(|error| {
            panic!("constraints of kind {} are malformed: {error}", kind.name())
        });
    let schedule = partition_elements(&elements, partition);
    let in_order =
        |values: &[f32]| schedule.order().iter().map(|&element| values[element as usize]).collect();
    Group {
        kind,
        response,
        rest: in_order(&pool.rest),
        softness: in_order(&pool.softness),
        schedule,
        first_multiplier: 0,
    }
}

fn partition_elements(elements: &Elements<'_>, partition: &Partition) -> Schedule {
    match partition.method {
        PartitionMethod::Coloring => {
            let order = match partition.order {
                ColoringOrder::SmallestLast => coloring::Order::SmallestLast,
                ColoringOrder::Natural => coloring::Order::Natural,
                ColoringOrder::LargestFirst => coloring::Order::LargestFirst,
                ColoringOrder::Balanced => coloring::Order::Balanced,
                ColoringOrder::Parallel => coloring::Order::Parallel,
            };
            coloring::schedule(elements, &coloring::Options { order, ..Default::default() })
        }
    }
}
