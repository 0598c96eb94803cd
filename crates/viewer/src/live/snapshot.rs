//! Where everything is at a moment, copied for those who draw it.

use std::sync::atomic::Ordering;
use std::time::Instant;

use taut::Simulation;
use taut::output::Drawing;

use crate::shared::{Demand, FIELDS, FieldValues, Snapshot};

/// What is to be seen now.
pub(super) fn snapshot(
    simulation: &Simulation,
    drawing: &Drawing,
    demand: &Demand,
    generation: u32,
    number: u32,
) -> Snapshot {
    let start = Instant::now();
    let mut snapshot = Snapshot {
        generation,
        number,
        step: simulation.steps(),
        time: simulation.time(),
        poses: drawing.poses(simulation).collect(),
        ..Snapshot::default()
    };
    drawing.place(simulation, &mut snapshot.places);
    (snapshot.low, snapshot.high) = corners(&snapshot.places);
    for (index, field) in FIELDS.into_iter().enumerate() {
        if demand.fields[index].load(Ordering::Relaxed) > 0 {
            let mut values = Vec::new();
            drawing.field(simulation, field, &snapshot.places, &mut values);
            let scale = field.usual_scale(simulation);
            snapshot.fields[index] = Some(FieldValues { values, scale });
        }
    }
    snapshot.cost = start.elapsed();
    snapshot
}

/// The box around all points.
fn corners(places: &[[f32; 3]]) -> ([f32; 3], [f32; 3]) {
    let Some(&first) = places.first() else { return ([0.0; 3], [0.0; 3]) };
    places.iter().fold((first, first), |(low, high), place| {
        let low = std::array::from_fn(|axis| low[axis].min(place[axis]));
        (low, std::array::from_fn(|axis| high[axis].max(place[axis])))
    })
}
