//! Contracts: every solver goes to the same solution, each at its own pace; solver, partition and
//! back-end can change while a simulation runs, and the change itself moves nothing.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use taut::scene::{Override, Scene};
use taut::{BackendChoice, Simulation};

fn scene(name: &str, sets: &[&str]) -> Scene {
    let sets: Vec<Override> = sets.iter().map(|set| set.parse().unwrap()).collect();
    Scene::find(name, &sets).unwrap_or_else(|error| panic!("{error}"))
}

/// Root mean square of the stretch of paper A's cloth, pulled to 16 times its area, after some
/// sweeps.
fn residual(sets: &[&str], sweeps: usize) -> f64 {
    let scene = scene("stretched-cloth", &[sets, &["iterations=1"]].concat());
    let mut simulation = Simulation::new(&scene, BackendChoice::Serial).unwrap();
    for _ in 0..sweeps {
        simulation.step().unwrap();
    }
    simulation.residuals()[0].1.rms
}

#[test]
fn all_solvers_converge_and_gauss_seidel_is_ahead_of_jacobi() {
    let after = |solver: &str, sweeps| residual(&[&format!("solver={solver}")], sweeps);
    let start = after("gauss-seidel", 0);
    for solver in ["gauss-seidel", "jacobi", "hybrid", "phantom"] {
        let (soon, late) = (after(solver, 50), after(solver, 1500));
        assert!(soon < 0.7 * start, "{solver}: {soon} of {start}");
        assert!(late < 0.25 * soon, "{solver}: {late} after {soon}");
    }
    assert!(after("gauss-seidel", 100) < after("phantom", 100));
    assert!(after("phantom", 100) < after("jacobi", 100));
}

#[test]
fn over_relaxation_speeds_up_jacobi() {
    let plain = residual(&["solver=jacobi"], 200);
    let faster = residual(&["solver=jacobi", "relaxation=1.5"], 200);
    assert!(faster < 0.9 * plain, "{faster} against {plain}");
}

/// Within one step, so that the sweeps are those of one linear problem.
#[test]
fn chebyshev_speeds_up_sweeps() {
    let after = |sets: &[&str]| {
        let sets = [sets, &["iterations=120"]].concat();
        let mut simulation =
            Simulation::new(&scene("stretched-cloth", &sets), BackendChoice::Serial).unwrap();
        simulation.step().unwrap();
        simulation.residuals()[0].1.rms
    };
    for solver in ["solver=gauss-seidel", "solver=jacobi"] {
        let (plain, accelerated) = (after(&[solver]), after(&[solver, "chebyshev=0.95"]));
        assert!(accelerated < 0.8 * plain, "{solver}: {accelerated} against {plain}");
    }
}

#[test]
fn a_running_simulation_takes_another_solver() {
    let mut simulation =
        Simulation::new(&scene("cloth-on-tube", &[]), BackendChoice::Cpu(2)).unwrap();
    for sets in [
        &["solver=jacobi"][..],
        &["solver=hybrid", "partition.colors=4"],
        &["solver=phantom", "partition.colors=3", "substeps=2"],
        &["partition.method=cluster", "iterations=3"],
        &["gravity=[0, -2, 0]"],
    ] {
        for _ in 0..3 {
            simulation.step().unwrap();
        }
        let (before, time) = (simulation.state_hash(), simulation.time());
        simulation.continue_with(&scene("cloth-on-tube", sets)).unwrap();
        assert_eq!((simulation.state_hash(), simulation.time()), (before, time), "{sets:?}");
    }
    simulation.run_on(BackendChoice::Serial.start().unwrap());
    simulation.step().unwrap();
    assert_eq!(simulation.steps(), 16);
    assert!(simulation.continue_with(&scene("flag", &[])).is_err());
    simulation.step().unwrap();
}
