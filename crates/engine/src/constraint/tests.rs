//! Contracts: every gradient agrees with central differences in double precision; one projection
//! removes the error of a linear constraint, keeps linear and angular momentum, and leaves pinned
//! particles alone.

use std::cell::Cell;

use proptest::prelude::*;
use taut_partition::{Elements, coloring};

use super::*;

/// Largest difference between ∇C and central differences, relative to the row's largest gradient.
fn gradient_error<C, const N: usize, const M: usize, const K: usize>(
    x: [Vec3<f64>; N],
    constants: [f64; K],
) -> f64
where
    C: Constraint<N, M, K>,
{
    let step = 1e-5;
    let axes = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0), Vec3::new(0.0, 0.0, 1.0)];
    let mut worst = 0.0_f64;
    for (index, row) in C::evaluate(&x, &constants).iter().enumerate() {
        let value = |corner: usize, offset: Vec3<f64>| {
            let mut moved = x;
            moved[corner] = moved[corner] + offset;
            C::evaluate(&moved, &constants)[index].value
        };
        let scale = row.gradients.iter().map(|g| g.length()).fold(0.0, f64::max);
        for (corner, gradient) in row.gradients.iter().enumerate() {
            for axis in axes {
                let slope =
                    (value(corner, axis * step) - value(corner, axis * -step)) / (2.0 * step);
                worst = worst.max((slope - gradient.dot(axis)).abs() / scale);
            }
        }
    }
    worst
}

fn points<const N: usize>() -> impl Strategy<Value = [Vec3<f64>; N]> {
    prop::array::uniform::<_, N>(prop::array::uniform3(-1.0..1.0_f64))
        .prop_map(|points| points.map(|[x, y, z]| Vec3::new(x, y, z)))
}

/// Area of the smaller of the two triangles of a hinge.
fn smaller_area(x: &[Vec3<f64>; 4]) -> f64 {
    let area = |far: Vec3<f64>| (x[0] - far).cross(x[1] - far).length() / 2.0;
    area(x[2]).min(area(x[3]))
}

