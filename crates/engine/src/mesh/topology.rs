//! Edges, hinges, boundaries and components of a mesh.
//!
//! Every side of every triangle and tetrahedron becomes a 64-bit entry in the bucket of its
//! lower vertex (a counting sort), and each short bucket is sorted by the higher vertex. That
//! is a radix sort on packed pairs: linear, no hashing, and one order for one mesh.

use super::Mesh;
use super::error::MeshError;
use taut_partition::DisjointSets;

/// Stands for 'no triangle' where a side belongs to a tetrahedron.
const NO_CORNER: u32 = u32::MAX;

/// How the triangles and tetrahedra of a mesh hang together.
///
/// Triangles with a repeated corner have no sides and are left out of everything here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Every edge of a triangle or tetrahedron once, lower vertex first, in ascending order.
    pub edges: Vec<[u32; 2]>,
    /// Two triangles on an edge, as [a, b, c, d]: the edge runs from a to b in the winding of
    /// the triangle with the far corner c, so that c lies left of it seen from the front; d
    /// is the far corner of the other triangle. Where the two are wound alike, a < b.
    /// In the order of the edges; edges with more than two triangles have no hinge, because
    /// no pairing of their triangles is better than another.
    pub hinges: Vec<[u32; 4]>,
    /// Edges of one triangle only, in its winding.
    pub boundary_edges: Vec<[u32; 2]>,
    /// Edges of more than two triangles, lower vertex first.
    pub non_manifold_edges: Vec<[u32; 2]>,
    /// Edges whose two triangles run the same way, so that one of them is inside out.
    pub flipped_edges: Vec<[u32; 2]>,
    /// V − E + F of the triangles: 2 for a ball, 1 for a disc, 0 for a tube or a torus.
    pub euler_characteristic: i64,
    /// For each vertex the number of its connected component, counted from 0 in the order of
    /// the components' lowest vertices. A vertex without edges is a component of its own.
    pub vertex_components: Vec<u32>,
    triangle_count: usize,
}

impl Topology {
    /// Finds the edges, hinges and components of a mesh.
    ///
    /// # Errors
    /// An element that names a vertex that does not exist, or more than `u32::MAX / 3` triangles.
    pub fn new(mesh: &Mesh) -> Result<Self, MeshError> {
        mesh.check_indices()?;
        if mesh.triangles.len() > (u32::MAX / 3) as usize {
            return Err(MeshError::TooManyTriangles { triangles: mesh.triangles.len() });
        }
        let mut topology = Self::default();
        let surface_edges = topology.gather_edges(mesh);
        let [surface_vertices, surface_triangles] = surface_counts(mesh);
        topology.triangle_count = surface_triangles;
        topology.euler_characteristic =
            surface_vertices as i64 - surface_edges as i64 + surface_triangles as i64;
        topology.vertex_components = components(mesh.positions.len(), &topology.edges);
        Ok(topology)
    }

    /// Whether the triangles enclose a space: there are some, and every edge has two of them.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.triangle_count > 0
            && self.boundary_edges.is_empty()
            && self.non_manifold_edges.is_empty()
    }

    /// Whether neighboring triangles are wound alike, so that the surface has two clear sides.
    #[must_use]
    pub fn is_oriented(&self) -> bool {
        self.flipped_edges.is_empty()
    }

    /// Number of connected components.
    #[must_use]
    pub fn component_count(&self) -> usize {
        self.vertex_components.iter().max().map_or(0, |&last| last as usize + 1)
    }

    /// Fills everything that is found edge by edge; returns the number of triangles' edges.
    fn gather_edges(&mut self, mesh: &Mesh) -> usize {
        let mut sides = Sides::new(mesh);
        let mut surface_edges = 0;
        for low in 0..mesh.positions.len() {
            for run in sides.bucket(low).chunk_by(|left, right| left >> 32 == right >> 32) {
                let edge = [low as u32, (run[0] >> 32) as u32];
                self.edges.push(edge);
                // Sorted, so the triangles' corners come before a tetrahedron's NO_CORNER.
                let on_surface = run.partition_point(|&side| side as u32 != NO_CORNER);
                surface_edges += usize::from(on_surface > 0);
                self.classify(edge, &run[..on_surface], &mesh.triangles);
            }
        }
        surface_edges
    }

    fn classify(&mut self, edge: [u32; 2], sides: &[u64], triangles: &[[u32; 3]]) {
        let side = |entry: u64| Side::new(entry as u32, triangles);
        match *sides {
            [] => {}
            [only] => self.boundary_edges.push(side(only).ends),
            [first, second] => {
                let [first, second] = [side(first), side(second)];
                if first.ends == second.ends {
                    self.flipped_edges.push(edge);
                }
                // The triangle that runs from low to high leads, the lower-numbered one if
                // both do or neither does.
                let swap = first.ends != edge && second.ends == edge;
                let [leading, other] = if swap { [second, first] } else { [first, second] };
                let [a, b] = leading.ends;
                self.hinges.push([a, b, leading.far, other.far]);
            }
            _ => self.non_manifold_edges.push(edge),
        }
    }
}

