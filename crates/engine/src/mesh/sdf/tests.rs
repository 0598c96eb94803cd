//! Contract: near the surface the field is the true distance to within a fraction of a cell
//! that depends on how bent the surface is; elsewhere the sign is right and the promises of
//! [`SparseSdf::sample`] hold; what is no closed surface is refused.
use glam::Affine3A;
use proptest::prelude::*;

use super::*;
use crate::mesh::generate;
use crate::mesh::random::SplitMix64;

/// Points all over a box around the mesh, larger than the field.
fn points(mesh: &Mesh, count: usize) -> Vec<Vec3> {
    let bounds = mesh.bounds().unwrap();
    let mut random = SplitMix64::new(5);
    let mut place = || Vec3::from_array(std::array::from_fn(|_| random.next_signed()));
    (0..count).map(|_| bounds.center() + 1.2 * place() * bounds.size()).collect()
}

/// Compares a field with the true distance: up to `error` cells in the band, and as promised
/// elsewhere.
fn compare(mesh: &Mesh, cell: f32, error: f32, truth: impl Fn(Vec3) -> f32) -> SparseSdf {
    let field = SparseSdf::build(mesh, cell).unwrap();
    let mut in_band = 0;
    for point in points(mesh, 40_000) {
        let (distance, gradient) = field.sample(point);
        let exact = truth(point);
        // The mesh is not quite the shape whose distance is known.
        let slack = error * cell;
        if exact.abs() < field.band() {
            in_band += 1;
            assert!((distance - exact).abs() < slack, "{distance} is not {exact} at {point}");
            assert!(gradient.length() < 1.01 * 3f32.sqrt(), "{gradient} at {point}");
        } else if is_in_field(&field, point) {
            assert_eq!(distance > 0.0, exact > 0.0, "{distance} is not {exact} at {point}");
            assert!((distance - exact).abs() < field.coarse_error() + slack, "at {point}");
            assert!(distance.abs() > field.band() - slack, "{distance} at {point}");
        } else {
            assert!(distance > 0.0 && distance < exact + slack, "{distance}, {exact} at {point}");
            assert!((gradient.length() - 1.0).abs() < 1e-5);
        }
    }
    assert!(in_band > 400, "only {in_band} points are near the surface");
    field
}

fn is_in_field(field: &SparseSdf, point: Vec3) -> bool {
    let size = Vec3::from_array(field.block_counts.map(|count| count as f32)) * 8.0 * field.cell;
    let local = point - field.origin;
    local.cmpge(Vec3::ZERO).all() && local.cmple(size).all()
}

fn box_distance(point: Vec3, half: Vec3) -> f32 {
    let beyond = point.abs() - half;
    beyond.max(Vec3::ZERO).length() + beyond.max_element().min(0.0)
}

fn torus_distance(point: Vec3, radius: f32, tube_radius: f32) -> f32 {
    (point.x.hypot(point.z) - radius).hypot(point.y) - tube_radius
}

#[test]
fn a_sphere_is_right_to_a_fiftieth_of_a_cell() {
    let mesh = generate::sphere(1.0, 48).unwrap();
    let field = compare(&mesh, 0.04, 0.02, |point| point.length() - 1.0);
    for point in points(&mesh, 10_000) {
        let (distance, gradient) = field.sample(point);
        if distance.abs() < field.band() {
            assert!(gradient.normalize().dot(point.normalize()) > 0.999, "{gradient} at {point}");
            assert!((gradient.length() - 1.0).abs() < 0.03, "{gradient} at {point}");
        }
    }
}

#[test]
fn a_torus_is_right_to_a_twentieth_of_a_cell() {
    let mesh = generate::torus(1.0, 0.3, 256, 96).unwrap();
    compare(&mesh, 0.03, 0.05, |point| torus_distance(point, 1.0, 0.3));
}

