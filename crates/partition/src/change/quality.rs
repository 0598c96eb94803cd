//! How good a coloring is, kept up to date while elements change.

use crate::Elements;
use crate::incidence::valences;

/// A coloring with more than so many times the colors of a fresh one is worth a rebuild.
const MORE_COLORS: f64 = 1.25;
/// And so is one whose largest color has grown so much in terms of the mean.
const MORE_IMBALANCE: f64 = 1.5;

/// What a coloring is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// The number of colors in use.
    pub colors: usize,
    /// No coloring has fewer colors: the highest valence of a body that is not fixed.
    pub lower_bound: usize,
    /// The size of the largest color in terms of the mean.
    pub imbalance: f64,
}

impl Quality {
    /// Whether a fresh coloring is likely to be much better, judged by the last fresh one.
    pub(super) fn is_much_worse_than(&self, fresh: &Self) -> bool {
        // Colors above the bound come from the shape of the mesh, so they are expected again in
        // proportion.
        let excess = fresh.colors as f64 / fresh.lower_bound.max(1) as f64;
        let expected = self.lower_bound as f64 * excess.max(1.0);
        self.colors as f64 > MORE_COLORS * expected
            || self.imbalance > MORE_IMBALANCE * fresh.imbalance.max(1.0)
    }
}

/// The valence of every body that is not fixed, and the highest.
#[derive(Clone, Debug, Default)]
pub(super) struct Valences {
    of: Vec<u32>,
    /// How many bodies have each valence; the last entry is not 0.
    bodies: Vec<u32>,
}

impl Valences {
    pub(super) fn new(elements: &Elements<'_>) -> Self {
        let of = valences(elements);
        let mut bodies = vec![0; of.iter().max().map_or(0, |&most| most as usize + 1)];
        for &valence in &of {
            bodies[valence as usize] += 1;
        }
        Self { of, bodies }
    }

    pub(super) fn of(&self, body: u32) -> usize {
        self.of[body as usize] as usize
    }

    pub(super) fn highest(&self) -> usize {
        self.bodies.len().saturating_sub(1)
    }

    pub(super) fn add_bodies(&mut self, count: usize) {
        self.of.resize(self.of.len() + count, 0);
        if count > 0 {
            self.bodies.resize(self.bodies.len().max(1), 0);
            self.bodies[0] += count as u32;
        }
    }

    pub(super) fn raise(&mut self, body: u32) {
        let valence = self.of[body as usize];
        self.shift(body, valence + 1);
    }

    pub(super) fn lower(&mut self, body: u32) {
        let valence = self.of[body as usize];
        self.shift(body, valence - 1);
    }

    fn shift(&mut self, body: u32, valence: u32) {
        let old = std::mem::replace(&mut self.of[body as usize], valence);
        self.bodies[old as usize] -= 1;
        if valence as usize >= self.bodies.len() {
            self.bodies.resize(valence as usize + 1, 0);
        }
        self.bodies[valence as usize] += 1;
        while self.bodies.last() == Some(&0) {
            self.bodies.pop();
        }
    }
}
