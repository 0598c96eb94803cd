//! Something that has nothing to do with taut: Gauss–Seidel for a Poisson problem on an
//! unstructured triangle mesh, in parallel and with the same bits as in serial.
//!
//! −Δu = 4 on the unit disc, u = 0 on its rim; the solution is u = 1 − r². Linear finite
//! elements give one equation per inner vertex, and Gauss–Seidel solves them one after another:
//! vertex i gets its value from those of its neighbors.
//!
//! ## How to say that something is only read
//!
//! A schedule keeps apart elements that share a body. Here an element is a vertex's equation: it
//! writes the value of its own vertex and reads those of the neighbors. So what are its bodies?
//!
//! - *All values that it touches*: right, but too careful. Two vertices with a common neighbor
//!   would conflict although both only read it; three times as many phases are the price.
//! - *The edges of the mesh at its vertex*: exact. Two equations must not run at the same time if
//!   one reads what the other writes, which is if their vertices are joined by an edge, which is
//!   if they share an edge. A 'body' need not be a thing that is stored; it is whatever two
//!   elements must not hold at the same time.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;
use taut_partition::clusters::{Clusters, Stop};
use taut_partition::coloring::{self, Options};
use taut_partition::{Elements, Schedule};

fn main() -> Result<(), Box<dyn Error>> {
    let mesh = Mesh::disc(60);
    let system = System::poisson(&mesh);
    println!("{} vertices, {} triangles", mesh.points.len(), mesh.triangles.len());

    let (offsets, touched) = system.touched_values();
    let careful = Elements::ragged(&offsets, &touched, mesh.points.len())?;
    let careful = coloring::schedule(&careful, &Options::default());
    let (offsets, edges, edge_count) = system.edges();
    let exact = Elements::ragged(&offsets, &edges, edge_count)?;
    let colored = coloring::schedule(&exact, &Options::default());
    let clustered = Clusters::by_growth(&exact, Stop::Size(256))?.schedule(&exact, 1)?;
    println!("bodies = all values touched:      {:2} phases", careful.phase_count());
    println!("bodies = edges, colored:          {:2} phases", colored.phase_count());
    println!(
        "bodies = edges, clusters of 256:  {:2} phases, {} blocks",
        clustered.phase_count(),
        clustered.block_count()
    );
    for (name, schedule) in [("colored", &colored), ("clusters", &clustered)] {
        solve(name, &mesh, &system, schedule)?;
    }
    Ok(())
}

/// Sweeps until the residual has fallen by eight orders of magnitude, and compares.
fn solve(
    name: &str,
    mesh: &Mesh,
    system: &System,
    schedule: &Schedule,
) -> Result<(), Box<dyn Error>> {
    let parallel = Values::zero(mesh.points.len());
    let serial = Values::zero(mesh.points.len());
    let start = system.residual(&parallel);
    let mut sweeps = 0;
    while system.residual(&parallel) > 1e-8 * start && sweeps < 5000 {
        sweep_in_parallel(system, schedule, &parallel);
        sweep_in_order(system, schedule, &serial);
        sweeps += 1;
    }
    let same =
        (0..mesh.points.len()).all(|v| parallel.0[v].load(Relaxed) == serial.0[v].load(Relaxed));
    let error = (0..mesh.points.len())
        .map(|vertex| {
            let [x, y] = mesh.points[vertex];
            (parallel.get(vertex as u32) - (1.0 - x * x - y * y)).abs()
        })
        .fold(0.0, f64::max);
    println!("{name}: {sweeps} sweeps, same bits as serial: {same}, largest error {error:.1e}");
    if !same || system.residual(&parallel) > 1e-8 * start || error > 1e-2 {
        return Err("the parallel sweep went wrong".into());
    }
    Ok(())
}

/// Phases one after another; the blocks of a phase at the same time.
fn sweep_in_parallel(system: &System, schedule: &Schedule, values: &Values) {
    for phase in 0..schedule.phase_count() {
        schedule.blocks(phase).into_par_iter().for_each(|block| {
            for place in schedule.block(block) {
                system.relax(schedule.order()[place], values);
            }
        });
    }
}

/// The same order on one thread.
fn sweep_in_order(system: &System, schedule: &Schedule, values: &Values) {
    for &equation in schedule.order() {
        system.relax(equation, values);
    }
}

/// A value per vertex that many threads may hold: the bits of an f64 in an atomic. No operation
/// needs an order in memory, because the end of a phase orders everything; relaxed loads and
/// stores cost what plain ones do.
struct Values(Vec<AtomicU64>);

impl Values {
    fn zero(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU64::new(0)).collect())
    }

    fn get(&self, vertex: u32) -> f64 {
        f64::from_bits(self.0[vertex as usize].load(Relaxed))
    }

    fn set(&self, vertex: u32, value: f64) {
        self.0[vertex as usize].store(value.to_bits(), Relaxed);
    }
}

/// One equation per inner vertex: diagonal · u + Σ weight · u(neighbor) = load.
struct System {
    equations: Vec<Equation>,
}

#[derive(Default)]
struct Equation {
    vertex: u32,
    diagonal: f64,
    neighbors: Vec<(u32, f64)>,
    load: f64,
}

/// Over-relaxation: Gauss–Seidel alone would take some ten times as many sweeps.
const OVER_RELAXATION: f64 = 1.94;

