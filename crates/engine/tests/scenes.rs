//! Contract: every built-in scene keeps the bounds that it states for itself, and those of the
//! papers' scenes have the papers' sizes.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod common;

use common::{core, linking_number};
use taut::model::ConstraintLists;
use taut::output::check_expectations;
use taut::scene::{Override, Scene, library};
use taut::{BackendChoice, Simulation};

fn run(name: &str, overrides: &[&str]) -> Simulation {
    let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    let scene = Scene::find(name, &overrides).unwrap();
    let mut simulation = Simulation::new(&scene, BackendChoice::Cpu(0)).unwrap();
    for _ in 0..scene.file.steps {
        simulation.step().unwrap();
    }
    simulation
}

fn stretch_rms(simulation: &Simulation) -> f64 {
    let residuals = simulation.residuals();
    residuals.iter().find(|(kind, _)| *kind == "stretch").unwrap().1.rms
}

#[test]
fn every_scene_keeps_its_bounds() {
    for (name, _) in library::SCENES {
        let scene = Scene::find(name, &[]).unwrap();
        let simulation = run(name, &[]);
        let outcomes = check_expectations(&simulation, &scene.file.expect);
        assert!(!outcomes.is_empty(), "{name} states no bounds");
        for outcome in outcomes {
            assert!(outcome.holds, "{name}: {outcome:?}");
        }
        if *name == "tori-400" {
            no_torus_has_passed_through_another(&simulation);
        }
    }
}

/// Rings that were apart and now are linked have passed through each other.
fn no_torus_has_passed_through_another(simulation: &Simulation) {
    let bodies = &simulation.model().bodies;
    let cores: Vec<_> = bodies.iter().map(|body| core(simulation, body)).collect();
    for (number, first) in cores.iter().enumerate() {
        for (other, second) in cores[..number].iter().enumerate() {
            let (first_name, second_name) = (&bodies[number].name, &bodies[other].name);
            assert_eq!(linking_number(first, second), 0, "{first_name} and {second_name}");
        }
    }
}

#[test]
fn small_steps_make_cloth_on_a_tube_stiff() {
    let simulation = run("cloth-on-tube", &["substeps=8", "iterations=1"]);
    assert!(stretch_rms(&simulation) < 0.01, "{}", stretch_rms(&simulation));
    assert!(simulation.penetration().depth < 0.008);
}

#[test]
fn an_expectation_that_does_not_hold_is_found() {
    let scene = Scene::find("stretched-cloth", &[]).unwrap();
    // Nothing has moved yet: the cloth is still stretched to four times its length.
    let simulation = Simulation::new(&scene, BackendChoice::Serial).unwrap();
    let outcomes = check_expectations(&simulation, &scene.file.expect);
    assert!(outcomes.iter().any(|outcome| !outcome.holds));
}

fn counts(name: &str) -> (usize, usize, Vec<(&'static str, usize)>) {
    let scene = Scene::find(name, &[]).unwrap();
    let simulation = Simulation::new(&scene, BackendChoice::Serial).unwrap();
    let model = simulation.model();
    let groups = model.groups.iter().map(|group| (group.kind.name(), group.count));
    (model.body_of.len(), model.triangles.len(), groups.collect())
}

/// Within 3 % of what a paper reports.
fn near(value: usize, reported: usize) -> bool {
    value.abs_diff(reported) * 100 <= reported * 3
}

#[test]
fn the_papers_scenes_have_the_papers_sizes() {
    let (particles, _, groups) = counts("cloth-on-tube");
    assert_eq!(particles, 10_000);
    assert!(groups.iter().all(|(_, count)| near(*count, 29_000)), "{groups:?}");

    let (particles, _, groups) = counts("stretched-cloth");
    assert_eq!((particles, groups), (400, vec![("stretch", 1121)]));

    // By Euler's formula a disc of 95k triangles has 48k particles and 143k edges, not paper B's 45k
    // and 155k. Rings leave the choice between 92,256 triangles on 46,501 particles and 90,774 on
    // 45,757: the triangles are what the paper counts.
    let (particles, triangles, _) = counts("disc-on-torus");
    assert!(near(triangles, 95_000), "{triangles}");
    assert_eq!(particles, 46_501);
}

/// What a paper reports for a kind of constraint of a scene.
#[rustfmt::skip]
const SOLIDS: &[(&str, &str, usize)] = &[
    ("tori-100", "stretch", 493_000), ("tori-100", "volume", 313_000),
    ("tori-400", "stretch", 493_000), ("tori-400", "volume", 313_000),
    ("squishy-ball", "stretch", 452_000), ("squishy-ball", "volume", 250_000),
    ("omotondo", "stretch", 80_000), ("omotondo", "volume", 65_000),
    ("big-torus", "volume", 52_000),
    ("bunny", "stretch", 80_000), ("bunny", "bend", 42_000), ("bunny", "volume", 50_000),
];

#[test]
fn the_papers_solids_have_the_papers_sizes() {
    for &(name, kind, reported) in SOLIDS {
        let lists = ConstraintLists::of(&Scene::find(name, &[]).unwrap()).unwrap().lists;
        let list = lists.iter().find(|(found, _)| found.name() == kind).unwrap();
        let count = list.1.len() / list.0.arity();
        assert!(
            near(count, reported),
            "{name}: {count} {kind} constraints, the paper has {reported}"
        );
    }
    let (particles, ..) = counts("bunny");
    assert!(near(particles, 16_000), "{particles}");
    let lists = ConstraintLists::of(&Scene::find("falling-cube", &[]).unwrap()).unwrap().lists;
    let constraints: usize = lists.iter().map(|(kind, list)| list.len() / kind.arity()).sum();
    assert!(near(constraints, 25_000), "{constraints}");
}

#[test]
fn the_readmes_scene_runs() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let text = readme.split("```toml").nth(1).unwrap().split("```").next().unwrap();
    let scene = Scene::parse("handkerchief", text, std::path::Path::new("."), &[]).unwrap();
    let mut simulation = Simulation::new(&scene, BackendChoice::Serial).unwrap();
    for _ in 0..60 {
        simulation.step().unwrap();
    }
    assert!(simulation.contacts() > 0, "the handkerchief misses the ball");
}
