//! Contracts: every kind of element against a known answer of mechanics. Tolerances are those of
//! the meshes used here, and each test says what it compares.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod common;

use common::{after, double, length, run, simulation};

const G: f64 = 9.81;

/// How far a strip of cloth of 1 m and 1 kg/m² hangs down below its rest length.
fn strip_elongation(warp: &str, strain: &str, iterations: u32) -> f64 {
    let text = format!(
        r#"
        substeps = 20
        iterations = {iterations}
        [[bodies]]
        name = "strip"
        mesh.grid = {{ particles = [4, 11], size = [0.3, 1], diagonals = "alternating" }}
        transform.rotation = [90, 0, 0]
        warp = {warp}
        density = 1
        damping = 4
        pins = [{{ group = "back" }}]
        elements.strain = {{ {strain} }}
        "#
    );
    -f64::from(run(&text, 240).extent()[0][1]) - 0.5
}

/// A strip hangs by one end. Its tension is the weight below, so it gets longer by ρgL²/2k, k the
/// modulus along the strip: that of the warp or that of the weft, as the cloth was cut.
#[test]
fn cloth_stretches_by_the_modulus_of_its_direction() {
    for (direction, modulus) in [("[0, 0, 1]", 400.0), ("[1, 0, 0]", 100.0)] {
        let elongation = strip_elongation(direction, "warp = 400, weft = 100, shear = 50", 4);
        let expected = G / (2.0 * modulus);
        let error = elongation / expected - 1.0;
        assert!(error.abs() < 0.02, "warp {direction}: {elongation} m instead of {expected}");
    }
}

/// The same moduli as forces.
#[test]
fn triangle_forces_stretch_as_triangle_constraints_do() {
    let moduli = "warp = 100, weft = 100, shear = 50, forces = true, damping = 0.1";
    let (elongation, expected) = (strip_elongation("[1, 0, 0]", moduli, 1), G / 200.0);
    let error = elongation / expected - 1.0;
    assert!(error.abs() < 0.02, "{elongation} m instead of {expected}");
}

#[test]
fn strain_does_not_depend_on_iterations() {
    let moduli = "warp = 100, weft = 100, shear = 50";
    let reference = strip_elongation("[1, 0, 0]", moduli, 16);
    for iterations in [1, 4] {
        let error = strip_elongation("[1, 0, 0]", moduli, iterations) / reference - 1.0;
        assert!(error.abs() < 0.01, "{iterations} iterations: {error}");
    }
}

/// Σ m v of a free, shaking body after half a second, relative to what it was.
fn momentum_loss(partition: &str, body: &str) -> f64 {
    let mut simulation = simulation(&format!(
        r#"
        gravity = [0, 0, 0]
        substeps = 4
        {partition}
        [[bodies]]
        name = "free"
        deform = [1.04, 0.97, 0.98]
        velocity = [1, -2, 0.5]
        {body}
        "#
    ));
    let start = simulation.momentum();
    simulation = after(simulation, 30);
    let end = simulation.momentum();
    length([0, 1, 2].map(|axis| end[axis] - start[axis])) / length(start)
}

#[test]
fn new_kinds_keep_momentum_with_phantoms_too() {
    let cloth = "mesh.grid = { particles = [12, 12], size = [1, 1] }\n\
                 elements.strain = { warp = 20, weft = 10, shear = 5 }";
    let solid = "kind = \"soft\"\nmesh.block = { size = [1, 1, 1], cells = [4, 4, 4] }\n\
                 elements.neo-hookean = { young = 1e4, poisson = 0.3 }";
    let balloon = "mesh.sphere = { radius = 0.5, subdivisions = 5 }\n\
                   elements.stretch = { compliance = 1e-2 }\n\
                   elements.balloon = { pressure = 1.1, compliance = 1e-4 }";
    let springs = "mesh.grid = { particles = [8, 8], size = [1, 1] }\n\
                   elements.stretch = { spring = 20, damping = 0.01 }\n\
                   elements.strain = { warp = 5, weft = 5, shear = 2, forces = true }\n\
                   elements.bend = { spring = 1e-3 }";
    for body in [cloth, solid, balloon, springs] {
        for partition in ["", "partition = { method = \"phantom\" }"] {
            let loss = momentum_loss(partition, body);
            assert!(loss < 5e-4, "{partition} {body}: {loss}");
        }
    }
}

/// However soft the cloth, no particle gets farther from its pin than the way there.
#[test]
fn long_range_attachments_bound_the_distance_to_the_pins() {
    let farthest = |elements: &str| {
        let simulation = run(
            &format!(
                r#"
                substeps = 10
                iterations = 1
                [[bodies]]
                name = "cloth"
                mesh.grid = {{ particles = [2, 21], size = [0.05, 1] }}
                damping = 2
                pins = [{{ group = "back" }}]
                elements.stretch = {{ compliance = 5 }}
                {elements}
                "#
            ),
            120,
        );
        let particles = simulation.positions();
        let (pin, last) = (double(particles[0]), double(particles[40]));
        length([0, 1, 2].map(|axis| last[axis] - pin[axis]))
    };
    let (free, held) =
        (farthest(""), farthest("elements.long-range = { compliance = 0, slack = 1.05 }"));
    assert!(free > 1.5, "the cloth is not soft: {free}");
    assert!(held < 1.05 * 1.001, "{held} m from the pin");
}

