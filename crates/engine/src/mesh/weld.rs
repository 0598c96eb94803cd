//! Merges vertices that lie close together, as along the seams of garments, or where an
//! exporter made copies for its textures.

use glam::Vec3;

use super::error::MeshError;
use super::{Bounds, Mesh};
use taut_partition::DisjointSets;

/// A welded mesh and what became of the parts of the old one.
#[derive(Clone, Debug, PartialEq)]
pub struct Welded {
    /// The mesh without the merged vertices and what vanished with them.
    pub mesh: Mesh,
    /// For each vertex of the mesh before welding, its number after.
    pub new_numbers: Vec<u32>,
    /// Triangles that lost a corner and were dropped.
    pub dropped_triangles: usize,
    /// Tetrahedra that lost a corner and were dropped.
    pub dropped_tetrahedra: usize,
}

/// Merges vertices at most `distance` (m) apart, also through chains of such vertices.
///
/// A cluster becomes its lowest-numbered vertex and stays where that one is; vertices keep
/// their order. Which vertices form a cluster does not hang on their order, and welding a
/// second time changes nothing. A distance below 10⁻¹² of the mesh's extent, which single
/// precision cannot tell from 0, merges vertices with equal coordinates only.
///
/// # Errors
/// A distance that is negative or not finite, coordinates that are not finite, indices of
/// vertices that do not exist.
pub fn weld(mesh: &Mesh, distance: f32) -> Result<Welded, MeshError> {
    if !(distance.is_finite() && distance >= 0.0) {
        return Err(MeshError::BadWeldDistance { distance });
    }
    mesh.check_positions()?;
    mesh.check_indices()?;
    mesh.check_groups()?;
    let clusters = Clusters::find(mesh, f64::from(distance));
    let (new_numbers, positions) = clusters.compact(mesh);
    let triangles = renumber(&mesh.triangles, &new_numbers);
    let tetrahedra = renumber(&mesh.tetrahedra, &new_numbers);
    let mut groups = mesh.groups.clone();
    for members in groups.values_mut() {
        members.iter_mut().for_each(|vertex| *vertex = new_numbers[*vertex as usize]);
        members.sort_unstable();
        members.dedup();
    }
    Ok(Welded {
        dropped_triangles: mesh.triangles.len() - triangles.len(),
        dropped_tetrahedra: mesh.tetrahedra.len() - tetrahedra.len(),
        mesh: Mesh { positions, triangles, tetrahedra, groups },
        new_numbers,
    })
}

/// Elements with new vertex numbers, without those that name a vertex twice.
fn renumber<const N: usize>(elements: &[[u32; N]], new_numbers: &[u32]) -> Vec<[u32; N]> {
    let renumbered = elements.iter().map(|corners| corners.map(|old| new_numbers[old as usize]));
    renumbered.filter(|corners| (1..N).all(|k| !corners[..k].contains(&corners[k]))).collect()
}

type Cell = [i64; 3];

/// Steps in x and y to the rows of cells that can hold a neighbor and come later in the
/// cells' order; inside a row, neighbors lie up to two cells away along z.
#[rustfmt::skip]
const NEIGHBOR_ROWS: [[i64; 2]; 13] = [
    [0, 0], [0, 1], [0, 2],
    [1, -2], [1, -1], [1, 0], [1, 1], [1, 2],
    [2, -2], [2, -1], [2, 0], [2, 1], [2, 2],
];

/// Sets of vertices that become one.
struct Clusters<'a> {
    mesh: &'a Mesh,
    distance: f64,
    sets: DisjointSets,
}

impl<'a> Clusters<'a> {
    fn find(mesh: &'a Mesh, distance: f64) -> Self {
        let sets = DisjointSets::new(mesh.positions.len());
        let mut clusters = Self { mesh, distance, sets };
        let Some(bounds) = mesh.bounds() else { return clusters };
        if distance > 1e-12 * f64::from(bounds.size().max_element()) {
            clusters.unite_close(&bounds);
        } else {
            clusters.unite_equal();
        }
        clusters
    }

    fn unite_equal(&mut self) {
        // Adding 0 makes −0 and 0 the same bits.
        let key = |&vertex: &u32| {
            self.mesh.positions[vertex as usize].to_array().map(|x| (x + 0.0).to_bits())
        };
        let mut order: Vec<u32> = (0..self.mesh.positions.len() as u32).collect();
        order.sort_unstable_by_key(key);
        for equal in order.windows(2).filter(|pair| key(&pair[0]) == key(&pair[1])) {
            self.sets.unite(equal[0], equal[1]);
        }
    }

