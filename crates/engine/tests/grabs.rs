//! Contract: a grabbed particle goes where it is pulled and takes others along; letting go leaves no
//! trace but motion; results depend on what was grabbed, not on threads.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use taut::scene::Scene;
use taut::{BackendChoice, GrabError, Simulation};

/// A handkerchief in the air, above nothing.
const SCENE: &str = r#"
[[bodies]]
name = "cloth"
mesh.grid = { particles = [21, 21], size = [0.4, 0.4] }
transform.position = [0, 1, 0]
elements.stretch = { stiffness = 0.9 }
elements.bend = { stiffness = 0.1 }
pins = [{ indices = [0] }]
"#;

const MIDDLE: usize = 220;

fn scene(sets: &[&str]) -> Scene {
    let overrides: Vec<_> = sets.iter().map(|set| set.parse().unwrap()).collect();
    Scene::parse("cloth", SCENE, std::path::Path::new(""), &overrides).unwrap()
}

fn start(sets: &[&str]) -> Simulation {
    Simulation::new(&scene(sets), BackendChoice::Serial).unwrap()
}

fn steps(simulation: &mut Simulation, count: usize) {
    for _ in 0..count {
        simulation.step().unwrap();
    }
}

fn distance(simulation: &Simulation, particle: usize, target: [f32; 3]) -> f32 {
    let place = simulation.positions()[particle];
    (0..3).map(|axis| (place[axis] - target[axis]).powi(2)).sum::<f32>().sqrt()
}

fn mean_height(simulation: &Simulation) -> f32 {
    let positions = simulation.positions();
    positions.iter().map(|particle| particle[1]).sum::<f32>() / positions.len() as f32
}

fn masses(simulation: &Simulation) -> Vec<u32> {
    simulation.positions().iter().map(|particle| particle[3].to_bits()).collect()
}

#[test]
fn a_pulled_particle_arrives_and_lifts_the_cloth() {
    let target = [0.05, 1.15, 0.0];
    for sets in [
        &[][..],
        &["substeps=5", "iterations=2"],
        &["solver=phantom"],
        &["solver=jacobi"],
        &["partition.method=cluster"],
        &["bodies.0.elements.stretch={compliance=1e-6}"],
        &["integrate=false"],
    ] {
        let mut simulation = start(sets);
        simulation.pull(MIDDLE, target).unwrap();
        steps(&mut simulation, 120);
        let away = distance(&simulation, MIDDLE, target);
        assert!(away < 0.03, "{sets:?}: {away} m away");
        // The rest came along: it hangs higher than without a hand.
        let mut alone = start(sets);
        steps(&mut alone, 120);
        let lift = mean_height(&simulation) - mean_height(&alone);
        assert!(lift > 0.02, "{sets:?}: lifted by {lift} m");
    }
}

#[test]
fn a_held_particle_stays_and_a_released_one_falls() {
    let target = [0.0, 1.1, 0.1];
    let mut simulation = start(&[]);
    simulation.hold(MIDDLE, target).unwrap();
    steps(&mut simulation, 120);
    assert!(distance(&simulation, MIDDLE, target) < 2e-3);
    simulation.release(MIDDLE);
    assert_eq!(simulation.grabs(), []);
    steps(&mut simulation, 60);
    assert!(simulation.positions()[MIDDLE][1] < 1.0);
}

#[test]
fn masses_are_as_before_to_the_bit() {
    for sets in [&[][..], &["solver=phantom"]] {
        let mut simulation = start(sets);
        let before = (masses(&simulation), copies(&simulation));
        simulation.pull(MIDDLE, [0.0, 2.0, 0.0]).unwrap();
        simulation.hold(MIDDLE + 3, [0.0, 1.0, 0.0]).unwrap();
        steps(&mut simulation, 5);
        simulation.release(MIDDLE);
        simulation.release(MIDDLE + 3);
        steps(&mut simulation, 1);
        assert_eq!((masses(&simulation), copies(&simulation)), before);
    }
}

/// Inverse masses of all copies of particles.
fn copies(simulation: &Simulation) -> Vec<u32> {
    let groups = simulation.model().groups.iter();
    let masses = groups.flat_map(|group| &group.copies.inverse_masses);
    masses.map(|mass| mass.to_bits()).collect()
}

#[test]
fn after_a_reset_nobody_was_ever_there() {
    let mut fresh = start(&[]);
    steps(&mut fresh, 20);
    let mut simulation = start(&[]);
    simulation.pull(MIDDLE, [0.3, 1.5, 0.3]).unwrap();
    steps(&mut simulation, 20);
    assert_ne!(simulation.state_hash(), fresh.state_hash());
    simulation.reset().unwrap();
    steps(&mut simulation, 20);
    assert_eq!(simulation.state_hash(), fresh.state_hash());
}

#[test]
fn grabs_outlive_a_change_of_solver() {
    let target = [0.0, 1.1, 0.0];
    let mut simulation = start(&[]);
    simulation.hold(MIDDLE, target).unwrap();
    steps(&mut simulation, 30);
    simulation.continue_with(&scene(&["solver=phantom"])).unwrap();
    assert_eq!(simulation.grabs().len(), 1);
    steps(&mut simulation, 60);
    assert!(distance(&simulation, MIDDLE, target) < 5e-3);
    // A scene that pins the particle itself takes it out of the hand.
    simulation.continue_with(&scene(&["bodies.0.pins=[{ indices = [220] }]"])).unwrap();
    assert_eq!(simulation.grabs(), []);
}

#[test]
fn threads_and_the_order_of_hands_do_not_matter() {
    let grabs = [(MIDDLE, [0.1, 1.2, 0.0]), (40, [-0.2, 0.9, 0.1])];
    let run = |backend, order: [usize; 2]| {
        let mut simulation = Simulation::new(&scene(&["solver=phantom"]), backend).unwrap();
        for index in order {
            simulation.pull(grabs[index].0, grabs[index].1).unwrap();
        }
        steps(&mut simulation, 30);
        simulation.state_hash()
    };
    let reference = run(BackendChoice::Serial, [0, 1]);
    assert_eq!(run(BackendChoice::Serial, [1, 0]), reference);
    assert_eq!(run(BackendChoice::Cpu(3), [0, 1]), reference);
}

#[test]
fn a_target_across_the_world_is_no_explosion() {
    let mut simulation = start(&[]);
    simulation.hold(MIDDLE, [1e4, 0.0, 0.0]).unwrap();
    steps(&mut simulation, 30);
}

#[test]
fn what_cannot_be_grabbed_is_refused() {
    let mut simulation = start(&[]);
    let there = [0.0; 3];
    assert_eq!(simulation.pull(0, there), Err(GrabError::Pinned { particle: 0 }));
    let error = simulation.pull(441, there).unwrap_err();
    assert_eq!(error, GrabError::NoSuchParticle { particle: 441, particles: 441 });
    assert_eq!(simulation.hold(5, [f32::NAN, 0.0, 0.0]), Err(GrabError::NoPlace));
    assert_eq!(simulation.hold(5, [f32::INFINITY, 0.0, 0.0]), Err(GrabError::NoPlace));
    assert_eq!(simulation.grabs(), []);
}

#[test]
fn time_goes_on_when_steps_get_another_length() {
    let mut simulation = start(&["dt=0.01"]);
    steps(&mut simulation, 10);
    simulation.continue_with(&scene(&["dt=0.002"])).unwrap();
    steps(&mut simulation, 10);
    assert!((simulation.time() - 0.12).abs() < 1e-6, "{}", simulation.time());
}