#[test]
fn a_box_is_right_to_half_a_cell_at_its_edges_and_exact_on_its_faces() {
    let half = Vec3::new(0.5, 1.0, 0.75);
    let mesh = generate::box_surface((2.0 * half).to_array(), [3, 2, 4]).unwrap();
    let field = compare(&mesh, 0.05, 0.5, |point| box_distance(point, half));
    for point in points(&mesh, 10_000) {
        let on_face = Vec3::new(0.3 * point.x, 1.0 + 0.03 * point.y, 0.3 * point.z);
        let (distance, gradient) = field.sample(on_face);
        assert!((distance - (on_face.y - 1.0)).abs() < 1e-5, "{distance} at {on_face}");
        assert!((gradient - Vec3::Y).length() < 1e-4, "{gradient} at {on_face}");
    }
}

#[test]
fn a_block_counts_with_its_surface_only() {
    let solid = generate::block([1.0; 3], [2; 3]).unwrap();
    let hollow = generate::box_surface([1.0; 3], [2; 3]).unwrap();
    let [solid, hollow] = [solid, hollow].map(|mesh| SparseSdf::build(&mesh, 0.1).unwrap());
    assert_eq!(solid, hollow);
}

#[test]
fn a_wider_band_is_exact_farther_out() {
    let mesh = generate::sphere(1.0, 32).unwrap();
    let field = SparseSdf::build_with_band(&mesh, 0.05, 0.4).unwrap();
    for point in points(&mesh, 20_000) {
        let exact = point.length() - 1.0;
        if exact.abs() < 0.4 {
            assert!((field.sample(point).0 - exact).abs() < 0.03 * 0.05, "at {point}");
        }
    }
}

#[test]
fn a_surface_that_is_inside_out_is_turned_around() {
    let mut mesh = generate::sphere(1.0, 8).unwrap();
    let outward = SparseSdf::build(&mesh, 0.1).unwrap();
    mesh.flip();
    let inward = SparseSdf::build(&mesh, 0.1).unwrap();
    assert!(inward.was_inside_out() && !outward.was_inside_out());
    assert!(inward.sample(Vec3::ZERO).0 < 0.0);
    assert_eq!(SparseSdf { was_inside_out: false, ..inward }, outward);
}

#[test]
fn a_hollow_shell_has_an_outside_within() {
    let mut shell = generate::sphere(1.0, 12).unwrap();
    let mut hole = generate::sphere(0.5, 12).unwrap();
    hole.flip();
    let count = shell.positions.len() as u32;
    shell.positions.append(&mut hole.positions);
    shell.triangles.extend(hole.triangles.iter().map(|corners| corners.map(|v| v + count)));
    compare(&shell, 0.05, 0.2, |point| (point.length() - 0.75).abs() - 0.25);
}

#[test]
fn place_and_size_do_not_matter() {
    let half = Vec3::new(0.5, 1.0, 0.75);
    for (scale, place) in [(1e-3, Vec3::ZERO), (1e3, Vec3::ZERO), (1.0, Vec3::splat(300.0))] {
        let mut mesh = generate::box_surface((2.0 * half).to_array(), [2; 3]).unwrap();
        mesh.transform(&Affine3A::from_translation(place));
        mesh.scale(scale);
        compare(&mesh, 0.05 * scale, 0.5, |point| {
            scale * box_distance(point / scale - place, half)
        });
    }
}

#[test]
fn triangles_without_area_do_no_harm() {
    let mut mesh = generate::box_surface([1.0; 3], [1; 3]).unwrap();
    // A corner in the middle of a triangle's side, with a flat triangle to close the slit.
    let [a, b, c] = mesh.triangles.swap_remove(0);
    let middle = mesh.positions.len() as u32;
    let [from, to] = [a, b].map(|corner| mesh.positions[corner as usize]);
    mesh.positions.push(0.5 * (from + to));
    mesh.triangles.extend([[a, middle, c], [middle, b, c], [a, b, middle]]);
    assert_eq!(mesh.degenerate_triangles().len(), 1);
    compare(&mesh, 0.05, 0.5, |point| box_distance(point, Vec3::splat(0.5)));
}

