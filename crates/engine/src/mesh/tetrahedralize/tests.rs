//! Contract: whatever the shape, tetrahedra are positively oriented and fit face to face, the
//! boundary is a closed manifold that faces outward, no vertex is unused; angles keep the
//! bounds of the paper; the volume is right; the same input gives the same bits.
use proptest::prelude::*;

use super::*;
use crate::mesh::random::SplitMix64;
use crate::mesh::{TetrahedraQuality, Topology, generate};

/// The bounds of [Labelle and Shewchuk 2007], degrees.
const ANGLES: [f64; 2] = [10.7, 164.8];

pub(super) fn cube(half: f32) -> Bounds {
    Bounds { min: Vec3::splat(-half), max: Vec3::splat(half) }
}

/// Everything that holds for every shape.
pub(super) fn check(mesh: &Mesh) {
    mesh.check().unwrap();
    let faces = super::super::boundary::sorted_faces(&mesh.tetrahedra);
    let shared = faces.chunk_by(|left, right| left.sorted == right.sorted);
    assert!(shared.into_iter().all(|faces| faces.len() <= 2), "a face of three tetrahedra");
    let topology = Topology::new(mesh).unwrap();
    assert!(topology.is_closed() && topology.is_oriented());
    let mut is_used = vec![false; mesh.positions.len()];
    mesh.tetrahedra.as_flattened().iter().for_each(|&vertex| is_used[vertex as usize] = true);
    assert!(is_used.iter().all(|&is_used| is_used));
    let surface = Mesh { tetrahedra: Vec::new(), ..mesh.clone() };
    let difference = surface.volume() - mesh.volume();
    assert!(difference.abs() < 1e-4 * mesh.volume(), "the surface does not bound the tetrahedra");
    // Every edge of a solid without loose surface is one of a tetrahedron: Euler's formula.
    let [vertices, edges] = [mesh.positions.len(), topology.edges.len()];
    let inner_and_outer = (4 * mesh.tetrahedra.len() + mesh.triangles.len()) / 2;
    let euler =
        vertices as i64 - edges as i64 + inner_and_outer as i64 - mesh.tetrahedra.len() as i64;
    assert_eq!(2 * euler, topology.euler_characteristic, "a vertex where surfaces touch");
}

pub(super) fn random_vector(random: &mut SplitMix64) -> Vec3 {
    Vec3::new(random.next_signed(), random.next_signed(), random.next_signed())
}

