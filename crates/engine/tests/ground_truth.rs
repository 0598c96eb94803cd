//! Contracts: physics with a known answer (section 7 of the specification). Each test builds its
//! own small scene and compares with the closed form.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod common;

use common::{double, length, run, simulation};
use taut::Simulation;

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Σ m x × v, and Σ m |x| |v| to compare it with.
fn angular_momentum(simulation: &Simulation) -> ([f64; 3], f64) {
    let (mut total, mut scale) = ([0.0; 3], 0.0);
    for (&x, v) in simulation.positions().iter().zip(simulation.velocities()) {
        let (mass, x, v) = (1.0 / f64::from(x[3]), double(x), double(v));
        let turn = cross(x, v);
        total = [0, 1, 2].map(|axis| total[axis] + mass * turn[axis]);
        scale += mass * length(x) * length(v);
    }
    (total, scale)
}

const FREE_CLOTH: &str = r#"
    gravity = [0, 0, 0]
    substeps = 16
    [[bodies]]
    name = "cloth"
    mesh.grid = { particles = [12, 12], size = [1, 1], diagonals = "random" }
    deform = [1.05, 1, 0.95]
    elements.stretch = { compliance = 1e-2 }
    elements.bend = { compliance = 1e-1 }
"#;

/// How much of its linear momentum a free, shaking body loses in two seconds.
fn momentum_loss(partition: &str) -> f64 {
    let mut simulation = simulation(&format!("{partition}\n{FREE_CLOTH}\nvelocity = [1, -2, 0.5]"));
    let start = simulation.momentum();
    for _ in 0..120 {
        simulation.step().unwrap();
    }
    let end = simulation.momentum();
    length([0, 1, 2].map(|axis| end[axis] - start[axis])) / length(start)
}

#[test]
fn a_free_body_keeps_its_momentum() {
    // Rounding level: see the next test.
    for method in ["coloring", "cluster", "grid", "phantom"] {
        let loss = momentum_loss(&format!("partition.method = \"{method}\""));
        assert!(loss < 5e-4, "{method}: {loss}");
    }
    let loss = momentum_loss("partition = { method = \"phantom\", colors = 2 }");
    assert!(loss < 5e-4, "two colors: {loss}");
}

/// Copies that weigh as much as the particle each move it by the mean of their moves, so a particle
/// with more copies than its neighbor gives way less than it is pushed: the paper's average does not
/// keep momentum, splitting the mass does. (Stretched like this, a cloth with its many-cornered
/// vertices on one side shows it at once.)
#[test]
fn the_papers_phantoms_lose_momentum() {
    let momentum = |masses: &str| {
        let simulation = run(
            &format!(
                r#"
                gravity = [0, 0, 0]
                partition = {{ method = "phantom", colors = 2, phantom-masses = "{masses}" }}
                [[bodies]]
                name = "cloth"
                mesh.disc = {{ radius = 1, rings = 6 }}
                transform.rotation = [0, 20, 0]
                deform = [1.5, 1, 1]
                elements.stretch = {{ stiffness = 1 }}
                [[bodies]]
                name = "weight"
                mesh.grid = {{ particles = [3, 3], size = [0.2, 0.2] }}
                transform.position = [1.5, 0, 0]
                elements.stretch = {{ stiffness = 1 }}
                [[attachments]]
                body = "cloth"
                particles.indices = [0, 1, 2]
                to.body = {{ name = "weight", particles.indices = [0, 1, 2] }}
                stiffness = 1
                "#
            ),
            3,
        );
        let moved: f64 = simulation
            .positions()
            .iter()
            .zip(simulation.velocities())
            .map(|(x, v)| length(double(v)) / f64::from(x[3]))
            .sum();
        length(simulation.momentum()) / moved
    };
    let (split, paper) = (momentum("split"), momentum("paper"));
    assert!(split < 1e-5, "split masses: {split}");
    assert!(paper > 1e-3, "the paper's masses: {paper}");
}

