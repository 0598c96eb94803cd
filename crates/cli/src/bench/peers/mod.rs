//! `taut bench peers`: milliseconds per step beside the engines that a user would pick instead.
//!
//! All engines get the same particles, masses, pins and constraints, the same steps, substeps and
//! iterations, and nothing to collide with. They take turns of a few steps, so that whatever else
//! the machine does hits all of them alike, and their caches have time to warm; medians of the
//! steps are compared. The residual comes from the places at the end, in the same way for all.

mod rapier;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use taut::constraint::Kind;
use taut::model::ConstraintLists;
use taut::scene::Scene;
use taut::{BackendChoice, Simulation};

use self::rapier::Rapier;
use super::{Arguments, write_csv};
use crate::console;
use crate::failure::Failure;
use crate::measure::median;

/// Steps of every engine: a second, in which hanging cloth swings through a quarter of a turn.
const STEPS: usize = 60;
/// Steps of an engine before the next one has its turn.
const TURN: usize = 5;
/// Sweeps over all constraints in a step.
const SWEEPS: usize = 8;
/// Hz: the spring of a bend, in rapier3d the default. For particles of 80 mg, 2 cm apart, that is a
/// compliance of Σ w |∇θ|² / ω² = 16/3 / (8·10⁻⁵ kg · 4·10⁻⁴ m² · (2π · 10 Hz)²) = 4.2·10⁴ rad²/J
/// in the mean: diagonal edges have a sum of 8 / (m h²), all others of 4 / (m h²).
const BEND_FREQUENCY: f32 = 10.0;

/// A scene, and how its constraints are solved.
struct Case {
    name: &'static str,
    bodies: &'static str,
    /// Which of the fast ones leaves the least residual: clusters of bundles would solve blocks-100 in two
    /// thirds of the time, but leave a little more than rapier3d does.
    partition: &'static str,
    /// Parts of a step, which share the sweeps. One is the cheapest for rapier3d, which works out
    /// gradients once in a substep; as many as there are sweeps gives both the least residual.
    substeps: usize,
    /// Share of every correction. Edges and volumes of a block are at odds, and where a substep has
    /// one sweep, each undoes some of what the other did, unless both hold back a little.
    relaxation: f32,
}

const COLORING: &str = "{ method = \"coloring\", order = \"balanced\" }";
const CLUSTERS: &str = "{ method = \"cluster\" }";
const CLOTH_100: &str = "[[bodies]]\nname = \"cloth\"\npins = [{ group = \"back\" }]\n\
    mesh.grid = { particles = [100, 100], size = [1.98, 1.98] }\n\
    elements.stretch = { stiffness = 1 }\nelements.bend = { compliance = 4.2e4 }\n";
const CLOTH_320: &str = "[[bodies]]\nname = \"cloth\"\npins = [{ group = \"back\" }]\n\
    mesh.grid = { particles = [320, 320], size = [6.38, 6.38] }\n\
    elements.stretch = { stiffness = 1 }\nelements.bend = { compliance = 4.2e4 }\n";
const BLOCKS_100: &str = "[[bodies]]\nname = \"block\"\nkind = \"soft\"\n\
    pins = [{ group = \"left\" }]\n\
    mesh.block = { size = [1.5, 0.3, 1.2], cells = [15, 3, 12] }\n\
    repeat = { count = [10, 1, 10], spacing = [2, 1, 2] }\n\
    elements.stretch = { stiffness = 1 }\nelements.volume = { stiffness = 1 }\n";

const CASES: &[Case] = &[
    Case {
        name: "cloth-100",
        bodies: CLOTH_100,
        partition: COLORING,
        substeps: 1,
        relaxation: 1.0,
    },
    Case {
        name: "cloth-320",
        bodies: CLOTH_320,
        partition: COLORING,
        substeps: 1,
        relaxation: 1.0,
    },
    Case {
        name: "blocks-100",
        bodies: BLOCKS_100,
        partition: COLORING,
        substeps: 1,
        relaxation: 1.0,
    },
    Case {
        name: "cloth-100-substeps",
        bodies: CLOTH_100,
        partition: COLORING,
        substeps: SWEEPS,
        relaxation: 1.0,
    },
    Case {
        name: "cloth-320-substeps",
        bodies: CLOTH_320,
        partition: COLORING,
        substeps: SWEEPS,
        relaxation: 1.0,
    },
    Case {
        name: "blocks-100-substeps",
        bodies: BLOCKS_100,
        partition: CLUSTERS,
        substeps: SWEEPS,
        relaxation: 0.85,
    },
];

