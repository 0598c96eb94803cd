//! A fine surface that follows coarse tetrahedra.
//!
//! Each vertex x of the surface belongs to the tetrahedron that holds it, or else to the nearest
//! one, with barycentric weights: x = Σ wᵢ pᵢ, Σ wᵢ = 1. Wherever the corners p go, the same
//! weights say where x goes, so that affine motions are followed exactly. Weights of vertices
//! outside are below 0 for some corner.

use glam::{DVec3, IVec3, Vec3};

use super::Mesh;
use super::error::MeshError;

/// A surface embedded in tetrahedra.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// For each vertex of the surface the corners of its tetrahedron.
    corners: Vec<[u32; 4]>,
    /// For each vertex the weights of these corners.
    weights: Vec<[f32; 4]>,
    /// The triangles of the surface.
    triangles: Vec<[u32; 3]>,
}

impl Embedding {
    /// Embeds the vertices of a surface in the tetrahedra of a solid.
    ///
    /// # Errors
    /// A solid or a surface that is not sound, see [`Mesh::check`]; a solid without tetrahedra.
    pub fn new(solid: &Mesh, surface: &Mesh) -> Result<Self, MeshError> {
        solid.check()?;
        surface.check()?;
        let grid = Grid::new(solid).ok_or(MeshError::NoVolume)?;
        let mut embedding = Self {
            corners: Vec::with_capacity(surface.positions.len()),
            weights: Vec::with_capacity(surface.positions.len()),
            triangles: surface.triangles.clone(),
        };
        for place in &surface.positions {
            let (tetrahedron, weights) = grid.nearest(place.as_dvec3());
            embedding.corners.push(solid.tetrahedra[tetrahedron as usize]);
            embedding.weights.push(weights.map(|weight| weight as f32));
        }
        Ok(embedding)
    }

    /// Where the surface's vertices are when the solid's are at `positions`, which are as many
    /// as the solid has.
    #[must_use]
    pub fn place(&self, positions: &[Vec3]) -> Vec<Vec3> {
        (0..self.len()).map(|vertex| self.vertex(vertex, |at| positions[at as usize])).collect()
    }

    /// The corners of the tetrahedron that a vertex of the surface belongs to, and their weights.
    pub fn weights(&self, vertex: usize) -> ([u32; 4], [f32; 4]) {
        (self.corners[vertex], self.weights[vertex])
    }

    /// Where a vertex of the surface is when `position` says where the solid's are.
    pub fn vertex(&self, vertex: usize, position: impl Fn(u32) -> Vec3) -> Vec3 {
        let weights = self.weights[vertex];
        let [a, b, c, d] = self.corners[vertex].map(position);
        // From the first corner: far from the origin, a sum of places would round more.
        a + weights[1] * (b - a) + weights[2] * (c - a) + weights[3] * (d - a)
    }

    /// The solid's vertex that has most to say about where a vertex of the surface is.
    #[must_use]
    pub fn nearest_corner(&self, vertex: usize) -> u32 {
        let weights = &self.weights[vertex];
        let heavier = |best, other| if weights[other] > weights[best] { other } else { best };
        self.corners[vertex][(1..4).fold(0, heavier)]
    }

    /// The number of the surface's vertices.
    #[must_use]
    pub fn len(&self) -> usize {
        self.corners.len()
    }

    /// Whether the surface has no vertices.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.corners.is_empty()
    }

    /// The triangles of the surface.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
}

/// Tetrahedra in the cells of a grid, to find the nearest one.
struct Grid<'solid> {
    solid: &'solid Mesh,
    origin: DVec3,
    cell: f64,
    counts: IVec3,
    /// Cell `c` has the tetrahedra `members[starts[c]..starts[c + 1]]`, in ascending order.
    starts: Vec<usize>,
    members: Vec<u32>,
}

impl<'solid> Grid<'solid> {
    /// About as many cells as there are tetrahedra, or fewer where these are so long that many
    /// cells would hold the same ones; `None` without tetrahedra.
    fn new(solid: &'solid Mesh) -> Option<Self> {
        let bounds = solid.bounds().filter(|_| !solid.tetrahedra.is_empty())?;
        let size = bounds.max.as_dvec3() - bounds.min.as_dvec3();
        let cell = (size.element_product() / solid.tetrahedra.len() as f64).cbrt();
        let mut grid = Self {
            solid,
            origin: bounds.min.as_dvec3(),
            // Thin solids would get too many cells along their length.
            cell: cell.max(size.max_element() / 1024.0),
            counts: IVec3::ONE,
            starts: Vec::new(),
            members: Vec::new(),
        };
        loop {
            grid.counts = (size / grid.cell).floor().as_ivec3() + 1;
            let room = 64 * solid.tetrahedra.len() as i64;
            let touched = solid.tetrahedra.iter().map(|&corners| {
                let [low, high] = grid.cells_of(corners);
                (high - low + 1).as_i64vec3().element_product()
            });
            if touched.sum::<i64>() <= room {
                break;
            }
            grid.cell *= 2.0;
        }
        grid.fill();
        Some(grid)
    }

