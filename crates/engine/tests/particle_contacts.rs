//! Contracts of contacts between particles: momentum is kept, stacks stand, friction holds or
//! slides, layers stay apart, piles come to rest and nothing in them has passed through anything,
//! with the same bits on any number of threads.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod common;

use std::path::Path;

use common::{core, linking_number, places};
use glam::{Vec2, Vec3};
use taut::model::Body;
use taut::scene::Scene;
use taut::{BackendChoice, Simulation};

fn simulation(text: &str, backend: BackendChoice) -> Simulation {
    let scene = Scene::parse("test", text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(&scene, backend).unwrap()
}

fn run(text: &str, steps: usize) -> Simulation {
    let mut simulation = simulation(text, BackendChoice::Cpu(0));
    for _ in 0..steps {
        simulation.step().unwrap();
    }
    simulation
}

fn center(simulation: &Simulation, body: &Body) -> Vec3 {
    places(simulation, body).iter().sum::<Vec3>() / body.particles.len() as f32
}

#[test]
fn blocks_that_collide_keep_their_momentum() {
    let text = r#"
        gravity = [0, 0, 0]
        substeps = 8
        iterations = 2
        particle-contacts = { friction = 0.5 }
        [[bodies]]
        name = "first"
        kind = "soft"
        mesh.block = { size = [0.4, 0.4, 0.4], cells = [5, 5, 5] }
        transform = { position = [-0.5, 0, 0], rotation = [10, 20, 30] }
        velocity = [2, 0, 0]
        elements.stretch = { compliance = 1e-6 }
        elements.volume = { compliance = 0 }
        [[bodies]]
        name = "second"
        kind = "soft"
        mesh.block = { size = [0.3, 0.3, 0.3], cells = [4, 4, 4] }
        transform.position = [0.2, 0.1, 0]
        velocity = [-1, 0, 0]
        density = 500
        elements.stretch = { compliance = 1e-6 }
        elements.volume = { compliance = 0 }
    "#;
    let mut simulation = simulation(text, BackendChoice::Serial);
    let start = simulation.momentum();
    let mut touched = 0;
    for _ in 0..60 {
        simulation.step().unwrap();
        touched = touched.max(simulation.contacts());
    }
    assert!(touched > 5, "{touched} particles touched");
    let loss = (0..3).map(|axis| (simulation.momentum()[axis] - start[axis]).powi(2)).sum::<f64>();
    let loss = loss.sqrt() / start[0].abs();
    assert!(loss < 2e-4, "momentum is lost: {loss}");
    // The lighter one is thrown back: x is what the collision is about.
    let [first, second] = [0, 1].map(|body| center(&simulation, &simulation.model().bodies[body]));
    assert!(second.x - first.x > 0.3, "{first} {second}");
}

#[test]
fn a_stack_of_soft_cubes_stands() {
    let text = r#"
        substeps = 10
        iterations = 1
        particle-contacts = { friction = 0.5 }
        [[bodies]]
        name = "cube"
        kind = "soft"
        mesh.block = { size = [0.3, 0.3, 0.3], cells = [5, 5, 5] }
        transform.position = [0, 0.16, 0]
        repeat = { count = [1, 3, 1], spacing = [0, 0.37, 0] }
        damping = 1
        self-collision = false
        elements.stretch = { compliance = 1e-6 }
        elements.volume = { compliance = 0 }
        [[shapes]]
        name = "floor"
        geometry.plane = {}
        friction = 0.5
    "#;
    let mut simulation = run(text, 180);
    let centers = |simulation: &Simulation| {
        [0, 1, 2].map(|cube| center(simulation, &simulation.model().bodies[cube]))
    };
    let settled = centers(&simulation);
    for _ in 0..120 {
        simulation.step().unwrap();
    }
    for (cube, (then, now)) in settled.into_iter().zip(centers(&simulation)).enumerate() {
        assert!(then.distance(now) < 0.003, "cube {cube} drifts from {then} to {now}");
        assert!(Vec2::new(now.x, now.z).length() < 0.02, "cube {cube} is at {now}");
    }
    let [low, middle, high] = centers(&simulation).map(|center| center.y);
    assert!(middle - low > 0.3 && high - middle > 0.3, "{low} {middle} {high}");
}

/// How far a patch slides in a second on a slope of fixed particles. They are finer than the patch's,
/// so that the slope is smooth.
fn slide(degrees: f32, friction: f32) -> f32 {
    let text = format!(
        r#"
        dt = 0.01
        substeps = 10
        iterations = 1
        particle-contacts = {{ radius = 0.02, friction = {friction} }}
        [[bodies]]
        name = "slope"
        mesh.grid = {{ particles = [300, 18], size = [2.99, 0.17] }}
        transform.rotation = [0, 0, {degrees}]
        pins = [{{ region.sphere = {{ center = [0, 0, 0], radius = 5 }} }}]
        elements.stretch = {{ compliance = 0 }}
        [[bodies]]
        name = "patch"
        mesh.grid = {{ particles = [3, 3], size = [0.12, 0.1] }}
        transform.rotation = [0, 0, {degrees}]
        transform.position = [{}, {}, 0]
        elements.stretch = {{ compliance = 0 }}
        elements.bend = {{ compliance = 0 }}
        "#,
        -0.0395 * degrees.to_radians().sin(),
        0.0395 * degrees.to_radians().cos(),
    );
    let mut simulation = simulation(&text, BackendChoice::Serial);
    let start = center(&simulation, &simulation.model().bodies[1]);
    for _ in 0..60 {
        simulation.step().unwrap();
    }
    assert_eq!(simulation.dropped_contacts(), 0);
    center(&simulation, &simulation.model().bodies[1]).distance(start)
}

#[test]
fn a_patch_slides_down_a_slope_if_friction_cannot_hold_it() {
    for (degrees, friction) in [(10.0, 0.4), (20.0, 0.6)] {
        let way = slide(degrees, friction);
        assert!(way < 0.01, "{degrees}° μ = {friction}: slid {way} m");
    }
    for (degrees, friction) in [(20.0_f32, 0.1), (30.0, 0.2)] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let expected = 0.5 * 9.81 * (sin - friction * cos) * 0.36;
        let way = slide(degrees, friction);
        assert!((way / expected - 1.0).abs() < 0.3, "{degrees}° μ = {friction}: {way} {expected}");
    }
}

