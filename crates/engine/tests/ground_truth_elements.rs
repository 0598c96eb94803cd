//! Contracts: every kind of element against a known answer of mechanics. Tolerances are those of
//! the meshes used here, and each test says what it compares.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod common;

use common::{after, double, length, run, simulation, wide_simulation};

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
        println!("warp {direction}: {elongation} m instead of {expected}: {error:.4}");
        assert!(error.abs() < 0.02, "warp {direction}: {elongation} m instead of {expected}");
    }
}

#[test]
fn strain_does_not_depend_on_iterations() {
    let moduli = "warp = 100, weft = 100, shear = 50";
    let reference = strip_elongation("[1, 0, 0]", moduli, 16);
    for iterations in [1, 4] {
        let error = strip_elongation("[1, 0, 0]", moduli, iterations) / reference - 1.0;
        println!("{iterations} iterations: {error:.5}");
        assert!(error.abs() < 0.01, "{iterations} iterations: {error}");
    }
}

/// How far a bar of 1 m and 1000 kg/m³ hangs down below its rest length.
fn bar_elongation(elements: &str, gravity: f64, iterations: u32) -> f64 {
    let text = format!(
        r#"
        gravity = [0, -{gravity}, 0]
        substeps = 20
        iterations = {iterations}
        [[bodies]]
        name = "bar"
        kind = "soft"
        mesh.block = {{ size = [0.2, 1, 0.2], cells = [2, 10, 2] }}
        damping = 5
        pins = [{{ group = "top" }}]
        {elements}
        "#
    );
    let simulation = after(wide_simulation(&text), 240);
    // The mean of the lower end: with a Poisson number its rim hangs lower than its middle.
    let bottom: Vec<f64> = simulation.model().bodies[0].mesh.groups["bottom"]
        .iter()
        .map(|&particle| f64::from(simulation.positions()[particle as usize][1]))
        .collect();
    -bottom.iter().sum::<f64>() / bottom.len() as f64 - 0.5
}

/// A bar hangs by one end: it gets longer by ρgL²/2E. (With a Poisson number the pinned end cannot
/// get narrower, which makes the bar a little stiffer.)
#[test]
fn a_hanging_bar_stretches_by_youngs_modulus() {
    for (poisson, tolerance) in [(0.0, 0.01), (0.3, 0.05), (0.45, 0.15)] {
        let elements = format!("elements.neo-hookean = {{ young = 1e6, poisson = {poisson} }}");
        let elongation = bar_elongation(&elements, G, 1);
        let expected = 1000.0 * G / 2e6;
        let error = elongation / expected - 1.0;
        println!("ν = {poisson}: {elongation} m instead of {expected}: {error:.4}");
        assert!(error.abs() < tolerance, "ν = {poisson}: {elongation} m instead of {expected}");
    }
}

#[test]
fn a_neo_hookean_solid_does_not_depend_on_iterations() {
    let elements = "elements.neo-hookean = { young = 5e5, poisson = 0.3 }";
    let reference = bar_elongation(elements, G, 8);
    for iterations in [1, 3] {
        let error = bar_elongation(elements, G, iterations) / reference - 1.0;
        println!("{iterations} iterations: {error:.5}");
        assert!(error.abs() < 0.02, "{iterations} iterations: {error}");
    }
}

/// Edges and volumes have no modulus of their own, but what they make is linearly elastic for small
/// strain: twice the weight or twice the compliance, twice the elongation.
#[test]
fn stretch_and_volume_are_linear_in_load_and_compliance() {
    let elements = |factor: f64| {
        let (stretch, volume) = (factor * 2e-5, factor * 1e-9);
        format!(
            "elements.stretch = {{ compliance = {stretch} }}\n\
             elements.volume = {{ compliance = {volume} }}"
        )
    };
    let once = bar_elongation(&elements(1.0), G, 4);
    println!("elongation {once}");
    assert!(once > 1e-3, "{once} m");
    for twice in [bar_elongation(&elements(1.0), 2.0 * G, 4), bar_elongation(&elements(2.0), G, 4)]
    {
        println!("ratio {}", twice / once);
        assert!((twice / once - 2.0).abs() < 0.06, "{twice} m instead of twice {once}");
    }
}

/// A beam of length L and height b, held at one end, bends under its own weight by qL⁴/8EI plus
/// what shear adds, qL²/2κGA (Timoshenko, κ = 5/6). Tetrahedra with straight edges are too stiff in
/// bending, with four of them over the height by a fifth to a quarter; it gets less with more.
#[test]
fn a_cantilever_bends_as_a_beam_does() {
    let (young, density, side) = (2e6, 250.0, 0.2);
    let simulation = wide_simulation(&format!(
        r#"
        substeps = 64
        iterations = 1
        [[bodies]]
        name = "beam"
        kind = "soft"
        mesh.block = {{ size = [1, {side}, {side}], cells = [20, 4, 4] }}
        density = {density}
        damping = 8
        pins = [{{ group = "left" }}]
        elements.neo-hookean = {{ young = {young}, poisson = 0 }}
        "#
    ));
    let simulation = after(simulation, 150);
    let tip: Vec<f64> = simulation.model().bodies[0].mesh.groups["right"]
        .iter()
        .map(|&particle| f64::from(simulation.positions()[particle as usize][1]))
        .collect();
    let deflection = -tip.iter().sum::<f64>() / tip.len() as f64;
    let load = density * G * side * side;
    let bending = load / (8.0 * young * side.powi(4) / 12.0);
    let shear = load / (2.0 * (5.0 / 6.0) * (young / 2.0) * side * side);
    let ratio = deflection / (bending + shear);
    println!("tip {deflection} m of {}: {ratio}", bending + shear);
    assert!((0.70..1.0).contains(&ratio), "tip {deflection} m of {}", bending + shear);
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
    for body in [cloth, solid] {
        for partition in ["", "partition = { method = \"phantom\" }"] {
            let loss = momentum_loss(partition, body);
            println!("{partition} {loss}");
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
    println!("{free} {held}");
    assert!(free > 1.5, "the cloth is not soft: {free}");
    assert!(held < 1.05 * 1.001, "{held} m from the pin");
}
