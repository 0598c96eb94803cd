//! What tests of physics share: scenes from text, and vectors in double precision, and rings that
//! may be linked.
#![allow(dead_code, reason = "not every test needs everything")]

use std::path::Path;

use glam::{Vec2, Vec3};
use taut::model::Body;
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

pub(crate) fn place([x, y, z, _]: [f32; 4]) -> Vec3 {
    Vec3::new(x, y, z)
}

pub(crate) fn places(simulation: &Simulation, body: &Body) -> Vec<Vec3> {
    simulation.positions()[body.particles.clone()].iter().map(|&x| place(x)).collect()
}

/// The line in the middle of a torus's tube: the means of its particles by angle around its axis.
pub(crate) fn core(simulation: &Simulation, body: &Body) -> Vec<Vec3> {
    const SECTORS: usize = 12;
    let mut sums = [(Vec3::ZERO, 0.0); SECTORS];
    for (rest, now) in body.mesh.positions.iter().zip(places(simulation, body)) {
        let turn = rest.z.atan2(rest.x) / std::f32::consts::TAU + 0.5;
        let (sum, count) = &mut sums[(turn * SECTORS as f32) as usize % SECTORS];
        *sum += now;
        *count += 1.0;
    }
    sums.iter().map(|&(sum, count)| sum / count).collect()
}

/// How often one closed line winds through another: half of the signed crossings seen from above.
pub(crate) fn linking_number(first: &[Vec3], second: &[Vec3]) -> i32 {
    let mut crossings = 0;
    for a in 0..first.len() {
        for b in 0..second.len() {
            let [from, to] = [first[a], first[(a + 1) % first.len()]];
            let [other_from, other_to] = [second[b], second[(b + 1) % second.len()]];
            let flat = |v: Vec3| Vec2::new(v.x, v.z);
            let (way, other_way) = (flat(to - from), flat(other_to - other_from));
            let area = way.perp_dot(other_way);
            let gap = flat(other_from - from);
            let (s, t) = (gap.perp_dot(other_way) / area, gap.perp_dot(way) / area);
            if (0.0..1.0).contains(&s) && (0.0..1.0).contains(&t) {
                let height = from.lerp(to, s).y - other_from.lerp(other_to, t).y;
                crossings += if (height > 0.0) == (area > 0.0) { 1 } else { -1 };
            }
        }
    }
    crossings / 2
}
