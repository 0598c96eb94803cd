//! Contract: the surface stays as it was, bit for bit; what is inside still fills it, face to face,
//! with tetrahedra of the angles promised; edges grow with the depth and no faster; there is nothing
//! to take from thin parts; the same input gives the same bits.
use std::f64::consts::PI;

use glam::Vec3;
use proptest::prelude::*;

use super::*;
use crate::mesh::random::SplitMix64;
use crate::mesh::tetrahedralize::tests::{check, cube, random_vector};
use crate::mesh::tetrahedralize::{tetrahedralize, tetrahedralize_graded};
use crate::mesh::{TetrahedraQuality, Topology};

/// What no tetrahedron that was made exceeds, degrees.
const ANGLES: [f64; 2] = [12.0, 160.0];

/// The corners of all triangles.
fn surface(mesh: &Mesh) -> Vec<[Vec3; 3]> {
    let place = |corner: u32| mesh.positions[corner as usize];
    mesh.triangles.iter().map(|corners| corners.map(place)).collect()
}

fn inside_count(mesh: &Mesh) -> usize {
    let mut surface = mesh.triangles.as_flattened().to_vec();
    surface.sort_unstable();
    surface.dedup();
    mesh.positions.len() - surface.len()
}

/// The solid before and after, with everything that holds for every shape.
fn both(field: impl Fn(Vec3) -> f32, half: f32, cell: f32, grading: f32) -> Option<[Mesh; 2]> {
    let uniform = tetrahedralize(&field, &cube(half), cell).ok()?;
    let graded = tetrahedralize_graded(&field, &cube(half), cell, grading).unwrap();
    check(&graded);
    assert_eq!(surface(&uniform), surface(&graded));
    assert!((uniform.volume() - graded.volume()).abs() <= 1e-6 * uniform.volume());
    let [before, after] = [&uniform, &graded].map(|mesh| TetrahedraQuality::of(mesh).unwrap());
    assert!(after.smallest >= before.smallest.min(ANGLES[0]) - 1e-6, "{after:?}");
    assert!(after.largest <= before.largest.max(ANGLES[1]) + 1e-6, "{after:?}");
    Some([uniform, graded])
}

#[test]
fn balls_become_coarse_inside_and_no_coarser_than_asked() {
    let mut random = SplitMix64::new(3);
    for grading in [0.25, 0.5, 1.0] {
        let center = 0.2 * random_vector(&mut random);
        let (radius, cell) = (1.0, 0.1);
        let ball = |place: Vec3| (place - center).length() - radius;
        let [uniform, graded] = both(ball, 1.3, cell, grading).unwrap();
        let wished = |depth: f64| f64::from(cell) + f64::from(grading) * depth;
        // About two vertices to a cube of the wished-for side, as in the lattice. They cannot be
        // quite as few: where edges are short the angles would become too bad.
        let shell = |k: f64| 4.0 * PI * (1.0 - 1e-3 * k).powi(2) * 1e-3;
        let ideal = (50..1000).map(f64::from);
        let ideal: f64 = ideal.map(|k| 2.0 * shell(k) / wished(1e-3 * k).powi(3)).sum();
        let share = inside_count(&graded) as f64 / ideal;
        assert!((0.4..1.6).contains(&share), "grading {grading}: {share} of {ideal} vertices");
        assert!(inside_count(&graded) < inside_count(&uniform) / 2);
        for [a, b] in Topology::new(&graded).unwrap().edges {
            let [a, b] = [a, b].map(|vertex| graded.positions[vertex as usize]);
            let depth = f64::from(-0.5 * (ball(a) + ball(b)));
            // Vertices that moved, and depths along edges, account for the rest.
            let most = 1.25 * LONGEST * wished(depth);
            assert!(f64::from(a.distance(b)) <= most, "{} at {depth}", a.distance(b));
        }
    }
}

#[test]
fn a_grading_of_zero_changes_nothing() {
    let ball = |place: Vec3| place.length() - 1.0;
    let uniform = tetrahedralize(ball, &cube(1.0), 0.2).unwrap();
    assert_eq!(uniform, tetrahedralize_graded(ball, &cube(1.0), 0.2, 0.0).unwrap());
}

#[test]
fn the_same_shape_gives_the_same_bits() {
    let ball =
        || tetrahedralize_graded(|place| place.length() - 1.0, &cube(1.0), 0.1, 1.0).unwrap();
    assert_eq!(ball(), ball());
}

#[test]
fn hollow_and_thin_solids_are_sound_at_any_grading() {
    for grading in [1e-3, 1.0, 1e6, f32::MAX] {
        let hollow = |place: Vec3| (place.length() - 0.85).abs() - 0.15;
        both(hollow, 1.0, 0.1, grading).unwrap();
        // Less than a cell thick: nothing inside, or hardly anything.
        let sheet = |place: Vec3| place.dot(Vec3::new(0.6, 0.64, 0.48)).abs() - 0.45;
        both(sheet, 5.0, 1.0, grading).unwrap();
    }
}

#[test]
fn a_bad_grading_says_why() {
    for (grading, shown) in [(-1.0, "-1"), (f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        let error = tetrahedralize_graded(|_| -1.0, &cube(1.0), 0.5, grading).unwrap_err();
        let expected =
            format!("solid: `grading` is {shown}, it must be a finite number, 0 or above");
        assert_eq!(error.to_string(), expected);
    }
}

/// Waves of some length, nowhere steeper than 1: thin, folded, in pieces, with holes and handles.
fn waves_stay_sound(waves: &[[f32; 4]], offset: f32, grading: f32) {
    let field = |place: Vec3| {
        let wave = |&[x, y, z, phase]: &[f32; 4]| (place.dot(Vec3::new(x, y, z)) + phase).sin();
        0.05 * waves.iter().map(wave).sum::<f32>() + offset
    };
    both(field, 2.0, 0.3, grading);
}

#[test]
fn a_small_angle_is_not_traded_for_a_large_one() {
    let waves = [
        [2.6931734, 0.5359446, 2.3760064, -2.5389988],
        [-2.6201227, 2.608444, 1.5455716, 2.7647088],
    ];
    waves_stay_sound(&waves, -0.08092503, 0.8702202);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_field_stays_sound(
        waves in proptest::collection::vec(proptest::array::uniform4(-3.0f32..3.0), 1..5),
        offset in -0.12f32..0.12,
        grading in 0.0f32..4.0,
    ) {
        waves_stay_sound(&waves, offset, grading);
    }
}