/// A strip that falls on its end and folds up on the floor.
fn fold(contacts: &str) -> f32 {
    let text = format!(
        r#"
        substeps = 12
        iterations = 1
        {contacts}
        [[bodies]]
        name = "strip"
        mesh.grid = {{ particles = [8, 60], size = [0.14, 1.18] }}
        transform = {{ position = [0, 0.65, 0], rotation = [88, 0, 0] }}
        thickness = 0.01
        damping = 1
        elements.stretch = {{ compliance = 1e-7 }}
        [[shapes]]
        name = "floor"
        geometry.plane = {{}}
        "#
    );
    let simulation = run(&text, 150);
    let body = &simulation.model().bodies[0];
    let (now, rest) = (places(&simulation, body), &body.mesh.positions);
    let mut nearest = f32::INFINITY;
    for a in 0..now.len() {
        for b in 0..a {
            if rest[a].distance(rest[b]) > 0.035 {
                nearest = nearest.min(now[a].distance(now[b]));
            }
        }
    }
    nearest
}

#[test]
fn the_layers_of_a_folded_strip_stay_apart() {
    let nearest = fold("particle-contacts = { radius = 0.01 }");
    assert!(nearest > 0.016, "layers come as close as {nearest} m");
    let nearest = fold("");
    assert!(nearest < 0.008, "without contacts they are {nearest} m apart: the test shows nothing");
}

/// Soft tori thrown into a pit.
const PILE: &str = r#"
    substeps = 8
    iterations = 1
    particle-contacts = { friction = 0.3 }
    [[bodies]]
    name = "torus"
    kind = "soft"
    mesh.solid = { cell = 0.18, parts = [{ torus = { radius = 0.5, tube-radius = 0.2 } }] }
    transform.position = [-0.82, 0.6, -0.82]
    repeat = { count = [2, 4, 2], spacing = [1.65, 0.85, 1.65], jitter = 0.04, jitter-rotation = 15, seed = 3 }
    density = 200
    thickness = 0.05
    damping = 0.5
    self-collision = false
    elements.stretch = { compliance = 1e-6 }
    elements.volume = { compliance = 0 }
    [[shapes]]
    name = "floor"
    geometry.plane = {}
    friction = 0.5
    [[shapes]]
    name = "pit"
    geometry.box = { size = [1, 20, 10] }
    position = [-2.2, 10, 0]
    [[shapes]]
    name = "pit-right"
    geometry.box = { size = [1, 20, 10] }
    position = [2.2, 10, 0]
    [[shapes]]
    name = "pit-back"
    geometry.box = { size = [10, 20, 1] }
    position = [0, 10, -2.2]
    [[shapes]]
    name = "pit-front"
    geometry.box = { size = [10, 20, 1] }
    position = [0, 10, 2.2]