/// What an engine is asked to do, in the scene's order.
struct Problem {
    dt: f32,
    gravity: [f32; 3],
    bodies: Vec<Body>,
    /// Ends of every edge, counted over all bodies, and the length at rest.
    edges: Vec<([u32; 2], f64)>,
    constraints: usize,
}

/// A body in numbers of its own.
#[derive(Default)]
struct Body {
    places: Vec<[f32; 3]>,
    masses: Vec<f32>,
    pinned: Vec<u32>,
    edges: Vec<[u32; 2]>,
    bends: Vec<[u32; 4]>,
    tetrahedra: Vec<[u32; 4]>,
}

/// What all engines can do.
trait Engine {
    fn name(&self) -> &'static str;
    fn step(&mut self) -> Result<(), Failure>;
    /// Places of all particles, in the scene's order.
    fn places(&self) -> Vec<[f32; 3]>;
}

impl Engine for Simulation {
    fn name(&self) -> &'static str {
        "taut"
    }

    fn step(&mut self) -> Result<(), Failure> {
        Ok(Simulation::step(self)?)
    }

    fn places(&self) -> Vec<[f32; 3]> {
        self.positions().iter().map(|&[x, y, z, _]| [x, y, z]).collect()
    }
}

/// An engine at its number of threads, and the seconds of its steps.
struct Contender {
    engine: Box<dyn Engine>,
    threads: usize,
    times: Vec<f64>,
}

impl Contender {
    fn new(engine: impl Engine + 'static, threads: usize) -> Self {
        Self { engine: Box::new(engine), threads, times: Vec::new() }
    }
}

/// The fields are a contract: see docs/cli.md.
#[derive(Serialize)]
struct Row {
    scene: &'static str,
    engine: &'static str,
    threads: usize,
    ms_per_step: f64,
    iterations: usize,
    substeps: usize,
    constraints: usize,
    residual: f64,
}

#[derive(Serialize)]
struct Report {
    rows: Vec<Row>,
}

pub(super) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&arguments.only)) {
        rows.extend(measure(case, &arguments.threads)?);
    }
    let report = Report { rows };
    if let Some(path) = &arguments.csv {
        write_csv(path, &report.cells())?;
    }
    if arguments.json {
        return Ok(console::print_json(&report)?);
    }
    Ok(console::print(&report.table())?)
}

fn measure(case: &Case, threads: &[usize]) -> Result<Vec<Row>, Failure> {
    let scene = scene(case)?;
    let problem = Problem::of(&scene)?;
    let mut contenders = Vec::new();
    for &threads in threads {
        let taut = Simulation::new(&scene, BackendChoice::Cpu(threads))?;
        contenders.push(Contender::new(taut, threads));
        contenders.push(Contender::new(Rapier::new(case, &problem, threads)?, threads));
    }
    for _ in 0..STEPS / TURN {
        for contender in &mut contenders {
            for _ in 0..TURN {
                let start = Instant::now();
                contender.engine.step()?;
                contender.times.push(start.elapsed().as_secs_f64());
            }
        }
    }
    let row = |contender: &Contender| Row {
        scene: case.name,
        engine: contender.engine.name(),
        threads: contender.threads,
        ms_per_step: median(&contender.times) * 1e3,
        iterations: SWEEPS,
        substeps: case.substeps,
        constraints: problem.constraints,
        residual: problem.residual(&contender.engine.places()),
    };
    Ok(contenders.iter().map(row).collect())
}

fn scene(case: &Case) -> Result<Scene, Failure> {
    let Case { bodies, partition, substeps, relaxation, .. } = case;
    let iterations = SWEEPS / substeps;
    let text = format!(
        "substeps = {substeps}\niterations = {iterations}\nrelaxation = {relaxation}\n\
         partition = {partition}\n{bodies}"
    );
    Ok(Scene::parse(case.name, &text, Path::new("."), &[])?)
}

