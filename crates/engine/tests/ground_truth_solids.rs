//! Contracts: solids of tetrahedra against the bars and beams of mechanics. Tolerances are those of the meshes used
//! here, and each test says what it compares.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod common;

use std::collections::BTreeSet;

use glam::DVec3;
use taut::Simulation;
use taut::mesh::Mesh;

use common::{after, wide_simulation};

const G: f64 = 9.81;

/// How far a bar of 1 m and 1000 kg/m³ hangs down below its rest length.
fn bar_elongation(elements: &str, gravity: f64, iterations: u32) -> f64 {
    let bar = hanging_bar(elements, gravity, iterations);
    elongation_below(&bar, 0.5)
}

/// A bar from 0.5 m to −0.5 m that hangs by its upper end, when it has come to rest.
fn hanging_bar(elements: &str, gravity: f64, iterations: u32) -> Simulation {
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
    after(wide_simulation(&text), 240)
}

/// How much longer the part of the bar below a height is than at rest. Heights are means over all particles
/// that rest there: with a Poisson number the rim of a section hangs lower than its middle.
fn elongation_below(bar: &Simulation, height: f64) -> f64 {
    let rest = &bar.model().bodies[0].mesh.positions;
    let mean_at = |height: f64| {
        let at_rest = |particle: &usize| (f64::from(rest[*particle].y) - height).abs() < 1e-3;
        let section: Vec<usize> = (0..rest.len()).filter(at_rest).collect();
        let sum: f64 = section.iter().map(|&one| f64::from(bar.positions()[one][1])).sum();
        sum / section.len() as f64
    };
    mean_at(height) - mean_at(-0.5) - (height + 0.5)
}

/// A bar hangs by one end: it gets longer by ρgL²/2E. With a Poisson number the pinned end cannot get
/// narrower, which makes the bar stiffer there; from a width below it on, the part of length l gets longer by
/// ρgl²/2E (Saint-Venant's principle).
#[test]
fn a_hanging_bar_stretches_by_youngs_modulus() {
    let cases = [(0.0, 0.5, 0.01), (0.3, 0.5, 0.05), (0.3, 0.3, 0.01), (0.45, 0.3, 0.01)];
    for (poisson, height, tolerance) in cases {
        let elements = format!("elements.neo-hookean = {{ young = 1e6, poisson = {poisson} }}");
        let elongation = elongation_below(&hanging_bar(&elements, G, 1), height);
        let expected = 1000.0 * G * (height + 0.5_f64).powi(2) / 2e6;
        let error = elongation / expected - 1.0;
        assert!(error.abs() < tolerance, "ν = {poisson}, below {height}: {elongation}, {expected}");
    }
}