impl System {
    /// Linear finite elements: the cotangent weights of each triangle, and a third of its area
    /// times the source for each of its corners.
    fn poisson(mesh: &Mesh) -> Self {
        let mut equations: Vec<Equation> = (0..mesh.points.len() as u32)
            .map(|vertex| Equation { vertex, ..Equation::default() })
            .collect();
        for triangle in &mesh.triangles {
            for turn in 0..3 {
                let [a, b, c] = [0, 1, 2].map(|corner| triangle[(corner + turn) % 3]);
                let (cotangent, area) = mesh.cotangent_and_area(a, b, c);
                for (from, to) in [(b, c), (c, b)] {
                    equations[from as usize].join(to, cotangent / 2.0);
                }
                equations[a as usize].load += 4.0 * area / 3.0;
            }
        }
        equations.retain(|equation| !mesh.on_rim[equation.vertex as usize]);
        Self { equations }
    }

    fn relax(&self, equation: u32, values: &Values) {
        let Equation { vertex, diagonal, neighbors, load } = &self.equations[equation as usize];
        let sum: f64 = neighbors.iter().map(|&(vertex, weight)| weight * values.get(vertex)).sum();
        let old = values.get(*vertex);
        let new = (load - sum) / diagonal;
        values.set(*vertex, old + OVER_RELAXATION * (new - old));
    }

    fn residual(&self, values: &Values) -> f64 {
        let squares = self.equations.iter().map(|equation| {
            let Equation { vertex, diagonal, neighbors, load } = equation;
            let sum: f64 = neighbors.iter().map(|&(to, weight)| weight * values.get(to)).sum();
            (load - sum - diagonal * values.get(*vertex)).powi(2)
        });
        squares.sum::<f64>().sqrt()
    }

    /// For each equation the values it touches: offsets and vertices.
    fn touched_values(&self) -> (Vec<u32>, Vec<u32>) {
        let (mut offsets, mut touched) = (vec![0], Vec::new());
        for equation in &self.equations {
            touched.push(equation.vertex);
            touched.extend(equation.neighbors.iter().map(|&(vertex, _)| vertex));
            offsets.push(touched.len() as u32);
        }
        (offsets, touched)
    }

    /// For each equation the edges at its vertex, numbered: offsets, edges, and their number.
    fn edges(&self) -> (Vec<u32>, Vec<u32>, usize) {
        let ends =
            |equation: &Equation, to: u32| (equation.vertex.min(to), equation.vertex.max(to));
        let mut all: Vec<(u32, u32)> = self
            .equations
            .iter()
            .flat_map(|equation| equation.neighbors.iter().map(|&(to, _)| ends(equation, to)))
            .collect();
        all.sort_unstable();
        all.dedup();
        let (mut offsets, mut edges) = (vec![0], Vec::new());
        for equation in &self.equations {
            let numbers = equation.neighbors.iter().map(|&(to, _)| ends(equation, to));
            edges.extend(numbers.map(|edge| all.partition_point(|other| *other < edge) as u32));
            offsets.push(edges.len() as u32);
        }
        (offsets, edges, all.len())
    }
}

impl Equation {
    /// Adds to the weight of an edge.
    fn join(&mut self, to: u32, weight: f64) {
        self.diagonal += weight;
        match self.neighbors.iter_mut().find(|(neighbor, _)| *neighbor == to) {
            Some((_, sum)) => *sum -= weight,
            None => self.neighbors.push((to, -weight)),
        }
    }
}

struct Mesh {
    points: Vec<[f64; 2]>,
    on_rim: Vec<bool>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Rings of triangles with the inner points shifted at random: no two vertices are alike.
    fn disc(rings: u32) -> Self {
        let (mut points, mut on_rim, mut triangles) = (vec![[0.0; 2]], vec![false], Vec::new());
        for ring in 1..=rings {
            for place in 0..6 * ring {
                let shift = if ring < rings { noise(points.len()) * 0.2 } else { 0.0 };
                let angle =
                    std::f64::consts::TAU * (f64::from(place) + shift) / f64::from(6 * ring);
                let radius = (f64::from(ring) + shift) / f64::from(rings);
                points.push([radius * angle.cos(), radius * angle.sin()]);
                on_rim.push(ring == rings);
            }
            let at = |ring: u32, place: u32| match ring {
                0 => 0,
                _ => 1 + 3 * ring * (ring - 1) + place % (6 * ring),
            };
            for sector in 0..6 {
                for step in 0..ring {
                    let outer = |step| at(ring, sector * ring + step);
                    let inner = |step| at(ring - 1, sector * (ring - 1) + step);
                    triangles.push([outer(step), outer(step + 1), inner(step)]);
                    if step + 1 < ring {
                        triangles.push([inner(step), outer(step + 1), inner(step + 1)]);
                    }
                }
            }
        }
        Self { points, on_rim, triangles }
    }

    /// The cotangent of the angle at `a`, and the area.
    fn cotangent_and_area(&self, a: u32, b: u32, c: u32) -> (f64, f64) {
        let [a, b, c] = [a, b, c].map(|vertex| self.points[vertex as usize]);
        let (u, v) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
        let cross = (u[0] * v[1] - u[1] * v[0]).abs();
        ((u[0] * v[0] + u[1] * v[1]) / cross, cross / 2.0)
    }
}

/// Between −1 and 1, always the same for the same number.
fn noise(number: usize) -> f64 {
    let bits = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    bits as f64 / f64::from(1 << 23) - 1.0
}

#[test]
fn the_example_succeeds() -> Result<(), Box<dyn Error>> {
    main()
}
