//! Plain Gauss–Seidel: the constraints of a group one after another in the order of the mesh, as one
//! writes it without a partition. Benchmarks measure against it.
//!
//! Neighbors in a mesh share particles, so each projection waits for the one before: this loop is bound
//! by latency, and neither lanes nor threads could help it.

use std::cell::Cell;

use super::{
    Bend, Constraint, Distance, Group, Kind, LongRange, NeoHookean, Response, Strain, Sweep,
    Volume, with_kind,
};
use crate::state::{ByIndex, Particle};

/// The constraints of a group in the order of the mesh.
#[derive(Clone, Debug)]
pub struct PlainGroup {
    kind: Kind,
    response: Response,
    particles: Vec<u32>,
    constants: Vec<Vec<f32>>,
    softness: Vec<Vec<f32>>,
    relaxation: f32,
    multipliers: Vec<f32>,
}

impl PlainGroup {
    /// The constraints of a group, put back into the order in which they were made.
    pub fn new(group: &Group) -> Self {
        let mut places: Vec<usize> = (0..group.schedule.len()).collect();
        places.sort_unstable_by_key(|&place| group.schedule.order()[place]);
        let ids = |&place: &usize| group.schedule.bodies_at(place).iter();
        let original = |&id: &u32| group.copies.original(id);
        let in_order = |values: &Vec<f32>| places.iter().map(|&place| values[place]).collect();
        Self {
            kind: group.kind,
            response: group.response,
            particles: places.iter().flat_map(ids).map(original).collect(),
            constants: group.constants.iter().map(in_order).collect(),
            softness: group.softness.iter().map(in_order).collect(),
            relaxation: group.relaxation,
            multipliers: vec![0.0; group.multipliers()],
        }
    }

    /// Solves every constraint once in a substep of `step` seconds. `first` says whether this is the
    /// first sweep of the substep.
    ///
    /// # Panics
    /// If there are fewer particles than the model had that the group comes from.
    pub fn sweep(&mut self, step: f32, first: bool, particles: &mut [Particle]) {
        let sweep = Sweep {
            constants: &self.constants,
            softness: &self.softness,
            is_compliant: self.response == Response::Compliance,
            relaxation: self.relaxation,
            first_multiplier: 0,
            inverse_step_squared: 1.0 / (step * step),
            first,
        };
        let particles = Cell::from_mut(particles).as_slice_of_cells();
        let multipliers = Cell::from_mut(&mut self.multipliers[..]).as_slice_of_cells();
        with_kind!(self.kind, C, N, M, K, {
            let ids = self.particles.as_chunks::<N>().0;
            let bodies = ByIndex::of_ids(particles, ids);
            // One lane: each constraint sees what the one before did.
            C::project::<f32, _, _, true>(bodies, 0..ids.len(), &sweep, multipliers);
        });
    }
}