#[test]
fn a_neo_hookean_solid_does_not_depend_on_iterations() {
    let elements = "elements.neo-hookean = { young = 5e5, poisson = 0.3 }";
    let reference = bar_elongation(elements, G, 8);
    for iterations in [1, 3] {
        let error = bar_elongation(elements, G, iterations) / reference - 1.0;
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
    assert!(once > 1e-3, "{once} m");
    for twice in [bar_elongation(&elements(1.0), 2.0 * G, 4), bar_elongation(&elements(2.0), G, 4)]
    {
        assert!((twice / once - 2.0).abs() < 0.06, "{twice} m instead of twice {once}");
    }
}

/// Compliances of edges and volumes, m/N and m³·m³/J.
const LATTICE: [f64; 2] = [2e-5, 1e-9];

fn lattice_elements() -> String {
    let [stretch, volume] = LATTICE;
    format!(
        "elements.stretch = {{ compliance = {stretch} }}\n\
         elements.volume = {{ compliance = {volume} }}"
    )
}

/// Young's modulus of what edges and volumes make of a block, along an axis. Where all of it strains alike by ε, an
/// edge of length l along n gets longer by l nᵀεn and a tetrahedron larger by V tr ε, so its energy is ½ εᵀKε.
/// Pulled along the axis alone by σ, it strains by K⁻¹σV, and E = 1 / (V K⁻¹) of that axis.
fn modulus_of_lattice(mesh: &Mesh, axis: usize) -> f64 {
    let place = |corner: u32| mesh.positions[corner as usize].as_dvec3();
    let mut stiffness = [[0.0; 6]; 6];
    let mut add = |row: [f64; 6], compliance: f64| {
        for (sums, factor) in stiffness.iter_mut().zip(row) {
            for (sum, other) in sums.iter_mut().zip(row) {
                *sum += factor * other / compliance;
            }
        }
    };
    for corners in &mesh.tetrahedra {
        let [a, b, c, d] = corners.map(place);
        let volume = (b - a).cross(c - a).dot(d - a) / 6.0;
        add([volume, volume, volume, 0.0, 0.0, 0.0], LATTICE[1]);
    }
    for (start, end) in edges(mesh) {
        let way = place(end) - place(start);
        let DVec3 { x, y, z } = way / way.length();
        add([x * x, y * y, z * z, y * z, x * z, x * y].map(|part| part * way.length()), LATTICE[0]);
    }
    let mut pull = [0.0; 6];
    pull[axis] = 1.0;
    1.0 / (solve(stiffness, pull)[axis] * mesh.volume())
}

/// The edges of a mesh, each once.
fn edges(mesh: &Mesh) -> BTreeSet<(u32, u32)> {
    let mut edges = BTreeSet::new();
    for corners in &mesh.tetrahedra {
        for (number, &end) in corners.iter().enumerate() {
            edges.extend(corners[..number].iter().map(|&start| (start.min(end), start.max(end))));
        }
    }
    edges
}

/// Gauss without pivots: the matrix is positive definite.
fn solve(mut matrix: [[f64; 6]; 6], mut right: [f64; 6]) -> [f64; 6] {
    for pivot in 0..6 {
        let pivot_row = matrix[pivot];
        for row in (0..6).filter(|&row| row != pivot) {
            let factor = matrix[row][pivot] / pivot_row[pivot];
            for (entry, other) in matrix[row].iter_mut().zip(pivot_row) {
                *entry -= factor * other;
            }
            right[row] -= factor * right[pivot];
        }
    }
    [0, 1, 2, 3, 4, 5].map(|row| right[row] / matrix[row][row])
}

/// Edges and volumes make a solid whose modulus follows from the mesh.
#[test]
fn a_bar_of_edges_and_volumes_stretches_as_its_lattice_does() {
    let bar = hanging_bar(&lattice_elements(), G, 4);
    let expected =
        1000.0 * G * 0.8_f64.powi(2) / 2.0 / modulus_of_lattice(&bar.model().bodies[0].mesh, 1);
    let elongation = elongation_below(&bar, 0.3);
    assert!((elongation / expected - 1.0).abs() < 0.01, "{elongation} m instead of {expected}");
}

/// Young's modulus, density and height of a beam of 1 m.
const BEAM: (f64, f64, f64) = (2e6, 250.0, 0.2);

/// The beam, held at one end, with so many cells across.
fn cantilever(across: u32, elements: &str, damping: f64) -> Simulation {
    let (_, density, side) = BEAM;
    let along = 5 * across;
    wide_simulation(&format!(
        r#"
        substeps = 64
        iterations = 4
        [[bodies]]
        name = "beam"
        kind = "soft"
        mesh.block = {{ size = [1, {side}, {side}], cells = [{along}, {across}, {across}] }}
        density = {density}
        damping = {damping}
        pins = [{{ group = "left" }}]
        {elements}
        "#
    ))
}

fn neo_hookean_beam(across: u32, damping: f64) -> Simulation {
    let young = BEAM.0;
    let elements = format!("elements.neo-hookean = {{ young = {young}, poisson = 0 }}");
    cantilever(across, &elements, damping)
}

/// Mean height of the beam's free end.
fn tip(simulation: &Simulation) -> f64 {
    let tip: Vec<f64> = simulation.model().bodies[0].mesh.groups["right"]
        .iter()
        .map(|&particle| f64::from(simulation.positions()[particle as usize][1]))
        .collect();
    tip.iter().sum::<f64>() / tip.len() as f64
}

/// How far a beam of length L and height b, held at one end, bends under its own weight: qL⁴/8EI, and what shear
/// adds, qL²/2κGA (Timoshenko, κ = 5/6).
fn beam_deflection(young: f64, shear: f64) -> f64 {
    let (_, density, side) = BEAM;
    let load = density * G * side * side;
    let bending = load / (8.0 * young * side.powi(4) / 12.0);
    bending + load / (2.0 * (5.0 / 6.0) * shear * side * side)
}

/// Tetrahedra with straight edges are too stiff in bending, with four of them over the height by a fifth. The error
/// gets less than half with twice as many.
#[test]
fn a_cantilever_bends_as_a_beam_does() {
    let expected = beam_deflection(BEAM.0, BEAM.0 / 2.0);
    let missing = |across| 1.0 + tip(&after(neo_hookean_beam(across, 8.0), 150)) / expected;
    let [two, four] = [missing(2), missing(4)];
    assert!((0.1..0.25).contains(&four), "with four: {four}");
    assert!(four < two / 2.0, "with two: {two}, with four: {four}");
}

/// Of edges and volumes, which have no modulus, it bends as the same mesh does in linear elasticity.
#[test]
fn a_cantilever_of_edges_and_volumes_bends_as_its_stiffness_matrix_says() {
    let beam = cantilever(3, &lattice_elements(), 8.0);
    let expected = linear_tip(&beam);
    let deflection = -tip(&after(beam, 150));
    assert!((deflection / expected - 1.0).abs() < 0.02, "{deflection} m instead of {expected}");
}

/// How far the free end of a beam of edges and volumes sinks if all errors are linear in the ways of its particles.
fn linear_tip(beam: &Simulation) -> f64 {
    let body = &beam.model().bodies[0];
    let rows = rows_at_rest(&body.mesh);
    let is_held = |particle: usize| body.mesh.groups["left"].contains(&(particle as u32));
    let held: Vec<bool> = (0..body.mesh.positions.len()).map(is_held).collect();
    let weight = |particle: usize| {
        let [.., inverse_mass] = beam.positions()[particle];
        if held[particle] { DVec3::ZERO } else { DVec3::NEG_Y * G / f64::from(inverse_mass) }
    };
    let forces: Vec<DVec3> = (0..held.len()).map(weight).collect();
    let stiffness = |ways: &[DVec3]| {
        let mut forces = vec![DVec3::ZERO; ways.len()];
        for (gradients, compliance) in &rows {
            let error: f64 = gradients.iter().map(|&(id, gradient)| gradient.dot(ways[id])).sum();
            for &(id, gradient) in gradients {
                if !held[id] {
                    forces[id] += gradient * (error / compliance);
                }
            }
        }
        forces
    };
    let ways = conjugate_gradients(stiffness, &forces);
    let end = &body.mesh.groups["right"];
    -end.iter().map(|&particle| ways[particle as usize].y).sum::<f64>() / end.len() as f64
}

/// The ∇C at rest of every edge and tetrahedron of a mesh, by particle, and the compliance.
fn rows_at_rest(mesh: &Mesh) -> Vec<(Vec<(usize, DVec3)>, f64)> {
    let place = |corner: u32| mesh.positions[corner as usize].as_dvec3();
    let edge = |(start, end): (u32, u32)| {
        let along = (place(end) - place(start)).normalize();
        (vec![(start as usize, -along), (end as usize, along)], LATTICE[0])
    };
    let solid = |corners: &[u32; 4]| {
        let [a, b, c, d] = corners.map(place);
        let (b, c, d) = (b - a, c - a, d - a);
        let [second, third, fourth] = [c.cross(d), d.cross(b), b.cross(c)].map(|way| way / 6.0);
        let gradients = [-(second + third + fourth), second, third, fourth];
        (corners.map(|corner| corner as usize).into_iter().zip(gradients).collect(), LATTICE[1])
    };
    edges(mesh).into_iter().map(edge).chain(mesh.tetrahedra.iter().map(solid)).collect()
}

/// Solves A x = b for a matrix that is symmetric and positive definite.
fn conjugate_gradients(a: impl Fn(&[DVec3]) -> Vec<DVec3>, b: &[DVec3]) -> Vec<DVec3> {
    let dot = |x: &[DVec3], y: &[DVec3]| x.iter().zip(y).map(|(x, y)| x.dot(*y)).sum::<f64>();
    let mut x = vec![DVec3::ZERO; b.len()];
    let (mut rest, mut way) = (b.to_vec(), b.to_vec());
    let mut square = dot(&rest, &rest);
    let enough = 1e-16 * square;
    while square > enough {
        let image = a(&way);
        let length = square / dot(&way, &image);
        for index in 0..x.len() {
            x[index] += way[index] * length;
            rest[index] -= image[index] * length;
        }
        let before = std::mem::replace(&mut square, dot(&rest, &rest));
        for (way, rest) in way.iter_mut().zip(&rest) {
            *way = *rest + *way * (square / before);
        }
    }
    x
}

/// Let go, it swings with its first frequency, ω = 1.875² √(EI/ρAL⁴), a little slower because it is
/// thick and, by the root of what it is too stiff, a little faster.
#[test]
fn a_cantilever_swings_as_a_beam_does() {
    let (young, density, side) = BEAM;
    let mut simulation = neo_hookean_beam(4, 0.0);
    let mut heights = vec![tip(&simulation)];
    for _ in 0..60 {
        simulation.step().unwrap();
        heights.push(tip(&simulation));
    }
    // When the tip turns, between steps: where its velocity passes through 0.
    let ways: Vec<f64> = heights.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let turns: Vec<f64> = (1..ways.len())
        .filter(|&step| ways[step - 1] * ways[step] < 0.0)
        .map(|step| step as f64 - 0.5 + ways[step - 1] / (ways[step - 1] - ways[step]))
        .collect();
    let (first, last) = (turns[0], turns[turns.len() - 1]);
    let half_period = (last - first) / (turns.len() - 1) as f64 / 60.0;
    let frequency = std::f64::consts::PI / half_period;
    let expected =
        1.8751_f64.powi(2) * (young * side.powi(4) / 12.0 / (density * side * side)).sqrt();
    let ratio = frequency / expected;
    assert!((1.0..1.15).contains(&ratio), "{frequency} rad/s, {ratio} of {expected}");
}