"#;

/// Particles of a body that are inside a tetrahedron of another.
fn inside(simulation: &Simulation, first: &Body, second: &Body) -> usize {
    let corners = places(simulation, second);
    let is_in = |point: Vec3, tetrahedron: &[u32; 4]| {
        let [a, b, c, d] = tetrahedron.map(|corner| corners[corner as usize]);
        let volume = |a: Vec3, b: Vec3, c: Vec3, d: Vec3| (b - a).cross(c - a).dot(d - a);
        volume(point, b, c, d) > 0.0
            && volume(a, point, c, d) > 0.0
            && volume(a, b, point, d) > 0.0
            && volume(a, b, c, point) > 0.0
    };
    let tetrahedra = &second.mesh.tetrahedra;
    let points = places(simulation, first);
    points.iter().filter(|&&point| tetrahedra.iter().any(|t| is_in(point, t))).count()
}

#[test]
fn a_pile_of_tori_comes_to_rest_and_none_has_passed_through_another() {
    let mut simulation = simulation(PILE, BackendChoice::Cpu(0));
    let mut peak = 0.0_f64;
    for _ in 0..420 {
        simulation.step().unwrap();
        peak = peak.max(simulation.energy().kinetic);
        assert_eq!(simulation.dropped_contacts(), 0);
    }
    let rest = simulation.energy().kinetic;
    assert!(rest < 0.01 * peak, "kinetic energy is {rest} J after a peak of {peak} J");
    let bodies = &simulation.model().bodies;
    for (number, first) in bodies.iter().enumerate() {
        for second in &bodies[..number] {
            let [a, b] = [first, second].map(|body| core(&simulation, body));
            assert_eq!(linking_number(&a, &b), 0, "{} and {}", first.name, second.name);
            assert_eq!(inside(&simulation, first, second), 0, "{} {}", first.name, second.name);
            assert_eq!(inside(&simulation, second, first), 0, "{} {}", second.name, first.name);
        }
    }
}

/// The lines of a chain are linked, those of two rings side by side are not.
#[test]
fn links_are_told_from_rings_side_by_side() {
    let ring = |x: f32, upright: bool| -> Vec<Vec3> {
        let at = |i: i32| {
            let (sin, cos) = (0.1 + std::f32::consts::TAU * i as f32 / 12.0).sin_cos();
            let flat = Vec3::new(cos, 0.01 * sin, sin);
            let standing = Vec3::new(cos, sin, 0.01 * cos);
            Vec3::new(x, 0.0, 0.0) + if upright { standing } else { flat }
        };
        (0..12).map(at).collect()
    };
    assert_eq!(linking_number(&ring(0.0, false), &ring(1.03, true)).abs(), 1);
    assert_eq!(linking_number(&ring(0.0, false), &ring(2.5, true)), 0);
}

/// Grains without constraints: as few barriers as can be, so that a team of eight does work.
#[test]
fn piles_have_the_same_bits_on_any_number_of_threads() {
    let grains = r#"
        substeps = 4
        iterations = 2
        particle-contacts = { radius = 0.05 }
        [[bodies]]
        name = "grains"
        mesh.grid = { particles = [2, 2], size = [0.2, 0.2] }
        transform.position = [0, 0.1, 0]
        repeat = { count = [8, 20, 8], spacing = [0.3, 0.08, 0.3], jitter = 0.1, jitter-rotation = 90 }
        thickness = 0.05
        [[shapes]]
        name = "floor"
        geometry.plane = {}
    "#;
    for (text, steps) in [(grains, 40), (PILE, 30)] {
        let hash = |backend: BackendChoice| {
            let mut simulation = simulation(text, backend);
            for _ in 0..steps {
                simulation.step().unwrap();
            }
            assert!(simulation.contacts() > 100, "{} contacts", simulation.contacts());
            simulation.state_hash()
        };
        let reference = hash(BackendChoice::Serial);
        for threads in [1, 2, 3, 8] {
            assert_eq!(hash(BackendChoice::Cpu(threads)), reference, "{threads} threads");
        }
    }
}
