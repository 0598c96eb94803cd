//! Clusters of whole pieces, for scenes of many small things.

use super::Clusters;
use crate::{DisjointSets, Elements};

/// A piece that was not met yet.
const UNKNOWN: u32 = u32::MAX;

pub(super) fn gather(elements: &Elements<'_>, most_bodies: usize) -> Option<Clusters> {
    let pieces = Pieces::of(elements);
    if pieces.bodies.iter().any(|&bodies| bodies as usize > most_bodies) {
        return None;
    }
    let mut clusters = Vec::new();
    let mut bodies = 0;
    for (&own, elements) in pieces.bodies.iter().zip(&pieces.elements) {
        if clusters.is_empty() || bodies + own as usize > most_bodies {
            clusters.push(0);
            bodies = 0;
        }
        bodies += own as usize;
        *clusters.last_mut()? += elements.len();
    }
    Some(Clusters::from_sizes(pieces.elements.concat(), &clusters))
}

/// Elements connected by movable bodies, in the order in which they are first met.
#[derive(Default)]
struct Pieces {
    /// How many movable bodies each has.
    bodies: Vec<u32>,
    elements: Vec<Vec<u32>>,
}

impl Pieces {
    fn of(elements: &Elements<'_>) -> Self {
        let mut sets = DisjointSets::new(elements.body_count());
        for element in 0..elements.len() {
            let mut bodies = elements.movable_of(element);
            if let Some(first) = bodies.next() {
                bodies.for_each(|body| sets.unite(first, body));
            }
        }
        let mut pieces = Self::default();
        let mut piece_of = vec![UNKNOWN; elements.body_count()];
        let mut is_counted = vec![false; elements.body_count()];
        for element in 0..elements.len() {
            let lowest = elements.movable_of(element).next().map(|body| sets.lowest(body));
            let known = lowest.map_or(UNKNOWN, |lowest| piece_of[lowest as usize]);
            let piece = if known == UNKNOWN { pieces.add() } else { known };
            if let Some(lowest) = lowest {
                piece_of[lowest as usize] = piece;
            }
            pieces.elements[piece as usize].push(element as u32);
            for body in elements.movable_of(element) {
                let is_new = !std::mem::replace(&mut is_counted[body as usize], true);
                pieces.bodies[piece as usize] += u32::from(is_new);
            }
        }
        pieces
    }

    fn add(&mut self) -> u32 {
        self.bodies.push(0);
        self.elements.push(Vec::new());
        self.bodies.len() as u32 - 1
    }
}