#[test]
fn balls_anywhere_keep_the_papers_angles_and_their_volume() {
    let mut random = SplitMix64::new(1);
    for _ in 0..40 {
        let center = random_vector(&mut random);
        let radius = 2.0 + random.next_unit();
        let ball = |place: Vec3| (place - center).length() - radius;
        let mesh = tetrahedralize(ball, &cube(4.0), 0.6).unwrap();
        check(&mesh);
        let quality = TetrahedraQuality::of(&mesh).unwrap();
        assert!(quality.smallest > ANGLES[0] && quality.largest < ANGLES[1], "{quality:?}");
        assert!((60.0..80.0).contains(&quality.mean), "{quality:?}");
        let volume = 4.0 / 3.0 * std::f64::consts::PI * f64::from(radius).powi(3);
        assert!((0.97..1.0).contains(&(mesh.volume() / volume)), "{}", mesh.volume() / volume);
        for triangle in &mesh.triangles {
            for &corner in triangle {
                assert!(ball(mesh.positions[corner as usize]).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn a_cut_through_the_lattice_at_any_angle_keeps_the_papers_angles() {
    let mut random = SplitMix64::new(2);
    for _ in 0..60 {
        let normal = random_vector(&mut random).normalize();
        let offset = random.next_signed();
        let half_space = |place: Vec3| place.dot(normal) - offset;
        let mut mesh = tetrahedralize(half_space, &cube(4.0), 1.0).unwrap();
        // The box that bounds it has corners, which are not smooth.
        let places = mesh.positions.clone();
        let is_near = |&corner: &u32| places[corner as usize].abs().max_element() < 3.0;
        mesh.tetrahedra.retain(|corners| corners.iter().all(is_near));
        let quality = TetrahedraQuality::of(&mesh).unwrap();
        assert!(quality.smallest > ANGLES[0] && quality.largest < ANGLES[1], "{quality:?}");
    }
}

#[test]
fn what_lies_outside_the_bounds_is_cut_off() {
    let mesh = tetrahedralize(|_| -1.0, &cube(1.0), 0.25).unwrap();
    check(&mesh);
    assert!((mesh.volume() - 8.0).abs() < 1e-3, "{}", mesh.volume());
    assert_eq!(mesh.bounds(), Some(cube(1.0)));
}

#[test]
fn the_inside_of_a_closed_mesh_is_filled() {
    let surface = generate::torus(1.0, 0.4, 48, 24).unwrap();
    let field = crate::mesh::SparseSdf::build(&surface, 0.05).unwrap();
    let mesh =
        tetrahedralize(|place| field.sample(place).0, &surface.bounds().unwrap(), 0.1).unwrap();
    check(&mesh);
    assert_eq!(Topology::new(&mesh).unwrap().euler_characteristic, 0);
    assert!((mesh.volume() / surface.volume() - 1.0).abs() < 0.02);
}

#[test]
fn shapes_thinner_than_a_cell_come_apart_cleanly() {
    // Two sheets that cross, from half a cell to one cell thick.
    for step in 0..20 {
        let half = 0.28 + 0.01 * step as f32;
        let turned = |place: Vec3| place.dot(Vec3::new(0.6, 0.64, 0.48)).abs();
        let sheets = |place: Vec3| place.x.abs().min(turned(place)) - half;
        check(&tetrahedralize(sheets, &cube(5.0), 1.0).unwrap());
    }
}

#[test]
fn the_same_shape_gives_the_same_bits() {
    let ball = || tetrahedralize(|place| place.length() - 1.0, &cube(1.0), 0.2).unwrap();
    assert_eq!(ball(), ball());
}

#[test]
fn what_cannot_be_meshed_says_why() {
    let error = |field: fn(Vec3) -> f32, cell| {
        tetrahedralize(field, &cube(1.0), cell).unwrap_err().to_string()
    };
    assert_eq!(
        error(|place| place.length() - 1.0, 0.0),
        "solid: `cell` is 0, it must be a finite number above 0 (in meters)"
    );
    assert_eq!(
        error(|place| place.length() - 1.0, 1e-6),
        "a cell of 0.000001 m makes a lattice of 1.6e19 nodes, the most is 33554432; a cell of \
         0.0083180275 m would do"
    );
    assert_eq!(
        error(|_| -1.0, 0.009),
        "a cell of 0.009 m makes a lattice of 2.2e7 nodes, the most is 4194304; a cell of \
         0.01642684 m would do"
    );
    let nothing = "no part of the solid is as thick as a cell of 0.5 m; give a smaller cell";
    assert_eq!(error(|_| 1.0, 0.5), nothing);
    assert_eq!(error(|_| f32::NAN, 0.5), nothing);
    let endless = Bounds { min: Vec3::splat(f32::MIN), max: Vec3::splat(f32::MAX) };
    let error = tetrahedralize(|_| -1.0, &endless, 1.0).unwrap_err().to_string();
    assert!(error.contains("the most is 33554432"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Waves of random length, nowhere steeper than 1: thin, folded, in pieces, with holes and handles.
    #[test]
    fn any_field_gives_a_sound_mesh(
        waves in proptest::collection::vec(proptest::array::uniform4(-3.0f32..3.0), 1..5),
        offset in -0.12f32..0.12,
    ) {
        let field = |place: Vec3| {
            let wave = |&[x, y, z, phase]: &[f32; 4]| (place.dot(Vec3::new(x, y, z)) + phase).sin();
            0.05 * waves.iter().map(wave).sum::<f32>() + offset
        };
        if let Ok(mesh) = tetrahedralize(field, &cube(2.0), 0.4) {
            check(&mesh);
        }
    }
}