proptest! {
    #[test]
    fn distance_gradient(x in points::<2>(), rest in 0.1..2.0_f64) {
        prop_assume!((x[0] - x[1]).length() > 0.05);
        prop_assert!(gradient_error::<Distance, 2, 1, 1>(x, [rest]) < 1e-5);
    }

    #[test]
    fn bend_gradient(x in points::<4>(), rest in -1.0..1.0_f64) {
        prop_assume!(smaller_area(&x) > 0.1 && (x[1] - x[0]).length() > 0.1);
        // At the seam of the angle, opposite to rest, C jumps by a full turn.
        prop_assume!(Bend::evaluate(&x, &[rest])[0].value.abs() < 3.0);
        // The polynomial of the angle is smooth to 4e-8, which differences divide by 2e-5.
        prop_assert!(gradient_error::<Bend, 4, 1, 1>(x, [rest]) < 5e-4);
    }

    #[test]
    fn volume_gradient(x in points::<4>(), rest in 0.0..0.2_f64) {
        prop_assume!(measure_volume(&x).abs() > 1e-3);
        prop_assert!(gradient_error::<Volume, 4, 1, 1>(x, [rest]) < 1e-7);
    }

    #[test]
    fn strain_gradient(x in points::<3>(), rest in points::<3>(), warp in points::<1>()) {
        prop_assume!(Strain::size(&x) > 0.05 && Strain::size(&rest) > 0.05);
        prop_assume!(warp[0].length() > 0.1);
        let constants = Strain::constants(&rest, &Matter { warp: warp[0], ..Matter::default() });
        prop_assert!(gradient_error::<Strain, 3, 3, 4>(x, constants) < 1e-5);
    }

    #[test]
    fn neo_hookean_gradient(x in points::<4>(), rest in points::<4>()) {
        prop_assume!(NeoHookean::size(&rest) > 0.02);
        let constants = NeoHookean::constants(&rest, &Matter { swelling: 0.4, ..Matter::default() });
        prop_assert!(gradient_error::<NeoHookean, 4, 2, 10>(x, constants) < 1e-5);
    }

    #[test]
    fn long_range_gradient(x in points::<2>(), reach in 0.1..2.0_f64) {
        let length = (x[0] - x[1]).length();
        prop_assume!(length > 0.05 && (length - reach).abs() > 1e-3);
        prop_assert!(gradient_error::<LongRange, 2, 1, 1>(x, [reach]) < 1e-5);
    }

    #[test]
    fn gradients_of_bundles(x in points::<6>(), rest in prop::array::uniform4(0.1..2.0_f64)) {
        let three = [x[0], x[1], x[2]];
        let far = |a: usize, b: usize| (x[a] - x[b]).length() > 0.05;
        prop_assume!(far(0, 1) && far(1, 2) && far(2, 0));
        let three_rest = [rest[0], rest[1], rest[2]];
        let error = gradient_error::<InTurn<Distance, ThreeEdges, 2>, 3, 3, 3>(three, three_rest);
        prop_assert!(error < 1e-5);
        let x = around_edge(x);
        prop_assert!(gradient_error::<InTurn<Volume, AroundEdge, 4>, 6, 4, 4>(x, rest) < 1e-7);
    }

    #[test]
    fn a_bundle_does_what_its_members_do_one_after_another(
        x in points::<6>(),
        masses in prop::array::uniform6(0.5..4.0_f32),
        rest in prop::array::uniform3(0.1..3.0_f32),
        missing in 0_usize..5,
        softness in 0.1..1.0_f32,
        is_compliant in any::<bool>(),
    ) {
        let response = if is_compliant { Response::Compliance } else { Response::Stiffness };
        let or_missing = |i: usize, rest: f32| if i == missing { MISSING } else { rest };
        let at = |i: usize, x: &[Vec3<f64>; 6]| {
            [x[i].x as f32, x[i].y as f32, x[i].z as f32, masses[i]]
        };

        let three = [0, 1, 2].map(|i| at(i, &x));
        let rest = [0, 1, 2].map(|i| or_missing(i, rest[i]));
        let difference = bundle_difference::<Distance, ThreeEdges, 2, 3, 3>(
            three, rest, response, softness,
        );
        prop_assert!(difference < 1e-4, "edges: {difference}");

        // Volumes are near those at rest: what is far is not linear.
        let x = around_edge(x);
        let volume = |member: usize| measure_volume(&AroundEdge::CORNERS[member].map(|i| x[i])) as f32;
        let six = [0, 1, 2, 3, 4, 5].map(|i| at(i, &x));
        let rest = [0, 1, 2, 3].map(|i| or_missing(i, 0.98 * volume(i)));
        let difference = bundle_difference::<Volume, AroundEdge, 4, 6, 4>(
            six, rest, response, softness,
        );
        prop_assert!(difference < 1e-4, "tetrahedra: {difference}");
    }

    #[test]
    fn strain_does_not_see_rigid_motion(rest in points::<3>(), turn in points::<1>()) {
        prop_assume!(Strain::size(&rest) > 0.05);
        let constants = Strain::constants(&rest, &Matter::default());
        let quaternion = glam::DQuat::from_scaled_axis(glam::DVec3::new(turn[0].x, turn[0].y, 1.0));
        let moved = rest.map(|Vec3 { x, y, z }| {
            let [x, y, z] = (quaternion * glam::DVec3::new(x, y, z)).to_array();
            Vec3::new(x + 3.0, y, z)
        });
        for row in Strain::evaluate(&moved, &constants) {
            prop_assert!(row.value.abs() < 1e-9, "{}", row.value);
        }
    }

    #[test]
    fn projection_keeps_momentum(x in points::<4>(), masses in prop::array::uniform4(0.5..4.0_f32)) {
        prop_assume!(smaller_area(&x) > 0.1);
        keeps_momentum::<Bend, 4, 1, 1>(x, masses, [0.3])?;
        keeps_momentum::<Volume, 4, 1, 1>(x, masses, [0.1])?;
        keeps_momentum::<Distance, 2, 1, 1>([x[0], x[1]], [masses[0], masses[1]], [0.5])?;
        keeps_momentum::<LongRange, 2, 1, 1>([x[0], x[1]], [masses[0], masses[1]], [0.2])?;
        let (corners, three) = ([x[0], x[1], x[2]], [masses[0], masses[1], masses[2]]);
        keeps_momentum::<Strain, 3, 3, 4>(corners, three, [1.0, 0.2, -0.3, 1.2])?;
        prop_assume!(measure_volume(&x) > 0.02);
        let rest = [1.0, 0.1, 0.0, -0.2, 1.1, 0.0, 0.3, 0.0, 0.9, 1.4];
        keeps_momentum::<NeoHookean, 4, 2, 10>(x, masses, rest)?;
    }
}