/// A rigid balloon in an elastic skin has the volume that its pressure says.
#[test]
fn a_balloon_has_its_volume() {
    for (pressure, response) in [(1.3, "compliance = 0"), (0.8, "stiffness = 1")] {
        let simulation = run(
            &format!(
                r#"
                gravity = [0, 0, 0]
                substeps = 4
                iterations = 8
                [[bodies]]
                name = "balloon"
                mesh.sphere = {{ radius = 0.3, subdivisions = 8 }}
                transform = {{ position = [3, 1, 0], scale = 2 }}
                damping = 5
                elements.strain = {{ warp = 50, weft = 50, shear = 20 }}
                elements.balloon = {{ pressure = {pressure}, {response} }}
                "#
            ),
            60,
        );
        let mesh = &simulation.model().bodies[0].mesh;
        let places = simulation.positions();
        let cone = |&corners: &[u32; 3]| {
            let [a, b, c] = corners.map(|corner| double(places[corner as usize]));
            let normal =
                [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
            (normal[0] * c[0] + normal[1] * c[1] + normal[2] * c[2]) / 6.0
        };
        let volume: f64 = mesh.triangles.iter().map(cone).sum();
        let error = volume / (pressure * 8.0 * mesh.volume()) - 1.0;
        assert!(error.abs() < 2e-3, "{response}: {error}");
    }
}

/// A particle between two springs at right angles moves along the line between them as an
/// oscillator does, with ω = √(k/m); symplectic Euler keeps its amplitude.
#[test]
fn a_spring_swings_at_its_frequency_and_does_not_tire() {
    let mut simulation = simulation(
        r#"
        gravity = [0, 0, 0]
        dt = 0.002
        [[bodies]]
        name = "corner"
        mesh.grid = { particles = [2, 2], size = [1, 1] }
        density = 6
        velocity = [0.05, 0, -0.05]
        pins = [{ indices = [0, 1, 2] }]
        elements.stretch = { spring = 200 }
        "#,
    );
    let start = double(simulation.positions()[3]);
    let omega = (200.0 * f64::from(simulation.positions()[3][3])).sqrt();
    let periods = 40;
    let (mut crossings, mut last_crossing, mut before) = (0, 0.0, 0.0);
    let mut amplitudes = vec![0.0_f64; periods];
    while crossings < 2 * periods {
        let time = simulation.time();
        simulation = after(simulation, 1);
        let [x, _, z] = double(simulation.positions()[3]);
        let way = (x - start[0]) - (z - start[2]);
        amplitudes[crossings / 2] = amplitudes[crossings / 2].max(way.abs());
        if before * way < 0.0 {
            crossings += 1;
            last_crossing = time + 0.002 * before / (before - way);
        }
        before = way;
    }
    let found = std::f64::consts::TAU * periods as f64 / last_crossing;
    println!(
        "ω {found} instead of {omega}; amplitudes {} to {}",
        amplitudes[0],
        amplitudes[periods - 1]
    );
    assert!((found / omega - 1.0).abs() < 2e-3, "ω = {found} instead of {omega}");
    let kept = amplitudes[periods - 1] / amplitudes[0];
    assert!((kept - 1.0).abs() < 0.01, "{kept} of the amplitude is left");
}

/// How a scene of springs ends that are too stiff for their step.
fn divergence(settings: &str) -> taut::SimulationError {
    let mut simulation = simulation(&format!(
        r#"
        {settings}
        [[bodies]]
        name = "cloth"
        mesh.grid = {{ particles = [8, 8], size = [1, 1] }}
        pins = [{{ group = "left" }}]
        elements.stretch = {{ spring = 1e4 }}
        elements.bend = {{ compliance = 1 }}
        "#
    ));
    (0..1000).find_map(|_| simulation.step().err()).expect("the simulation diverges")
}

#[test]
fn a_divergence_names_step_body_and_element() {
    let taut::SimulationError::Diverged { step, body, place, element, .. } =
        divergence("dt = 0.02")
    else {
        panic!("another error");
    };
    // An explosion is noticed long before anything is infinite.
    assert!(place.iter().all(|x| x.is_finite()), "{place:?}");
    assert!((2..100).contains(&step), "in step {step}");
    assert_eq!(body, "cloth");
    assert!(element.starts_with("by its stretch element on cloth:"), "{element}");

    let message = divergence("gravity = [0, -1e38, 0]\ndt = 2").to_string();
    assert!(message.contains("diverged in step 1: particle"), "{message}");
    assert!(message.contains("by its ") && message.contains("element on cloth:"), "{message}");
}

#[test]
fn fast_motion_is_no_divergence() {
    // Small, thrown at the speed of sound, and falling for a minute.
    let simulation = run(
        r#"
        dt = 0.1
        iterations = 1
        [[bodies]]
        name = "shot"
        mesh.grid = { particles = [2, 2], size = [0.01, 0.01] }
        velocity = [340, 0, 0]
        elements.stretch = { stiffness = 1 }
        "#,
        600,
    );
    assert!(simulation.positions()[0][1] < -1e4);
}