    /// A cell's diagonal is just below `distance`, so that its vertices form one cluster
    /// however many there are: with larger cells, a distance that is far too large would
    /// compare every vertex with every other.
    fn unite_close(&mut self, bounds: &Bounds) {
        let sorted = sorted_by_cell(self.mesh, bounds, self.distance * (1.0 - 1e-6) / 3f64.sqrt());
        let cells: Vec<&[(Cell, u32)]> = sorted.chunk_by(|left, right| left.0 == right.0).collect();
        for members in &cells {
            for &(_, vertex) in &members[1..] {
                self.sets.unite(members[0].1, vertex);
            }
        }
        for row in NEIGHBOR_ROWS {
            self.unite_rows(&cells, row);
        }
    }

    /// Unites every cell with its neighbors in one row. The cells are sorted, so the window
    /// into that row only moves forward.
    fn unite_rows(&mut self, cells: &[&[(Cell, u32)]], [dx, dy]: [i64; 2]) {
        let key = |cell: &[(Cell, u32)]| cell[0].0;
        let mut start = 0;
        for &cell in cells {
            let [x, y, z] = key(cell);
            let first = if [dx, dy] == [0, 0] { z + 1 } else { z - 2 };
            while start < cells.len() && key(cells[start]) < [x + dx, y + dy, first] {
                start += 1;
            }
            let last = [x + dx, y + dy, z + 2];
            for &other in cells[start..].iter().take_while(|other| key(other) <= last) {
                self.unite_cells(cell, other);
            }
        }
    }

    /// Unites two cells if any vertex of one is close to any of the other.
    fn unite_cells(&mut self, left: &[(Cell, u32)], right: &[(Cell, u32)]) {
        let [first, second] = [left[0].1, right[0].1];
        let is_one_cluster = self.sets.lowest(first) == self.sets.lowest(second);
        let has_close = |from: u32| right.iter().any(|to| self.are_close(from, to.1));
        if !is_one_cluster && left.iter().any(|from| has_close(from.1)) {
            self.sets.unite(first, second);
        }
    }

    fn are_close(&self, left: u32, right: u32) -> bool {
        let [left, right] = [left, right].map(|vertex| self.mesh.positions[vertex as usize]);
        left.as_dvec3().distance_squared(right.as_dvec3()) <= self.distance * self.distance
    }

    /// New numbers of all vertices, and the positions of those that stay.
    fn compact(mut self, mesh: &Mesh) -> (Vec<u32>, Vec<Vec3>) {
        let mut numbers = vec![0; mesh.positions.len()];
        let mut positions = Vec::new();
        for (vertex, &position) in mesh.positions.iter().enumerate() {
            let lowest = self.sets.lowest(vertex as u32) as usize;
            if lowest == vertex {
                numbers[vertex] = positions.len() as u32;
                positions.push(position);
            } else {
                // It comes first, so it already has its number.
                numbers[vertex] = numbers[lowest];
            }
        }
        (numbers, positions)
    }
}

/// All vertices with their cells, sorted by cell, then by number.
fn sorted_by_cell(mesh: &Mesh, bounds: &Bounds, side: f64) -> Vec<(Cell, u32)> {
    let origin = bounds.min.as_dvec3();
    let cell = |position: &Vec3| {
        ((position.as_dvec3() - origin) / side).floor().to_array().map(|x| x as i64)
    };
    let mut cells: Vec<(Cell, u32)> =
        (0u32..).zip(&mesh.positions).map(|(vertex, position)| (cell(position), vertex)).collect();
    cells.sort_unstable();
    cells
}

#[cfg(test)]
mod tests {
    //! Contract: clusters are exactly the connected sets of close vertices, whatever their
    //! order; welding again changes nothing; elements and groups follow.
    use proptest::prelude::*;

    use super::*;
    use crate::mesh::{Topology, generate};

    fn points(positions: &[[f32; 3]]) -> Mesh {
        Mesh {
            positions: positions.iter().map(|&position| position.into()).collect(),
            ..Mesh::default()
        }
    }

    /// Every triangle with three vertices of its own.
    fn exploded(mesh: &Mesh) -> Mesh {
        let corners = mesh.triangles.as_flattened();
        Mesh {
            positions: corners.iter().map(|&corner| mesh.positions[corner as usize]).collect(),
            triangles: (0..mesh.triangles.len() as u32)
                .map(|t| [0, 1, 2].map(|k| 3 * t + k))
                .collect(),
            ..Mesh::default()
        }
    }

