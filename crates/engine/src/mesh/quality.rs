//! How well-shaped tetrahedra are.

use glam::DVec3;

use super::Mesh;

/// Dihedral angles of tetrahedra: between each two faces, inside.
///
/// Small ones make a solid stiff where it should not be, large ones make it lose its shape; a
/// regular tetrahedron has 70.5° everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct TetrahedraQuality {
    /// Smallest angle, degrees.
    pub smallest: f64,
    /// Largest angle, degrees.
    pub largest: f64,
    /// Mean of all angles, degrees.
    pub mean: f64,
    /// How many angles there are in each ten degrees, from 0 to 180.
    pub histogram: [usize; 18],
}

impl TetrahedraQuality {
    /// Measures all tetrahedra of a mesh; `None` if it has none.
    #[must_use]
    pub fn of(mesh: &Mesh) -> Option<Self> {
        let none = Self { smallest: 180.0, largest: 0.0, mean: 0.0, histogram: [0; 18] };
        let angles = mesh.tetrahedra.iter().flat_map(|&corners| angles(mesh.corners(corners)));
        let mut quality = angles.fold(none, |mut quality, angle| {
            quality.smallest = quality.smallest.min(angle);
            quality.largest = quality.largest.max(angle);
            quality.mean += angle;
            quality.histogram[((angle / 10.0) as usize).min(17)] += 1;
            quality
        });
        quality.mean /= 6.0 * mesh.tetrahedra.len() as f64;
        (!mesh.tetrahedra.is_empty()).then_some(quality)
    }
}

/// The six dihedral angles of a tetrahedron, degrees: at the edge from a to b, between the
/// directions to c and d across it.
fn angles([a, b, c, d]: [DVec3; 4]) -> [f64; 6] {
    let edges =
        [[a, b, c, d], [a, c, b, d], [a, d, b, c], [b, c, a, d], [b, d, a, c], [c, d, a, b]];
    edges.map(|[from, to, left, right]| {
        let edge = to - from;
        let [left, right] = [left, right].map(|corner| edge.cross(corner - from));
        left.cross(right).length().atan2(left.dot(right)).to_degrees()
    })
}

#[cfg(test)]
mod tests {
    //! Contract: known angles of known tetrahedra, each counted once.
    use glam::Vec3;

    use super::*;

    #[test]
    fn a_regular_tetrahedron_and_the_corner_of_a_cube() {
        let [regular, corner] = [
            [[1.0, 1.0, 1.0], [-1.0, 1.0, -1.0], [1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]],
            [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        ];
        let measure = |places: [[f32; 3]; 4]| {
            let positions = places.map(Vec3::from).to_vec();
            let mesh = Mesh { positions, tetrahedra: vec![[0, 1, 2, 3]], ..Mesh::default() };
            TetrahedraQuality::of(&mesh).unwrap()
        };
        let regular = measure(regular);
        let expected = (1.0f64 / 3.0).acos().to_degrees();
        for angle in [regular.smallest, regular.largest, regular.mean] {
            assert!((angle - expected).abs() < 1e-9, "{angle}");
        }
        assert_eq!((regular.histogram[7], regular.histogram.iter().sum::<usize>()), (6, 6));
        let corner = measure(corner);
        assert!((corner.smallest - (1.0 / 3f64.sqrt()).acos().to_degrees()).abs() < 1e-9);
        assert!((corner.largest - 90.0).abs() < 1e-9);
        assert_eq!(TetrahedraQuality::of(&Mesh::default()), None);
    }
}
