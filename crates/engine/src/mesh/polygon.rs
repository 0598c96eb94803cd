//! Cuts polygons into triangles: convex ones into a fan from their first corner, as most
//! programs do, concave ones by ear clipping in the plane that fits them best.

use glam::{DVec2, DVec3};

/// Ear clipping takes time in the square of the corners, so a polygon with more becomes a fan
/// whatever its shape: no file may keep the loader busy for hours.
const MOST_CLIPPED_CORNERS: usize = 1024;

/// Triangles of a polygon with at least three corners, as numbers of its corners, wound as
/// the polygon is.
pub(super) fn triangulate(corners: &[DVec3]) -> Vec<[usize; 3]> {
    if corners.len() > 3 && corners.len() <= MOST_CLIPPED_CORNERS {
        let flat = flatten(corners);
        if !is_convex(&flat) {
            return clip_ears(&flat);
        }
    }
    (2..corners.len()).map(|last| [0, last - 1, last]).collect()
}

/// The corners in a plane across the polygon's normal, counterclockwise.
fn flatten(corners: &[DVec3]) -> Vec<DVec2> {
    // Newell's normal: fits polygons that are not quite flat. A polygon without area gets
    // any plane; its triangles have no area either way.
    let sides = corners.iter().zip(corners.iter().cycle().skip(1));
    let origin = corners[0];
    let normal: DVec3 = sides.map(|(&from, &to)| (from - origin).cross(to - origin)).sum();
    let (right, up) = normal.try_normalize().unwrap_or(DVec3::Z).any_orthonormal_pair();
    corners.iter().map(|&corner| DVec2::new(corner.dot(right), corner.dot(up))).collect()
}

/// Twice the signed area of a triangle: positive if it turns left.
fn turn(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    (b - a).perp_dot(c - a)
}

fn is_convex(corners: &[DVec2]) -> bool {
    let count = corners.len();
    (0..count).all(|k| turn(corners[k], corners[(k + 1) % count], corners[(k + 2) % count]) >= 0.0)
}

fn clip_ears(corners: &[DVec2]) -> Vec<[usize; 3]> {
    let mut left: Vec<usize> = (0..corners.len()).collect();
    let mut triangles = Vec::with_capacity(corners.len() - 2);
    while left.len() > 3 {
        let count = left.len();
        let around = |k: usize| [left[(k + count - 1) % count], left[k], left[(k + 1) % count]];
        // A polygon that crosses itself may have no ear: then any corner will do.
        let ear = (0..count).find(|&k| is_ear(corners, &left, around(k))).unwrap_or(1);
        triangles.push(around(ear));
        left.remove(ear);
    }
    triangles.push([left[0], left[1], left[2]]);
    triangles
}

/// Whether a corner turns left and no other corner lies in the triangle it would cut off.
fn is_ear(corners: &[DVec2], left: &[usize], ear: [usize; 3]) -> bool {
    let [a, b, c] = ear.map(|k| corners[k]);
    let is_inside = |point: DVec2| {
        turn(a, b, point) >= 0.0 && turn(b, c, point) >= 0.0 && turn(c, a, point) >= 0.0
    };
    turn(a, b, c) > 0.0
        && left.iter().all(|&other| {
            // A corner in the same place as one of the ear's is no obstacle.
            let point = corners[other];
            ear.contains(&other) || [a, b, c].contains(&point) || !is_inside(point)
        })
}

#[cfg(test)]
mod tests {
    //! Contract: n − 2 triangles, wound like the polygon, that cover it once.
    use glam::{DQuat, DVec3};
    use proptest::prelude::*;

    use super::*;

    fn areas(corners: &[DVec3], triangles: &[[usize; 3]]) -> Vec<DVec3> {
        let area = |triangle: &[usize; 3]| {
            let [a, b, c] = triangle.map(|k| corners[k]);
            (b - a).cross(c - a) / 2.0
        };
        triangles.iter().map(area).collect()
    }

    /// All triangles face along `normal` and add up to `area`.
    fn covers(corners: &[DVec3], normal: DVec3, area: f64) {
        let triangles = triangulate(corners);
        assert_eq!(triangles.len(), corners.len() - 2);
        let areas = areas(corners, &triangles);
        assert!(areas.iter().all(|one| one.dot(normal) >= -1e-12), "{areas:?}");
        let total: f64 = areas.iter().map(|one| one.length()).sum();
        assert!((total - area).abs() < 1e-9 * area, "{total} is not {area}");
    }

    fn in_plane(corners: &[[f64; 2]]) -> Vec<DVec3> {
        corners.iter().map(|&[x, y]| DVec3::new(x, y, 0.0)).collect()
    }

    #[test]
    fn convex_polygons_become_fans() {
        let square = in_plane(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert_eq!(triangulate(&square), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn concave_polygons_are_covered_once_from_any_first_corner_and_side() {
        let arrow = in_plane(&[[0.0, 0.0], [2.0, -1.0], [0.5, 0.0], [2.0, 1.0]]);
        let comb = in_plane(&[
            [0.0, 0.0],
            [5.0, 0.0],
            [5.0, 3.0],
            [4.0, 3.0],
            [4.0, 1.0],
            [3.0, 1.0],
            [3.0, 3.0],
            [2.0, 3.0],
            [2.0, 1.0],
            [1.0, 1.0],
            [1.0, 3.0],
            [0.0, 3.0],
        ]);
        for (mut corners, area) in [(arrow, 0.5), (comb, 11.0)] {
            for _ in 0..corners.len() {
                corners.rotate_left(1);
                covers(&corners, DVec3::Z, area);
                let backwards: Vec<DVec3> = corners.iter().rev().copied().collect();
                covers(&backwards, DVec3::NEG_Z, area);
            }
        }
    }

    #[test]
    fn polygons_without_area_or_that_cross_themselves_still_give_triangles() {
        assert_eq!(triangulate(&[DVec3::ZERO; 6]).len(), 4);
        let bow = in_plane(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(triangulate(&bow).len(), 2);
    }

    proptest! {
        /// Stars with random radii, anywhere in space.
        #[test]
        fn stars_are_covered_once(
            radii in proptest::collection::vec(0.1f64..1.0, 4..40),
            axis in proptest::array::uniform3(0.1f64..1.0), angle in 0.0f64..6.0,
        ) {
            let rotation = DQuat::from_axis_angle(DVec3::from(axis).normalize(), angle);
            let step = std::f64::consts::TAU / radii.len() as f64;
            let flat: Vec<DVec3> = radii
                .iter()
                .enumerate()
                .map(|(k, radius)| DVec2::from_angle(k as f64 * step).extend(0.0) * *radius)
                .collect();
            let next = radii.iter().cycle().skip(1);
            let area: f64 = radii.iter().zip(next).map(|(a, b)| a * b * step.sin() / 2.0).sum();
            let corners: Vec<DVec3> = flat.iter().map(|&corner| rotation * corner + 3.0).collect();
            covers(&corners, rotation * DVec3::Z, area);
        }
    }
}