fn measure_volume(x: &[Vec3<f64>; 4]) -> f64 {
    Volume::size(x)
}

/// Σ mᵢ Δxᵢ and Σ mᵢ xᵢ × Δxᵢ stay at rounding level.
fn keeps_momentum<C, const N: usize, const M: usize, const K: usize>(
    x: [Vec3<f64>; N],
    masses: [f32; N],
    constants: [f32; K],
) -> Result<(), TestCaseError>
where
    C: Constraint<N, M, K>,
{
    let start: [[f32; 4]; N] =
        std::array::from_fn(|i| [x[i].x as f32, x[i].y as f32, x[i].z as f32, 1.0 / masses[i]]);
    let end = projected::<C, N, M, K>(start, constants, Response::Stiffness, 1.0);
    let mut linear = Vec3::<f64>::zero();
    let mut angular = Vec3::<f64>::zero();
    let mut moved = 0.0;
    for i in 0..N {
        let double = |p: [f32; 4]| Vec3::new(p[0].into(), p[1].into(), p[2].into());
        let (before, after): (Vec3<f64>, _) = (double(start[i]), double(end[i]));
        let impulse = (after - before) * f64::from(masses[i]);
        linear = linear + impulse;
        angular = angular + before.cross(impulse);
        moved += impulse.length();
    }
    let rounding = 1e-5 * (1.0 + moved);
    prop_assert!(linear.length() < rounding, "linear {linear:?}");
    prop_assert!(angular.length() < rounding, "angular {angular:?}");
    Ok(())
}

/// An edge and four places around it, moved a little: a mesh has no tetrahedron inside out.
fn around_edge(moves: [Vec3<f64>; 6]) -> [Vec3<f64>; 6] {
    let [near, far] = [Vec3::new(0.0, 0.0, -0.8), Vec3::new(0.0, 0.0, 0.8)];
    let [x, y] = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
    let places = [near, far, x, y, x * -1.0, y * -1.0];
    std::array::from_fn(|i| places[i] + moves[i] * 0.2)
}

/// Solves one constraint once.
fn projected<C, const N: usize, const M: usize, const K: usize>(
    particles: [[f32; 4]; N],
    constants: [f32; K],
    response: Response,
    softness: f32,
) -> [[f32; 4]; N]
where
    C: Constraint<N, M, K>,
{
    projected_softly::<C, N, M, K>(particles, constants, response, [softness; M], 1.0)
}

