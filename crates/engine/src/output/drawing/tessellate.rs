//! Triangles for forms that collisions know only as signed distances.

use std::f32::consts::{PI, TAU};

use glam::Vec3;

use crate::collide::Form;
use crate::mesh::Mesh;

/// Vertices around a circle.
const AROUND: usize = 64;
/// Vertices along a quarter of a circle.
const QUARTER: usize = 16;

/// The surface of a form around its own origin; of a plane, a square that reaches so far. A mesh that
/// is only known as a field of distances has none: scenes keep their meshes.
pub(super) fn tessellate(form: &Form, reach: f32) -> Mesh {
    let mut mesh = Mesh::default();
    match *form {
        Form::Plane => {
            square(&mut mesh, Vec3::ZERO, Vec3::Z * reach, Vec3::X * reach);
        }
        Form::Sphere(radius) => capsule(&mut mesh, radius, 0.0),
        Form::Box(half) => cuboid(&mut mesh, half.into()),
        Form::Capsule { radius, half_length } => capsule(&mut mesh, radius, half_length),
        Form::Tube { radius, half_length } => {
            // Each end and the side for itself: the edges between them are sharp.
            lathe(&mut mesh, &[[-half_length, 0.0], [-half_length, radius]]);
            lathe(&mut mesh, &[[-half_length, radius], [half_length, radius]]);
            lathe(&mut mesh, &[[half_length, radius], [half_length, 0.0]]);
        }
        Form::Torus { radius, tube_radius } => torus(&mut mesh, radius, tube_radius),
        Form::Field(_) => {}
    }
    mesh
}

/// A parallelogram around `center`; its front faces along `right` × `up`.
fn square(mesh: &mut Mesh, center: Vec3, right: Vec3, up: Vec3) {
    let first = mesh.positions.len() as u32;
    let corners = [-right - up, right - up, right + up, up - right];
    mesh.positions.extend(corners.map(|corner| center + corner));
    mesh.triangles.extend([[0, 1, 2], [0, 2, 3]].map(|corners| corners.map(|id| id + first)));
}

fn cuboid(mesh: &mut Mesh, half: Vec3) {
    for axis in 0..3 {
        for side in [-1.0, 1.0] {
            let along = |axis: usize| Vec3::AXES[axis % 3] * half[axis % 3];
            // Swapping the two other axes turns the front to the other side.
            let [right, up] = if side > 0.0 { [axis + 1, axis + 2] } else { [axis + 2, axis + 1] };
            square(mesh, along(axis) * side, along(right), along(up));
        }
    }
}

/// A cylinder along x with round ends; without length it is a ball.
fn capsule(mesh: &mut Mesh, radius: f32, half_length: f32) {
    let arc = |step: usize, center: f32| {
        let angle = PI * step as f32 / (2 * QUARTER) as f32;
        // Poles are on the axis to the last bit, so that no triangle there has an area.
        let across = if step.is_multiple_of(2 * QUARTER) { 0.0 } else { angle.sin() };
        [center - radius * angle.cos(), radius * across]
    };
    let mut profile: Vec<_> = (0..=QUARTER).map(|step| arc(step, -half_length)).collect();
    let skipped = usize::from(half_length <= 0.0);
    profile.extend((QUARTER + skipped..=2 * QUARTER).map(|step| arc(step, half_length)));
    lathe(mesh, &profile);
}

/// Turns a line of points, each x and the distance from the x axis, around that axis. Outside is on
/// the left of the line.
fn lathe(mesh: &mut Mesh, profile: &[[f32; 2]]) {
    let rings = profile.len();
    wrapped(mesh, rings, false, |ring, around| {
        let [x, across] = profile[ring];
        let (sine, cosine) = turn(around);
        Vec3::new(x, across * cosine, across * sine)
    });
}

fn torus(mesh: &mut Mesh, radius: f32, tube_radius: f32) {
    wrapped(mesh, AROUND, true, |ring, around| {
        let (sine, cosine) = turn(ring);
        let (up, out) = turn(around);
        let across = radius + tube_radius * out;
        Vec3::new(across * cosine, tube_radius * up, across * sine)
    });
}

fn turn(step: usize) -> (f32, f32) {
    (TAU * step as f32 / AROUND as f32).sin_cos()
}

/// Rings of [`AROUND`] vertices each with triangles between neighbors, the last and the first ring
/// among them if `closed`. Triangles without area, as at poles, are left out.
fn wrapped(mesh: &mut Mesh, rings: usize, closed: bool, place: impl Fn(usize, usize) -> Vec3) {
    let first = mesh.positions.len();
    let each = (0..rings).flat_map(|ring| (0..AROUND).map(move |around| (ring, around)));
    mesh.positions.extend(each.map(|(ring, around)| place(ring, around)));
    let id = |ring: usize, around: usize| (first + ring % rings * AROUND + around % AROUND) as u32;
    for ring in 0..if closed { rings } else { rings - 1 } {
        for around in 0..AROUND {
            let [a, b] = [id(ring, around), id(ring, around + 1)];
            let [c, d] = [id(ring + 1, around), id(ring + 1, around + 1)];
            for corners in [[a, b, c], [b, d, c]] {
                let [p, q, r] = corners.map(|corner| mesh.positions[corner as usize]);
                if (q - p).cross(r - p) != Vec3::ZERO {
                    mesh.triangles.push(corners);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: vertices lie on the surface that things collide with, triangles face outward and
    //! leave no hole.

    use super::*;
    use crate::math;

    fn closed_forms() -> [(Form, f64); 5] {
        let (pi, r, h, t) = (std::f64::consts::PI, 0.4, 0.7, 0.15);
        let round = 4.0 / 3.0 * pi * r * r * r;
        let straight = pi * r * r * 2.0 * h;
        [
            (Form::Sphere(0.4), round),
            (Form::Box([0.3, 0.5, 0.9]), 8.0 * 0.3 * 0.5 * 0.9),
            (Form::Capsule { radius: 0.4, half_length: 0.7 }, round + straight),
            (Form::Tube { radius: 0.4, half_length: 0.7 }, straight),
            (Form::Torus { radius: 0.4, tube_radius: 0.15 }, 2.0 * pi * pi * r * t * t),
        ]
    }

    #[test]
    fn vertices_are_on_the_surface() {
        for (form, _) in closed_forms() {
            for vertex in tessellate(&form, 1.0).positions {
                let (distance, _) = form.distance(math::Vec3::<f32>::splat(vertex.to_array()));
                assert!(distance.abs() < 1e-6, "{form:?} {vertex}: {distance}");
            }
        }
    }

    #[test]
    fn the_volume_inside_is_the_forms() {
        // A hole or a triangle that faces inward would take away from it.
        for (form, volume) in closed_forms() {
            let mesh = tessellate(&form, 1.0);
            mesh.check().unwrap();
            let share = mesh.volume() / volume;
            assert!((0.985..1.000_001).contains(&share), "{form:?}: {share} of its volume");
        }
    }

    #[test]
    fn planes_face_up_and_reach_far() {
        let mesh = tessellate(&Form::Plane, 3.0);
        assert_eq!(mesh.bounds().unwrap().size(), Vec3::new(6.0, 0.0, 6.0));
        for corners in mesh.triangles {
            let [a, b, c] = corners.map(|corner| mesh.positions[corner as usize]);
            assert!((b - a).cross(c - a).y > 0.0);
        }
    }
}
