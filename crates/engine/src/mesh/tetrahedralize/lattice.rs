//! The body-centered cubic lattice: corners of cubes, and the middles of the cubes.
//!
//! Both sublattices are stored side by side: node 2i is corner i, node 2i + 1 the middle of the
//! cube above it. Coordinates are in half cells: all even for corners, all odd for middles.

use glam::{DVec3, IVec3, Vec3};

use crate::mesh::Bounds;
use crate::mesh::error::MeshError;

/// The most nodes of a lattice: 128 MB of values.
const MOST_NODES: f64 = (1u32 << 25) as f64;

/// Cells along each side of the blocks that are skipped where the surface is far.
const BLOCK: i32 = 8;

/// Steps from a node to its neighbors, in half cells. The first six run along the axes to the
/// node's own sublattice (the long edges), the others to the other one (the short edges).
#[rustfmt::skip]
pub(super) const STEPS: [IVec3; 14] = [
    IVec3::new(-2, 0, 0), IVec3::new(2, 0, 0),
    IVec3::new(0, -2, 0), IVec3::new(0, 2, 0),
    IVec3::new(0, 0, -2), IVec3::new(0, 0, 2),
    IVec3::new(-1, -1, -1), IVec3::new(1, -1, -1),
    IVec3::new(-1, 1, -1), IVec3::new(1, 1, -1),
    IVec3::new(-1, -1, 1), IVec3::new(1, -1, 1),
    IVec3::new(-1, 1, 1), IVec3::new(1, 1, 1),
];

/// How many of [`STEPS`] are long edges.
pub(super) const LONG_STEPS: usize = 6;

/// A lattice around a box, with at least two cells to spare on every side.
pub(super) struct Lattice {
    middle: DVec3,
    half_cell: f64,
    /// Cells from the middle to each side.
    reach: IVec3,
    /// Corners along x, y and z.
    counts: IVec3,
}

impl Lattice {
    /// The lattice whose corners lie in the middle of the box and every `cell` from there.
    pub(super) fn new(bounds: &Bounds, cell: f32) -> Result<Self, MeshError> {
        if !(cell.is_finite() && cell > 0.0) {
            return Err(MeshError::BadLength { mesh: "solid", what: "cell", value: cell });
        }
        let half_size = 0.5 * (bounds.max.as_dvec3() - bounds.min.as_dvec3());
        let nodes = |cell: f64| 2.0 * (2.0 * reach(half_size, cell) + 1.0).element_product();
        if !half_size.is_finite() || nodes(f64::from(cell)) > MOST_NODES {
            let mut enough = f64::from(cell);
            while nodes(enough) > MOST_NODES {
                enough *= 1.05;
            }
            let (nodes, enough) = (nodes(f64::from(cell)), enough as f32);
            return Err(MeshError::LatticeTooFine { cell, nodes, most: MOST_NODES, enough });
        }
        let reach = reach(half_size, f64::from(cell)).as_ivec3();
        let middle = 0.5 * (bounds.min.as_dvec3() + bounds.max.as_dvec3());
        let half_cell = 0.5 * f64::from(cell);
        Ok(Self { middle, half_cell, reach, counts: 2 * reach + 1 })
    }

    pub(super) fn node_count(&self) -> usize {
        2 * self.counts.as_u64vec3().element_product() as usize
    }

    /// Corners of cubes along x, y and z.
    pub(super) fn counts(&self) -> IVec3 {
        self.counts
    }

    /// Side of a cube, m.
    pub(super) fn cell(&self) -> f32 {
        (2.0 * self.half_cell) as f32
    }

    /// Coordinates of a node in half cells, from the lowest corner.
    pub(super) fn coordinates(&self, node: u32) -> IVec3 {
        let corner = (node / 2) as i32;
        let IVec3 { x: width, y: height, .. } = self.counts;
        let cell = IVec3::new(corner % width, corner / width % height, corner / (width * height));
        2 * cell + (node % 2) as i32
    }

    /// The node at these coordinates; `None` outside the lattice.
    pub(super) fn node(&self, coordinates: IVec3) -> Option<u32> {
        let cell = coordinates.map(|x| x.div_euclid(2));
        let is_inside = cell.cmpge(IVec3::ZERO).all() && cell.cmplt(self.counts).all();
        let corner = (cell.z * self.counts.y + cell.y) * self.counts.x + cell.x;
        is_inside.then(|| 2 * corner as u32 + coordinates.x.rem_euclid(2) as u32)
    }

    /// The node one of [`STEPS`] away.
    pub(super) fn neighbor(&self, node: u32, step: usize) -> Option<u32> {
        self.node(self.coordinates(node) + STEPS[step])
    }

    /// Where coordinates lie in space.
    pub(super) fn place(&self, coordinates: IVec3) -> Vec3 {
        let from_middle = (coordinates - 2 * self.reach).as_dvec3();
        (self.middle + self.half_cell * from_middle).as_vec3()
    }

    /// The field at all nodes. Where it says that the surface is more than twice as far as any
    /// node of a block, the block gets the sign and no more.
    pub(super) fn sample(&self, field: &impl Fn(Vec3) -> f32) -> Vec<f32> {
        let mut values = vec![f32::INFINITY; self.node_count()];
        let far = 3f32.sqrt() * BLOCK as f32 * self.cell();
        let blocks = (self.counts + BLOCK - 1) / BLOCK;
        for block in boxes(IVec3::ZERO, blocks) {
            let lowest = BLOCK * block;
            let highest = (lowest + BLOCK).min(self.counts);
            let at_center = field(self.place(2 * lowest + BLOCK));
            for cell in boxes(lowest, highest) {
                for coordinates in [2 * cell, 2 * cell + 1] {
                    let Some(node) = self.node(coordinates) else { continue };
                    let is_far = at_center.abs() > far;
                    let value = if is_far { at_center } else { field(self.place(coordinates)) };
                    values[node as usize] = value;
                }
            }
        }
        values
    }
}

/// Cells from the middle of the box to its sides, and two to spare.
fn reach(half_size: DVec3, cell: f64) -> DVec3 {
    (half_size / cell).ceil() + 2.0
}

/// All places from `lowest` to below `highest`, x running fastest.
pub(super) fn boxes(lowest: IVec3, highest: IVec3) -> impl Iterator<Item = IVec3> {
    let row = move |y, z| (lowest.x..highest.x).map(move |x| IVec3::new(x, y, z));
    let layer = move |z| (lowest.y..highest.y).flat_map(move |y| row(y, z));
    (lowest.z..highest.z).flat_map(layer)
}
