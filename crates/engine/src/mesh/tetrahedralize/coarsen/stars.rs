//! Tetrahedra by the vertices that they meet at, and how they change where an edge collapses.

use glam::{DVec3, Vec3};

use crate::mesh::Mesh;

/// Cosines of 160° and 12°: no dihedral angle beyond these is made.
const COSINES: [f64; 2] = [-0.939_692_620_785_908_4, 0.978_147_600_733_805_7];

/// In place of the corners of a tetrahedron that is gone.
const GONE: [u32; 4] = [u32::MAX; 4];

/// The cosines of the largest and of the smallest dihedral angle of some tetrahedra.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    least: f64,
    most: f64,
}

impl Shape {
    /// Of no tetrahedron.
    const BEST: Self = Self { least: 1.0, most: -1.0 };

    /// Of one tetrahedron; `None` if it is flat or inside out.
    fn of([a, b, c, d]: [DVec3; 4]) -> Option<Self> {
        let [ab, ac, ad] = [b - a, c - a, d - a];
        let normals = [(c - b).cross(d - b), ad.cross(ac), ab.cross(ad), ac.cross(ab)];
        // The first of them faces away from a.
        if normals[0].dot(ab) <= 0.0 {
            return None;
        }
        let normals = normals.map(DVec3::normalize_or_zero);
        let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let cosines = pairs.map(|[i, j]| -normals[i].dot(normals[j]));
        let shape = Self { least: cosines[0], most: cosines[0] };
        Some(cosines.iter().fold(shape, |shape, &cosine| Self {
            least: shape.least.min(cosine),
            most: shape.most.max(cosine),
        }))
    }

    fn and(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// Up to 1 where all angles are within bounds.
    pub(super) fn badness(self) -> f64 {
        (self.most / COSINES[1]).max(self.least / COSINES[0])
    }

    /// Whether these are better than others, and not by a small angle that is out of bounds in exchange for
    /// a large one.
    fn improves(self, other: Self) -> bool {
        self.badness() < other.badness()
            && self.least >= other.least.min(COSINES[0])
            && self.most <= other.most.max(COSINES[1])
    }
}

/// The tetrahedra of a solid.
pub(super) struct Stars {
    places: Vec<DVec3>,
    tetrahedra: Vec<[u32; 4]>,
    /// Those at each vertex.
    stars: Vec<Vec<u32>>,
    /// When each vertex was last met by a search for neighbors, and how many there have been.
    met: Vec<u32>,
    searches: u32,
}

impl Stars {
    pub(super) fn new(mesh: &Mesh) -> Self {
        let mut stars = vec![Vec::new(); mesh.positions.len()];
        for (number, corners) in (0u32..).zip(&mesh.tetrahedra) {
            corners.iter().for_each(|&corner| stars[corner as usize].push(number));
        }
        let places = mesh.positions.iter().map(|place| place.as_dvec3()).collect();
        let met = vec![0; mesh.positions.len()];
        Self { places, tetrahedra: mesh.tetrahedra.clone(), stars, met, searches: 0 }
    }

    /// Positions, and the tetrahedra that are left.
    pub(super) fn into_parts(mut self) -> (Vec<Vec3>, Vec<[u32; 4]>) {
        self.tetrahedra.retain(|corners| *corners != GONE);
        (self.places.iter().map(|place| place.as_vec3()).collect(), self.tetrahedra)
    }

    pub(super) fn place(&self, vertex: u32) -> DVec3 {
        self.places[vertex as usize]
    }

    pub(super) fn is_gone(&self, vertex: u32) -> bool {
        self.stars[vertex as usize].is_empty()
    }

    /// Corners of the tetrahedra at a vertex.
    fn around(&self, vertex: u32) -> impl Iterator<Item = [u32; 4]> {
        self.stars[vertex as usize].iter().map(|&number| self.tetrahedra[number as usize])
    }

    /// Replaces `found` by the vertices that share an edge with a vertex.
    pub(super) fn neighbors(&mut self, vertex: u32, found: &mut Vec<u32>) {
        found.clear();
        let search = self.next_search();
        self.met[vertex as usize] = search;
        self.meet(vertex, search, found);
    }

    /// Appends the corners of the tetrahedra at a vertex that a search has not met yet.
    fn meet(&mut self, vertex: u32, search: u32, found: &mut Vec<u32>) {
        for &number in &self.stars[vertex as usize] {
            for corner in self.tetrahedra[number as usize] {
                if self.met[corner as usize] != search {
                    self.met[corner as usize] = search;
                    found.push(corner);
                }
            }
        }
    }