/// One side of a triangle: where it runs from and to, and the corner across.
struct Side {
    ends: [u32; 2],
    far: u32,
}

impl Side {
    /// `corner` is 3 · triangle + k, for the side that starts at the triangle's corner k.
    fn new(corner: u32, triangles: &[[u32; 3]]) -> Self {
        let triangle = triangles[(corner / 3) as usize];
        let start = (corner % 3) as usize;
        let [from, to, far] = [0, 1, 2].map(|step| triangle[(start + step) % 3]);
        Self { ends: [from, to], far }
    }
}

/// All sides in buckets by their lower vertex; an entry is `higher vertex << 32 | corner`.
struct Sides {
    starts: Vec<usize>,
    entries: Vec<u64>,
}

impl Sides {
    fn new(mesh: &Mesh) -> Self {
        let mut starts = vec![0usize; mesh.positions.len() + 1];
        each_side(mesh, |low, _| starts[low as usize + 1] += 1);
        for vertex in 1..starts.len() {
            starts[vertex] += starts[vertex - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; starts[starts.len() - 1]];
        each_side(mesh, |low, entry| {
            let place = &mut next[low as usize];
            entries[*place] = entry;
            *place += 1;
        });
        Self { starts, entries }
    }

    /// The sides whose lower vertex is `low`, sorted by higher vertex, then by triangle.
    fn bucket(&mut self, low: usize) -> &[u64] {
        let bucket = &mut self.entries[self.starts[low]..self.starts[low + 1]];
        bucket.sort_unstable();
        bucket
    }
}

/// Calls `visit(lower vertex, entry)` for each side of each proper triangle and tetrahedron.
fn each_side(mesh: &Mesh, mut visit: impl FnMut(u32, u64)) {
    let mut side = |from: u32, to: u32, corner: u32| {
        visit(from.min(to), u64::from(from.max(to)) << 32 | u64::from(corner));
    };
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        if is_proper(corners) {
            for start in 0..3 {
                side(corners[start], corners[(start + 1) % 3], (3 * triangle + start) as u32);
            }
        }
    }
    for &[a, b, c, d] in &mesh.tetrahedra {
        for [from, to] in [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]] {
            if from != to {
                side(from, to, NO_CORNER);
            }
        }
    }
}

fn is_proper([a, b, c]: &[u32; 3]) -> bool {
    a != b && b != c && c != a
}

/// Vertices of proper triangles, and how many of these triangles there are.
fn surface_counts(mesh: &Mesh) -> [usize; 2] {
    let mut used = vec![false; mesh.positions.len()];
    let mut triangles = 0;
    for corners in mesh.triangles.iter().filter(|corners| is_proper(corners)) {
        triangles += 1;
        for &corner in corners {
            used[corner as usize] = true;
        }
    }
    [used.iter().filter(|&&is_used| is_used).count(), triangles]
}

/// The number of each vertex's component.
fn components(vertices: usize, edges: &[[u32; 2]]) -> Vec<u32> {
    let mut sets = DisjointSets::new(vertices);
    for &[low, high] in edges {
        sets.unite(low, high);
    }
    let mut numbers = vec![0; vertices];
    let mut count = 0;
    for vertex in 0..vertices {
        let lowest = sets.lowest(vertex as u32) as usize;
        // The lowest vertex of a component comes first, so it already has its number.
        numbers[vertex] = if lowest == vertex { count } else { numbers[lowest] };
        count += u32::from(lowest == vertex);
    }
    numbers
}

#[cfg(test)]
mod tests {
    //! Contract: edges once each and in order, hinges oriented as documented, every edge
    //! classified by its number of triangles, components and Euler characteristic right.
    use glam::Vec3;
    use proptest::prelude::*;

    use super::*;

    fn mesh(vertices: usize, triangles: &[[u32; 3]]) -> Mesh {
        Mesh {
            positions: vec![Vec3::ZERO; vertices],
            triangles: triangles.to_vec(),
            ..Mesh::default()
        }
    }

