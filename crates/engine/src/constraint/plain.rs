//! Plain Gauss–Seidel: the constraints of a group one after another in the order of the mesh, as one
//! writes it without a partition. Benchmarks measure against it.
//!
//! Neighbors in a mesh share particles, so each projection waits for the one before: this loop is bound
//! by latency, and neither lanes nor threads could help it.

use std::cell::Cell;

use super::{
    Bend, Constraint, Distance, Group, Kind, LongRange, NeoHookean, Placed, Response, Softness,
    Strain, Sweep, Volume, with_kind,
};
use crate::state::{ByIndex, Particle};

/// The constraints of a group in the order of the mesh.
#[derive(Clone, Debug)]
pub struct PlainGroup {
    kind: Kind,
    response: Response,
    particles: Vec<u32>,
    constants: Vec<Vec<f32>>,
    softness: Softness,
    relaxation: f32,
    multipliers: Vec<f32>,
}

impl PlainGroup {
    /// The constraints of a group, put back into the order in which they were made.
    pub fn new(group: &Group) -> Self {
        let mut constraints: Vec<Placed> = group.constraints().collect();
        constraints.sort_unstable_by_key(|placed| placed.constraint);
        let ids = |&placed: &Placed| group.ids(placed).map(|id| group.copies.original(id));
        let is_bundled = group.form().is_bundled;
        // A member of a bundle has one row, whose numbers stand in the list of the member.
        let in_order = |lists: usize, number: &dyn Fn(usize, usize) -> f32| -> Vec<Vec<f32>> {
            let lists = if is_bundled { 1 } else { lists };
            let own = |list| {
                let list = move |placed: &Placed| if is_bundled { placed.row } else { list };
                move |placed: &Placed| number(list(placed), placed.place)
            };
            (0..lists).map(|list| constraints.iter().map(own(list)).collect()).collect()
        };
        Self {
            kind: group.kind,
            response: group.response,
            particles: constraints.iter().flat_map(ids).collect(),
            constants: in_order(group.constants.len(), &|list, place| group.constants[list][place]),
            softness: Softness::new(in_order(group.kind.rows(), &|row, place| {
                group.softness.at(row, place)
            })),
            relaxation: group.relaxation,
            multipliers: match group.response {
                Response::Compliance => vec![0.0; group.count * group.kind.rows()],
                Response::Stiffness | Response::Force => Vec::new(),
            },
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
            ahead: None,
            is_ascending: false,
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
