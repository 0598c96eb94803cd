//! What tests of physics share: scenes from text, and vectors in double precision.
#![allow(dead_code, reason = "not every test needs everything")]

use std::path::Path;

use taut::scene::Scene;
use taut::{BackendChoice, Simulation};

pub(crate) fn simulation(text: &str) -> Simulation {
    let scene = Scene::parse("test", text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(&scene, BackendChoice::Serial).unwrap_or_else(|e| panic!("{e}"))
}

/// The same on one thread with the widest lanes: the same bits, sooner.
pub(crate) fn wide_simulation(text: &str) -> Simulation {
    let scene = Scene::parse("test", text, Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(&scene, BackendChoice::Cpu(1)).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn run(text: &str, steps: usize) -> Simulation {
    after(simulation(text), steps)
}

pub(crate) fn after(mut simulation: Simulation, steps: usize) -> Simulation {
    for _ in 0..steps {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
    simulation
}

pub(crate) fn double([x, y, z, _]: [f32; 4]) -> [f64; 3] {
    [x, y, z].map(f64::from)
}

pub(crate) fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