    #[test]
    fn an_exploded_sphere_is_sewn_up_again() {
        let sphere = generate::sphere(1.0, 6).unwrap();
        for distance in [0.0, 1e-3] {
            let welded = weld(&exploded(&sphere), distance).unwrap();
            assert_eq!(welded.mesh.positions.len(), sphere.positions.len());
            assert_eq!(welded.dropped_triangles, 0);
            assert!(Topology::new(&welded.mesh).unwrap().is_closed());
        }
    }

    #[test]
    fn chains_merge_into_their_lowest_vertex() {
        let chain = points(&[[9.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.0, 0.0], [0.1, 0.0, 0.0]]);
        let welded = weld(&chain, 0.11).unwrap();
        assert_eq!(welded.mesh.positions, [Vec3::X * 9.0, Vec3::X * 0.2]);
        assert_eq!(welded.new_numbers, [0, 1, 1, 1]);
    }

    #[test]
    fn elements_that_lose_a_corner_are_dropped_and_groups_follow() {
        let mut mesh = generate::block([1.0, 1.0, 1.0], [1, 1, 1]).unwrap();
        // The top comes down onto the bottom.
        mesh.positions.iter_mut().for_each(|position| position.y *= 1e-3);
        let welded = weld(&mesh, 0.01).unwrap();
        assert_eq!(welded.mesh.positions.len(), 4);
        assert_eq!(welded.mesh.triangles.len(), 4);
        assert_eq!(welded.dropped_triangles, 8);
        assert_eq!(welded.dropped_tetrahedra, 6);
        assert_eq!(welded.mesh.groups["top"], [0, 1, 2, 3]);
        assert_eq!(welded.mesh.groups["left"], [0, 1]);
    }

    #[test]
    fn a_distance_far_too_large_merges_everything_and_does_not_take_forever() {
        let mesh = generate::grid([300, 300], [1.0, 1.0], Default::default(), 0).unwrap();
        let welded = weld(&mesh, 10.0).unwrap();
        assert_eq!(welded.mesh.positions.len(), 1);
        assert!(welded.mesh.triangles.is_empty());
    }

    #[test]
    fn distances_and_coordinates_must_make_sense() {
        let message = |mesh: &Mesh, distance| weld(mesh, distance).unwrap_err().to_string();
        assert!(message(&points(&[]), -1.0).contains("weld distance is -1"));
        assert!(message(&points(&[]), f32::NAN).contains("weld distance is NaN"));
        assert!(message(&points(&[[0.0, f32::INFINITY, 0.0]]), 0.1).contains("vertex 0 is at"));
        assert_eq!(weld(&Mesh::default(), 0.1).unwrap().mesh, Mesh::default());
    }

    #[test]
    fn equal_and_far_apart_coordinates_are_told_apart_at_any_distance() {
        let mesh =
            points(&[[1e30, 0.0, 0.0], [-0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1e-30, 0.0, 0.0]]);
        for distance in [0.0, 1e-38, 1e-20] {
            assert_eq!(weld(&mesh, distance).unwrap().new_numbers, [0, 1, 1, 2]);
        }
    }

    fn place() -> impl Strategy<Value = [f32; 3]> {
        proptest::array::uniform3((0u8..40).prop_map(|step| f32::from(step) * 0.05))
    }

    proptest! {
        /// Against the definition: repeat lowering both ends of every close pair.
        #[test]
        fn clusters_are_the_connected_sets(
            positions in proptest::collection::vec(place(), 0..40), distance in 0.0f32..0.7,
        ) {
            let mesh = points(&positions);
            let count = positions.len();
            let close = |i: usize, j: usize| {
                let [from, to] = [i, j].map(|k| mesh.positions[k].as_dvec3());
                from.distance(to) <= f64::from(distance)
            };
            let mut lowest: Vec<usize> = (0..count).collect();
            for _ in 0..count {
                for i in 0..count {
                    for j in (0..count).filter(|&j| close(i, j)) {
                        lowest[i] = lowest[i].min(lowest[j]);
                    }
                }
            }
            let welded = weld(&mesh, distance).unwrap();
            let kept: Vec<usize> = (0..count).filter(|&i| lowest[i] == i).collect();
            let numbers: Vec<u32> =
                lowest.iter().map(|low| kept.binary_search(low).unwrap() as u32).collect();
            prop_assert_eq!(&welded.new_numbers, &numbers);
            let again = weld(&welded.mesh, distance).unwrap();
            prop_assert_eq!(again.mesh, welded.mesh);
        }
    }
}