/// How far a bundle's particles end up from where its members move them one after another.
fn bundle_difference<C, S, const A: usize, const N: usize, const M: usize>(
    start: [[f32; 4]; N],
    rest: [f32; M],
    response: Response,
    softness: f32,
) -> f32
where
    C: in_turn::Member<A>,
    S: Shape<A>,
{
    let bundle = projected::<InTurn<C, S, A>, N, M, M>(start, rest, response, softness);
    let mut one_by_one = start;
    for (corners, rest) in S::CORNERS.iter().zip(rest).filter(|(_, rest)| *rest >= 0.0) {
        let own = corners.map(|corner| one_by_one[corner]);
        let own = projected::<C, A, 1, 1>(own, [rest], response, softness);
        for (&corner, moved) in corners.iter().zip(own) {
            one_by_one[corner] = moved;
        }
    }
    let both = bundle.iter().flatten().zip(one_by_one.iter().flatten());
    both.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// The same as `projected` with a softness for each row and a step.
fn projected_softly<C, const N: usize, const M: usize, const K: usize>(
    mut particles: [[f32; 4]; N],
    constants: [f32; K],
    response: Response,
    softness: [f32; M],
    inverse_step_squared: f32,
) -> [[f32; 4]; N]
where
    C: Constraint<N, M, K>,
{
    let sweep = Sweep {
        constants: &constants.map(|constant| vec![constant]),
        softness: &Softness::new(softness.map(|softness| vec![softness]).to_vec()),
        is_compliant: response == Response::Compliance,
        relaxation: 1.0,
        first_multiplier: 0,
        inverse_step_squared,
        first: true,
        ahead: None,
        is_ascending: false,
    };
    let ids: [[u32; N]; 1] = [std::array::from_fn(|corner| corner as u32)];
    let elements = Elements::uniform(&ids, N).unwrap();
    let schedule = coloring::schedule(&elements, &coloring::Options::default());
    let cells = Cell::from_mut(&mut particles[..]).as_slice_of_cells();
    let multipliers: [Cell<f32>; M] = std::array::from_fn(|_| Cell::new(0.0));
    let bodies = cells.bodies::<N>(&schedule);
    C::project::<f32, _, _, true>(bodies, 0..1, &sweep, &multipliers[..]);
    particles
}

#[test]
fn a_stretched_edge_returns_to_its_length_and_heavier_ends_move_less() {
    let start = [[0.0, 0.0, 0.0, 1.0], [3.0, 0.0, 0.0, 0.5]];
    let end = projected::<Distance, 2, 1, 1>(start, [1.5], Response::Stiffness, 1.0);
    assert_eq!(end[0][0], 1.0);
    assert_eq!(end[1][0], 2.5);
}

/// Distances without their shorter way.
struct DistanceByRows;

impl Constraint<2, 1, 1> for DistanceByRows {
    fn size(rest: &[Vec3<f64>; 2]) -> f64 {
        Distance::size(rest)
    }
    fn constants(rest: &[Vec3<f64>; 2], matter: &Matter) -> [f64; 1] {
        Distance::constants(rest, matter)
    }
    fn evaluate<L: Lane>(x: &[Vec3<L>; 2], constants: &[L; 1]) -> [Row<L, 2>; 1] {
        Distance::evaluate(x, constants)
    }
}

proptest! {
    #[test]
    fn the_shorter_way_of_distances_leads_to_the_same_places(
        x in points::<2>(),
        masses in prop::array::uniform2(0.5..4.0_f32),
        rest in 0.1..3.0_f32,
        softness in 0.1..1.0_f32,
        is_compliant in any::<bool>(),
    ) {
        let at = |i: usize| [x[i].x as f32, x[i].y as f32, x[i].z as f32, masses[i]];
        let start = [at(0), at(1)];
        let response = if is_compliant { Response::Compliance } else { Response::Stiffness };
        let short = projected::<Distance, 2, 1, 1>(start, [rest], response, softness);
        let long = projected::<DistanceByRows, 2, 1, 1>(start, [rest], response, softness);
        for (short, long) in short.iter().flatten().zip(long.iter().flatten()) {
            prop_assert!((short - long).abs() < 1e-5, "{short} and {long}");
        }
    }
}

#[test]
fn pinned_particles_stay_to_the_bit() {
    let start = [[0.1, 0.2, 0.3, 0.0], [3.0, 0.0, 0.0, 0.5]];
    let end = projected::<Distance, 2, 1, 1>(start, [1.5], Response::Compliance, 0.0);
    assert_eq!(end[0], start[0]);
    let [x, y, z, _] = end[1];
    let length = ((x - 0.1).powi(2) + (y - 0.2).powi(2) + (z - 0.3).powi(2)).sqrt();
    assert!((length - 1.5).abs() < 1e-6);
    let both = [[0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]];
    assert_eq!(projected::<Distance, 2, 1, 1>(both, [1.5], Response::Stiffness, 1.0), both);
}

#[test]
fn coinciding_particles_and_flat_triangles_do_not_give_nan() {
    let same = [[1.0, 2.0, 3.0, 1.0]; 2];
    assert_eq!(projected::<Distance, 2, 1, 1>(same, [1.0], Response::Stiffness, 1.0), same);
    let line: [[f32; 4]; 4] = std::array::from_fn(|i| [i as f32, 0.0, 0.0, 1.0]);
    for particle in projected::<Bend, 4, 1, 1>(line, [0.5], Response::Stiffness, 1.0) {
        assert!(particle.iter().all(|x| x.is_finite()));
    }
    for particle in projected::<Volume, 4, 1, 1>(line, [0.5], Response::Stiffness, 1.0) {
        assert!(particle.iter().all(|x| x.is_finite()));
    }
}

#[test]
fn a_triangle_is_pulled_back_to_its_shape_in_one_projection() {
    let rest = [[0.0, 0.0], [1.0, 0.0], [0.2, 0.8]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let constants = Strain::constants(&rest, &Matter::default());
    let mut x = [[0.0, 0.0, 0.0, 1.0], [1.01, 0.0, 0.0, 2.0], [0.21, 0.79, 0.0, 0.5]];
    for _ in 0..2 {
        x = projected::<Strain, 3, 3, 4>(x, constants.map(|c| c as f32), Response::Stiffness, 1.0);
    }
    for row in
        Strain::evaluate(&x.map(|[x, y, z, _]| Vec3::new(x, y, z)), &constants.map(|c| c as f32))
    {
        assert!(row.value.abs() < 1e-4, "{}", row.value);
    }
}

#[test]
fn the_warp_is_the_scenes_and_the_first_edge_where_it_has_no_direction() {
    // Pulled along y by a tenth: the weft if the warp is x, the warp if it is y.
    let rest = [[0.0, 0.0], [1.0, 0.0], [0.3, 1.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let pulled = rest.map(|Vec3 { x, y, z }| Vec3::new(x, 1.1 * y, z));
    let strains = |warp: [f64; 3]| {
        let warp = Vec3::new(warp[0], warp[1], warp[2]);
        let constants = Strain::constants(&rest, &Matter { warp, ..Matter::default() });
        Strain::evaluate(&pulled, &constants).map(|row| (row.value * 1e6).round() / 1e6)
    };
    assert_eq!(strains([2.0, 0.0, 0.0]), [0.0, 0.1, 0.0]);
    assert_eq!(strains([0.0, 1.0, 5.0]), [0.1, 0.0, 0.0]);
    assert_eq!(strains([0.0, 0.0, 1.0]), [0.0, 0.1, 0.0], "the first edge is along x");
}

/// ‖F‖ pulls and det F − γ pushes: at rest they must balance, though neither is 0. What is left is
/// the rounding of two large forces, and these grow with the stiffness.
#[test]
fn a_neo_hookean_tetrahedron_rests_in_its_rest_shape() {
    let rest = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.01], [0.0, 0.12, 0.0], [0.02, 0.0, 0.1]];
    let x = rest.map(|[x, y, z]| Vec3::new(x, y, z));
    for poisson in [0.0, 0.3, 0.45, 0.49] {
        let matter = Matter { swelling: 1.0 - 2.0 * poisson, ..Matter::default() };
        let constants = NeoHookean::constants(&x, &matter).map(|constant| constant as f32);
        for young in [1e2, 1e4, 1e6] {
            let moduli = NeoHookean::moduli(young, poisson);
            let softness = moduli.map(|modulus| (1.0 / (modulus * NeoHookean::size(&x))) as f32);
            let start = rest.map(|[x, y, z]| [x as f32, y as f32, z as f32, 10.0]);
            let end = projected_softly::<NeoHookean, 4, 2, 10>(
                start,
                constants,
                Response::Compliance,
                softness,
                3600.0,
            );
            for (before, after) in start.iter().zip(end) {
                let way = (0..3).map(|i| (before[i] - after[i]).abs()).fold(0.0, f32::max);
                assert!(way < 1e-6, "E = {young} Pa, ν = {poisson}: moves {way} m");
            }
        }
    }
}

#[test]
fn a_long_range_attachment_only_pulls() {
    let near = [[0.5, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]];
    assert_eq!(projected::<LongRange, 2, 1, 1>(near, [1.0], Response::Stiffness, 1.0), near);
    let far = [[2.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]];
    let end = projected::<LongRange, 2, 1, 1>(far, [1.0], Response::Compliance, 0.0);
    assert_eq!(end, [[1.0, 0.0, 0.0, 1.0], far[1]]);
}

#[test]
fn a_hinge_measures_its_signed_angle() {
    for degrees in [-170.0_f32, -90.0, -1.0, 0.0, 1.0, 45.0, 120.0, 179.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let places = [
            glam::Vec3::ZERO,
            glam::Vec3::X,
            glam::Vec3::new(0.3, 1.0, 0.0),
            glam::Vec3::new(0.6, -cos, sin),
        ];
        let angle = Kind::Bend.constants(&places, &Matter::default())[0].to_degrees();
        assert!((angle.abs() - f64::from(degrees.abs())).abs() < 1e-3, "{degrees}: {angle}");
    }
}