/// The rounding level here is that of velocities as differences of places: 10⁻⁷ m / h is 10⁻⁴ m/s,
/// in every one of a thousand substeps.
/// (Each projection keeps Σ m x × Δx by itself; a unit test of the constraints pins that. Large
/// corrections within one step do turn a body, because velocities are measured from the places
/// before them: that is the method, and why this cloth shakes softly.)
#[test]
fn a_body_that_shakes_without_turning_does_not_begin_to_turn() {
    let mut simulation = simulation(FREE_CLOTH);
    let (mut turn, mut motion) = (0.0_f64, 0.0_f64);
    for _ in 0..60 {
        simulation.step().unwrap();
        let (total, scale) = angular_momentum(&simulation);
        (turn, motion) = (turn.max(length(total)), motion.max(scale));
    }
    assert!(motion > 0.05, "nothing moves: {motion}");
    assert!(turn < 2e-3 * motion, "{turn} of {motion}");
}

/// A strip of cloth two particles wide is two chains side by side. In a hanging chain of equal
/// weights the horizontal tension is constant, so the slopes of its links are evenly spaced.
#[test]
fn a_hanging_chain_is_a_discrete_catenary() {
    let links = 32;
    let simulation = run(
        r#"
        substeps = 40
        iterations = 8
        [[bodies]]
        name = "chain"
        mesh.grid = { particles = [33, 2], size = [1, 0.05] }
        deform = [0.8, 1, 1]
        damping = 4
        pins = [{ group = "left" }, { group = "right" }]
        elements.stretch = { compliance = 0 }
        "#,
        360,
    );
    let chain: Vec<[f64; 3]> =
        simulation.positions()[..=links].iter().map(|&particle| double(particle)).collect();
    let slope = |link: usize| {
        let (a, b) = (chain[link], chain[link + 1]);
        (b[1] - a[1]) / (b[0] - a[0])
    };
    let slopes: Vec<f64> = (0..links).map(slope).collect();
    let spacing = (slopes[links - 1] - slopes[0]) / (links - 1) as f64;
    assert!(spacing > 0.05, "the chain does not hang: {slopes:?}");
    let worst = (0..links)
        .map(|link| (slopes[link] - slopes[0] - spacing * link as f64).abs())
        .fold(0.0, f64::max);
    let range = slopes[links - 1] - slopes[0];
    assert!(worst < 0.01 * range, "slopes are off by {worst} of {range}");
}

/// How far a strip with compliant or stiff edges hangs down below its rest length.
fn sag(elements: &str, substeps: u32, iterations: u32) -> f64 {
    let text = format!(
        r#"
        substeps = {substeps}
        iterations = {iterations}
        [[bodies]]
        name = "strip"
        mesh.grid = {{ particles = [2, 6], size = [0.2, 1] }}
        transform.rotation = [90, 0, 0]
        damping = 3
        density = 10
        pins = [{{ group = "back" }}]
        elements.stretch = {{ {elements} }}
        "#
    );
    let simulation = run(&text, 300);
    -f64::from(simulation.extent()[0][1]) - 0.5
}

#[test]
fn compliance_does_not_depend_on_iterations_or_steps_but_stiffness_does() {
    let reference = sag("compliance = 2e-3", 20, 20);
    assert!(reference > 0.01, "the strip does not stretch: {reference}");
    for (substeps, iterations) in [(20, 1), (20, 4), (5, 20), (40, 10)] {
        let sag = sag("compliance = 2e-3", substeps, iterations);
        let error = (sag / reference - 1.0).abs();
        assert!(error < 0.02, "{substeps} × {iterations}: {sag} instead of {reference}");
    }
    let (few, many) = (sag("stiffness = 0.1", 5, 1), sag("stiffness = 0.1", 5, 20));
    assert!(few > 5.0 * many, "PBD hides its dependence: {few} and {many}");
}

/// How far a stiff square of cloth slides down a slope in a second, and where it would.
fn slide(degrees: f64, friction: f64) -> (f64, f64) {
    let text = format!(
        r#"
        dt = 0.01
        substeps = 4
        iterations = 4
        [[bodies]]
        name = "block"
        mesh.grid = {{ particles = [4, 4], size = [0.1, 0.1] }}
        transform.rotation = [0, 0, {degrees}]
        elements.stretch = {{ stiffness = 1.0 }}
        [[shapes]]
        name = "slope"
        geometry.plane = {{}}
        rotation = [0, 0, {degrees}]
        friction = {friction}
        "#
    );
    let simulation = run(&text, 100);
    let (sin, cos) = degrees.to_radians().sin_cos();
    let down = |particle: &[f32; 4]| {
        let [x, y, _] = double(*particle);
        -(x * cos + y * sin)
    };
    let particles = simulation.positions();
    let way = particles.iter().map(down).sum::<f64>() / particles.len() as f64;
    (way, (9.81 * (sin - friction * cos) / 2.0).max(0.0))
}