    fn next_search(&mut self) -> u32 {
        if self.searches == u32::MAX {
            self.searches = 0;
            self.met.fill(0);
        }
        self.searches += 1;
        self.searches
    }

    fn shape(&self, corners: [u32; 4]) -> Option<Shape> {
        Shape::of(corners.map(|corner| self.place(corner)))
    }

    /// The shape of the tetrahedra that change when one end of an edge moves onto the other; `None`
    /// if one of them would be flat, inside out or have a bad angle, if the solid would tear, or if
    /// `may_join` does not want one of the other corners to be joined to `kept`.
    ///
    /// `gone` must not be on the surface: then the tetrahedra around it fill a ball, and new ones
    /// that all face the right way fill the same.
    pub(super) fn shape_after(
        &self,
        gone: u32,
        kept: u32,
        may_join: impl Fn(u32) -> bool,
    ) -> Option<Shape> {
        let mut all = Shape::BEST;
        for corners in self.around(gone).filter(|corners| !corners.contains(&kept)) {
            let shape = self.shape(moved(corners, gone, kept))?;
            let is_wanted = |&corner: &u32| corner == gone || may_join(corner);
            if shape.badness() > 1.0 || !corners.iter().all(is_wanted) {
                return None;
            }
            all = all.and(shape);
        }
        self.links_agree(gone, kept).then_some(all)
    }

    /// Whether what both ends of an edge are joined with is what the edge itself is joined with: else
    /// two edges, or two triangles, would become one.
    fn links_agree(&self, gone: u32, kept: u32) -> bool {
        let mut sides = Vec::with_capacity(8);
        for corners in self.around(gone).filter(|corners| corners.contains(&kept)) {
            let mut side = [u32::MAX; 2];
            let ends = corners.into_iter().filter(|&corner| corner != gone && corner != kept);
            side.iter_mut().zip(ends).for_each(|(end, corner)| *end = corner);
            sides.push(ascending(side[0], side[1]));
        }
        // Edges across from `gone` that are not across from both, but both of whose ends are.
        let is_shared = |vertex: u32| sides.iter().any(|side| side.contains(&vertex));
        let mut doubtful = Vec::new();
        let mut others = Vec::with_capacity(32);
        for corners in self.around(gone).filter(|corners| !corners.contains(&kept)) {
            let is_shared = corners.map(|corner| corner != gone && is_shared(corner));
            for j in 0..4 {
                let across = (0..j).map(|i| [i, j]).filter(|&[i, j]| is_shared[i] && is_shared[j]);
                let across = across.map(|[i, j]| ascending(corners[i], corners[j]));
                doubtful.extend(across.filter(|side| !sides.contains(side)));
                if corners[j] != gone && !is_shared[j] {
                    others.push(corners[j]);
                }
            }
        }
        others.sort_unstable();
        self.around(kept).all(|corners| {
            let is_apart = |corner: &u32| others.binary_search(corner).is_err();
            let has = |side: &[u32; 2]| side.iter().all(|end| corners.contains(end));
            corners.iter().all(is_apart) && !doubtful.iter().any(has)
        })
    }

    /// Moves `gone` onto `kept`; `new` becomes what that joins to `kept`.
    pub(super) fn collapse(&mut self, gone: u32, kept: u32, new: &mut Vec<u32>) {
        self.neighbors(kept, new);
        new.clear();
        self.meet(gone, self.searches, new);
        for number in std::mem::take(&mut self.stars[gone as usize]) {
            let corners = self.tetrahedra[number as usize];
            if corners.contains(&kept) {
                for corner in corners {
                    self.stars[corner as usize].retain(|&other| other != number);
                }
                self.tetrahedra[number as usize] = GONE;
            } else {
                self.tetrahedra[number as usize] = moved(corners, gone, kept);
                self.stars[kept as usize].push(number);
            }
        }
    }

    /// Moves a vertex toward the center of the tetrahedra around it, if that makes the worst of them
    /// better; whether it did.
    pub(super) fn improve(&mut self, vertex: u32) -> bool {
        let before = self.place(vertex);
        let Some(shape) = self.star_shape(vertex) else { return false };
        let (mut center, mut volume) = (DVec3::ZERO, 0.0);
        for corners in self.around(vertex) {
            let [a, b, c, d] = corners.map(|corner| self.place(corner));
            let six = (b - a).cross(c - a).dot(d - a);
            center += six * 0.25 * (a + b + c + d);
            volume += six;
        }
        for share in [1.0, 0.5] {
            let target = before.lerp(center / volume, share);
            // Where it can be stored.
            self.places[vertex as usize] = target.as_vec3().as_dvec3();
            let after = self.star_shape(vertex);
            if after.is_some_and(|after| after.improves(shape)) {
                return true;
            }
        }
        self.places[vertex as usize] = before;
        false
    }