#[test]
fn slivers_do_not_turn_samples_inside_out() {
    // Corners next to edges, next to edges, …: triangles whose normals are mostly rounding.
    let mut mesh = generate::box_surface([1.0; 3], [2; 3]).unwrap();
    let mut random = SplitMix64::new(9);
    for _ in 0..2000 {
        let number = (random.next_u64() % mesh.triangles.len() as u64) as usize;
        let [a, b, c] = mesh.triangles[number];
        let [from, to, across] = [a, b, c].map(|corner| mesh.positions[corner as usize]);
        let new = mesh.positions.len() as u32;
        mesh.positions.push(from.lerp(to, random.next_unit()).lerp(across, 1e-4));
        mesh.triangles[number] = [a, b, new];
        mesh.triangles.extend([[b, c, new], [c, a, new]]);
    }
    assert!(mesh.degenerate_triangles().len() > 1000);
    compare(&mesh, 0.05, 0.5, |point| box_distance(point, Vec3::splat(0.5)));
}

#[test]
fn what_is_no_closed_surface_is_refused() {
    let message = |mesh: &Mesh, cell| SparseSdf::build(mesh, cell).unwrap_err().to_string();
    let mut sphere = generate::sphere(1.0, 4).unwrap();
    for cell in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(message(&sphere, cell).contains("signed distance field: `cell` is"));
    }
    assert!(message(&Mesh::default(), 0.1).contains("not closed"));
    let cloth = generate::grid([3, 3], [1.0; 2], Default::default(), 0).unwrap();
    assert!(message(&cloth, 0.1).contains("8 edges have one triangle only"));
    sphere.triangles[7].swap(0, 1);
    assert!(message(&sphere, 0.1).contains("3 edges lie between triangles that face opposite"));
    let mut flat = generate::sphere(1.0, 4).unwrap();
    flat.positions.iter_mut().for_each(|position| position.y = 0.0);
    assert!(message(&flat, 0.1).contains("encloses no volume"));
}

#[test]
fn a_cell_that_is_too_small_is_refused_with_one_that_would_do() {
    let refused = |mesh: &Mesh, cell| match SparseSdf::build(mesh, cell).unwrap_err() {
        MeshError::CellTooSmall { enough, .. } => enough,
        error => panic!("{error}"),
    };
    let sphere = generate::sphere(1.0, 4).unwrap();
    let error = SparseSdf::build(&sphere, 1e-6).unwrap_err();
    assert!(error.to_string().starts_with("a cell of 0.000001 m makes"), "{error}");
    // A million blocks of 8 cells are 812 cells along each side.
    assert!((0.0025..0.003).contains(&refused(&sphere, 1e-6)));
    // A plate needs few blocks, but all of them have samples.
    let plate = generate::box_surface([1.0, 1.0, 1e-3], [1; 3]).unwrap();
    assert!((0.0005..0.001).contains(&refused(&plate, 1.0 / 2400.0)));
}

#[test]
fn samples_of_places_that_are_no_numbers_do_not_panic() {
    let field = SparseSdf::build(&generate::sphere(1.0, 4).unwrap(), 0.1).unwrap();
    assert!(field.sample(Vec3::NAN).0.is_nan() || field.sample(Vec3::NAN).0 >= 0.0);
    assert!(field.sample(Vec3::INFINITY).0 > 1e30);
    assert!(field.sample(Vec3::splat(f32::MAX)).0 > 1e30);
}

proptest! {
    /// The gradient is that of the interpolant, and the interpolant of a linear function is it.
    #[test]
    fn linear_functions_are_interpolated_exactly(
        slope in proptest::array::uniform3(-2.0f32..2.0), at in proptest::array::uniform3(0.0f32..1.0),
    ) {
        let [slope, at] = [Vec3::from(slope), Vec3::from(at)];
        let corners = std::array::from_fn(|k| slope.dot(Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32)));
        let (value, gradient) = trilinear(corners, at);
        prop_assert!((value - slope.dot(at)).abs() < 1e-5);
        prop_assert!((gradient - slope).length() < 1e-5);
    }

    #[test]
    fn gradients_match_differences(
        corners in proptest::array::uniform8(-1.0f32..1.0), at in proptest::array::uniform3(0.1f32..0.9),
    ) {
        let at = Vec3::from(at);
        let (_, gradient) = trilinear(corners, at);
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let step = 0.05 * axis;
            let difference = trilinear(corners, at + step).0 - trilinear(corners, at - step).0;
            prop_assert!((difference / 0.1 - gradient.dot(axis)).abs() < 1e-4);
        }
    }
}
