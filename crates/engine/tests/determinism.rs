//! Contract: a scene gives the same bits on the serial reference and on any number of threads.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use taut::scene::{Scene, library};
use taut::{BackendChoice, Simulation};

/// Enough steps to fall, touch and fold; fewer where a scene is large.
fn steps(simulation: &Simulation) -> usize {
    let work = simulation.dispatches_per_step() * simulation.model().body_of.len();
    (30_000_000 / work.max(1)).clamp(4, 60)
}

fn hash(scene: &Scene, backend: BackendChoice) -> u64 {
    let mut simulation = Simulation::new(scene, backend).unwrap();
    for _ in 0..steps(&simulation) {
        simulation.step().unwrap();
    }
    simulation.state_hash()
}

#[test]
fn every_scene_has_the_same_bits_on_any_number_of_threads() {
    assert!(!library::SCENES.is_empty());
    for (name, _) in library::SCENES {
        let scene = Scene::find(name, &[]).unwrap();
        let reference = hash(&scene, BackendChoice::Serial);
        for threads in [1, 2, 3, 8] {
            let parallel = hash(&scene, BackendChoice::Cpu(threads));
            assert_eq!(parallel, reference, "{name} on {threads} threads");
        }
    }
}

#[test]
fn every_partition_has_the_same_bits_on_any_number_of_threads() {
    let mut hashes = Vec::new();
    for method in ["coloring", "phantom", "cluster", "grid"] {
        let set = format!("partition.method={method}").parse().unwrap();
        let scene = Scene::find("cloth-on-tube", &[set]).unwrap();
        let reference = hash(&scene, BackendChoice::Serial);
        for threads in [2, 3] {
            let parallel = hash(&scene, BackendChoice::Cpu(threads));
            assert_eq!(parallel, reference, "{method} on {threads} threads");
        }
        hashes.push(reference);
    }
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 4, "the partition makes no difference");
}

/// A body of every kind of element, large enough for several workers.
const ALL_KINDS: &str = r#"
    substeps = 4
    iterations = 2
    [[bodies]]
    name = "cloth"
    mesh.grid = { particles = [70, 70], size = [2, 2], diagonals = "random" }
    pins = [{ group = "left" }]
    elements.strain = { warp = 500, weft = 300, shear = 50 }
    elements.long-range = { compliance = 1e-4, anchors = 3 }
    elements.bend = { spring = 1e-5, damping = 1e-8 }
    elements.bend-distance = { compliance = 1e-2 }
    [[bodies]]
    name = "springs"
    mesh.grid = { particles = [70, 70], size = [2, 2] }
    transform.position = [0, 1, 0]
    pins = [{ group = "left" }]
    elements.stretch = { spring = 1, damping = 1e-4 }
    elements.strain = { warp = 1, weft = 1, shear = 1, forces = true, damping = 1e-4 }
    [[bodies]]
    name = "rubber"
    kind = "soft"
    mesh.block = { size = [1, 1, 1], cells = [11, 11, 11] }
    transform.position = [0, 3, 0]
    elements.neo-hookean = { young = 1e4, poisson = 0.4 }
    [[bodies]]
    name = "jelly"
    kind = "soft"
    mesh.block = { size = [1, 1, 1], cells = [8, 8, 8] }
    transform.position = [0, 5, 0]
    elements.stretch = { stiffness = 0.5 }
    elements.volume = { compliance = 1e-6 }
    [[bodies]]
    name = "balloon"
    mesh.sphere = { radius = 0.5, subdivisions = 20 }
    transform.position = [2, 3, 0]
    elements.strain = { stiffness = 0.7 }
    elements.balloon = { pressure = 1.3, compliance = 1e-4 }
    repeat = { count = [2, 1, 1], spacing = [1.5, 0, 0] }
"#;

#[test]
fn every_kind_of_element_has_the_same_bits_on_any_number_of_threads() {
    let methods = ["coloring", "phantom", "cluster", "grid"].map(|method| (method, ""));
    let tiles = ("phantom", "partition.subset-size = 1000");
    for (method, size) in methods.into_iter().chain([tiles]) {
        let text = format!("partition.method = \"{method}\"\n{size}\n{ALL_KINDS}");
        let scene = Scene::parse("test", &text, std::path::Path::new("."), &[]).unwrap();
        let hash = |backend| {
            let mut simulation = Simulation::new(&scene, backend).unwrap();
            for _ in 0..6 {
                simulation.step().unwrap();
            }
            simulation.state_hash()
        };
        let reference = hash(BackendChoice::Serial);
        for threads in [1, 2, 3] {
            assert_eq!(
                hash(BackendChoice::Cpu(threads)),
                reference,
                "{method} on {threads} threads {size}"
            );
        }
    }
}

#[test]
fn every_solver_has_the_same_bits_on_any_number_of_threads() {
    for solver in ["jacobi", "hybrid", "phantom"] {
        let sets = [format!("solver={solver}"), "chebyshev=0.8".to_owned()];
        let scene = Scene::find("cloth-on-tube", &sets.map(|set| set.parse().unwrap())).unwrap();
        let reference = hash(&scene, BackendChoice::Serial);
        for threads in [1, 3] {
            let parallel = hash(&scene, BackendChoice::Cpu(threads));
            assert_eq!(parallel, reference, "{solver} on {threads} threads");
        }
    }
}

#[test]
fn a_reset_simulation_repeats_itself() {
    let scene = Scene::find("cloth-on-tube", &[]).unwrap();
    let mut simulation = Simulation::new(&scene, BackendChoice::Cpu(2)).unwrap();
    let mut run = || {
        for _ in 0..5 {
            simulation.step().unwrap();
        }
        let hash = simulation.state_hash();
        simulation.reset().unwrap();
        hash
    };
    assert_eq!(run(), run());
}

#[test]
fn the_hash_sees_every_bit() {
    let at = |height: &str| {
        let set = format!("bodies.cloth.transform.position=[0, {height}, 0]").parse().unwrap();
        let scene = Scene::find("cloth-on-tube", &[set]).unwrap();
        Simulation::new(&scene, BackendChoice::Serial).unwrap().state_hash()
    };
    assert_ne!(at("0.85"), at("0.85000006"));
    assert_eq!(at("0.85"), at("0.85"));
}