    /// `None` without tetrahedra, or if one is flat or inside out.
    fn star_shape(&self, vertex: u32) -> Option<Shape> {
        let shapes = self.around(vertex).map(|corners| self.shape(corners));
        shapes.reduce(|all, one| Some(all?.and(one?))).flatten()
    }
}

fn moved(corners: [u32; 4], gone: u32, kept: u32) -> [u32; 4] {
    corners.map(|corner| if corner == gone { kept } else { corner })
}

fn ascending(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

#[cfg(test)]
mod tests {
    //! Contract: an edge collapses only where nothing else grows together.
    use super::*;

    fn stars(places: &[[f32; 3]], tetrahedra: &[[u32; 4]]) -> Stars {
        let positions = places.iter().map(|&place| Vec3::from(place)).collect();
        let mut mesh = Mesh { positions, tetrahedra: tetrahedra.to_vec(), ..Mesh::default() };
        for corners in &mut mesh.tetrahedra {
            let [a, b, c, d] = corners.map(|corner| mesh.positions[corner as usize]);
            if (b - a).cross(c - a).dot(d - a) < 0.0 {
                corners.swap(2, 3);
            }
        }
        mesh.check().unwrap();
        Stars::new(&mesh)
    }

    #[test]
    fn edges_that_would_become_one_stay_apart() {
        // Eight tetrahedra around 0; then one that joins 1 and 2 elsewhere.
        let mut places = vec![[0.0; 3]];
        places.extend([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]);
        places.extend([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 5.0, 0.0], [0.0, 5.0, 5.0]]);
        let mut tetrahedra = Vec::new();
        for [x, y, z] in [0, 1, 2, 3, 4, 5, 6, 7].map(|k| [k & 1, k >> 1 & 1, k >> 2]) {
            tetrahedra.push([0, 1 + x, 3 + y, 5 + z]);
        }
        assert!(stars(&places, &tetrahedra).shape_after(0, 1, |_| true).is_some());
        assert!(stars(&places, &tetrahedra).shape_after(0, 1, |other| other != 4).is_none());
        tetrahedra.push([1, 2, 7, 8]);
        assert!(stars(&places, &tetrahedra).shape_after(0, 1, |_| true).is_none());
        assert!(stars(&places, &tetrahedra).shape_after(0, 3, |_| true).is_some());
    }

    #[test]
    fn triangles_that_would_become_one_stay_apart() {
        // Four tetrahedra around the edge from 0 to 1, and two that share the edge from 2 to 3.
        let mut places = vec![[0.0, 0.0, 0.3], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]];
        places.extend([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0], [0.0, 5.0, 0.0]]);
        let mut tetrahedra = vec![
            [0, 1, 2, 4],
            [0, 1, 4, 3],
            [0, 1, 3, 5],
            [0, 1, 5, 2],
            [0, 2, 3, 4],
            [0, 2, 3, 5],
        ];
        assert!(stars(&places, &tetrahedra).shape_after(0, 1, |_| true).is_some());
        tetrahedra.push([1, 2, 3, 6]);
        assert!(stars(&places, &tetrahedra).shape_after(0, 1, |_| true).is_none());
    }

    #[test]
    fn a_collapse_keeps_the_volume_and_tells_what_is_new() {
        let places = [[0.0, 0.0, 0.3], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]];
        let places = [&places[..], &[[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]]].concat();
        let around =
            [[0, 1, 2, 4], [0, 1, 4, 3], [0, 1, 3, 5], [0, 1, 5, 2], [0, 2, 3, 4], [0, 2, 3, 5]];
        let mut stars = stars(&places, &around);
        let mut new = vec![7];
        stars.collapse(0, 4, &mut new);
        assert_eq!(new, [5]);
        assert!(stars.is_gone(0) && !stars.is_gone(4));
        let (positions, tetrahedra) = stars.into_parts();
        assert!(tetrahedra.iter().all(|corners| corners.contains(&4) && !corners.contains(&0)));
        let mesh = Mesh { positions, tetrahedra, ..Mesh::default() };
        assert!((mesh.volume() - 2.0 / 3.0).abs() < 1e-6, "{}", mesh.volume());
    }
}
