//! Where the copies of a body start: deform, then scale, rotate, repeat and move.

use glam::{Affine3A, Quat, Vec3};

use super::file::{Body, Repeat};
use crate::mesh::Mesh;
use crate::mesh::random::SplitMix64;

/// Degrees about x, then about y, then about z (fixed axes), as a quaternion.
#[must_use]
pub fn rotation(degrees: [f32; 3]) -> Quat {
    let [x, y, z] = degrees.map(f32::to_radians);
    Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x)
}

/// For each copy of a body, the transform that puts its rest shape into the world.
///
/// Copies are counted along x first, then y, then z. The randomness of a copy follows from
/// the seed and its place in this order.
pub fn instances(body: &Body) -> impl Iterator<Item = Affine3A> + '_ {
    let transform = &body.transform;
    let position = Vec3::from(transform.position);
    let turned = rotation(transform.rotation);
    let once =
        Repeat { count: [1; 3], spacing: [0.0; 3], jitter: 0.0, jitter_rotation: 0.0, seed: 0 };
    let repeat = body.repeat.clone().unwrap_or(once);
    let mut random = SplitMix64::new(repeat.seed);
    grid_places(repeat.count).map(move |place| {
        let shift = place * Vec3::from(repeat.spacing) + repeat.jitter * signed(&mut random);
        let turn = rotation((repeat.jitter_rotation * signed(&mut random)).to_array());
        Affine3A::from_scale_rotation_translation(
            Vec3::splat(transform.scale),
            turn * turned,
            position + shift,
        )
    })
}

/// The positions of a body's mesh at the start, for one of its [`instances`].
///
/// `deform` scales along the body's own axes, about the mean of its vertices.
#[must_use]
pub fn start_positions(body: &Body, mesh: &Mesh, instance: &Affine3A) -> Vec<Vec3> {
    let factors = Vec3::from(body.deform.unwrap_or([1.0; 3]));
    let center = mean(&mesh.positions);
    let deformed = |position: &Vec3| center + factors * (*position - center);
    let keep = body.deform.is_none();
    let start = |position: &Vec3| if keep { *position } else { deformed(position) };
    mesh.positions.iter().map(|position| instance.transform_point3(start(position))).collect()
}

fn mean(positions: &[Vec3]) -> Vec3 {
    let sum: glam::DVec3 = positions.iter().map(|position| position.as_dvec3()).sum();
    (sum / positions.len().max(1) as f64).as_vec3()
}

fn grid_places(count: [u32; 3]) -> impl Iterator<Item = Vec3> {
    let [columns, rows, layers] = count;
    (0..layers).flat_map(move |z| {
        (0..rows)
            .flat_map(move |y| (0..columns).map(move |x| Vec3::new(x as f32, y as f32, z as f32)))
    })
}

fn signed(random: &mut SplitMix64) -> Vec3 {
    Vec3::new(random.next_signed(), random.next_signed(), random.next_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(toml: &str) -> Body {
        let text =
            format!("name = \"b\"\nmesh.grid = {{ particles = [2, 2], size = [2, 2] }}\n{toml}");
        toml::from_str(&text).unwrap()
    }

    fn square() -> Mesh {
        crate::mesh::generate::grid([2, 2], [2.0, 2.0], Default::default(), 0).unwrap()
    }

    #[test]
    fn rotations_are_about_fixed_axes_in_the_order_x_y_z() {
        // z goes to -y about x; y is not touched about y; -y goes to x about z.
        let turned = rotation([90.0, 0.0, 90.0]) * Vec3::Z;
        assert!(turned.abs_diff_eq(Vec3::X, 1e-6), "{turned}");
        let turned = rotation([0.0, 90.0, 0.0]) * Vec3::Z;
        assert!(turned.abs_diff_eq(Vec3::X, 1e-6), "{turned}");
    }

    #[test]
    fn copies_are_counted_along_x_then_y_then_z() {
        let body = body(
            "transform.position = [10, 0, 0]\nrepeat = { count = [2, 2, 1], spacing = [1, 3, 5] }",
        );
        let places: Vec<_> =
            instances(&body).map(|instance| Vec3::from(instance.translation)).collect();
        let expected = [[10.0, 0.0, 0.0], [11.0, 0.0, 0.0], [10.0, 3.0, 0.0], [11.0, 3.0, 0.0]];
        assert_eq!(places, expected.map(Vec3::from));
    }

    #[test]
    fn jitter_stays_in_its_bounds_and_follows_the_seed() {
        let jittered = |seed: u32| {
            let repeat = format!(
                "repeat = {{ count = [9, 9, 9], spacing = [0, 0, 0], jitter = 0.5, seed = {seed} }}"
            );
            instances(&body(&repeat))
                .map(|instance| Vec3::from(instance.translation))
                .collect::<Vec<_>>()
        };
        assert_eq!(jittered(1), jittered(1));
        assert_ne!(jittered(1), jittered(2));
        let farthest =
            jittered(1).into_iter().map(|place| place.abs().max_element()).fold(0.0, f32::max);
        assert!((0.4..=0.5).contains(&farthest), "{farthest}");
    }

    #[test]
    fn deform_changes_the_start_along_the_own_axes_about_the_center() {
        let transform = "{ rotation = [0, 90, 0], position = [0, 7, 0], scale = 2 }";
        let body = body(&format!("deform = [3, 1, 1]\ntransform = {transform}"));
        let instance = instances(&body).next().unwrap();
        let start = start_positions(&body, &square(), &instance);
        let rest: Vec<_> = square()
            .positions
            .iter()
            .map(|position| instance.transform_point3(*position))
            .collect();
        for (start, rest) in start.iter().zip(&rest) {
            // The own x axis points along −z of the world after the turn.
            assert!(
                start.abs_diff_eq(Vec3::new(rest.x, 7.0, 3.0 * rest.z), 1e-5),
                "{start} {rest}"
            );
            assert!((rest.x.abs() - 2.0).abs() < 1e-5, "the scale changes the rest shape, {rest}");
        }
    }
}
