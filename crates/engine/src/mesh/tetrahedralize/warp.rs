//! Cut points, and nodes that move onto the surface where it passes close by.

use glam::Vec3;

use super::lattice::{LONG_STEPS, Lattice};
use super::stencil::Side;
use crate::mesh::error::MeshError;

/// How close, as a share of the edge, a cut point on a long and on a short edge may come to a
/// node before the node moves there: the parameters of [Labelle and Shewchuk 2007], table 1.
const TOO_CLOSE: [f32; 2] = [0.24999, 0.41189];

/// Most steps of a search for a cut point; distances take two or three.
const MOST_STEPS: usize = 16;

/// The most nodes inside: 25 million tetrahedra, which take about 4 GB while they are made.
const MOST_INSIDE: f64 = (1u32 << 22) as f64;

/// A lattice with the sides of its nodes.
pub(super) struct Warped<'field, F> {
    pub(super) lattice: Lattice,
    field: &'field F,
    /// Signed distances; 0 for nodes on the surface.
    values: Vec<f32>,
    /// Nodes that moved, in ascending order, and where they went.
    moved: Vec<(u32, Vec3)>,
}

impl<'field, F: Fn(Vec3) -> f32> Warped<'field, F> {
    pub(super) fn new(lattice: Lattice, field: &'field F) -> Result<Self, MeshError> {
        let values = lattice.sample(field);
        check_inside(&values, lattice.cell())?;
        let mut warped = Self { lattice, field, values, moved: Vec::new() };
        for node in 0..warped.lattice.node_count() as u32 {
            warped.warp(node);
        }
        Ok(warped)
    }

    pub(super) fn side(&self, node: u32) -> Side {
        match self.values[node as usize] {
            value if value < 0.0 => Side::Inside,
            value if value > 0.0 => Side::Outside,
            _ => Side::Surface,
        }
    }

    pub(super) fn place(&self, node: u32) -> Vec3 {
        match self.moved.binary_search_by_key(&node, |&(moved, _)| moved) {
            Ok(found) => self.moved[found].1,
            Err(_) => self.lattice.place(self.lattice.coordinates(node)),
        }
    }

    /// The cut point on the edge from a node inside along one of the lattice's steps.
    pub(super) fn cut(&self, inside: u32, step: usize) -> Option<Vec3> {
        let outside = self.lattice.neighbor(inside, step)?;
        Some(self.search(inside, outside).1)
    }

    /// Moves a node to the closest of the cut points that are too close to it. Its edges have
    /// no cut points any more, so its neighbors may stay where they are.
    fn warp(&mut self, node: u32) {
        let side = self.side(node);
        // In half cells, and at least half of what the field says.
        let least_distance = self.values[node as usize].abs() / self.lattice.cell();
        if side == Side::Surface || least_distance > TOO_CLOSE[1] * 3f32.sqrt() {
            return;
        }
        let mut closest = f32::INFINITY;
        let mut target = None;
        for step in 0..super::lattice::STEPS.len() {
            let Some(other) = self.lattice.neighbor(node, step) else { continue };
            let (share, place) = match (side, self.side(other)) {
                (Side::Inside, Side::Outside) => self.search(node, other),
                (Side::Outside, Side::Inside) => {
                    let (share, place) = self.search(other, node);
                    (1.0 - share, place)
                }
                _ => continue,
            };
            let [too_close, length] =
                if step < LONG_STEPS { [TOO_CLOSE[0], 2.0] } else { [TOO_CLOSE[1], 3f32.sqrt()] };
            if share < too_close && share * length < closest {
                closest = share * length;
                target = Some(place);
            }
        }
        if let Some(place) = target {
            self.values[node as usize] = 0.0;
            self.moved.push((node, place));
        }
    }

    /// Where the surface passes between a node inside and one outside: the share of the way, and
    /// the place. By regula falsi, halving the value of an end that stays (the Illinois method).
    fn search(&self, inside: u32, outside: u32) -> (f32, Vec3) {
        let ends = [inside, outside].map(|node| self.lattice.place(self.lattice.coordinates(node)));
        let at = |share: f32| ends[0].lerp(ends[1], share);
        let [mut low, mut high] = [0.0, 1.0];
        let [mut below, mut above] = [inside, outside].map(|node| self.values[node as usize]);
        let enough = 1e-5 * self.lattice.cell();
        let mut share = 0.5;
        for _ in 0..MOST_STEPS {
            share = low + (high - low) * (below / (below - above)).clamp(0.0, 1.0);
            let value = (self.field)(at(share));
            if value.abs() <= enough {
                break;
            }
            if value < 0.0 {
                (low, below, above) = (share, value, 0.5 * above);
            } else {
                (high, above, below) = (share, value, 0.5 * below);
            }
        }
        (share, at(share))
    }
}

/// Tetrahedra are made for nodes inside, six each.
fn check_inside(values: &[f32], cell: f32) -> Result<(), MeshError> {
    let nodes = values.iter().filter(|&&value| value < 0.0).count() as f64;
    if nodes <= MOST_INSIDE {
        return Ok(());
    }
    // A little more than needed, as the count does not fall quite so regularly.
    let enough = (f64::from(cell) * (nodes / MOST_INSIDE).cbrt() * 1.05) as f32;
    Err(MeshError::LatticeTooFine { cell, nodes, most: MOST_INSIDE, enough })
}