    /// The lowest and the highest cell that the box around a tetrahedron touches.
    fn cells_of(&self, corners: [u32; 4]) -> [IVec3; 2] {
        let [a, b, c, d] = self.solid.corners(corners);
        [a.min(b).min(c).min(d), a.max(b).max(c).max(d)].map(|place| self.cell_of(place))
    }

    /// Puts each tetrahedron into the cells that its box touches, by counting.
    fn fill(&mut self) {
        let mut starts = vec![0; self.counts.as_i64vec3().element_product() as usize + 1];
        let mut entries = Vec::new();
        for (number, &corners) in (0u32..).zip(&self.solid.tetrahedra) {
            let [low, high] = self.cells_of(corners);
            for cell in cells(low, high) {
                let index = self.index(cell);
                starts[index + 1] += 1;
                entries.push((index, number));
            }
        }
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        entries.sort_unstable();
        self.members = entries.into_iter().map(|(_, number)| number).collect();
        self.starts = starts;
    }

    /// The cell of a place, or the nearest one.
    fn cell_of(&self, place: DVec3) -> IVec3 {
        let cell = ((place - self.origin) / self.cell).floor();
        cell.max(DVec3::ZERO).as_ivec3().min(self.counts - 1)
    }

    fn index(&self, cell: IVec3) -> usize {
        let cell = cell.as_i64vec3();
        let counts = self.counts.as_i64vec3();
        ((cell.z * counts.y + cell.y) * counts.x + cell.x) as usize
    }

    /// The nearest tetrahedron, the lowest-numbered of equally near ones, and the weights of
    /// its corners.
    fn nearest(&self, place: DVec3) -> (u32, [f64; 4]) {
        let center = self.cell_of(place);
        let mut best = (f64::INFINITY, 0, [0.25; 4]);
        for ring in 0..=self.counts.max_element() {
            // What is not in a cell up to this ring is at least the rings between away.
            if best.0 <= f64::from(ring - 1).max(0.0) * self.cell {
                break;
            }
            for cell in self.ring(center, ring) {
                let index = self.index(cell);
                for &number in &self.members[self.starts[index]..self.starts[index + 1]] {
                    let corners = self.solid.corners(self.solid.tetrahedra[number as usize]);
                    let weights = weights(corners, place);
                    let distance = distance(corners, weights, place);
                    if (distance, number) < (best.0, best.1) {
                        best = (distance, number, weights);
                    }
                }
            }
        }
        (best.1, best.2)
    }

    /// Cells that are exactly so many away along the axis where they are farthest.
    fn ring(&self, center: IVec3, ring: i32) -> impl Iterator<Item = IVec3> {
        let low = (center - ring).max(IVec3::ZERO);
        let high = (center + ring).min(self.counts - 1);
        cells(low, high).filter(move |cell| (cell - center).abs().max_element() == ring)
    }
}

/// All cells from `low` to `high`.
fn cells(low: IVec3, high: IVec3) -> impl Iterator<Item = IVec3> {
    let row = move |y, z| (low.x..=high.x).map(move |x| IVec3::new(x, y, z));
    (low.z..=high.z).flat_map(move |z| (low.y..=high.y).flat_map(move |y| row(y, z)))
}

/// Barycentric weights of a place: the volumes of what is left of the tetrahedron when the place
/// takes the part of each corner, as shares.
fn weights([a, b, c, d]: [DVec3; 4], place: DVec3) -> [f64; 4] {
    let [b, c, d, place] = [b, c, d, place].map(|corner| corner - a);
    let volume = b.cross(c).dot(d);
    let [at_b, at_c, at_d] = [
        place.cross(c).dot(d) / volume,
        b.cross(place).dot(d) / volume,
        b.cross(c).dot(place) / volume,
    ];
    [1.0 - at_b - at_c - at_d, at_b, at_c, at_d]
}

