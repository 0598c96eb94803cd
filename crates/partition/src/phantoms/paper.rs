//! Paper A, Algorithm 2: split the most shared body of every clique that is too large.
//!
//! Line 13 of the paper (`F ← ∅`) stands inside the loop over the constraints and would forget
//! all phantoms but the last; it is put before the loop of line 12. The algorithm is run again on
//! fresh cliques until none is too large, as the paper says below it. What stays as the paper has
//! it: every constraint of the clique gets a phantom of its own, so the original body is left
//! idle where the clique was its whole star; and cliques no larger than q̂ do not make a graph
//! q̂-colorable, so the coloring at the end may take more.

use std::cmp::Reverse;

use super::assign::Assignment;
use super::fixed_with_copies;
use crate::coloring::{Options, color};
use crate::{Elements, InputError, cliques};

/// Splits until no clique has more than `colors` elements; colors smallest-last.
pub(super) fn assign(elements: &Elements<'_>, colors: usize) -> Result<Assignment, InputError> {
    let mut splitting =
        Splitting { elements: *elements, bodies: elements.bodies().to_vec(), owners: Vec::new() };
    loop {
        let bodies = splitting.bodies.clone();
        let fixed = fixed_with_copies(elements, splitting.owners.len());
        let body_count = elements.body_count() + splitting.owners.len();
        let split = elements.with_bodies(&bodies, body_count, &fixed)?;
        let mut cliques = cliques::maximal_cliques(&split)?;
        cliques.retain(|clique| clique.len() > colors);
        if cliques.is_empty() {
            let colors = color(&split, &Options::default()).colors;
            let (owners, turned) = (splitting.owners, Vec::new());
            return Ok(Assignment { colors, bodies, owners, turned });
        }
        cliques.sort_by_key(|clique| Reverse(clique.len()));
        for clique in &cliques {
            splitting.split(clique);
        }
    }
}

struct Splitting<'a> {
    elements: Elements<'a>,
    /// The bodies of the elements so far.
    bodies: Vec<u32>,
    owners: Vec<u32>,
}

impl Splitting<'_> {
    /// Lines 5 to 22: gives every element of the clique that has the most shared body a copy of
    /// its own.
    fn split(&mut self, clique: &[u32]) {
        // A clique that earlier splits took apart shares nothing any more.
        let Some(shared) = self.most_shared(clique) else { return };
        let owner = self.owner(shared);
        for &element in clique {
            let range = self.elements.range_of(element as usize);
            if let Some(body) = self.bodies[range].iter_mut().find(|body| **body == shared) {
                *body = (self.elements.body_count() + self.owners.len()) as u32;
                self.owners.push(owner);
            }
        }
    }

    /// The movable body that most elements of the clique have, if at least two do; the smallest
    /// of equals.
    fn most_shared(&self, clique: &[u32]) -> Option<u32> {
        let of_element = |&element: &u32| &self.bodies[self.elements.range_of(element as usize)];
        let mut bodies: Vec<u32> = clique.iter().flat_map(of_element).copied().collect();
        bodies.retain(|&body| body != self.owner(body) || !self.elements.is_fixed(body));
        bodies.sort_unstable();
        let runs = bodies.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
        runs.min_by_key(|run| Reverse(run.len())).map(|run| run[0])
    }

    /// The original body that a body or copy stands for.
    fn owner(&self, body: u32) -> u32 {
        let copy = (body as usize).checked_sub(self.elements.body_count());
        copy.map_or(body, |copy| self.owners[copy])
    }
}