#[test]
fn a_block_slides_down_a_slope_if_and_only_if_friction_cannot_hold_it() {
    for (degrees, friction) in [(30.0, 0.3), (30.0, 0.5), (20.0, 0.0), (45.0, 0.9)] {
        let (way, expected) = slide(degrees, friction);
        let error = (way / expected - 1.0).abs();
        assert!(error < 0.01, "{degrees}° μ = {friction}: {way} m instead of {expected}");
    }
    for (degrees, friction) in [(30.0, 0.6), (20.0, 0.4), (10.0, 1.0)] {
        let (way, _) = slide(degrees, friction);
        assert!(way.abs() < 1e-4, "{degrees}° μ = {friction}: slid {way} m");
    }
}

#[test]
fn free_fall_follows_the_parabola() {
    let simulation = run(
        r#"
        dt = 0.01
        substeps = 10
        [[bodies]]
        name = "cloth"
        mesh.grid = { particles = [3, 3], size = [1, 1] }
        velocity = [2, 0, 0]
        elements.stretch = { stiffness = 1.0 }
        "#,
        100,
    );
    for particle in simulation.positions() {
        let [_, y, _] = double(particle);
        // Symplectic Euler is ahead of the parabola by g t h / 2. Velocities are differences of
        // places, which single precision rounds to half a micrometer here: 5·10⁻⁴ m/s at this h.
        assert!((y + 9.81 / 2.0 + 9.81 * 0.001 / 2.0).abs() < 5e-3, "{y}");
    }
}

#[test]
fn attachments_follow_a_moving_shape_and_each_other() {
    let simulation = run(
        r#"
        substeps = 10
        [[bodies]]
        name = "cloth"
        mesh.grid = { particles = [5, 5], size = [1, 1] }
        damping = 2
        elements.stretch = { compliance = 1e-6 }
        [[bodies]]
        name = "tail"
        mesh.grid = { particles = [5, 2], size = [1, 0.25] }
        transform.position = [0, 0, 0.625]
        damping = 2
        elements.stretch = { compliance = 1e-6 }
        [[shapes]]
        name = "hand"
        geometry.sphere = { radius = 0.05 }
        keyframes = [{ time = 0, position = [0, 5, 0] }, { time = 1, position = [0, 6, 2] }]
        [[attachments]]
        body = "cloth"
        particles.group = "back"
        to.shape = { name = "hand" }
        compliance = 0
        [[attachments]]
        body = "cloth"
        particles.group = "front"
        to.body = { name = "tail", particles.group = "back" }
        compliance = 0
        "#,
        600,
    );
    // The held edge started at (x, 0, −0.5) and moved along with the hand by (0, 1, 2).
    for (index, &particle) in simulation.positions()[..5].iter().enumerate() {
        let expected = [-0.5 + 0.25 * index as f64, 1.0, 1.5];
        let [x, y, z] = double(particle);
        let error = length([x - expected[0], y - expected[1], z - expected[2]]);
        assert!(error < 1e-3, "particle {index}: {error} m off");
    }
    let (seam, tail) = (&simulation.positions()[20..25], &simulation.positions()[25..30]);
    for (&a, &b) in seam.iter().zip(tail) {
        let (a, b) = (double(a), double(b));
        assert!(length([a[0] - b[0], a[1] - b[1], a[2] - b[2]]) < 2e-3);
    }
}

/// A closed mesh as a shape is a field of distances: cloth of 1 cm thickness that falls on a ball of
/// triangles stays outside it, within a tenth of a cell (1/64 m).
#[test]
fn cloth_stays_outside_a_closed_mesh() {
    let simulation = run(
        r#"
        substeps = 8
        iterations = 1
        [[bodies]]
        name = "cloth"
        mesh.grid = { particles = [24, 24], size = [1.6, 1.6] }
        transform.position = [0, 0.55, 0]
        thickness = 0.01
        elements.stretch = { compliance = 1e-7 }
        [[shapes]]
        name = "ball"
        geometry.mesh = { source.sphere = { radius = 0.5, subdivisions = 16 } }
        "#,
        60,
    );
    assert!(simulation.contacts() > 50, "{} contacts", simulation.contacts());
    let nearest = simulation.positions().iter().map(|&x| length(double(x))).fold(1.0, f64::min);
    assert!(nearest > 0.51 - 0.0016, "a particle is {nearest} m from the center");
}