    #[test]
    fn two_triangles_make_one_hinge() {
        let topology = Topology::new(&mesh(4, &[[2, 1, 0], [1, 2, 3]])).unwrap();
        assert_eq!(topology.edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        // [1, 2, 3] runs from 1 to 2, so its far corner 3 comes first.
        assert_eq!(topology.hinges, [[1, 2, 3, 0]]);
        assert_eq!(topology.boundary_edges, [[1, 0], [0, 2], [3, 1], [2, 3]]);
        assert_eq!(topology.euler_characteristic, 1);
        assert!(topology.is_oriented() && !topology.is_closed());
    }

    #[test]
    fn a_triangle_that_is_inside_out_is_reported_and_still_hinged() {
        let both_up = Topology::new(&mesh(4, &[[1, 2, 0], [1, 2, 3]])).unwrap();
        assert_eq!(both_up.flipped_edges, [[1, 2]]);
        assert_eq!(both_up.hinges, [[1, 2, 0, 3]]);
        let both_down = Topology::new(&mesh(4, &[[2, 1, 0], [2, 1, 3]])).unwrap();
        assert_eq!(both_down.flipped_edges, [[1, 2]]);
        assert_eq!(both_down.hinges, [[2, 1, 0, 3]]);
    }

    #[test]
    fn three_triangles_on_an_edge_are_reported_and_not_hinged() {
        let topology = Topology::new(&mesh(5, &[[0, 1, 2], [0, 1, 3], [1, 0, 4]])).unwrap();
        assert_eq!(topology.non_manifold_edges, [[0, 1]]);
        assert!(topology.hinges.is_empty());
        assert!(!topology.is_closed());
        assert_eq!(topology.boundary_edges.len(), 6);
    }

    #[test]
    fn triangles_with_a_repeated_corner_count_for_nothing() {
        let topology = Topology::new(&mesh(4, &[[0, 1, 2], [1, 1, 3], [2, 3, 2]])).unwrap();
        assert_eq!(topology.edges, [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(topology.euler_characteristic, 1);
        assert_eq!(topology.vertex_components, [0, 0, 0, 1]);
    }

    #[test]
    fn a_tetrahedron_adds_its_inner_edges_but_no_hinges() {
        let mut solid = mesh(5, &[[0, 1, 2]]);
        solid.tetrahedra = vec![[0, 1, 2, 4]];
        let topology = Topology::new(&solid).unwrap();
        assert_eq!(topology.edges, [[0, 1], [0, 2], [0, 4], [1, 2], [1, 4], [2, 4]]);
        assert_eq!(topology.boundary_edges.len(), 3);
        assert_eq!(topology.euler_characteristic, 1);
        assert_eq!(topology.vertex_components, [0, 0, 0, 1, 0]);
    }

    #[test]
    fn components_are_numbered_by_their_lowest_vertex() {
        let topology =
            Topology::new(&mesh(8, &[[7, 5, 3], [0, 6, 4], [3, 2, 5], [2, 7, 3]])).unwrap();
        assert_eq!(topology.vertex_components, [0, 1, 2, 2, 0, 2, 0, 2]);
        assert_eq!(topology.component_count(), 3);
    }

    #[test]
    fn an_empty_mesh_is_open_and_has_nothing() {
        assert_eq!(Topology::new(&Mesh::default()).unwrap(), Topology::default());
        assert!(!Topology::default().is_closed());
    }

    #[test]
    fn a_vertex_that_does_not_exist_is_an_error() {
        let error = Topology::new(&mesh(3, &[[0, 1, 2], [0, 1, 3]])).unwrap_err();
        assert!(error.to_string().contains("triangle 1 names vertex 3"), "{error}");
    }

    proptest! {
        /// Against the definition: all pairs of all triangles, for any soup of triangles.
        #[test]
        fn matches_a_search_over_all_pairs(
            triangles in proptest::collection::vec(proptest::array::uniform3(0u32..9), 0..24),
        ) {
            let topology = Topology::new(&mesh(9, &triangles)).unwrap();
            let mut expected = [vec![], vec![], vec![], vec![]];
            for low in 0..9u32 {
                for high in low + 1..9 {
                    let count = triangles
                        .iter()
                        .filter(|corners| is_proper(corners))
                        .filter(|corners| corners.contains(&low) && corners.contains(&high))
                        .count();
                    expected[count.min(3)].push([low, high]);
                }
            }
            let [_, boundary, inner, non_manifold] = expected;
            let mut edges = [&boundary[..], &inner, &non_manifold].concat();
            edges.sort_unstable();
            prop_assert_eq!(&topology.edges, &edges);
            let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
            let found: Vec<_> = topology.boundary_edges.iter().map(|&edge| sorted(edge)).collect();
            prop_assert_eq!(found, boundary);
            let found: Vec<_> = topology.hinges.iter().map(|&[a, b, ..]| sorted([a, b])).collect();
            prop_assert_eq!(found, inner);
            prop_assert_eq!(&topology.non_manifold_edges, &non_manifold);
            for &[a, b, c, d] in &topology.hinges {
                let runs = |corners: &[u32; 3]| {
                    (0..3).any(|k| [a, b, c] == [0, 1, 2].map(|step| corners[(k + step) % 3]))
                };
                prop_assert!(triangles.iter().any(runs));
                let has_far = |corners: &[u32; 3]| [a, b, d].iter().all(|v| corners.contains(v));
                prop_assert!(triangles.iter().any(has_far));
            }
        }
    }
}