/// Distance to a tetrahedron: 0 inside, else to the nearest face.
fn distance(corners: [DVec3; 4], weights: [f64; 4], place: DVec3) -> f64 {
    // Only faces across from corners with a weight below 0 can be seen from the place.
    let seen = (0..4).filter(|&across| weights[across] < 0.0);
    let face = |across: usize| [1, 2, 3].map(|step| corners[(across + step) % 4]);
    let distances = seen.map(|across| to_triangle(face(across), place));
    distances.reduce(f64::min).unwrap_or(0.0)
}

/// Distance to a triangle: to its plane where the foot is inside, else to its nearest side.
fn to_triangle([a, b, c]: [DVec3; 3], place: DVec3) -> f64 {
    let normal = (b - a).cross(c - a);
    let sides = [[a, b], [b, c], [c, a]];
    let is_left = |[from, to]: [DVec3; 2]| (to - from).cross(place - from).dot(normal) >= 0.0;
    if sides.into_iter().all(is_left) {
        return (place - a).dot(normal).abs() / normal.length();
    }
    let to_side = |[from, to]: [DVec3; 2]| {
        let along = (place - from).dot(to - from) / (to - from).length_squared();
        (place - from.lerp(to, along.clamp(0.0, 1.0))).length()
    };
    sides.map(to_side).into_iter().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    //! Contract: at rest the surface is where it was; affine motions are followed exactly;
    //! every vertex hangs on a nearest tetrahedron.
    use glam::{Affine3A, Mat3, Quat};
    use proptest::prelude::*;

    use super::*;
    use crate::mesh::generate;

    fn solid() -> Mesh {
        generate::block([1.0, 0.6, 0.8], [4, 3, 5]).unwrap()
    }

    /// Partly inside, partly outside of the block.
    fn surface() -> Mesh {
        generate::sphere(0.45, 6).unwrap()
    }

    #[test]
    fn at_rest_the_surface_is_where_it_was() {
        let embedding = Embedding::new(&solid(), &surface()).unwrap();
        let placed = embedding.place(&solid().positions);
        for (placed, place) in placed.iter().zip(&surface().positions) {
            assert!(placed.abs_diff_eq(*place, 1e-6), "{placed} {place}");
        }
        assert_eq!(embedding.triangles(), surface().triangles);
    }

    #[test]
    fn vertices_inside_have_weights_from_zero_to_one() {
        let mut inner = surface();
        inner.scale(0.5);
        let embedding = Embedding::new(&solid(), &inner).unwrap();
        for weights in embedding.weights {
            assert!(weights.iter().all(|weight| (-1e-6..=1.000_001).contains(weight)));
        }
    }

    #[test]
    fn what_cannot_be_embedded_says_why() {
        let error = Embedding::new(&surface(), &surface()).unwrap_err().to_string();
        assert_eq!(error, "the mesh encloses no volume, so it has no inside");
        let mut broken = surface();
        broken.positions[3].x = f32::NAN;
        let error = Embedding::new(&solid(), &broken).unwrap_err().to_string();
        assert!(error.starts_with("vertex 3 is at"), "{error}");
    }

    proptest! {
        #[test]
        fn affine_motions_are_followed(
            columns in proptest::array::uniform9(-2.0f32..2.0),
            shift in proptest::array::uniform3(-2.0f32..2.0),
        ) {
            let motion = Affine3A::from_mat3_translation(
                Mat3::from_cols_array(&columns) * Mat3::from_quat(Quat::from_rotation_y(0.3)),
                shift.into(),
            );
            let moved: Vec<Vec3> =
                solid().positions.iter().map(|&place| motion.transform_point3(place)).collect();
            let placed = Embedding::new(&solid(), &surface()).unwrap().place(&moved);
            for (placed, place) in placed.iter().zip(&surface().positions) {
                let expected = motion.transform_point3(*place);
                prop_assert!(placed.abs_diff_eq(expected, 1e-5), "{placed} {expected}");
            }
        }

        #[test]
        fn no_tetrahedron_is_nearer(place in proptest::array::uniform3(-1.5f64..1.5)) {
            let (solid, place) = (solid(), DVec3::from(place));
            let away = |number: u32| {
                let corners = solid.corners(solid.tetrahedra[number as usize]);
                distance(corners, weights(corners, place), place)
            };
            let (found, _) = Grid::new(&solid).unwrap().nearest(place);
            let nearest = (0..solid.tetrahedra.len() as u32).map(away).fold(f64::INFINITY, f64::min);
            prop_assert!(away(found) <= nearest, "{} {nearest}", away(found));
            // The block is a box, to which the distance is known.
            let outside = (place.abs() - DVec3::new(0.5, 0.3, 0.4)).max(DVec3::ZERO).length();
            prop_assert!((nearest - outside).abs() < 1e-6, "{nearest} {outside}");
        }
    }
}
