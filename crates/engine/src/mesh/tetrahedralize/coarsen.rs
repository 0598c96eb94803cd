//! Fewer tetrahedra deep inside a solid, its surface as it was.
//!
//! Edges may grow with the distance from the surface (`depth.rs`): one that is short for where it
//! lies is collapsed, an end inside onto the other (`stars.rs`), the shortest for its place first.
//! Only what leaves well-shaped tetrahedra is done, so what a thin part needs inside stays. Vertices
//! inside then move to where the tetrahedra around them are better shaped, which makes room for
//! more, until hardly anything changes.

mod depth;
mod stars;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::mesh::Mesh;
use depth::Depths;
use stars::{Shape, Stars};

/// How much longer than wished for an edge may be that a collapse makes.
pub(super) const LONGEST: f64 = 2.0;

/// Most rounds of collapsing and moving.
const MOST_ROUNDS: u32 = 10;

/// A round that takes less than this share of the vertices inside is the last one.
const WORTHWHILE: f64 = 0.005;

/// Collapses edges inside a solid that are shorter than `cell` + `grading` · depth.
///
/// The triangles must be the boundary of the tetrahedra. Vertices that are gone are left behind, used by
/// nothing.
pub(super) fn coarsen(mesh: &mut Mesh, cell: f32, grading: f32) {
    let mut inside = Inside::new(mesh, [cell, grading].map(f64::from));
    for round in 1..=MOST_ROUNDS {
        let gone = inside.collapse_round(round);
        inside.smooth(round);
        if (gone as f64) < WORTHWHILE * inside.count as f64 {
            break;
        }
    }
    (mesh.positions, mesh.tetrahedra) = inside.stars.into_parts();
}

/// An edge that may be collapsed: its length as a share of what is wished for, in bits, which sort
/// as the number does, and its ends. The ends make the order of equals certain.
type Candidate = Reverse<(u64, u32, u32)>;

/// A solid whose inside is being coarsened.
struct Inside {
    stars: Stars,
    depths: Depths,
    cell: f64,
    grading: f64,
    /// Vertices that are left inside.
    count: usize,
    /// The last round in which the tetrahedra at a vertex changed.
    changed: Vec<u32>,
}

impl Inside {
    fn new(mesh: &Mesh, [cell, grading]: [f64; 2]) -> Self {
        let mut stars = Stars::new(mesh);
        let depths = Depths::new(mesh, &mut stars);
        let count = (0..mesh.positions.len()).filter(|&vertex| !depths.is_surface(vertex)).count();
        Self { stars, depths, cell, grading, count, changed: vec![0; mesh.positions.len()] }
    }

    /// Length of an edge as a share of what it may be in the mean of its ends' depths.
    fn share(&self, a: u32, b: u32) -> f64 {
        let depth = 0.5 * (self.depths.at(a) + self.depths.at(b));
        self.stars.place(a).distance(self.stars.place(b)) / (self.cell + self.grading * depth)
    }

    fn candidate(&self, a: u32, b: u32) -> Option<Candidate> {
        if self.depths.is_surface(a as usize) && self.depths.is_surface(b as usize) {
            return None;
        }
        let share = self.share(a, b);
        (share < 1.0).then(|| Reverse((share.to_bits(), a.min(b), a.max(b))))
    }

    /// Tries every short edge around which something has changed since it was tried; returns how
    /// many were collapsed.
    fn collapse_round(&mut self, round: u32) -> usize {
        let mut candidates = Vec::new();
        let mut neighbors = Vec::new();
        for vertex in 0..self.changed.len() as u32 {
            self.stars.neighbors(vertex, &mut neighbors);
            let is_new = |&other: &u32| {
                let changed = self.changed[vertex as usize].max(self.changed[other as usize]);
                other > vertex && changed + 1 >= round
            };
            let new = neighbors.iter().filter(|other| is_new(other));
            candidates.extend(new.filter_map(|&other| self.candidate(vertex, other)));
        }
        let mut queue = BinaryHeap::from(candidates);
        let before = self.count;
        while let Some(Reverse((_, a, b))) = queue.pop() {
            if self.stars.is_gone(a) || self.stars.is_gone(b) {
                continue;
            }
            let shapes = [self.shape_after(a, b), self.shape_after(b, a)];
            match shapes {
                [Some(first), second] if second.is_none_or(|second| first <= second) => {
                    self.collapse(a, b, round, &mut queue);
                }
                [_, Some(_)] => self.collapse(b, a, round, &mut queue),
                _ => {}
            }
        }
        before - self.count
    }

    /// How bad the worst tetrahedron is after `gone` was moved onto `kept`; `None` if that cannot be
    /// done, or makes edges too long for where they lie.
    fn shape_after(&self, gone: u32, kept: u32) -> Option<f64> {
        if self.depths.is_surface(gone as usize) {
            return None;
        }
        let may_join = |other| self.share(other, kept) <= LONGEST;
        self.stars.shape_after(gone, kept, may_join).map(Shape::badness)
    }

    fn collapse(&mut self, gone: u32, kept: u32, round: u32, queue: &mut BinaryHeap<Candidate>) {
        let mut new = Vec::new();
        self.stars.collapse(gone, kept, &mut new);
        self.count -= 1;
        let mut neighbors = Vec::new();
        self.stars.neighbors(kept, &mut neighbors);
        self.changed[kept as usize] = round;
        neighbors.iter().for_each(|&other| self.changed[other as usize] = round);
        queue.extend(new.iter().filter_map(|&other| self.candidate(kept, other)));
    }

    /// Moves each vertex inside toward the center of the tetrahedra around it if that makes the worst
    /// of them better.
    fn smooth(&mut self, round: u32) {
        let mut neighbors = Vec::new();
        for vertex in 0..self.changed.len() as u32 {
            if self.depths.is_surface(vertex as usize) || !self.stars.improve(vertex) {
                continue;
            }
            self.depths.update(vertex, &self.stars);
            self.stars.neighbors(vertex, &mut neighbors);
            self.changed[vertex as usize] = round;
            neighbors.iter().for_each(|&other| self.changed[other as usize] = round);
        }
    }
}

#[cfg(test)]
mod tests;