impl Problem {
    fn of(scene: &Scene) -> Result<Self, Failure> {
        let simulation = Simulation::new(scene, BackendChoice::Serial)?;
        let settings = simulation.settings();
        let particles = simulation.positions();
        let lists = ConstraintLists::of(scene)?;
        let mut bodies = Vec::new();
        let mut body_of = Vec::new();
        for body in &simulation.model().bodies {
            let particles = &particles[body.particles.clone()];
            let pinned = particles.iter().enumerate().filter(|(_, particle)| particle[3] == 0.0);
            body_of.extend(particles.iter().map(|_| (bodies.len(), body.particles.start as u32)));
            bodies.push(Body {
                places: particles.iter().map(|&[x, y, z, _]| [x, y, z]).collect(),
                // What is pinned needs some mass, but which one does not matter.
                masses: particles
                    .iter()
                    .map(|p| if p[3] > 0.0 { 1.0 / p[3] } else { 1.0 })
                    .collect(),
                pinned: pinned.map(|(id, _)| id as u32).collect(),
                ..Body::default()
            });
        }
        let mut edges = Vec::new();
        let mut constraints = 0;
        for (kind, particles_of) in &lists.lists {
            let ids: Vec<u32> =
                particles_of.iter().map(|&id| lists.scene_ids[id as usize]).collect();
            let arity = if *kind == Kind::Stretch { 2 } else { 4 };
            constraints += ids.len() / arity;
            for element in ids.chunks_exact(arity) {
                let (body, first) = body_of[element[0] as usize];
                let body = &mut bodies[body];
                match (kind, element) {
                    (Kind::Stretch, &[a, b]) => {
                        body.edges.push([a - first, b - first]);
                        edges.push([a, b]);
                    }
                    (Kind::Bend, &[a, b, c, d]) => {
                        body.bends.push([a, b, c, d].map(|id| id - first));
                    }
                    (Kind::Volume, &[a, b, c, d]) => {
                        body.tetrahedra.push([a, b, c, d].map(|id| id - first));
                    }
                    _ => {}
                }
            }
        }
        let places: Vec<_> = particles.iter().map(|&[x, y, z, _]| [x, y, z]).collect();
        // All bodies start in their rest shape.
        let edges = edges.into_iter().map(|edge| (edge, length(&places, edge))).collect();
        Ok(Self { dt: settings.dt, gravity: settings.gravity, bodies, edges, constraints })
    }

    /// Root mean square of the relative errors of the edges' lengths.
    fn residual(&self, places: &[[f32; 3]]) -> f64 {
        let error = |(edge, rest): &([u32; 2], f64)| (length(places, *edge) / rest - 1.0).powi(2);
        (self.edges.iter().map(error).sum::<f64>() / self.edges.len() as f64).sqrt()
    }
}

fn length(places: &[[f32; 3]], [a, b]: [u32; 2]) -> f64 {
    let (a, b) = (places[a as usize], places[b as usize]);
    let square = |(a, b): (&f32, &f32)| (f64::from(*b) - f64::from(*a)).powi(2);
    a.iter().zip(&b).map(square).sum::<f64>().sqrt()
}

impl Report {
    fn cells(&self) -> Vec<Vec<String>> {
        let header = "scene,engine,threads,ms_per_step,iterations,substeps,constraints,residual";
        let mut rows = vec![header.split(',').map(str::to_owned).collect()];
        rows.extend(self.rows.iter().map(|row| {
            vec![
                row.scene.to_owned(),
                row.engine.to_owned(),
                row.threads.to_string(),
                format!("{:.3}", row.ms_per_step),
                row.iterations.to_string(),
                row.substeps.to_string(),
                row.constraints.to_string(),
                format!("{:.5}", row.residual),
            ]
        }));
        rows
    }

    fn table(&self) -> String {
        let mut table = format!(
            "{:20} {:>11} {:>7}  {:8} {:>9} {:>8} {:>9}\n",
            "scene", "constraints", "threads", "engine", "ms/step", "relative", "residual"
        );
        for row in &self.rows {
            let Row { scene, engine, threads, ms_per_step, constraints, residual, .. } = row;
            let is_taut = |other: &&Row| {
                (other.engine, other.scene, other.threads) == ("taut", *scene, *threads)
            };
            let taut = self.rows.iter().find(is_taut).map_or(f64::NAN, |taut| taut.ms_per_step);
            let relative = ms_per_step / taut;
            let _ = writeln!(
                table,
                "{scene:20} {constraints:>11} {threads:>7}  {engine:8} {ms_per_step:>9.2} \
                 {relative:>8.2} {residual:>9.4}"
            );
        }
        table
    }
}
