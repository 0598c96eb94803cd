//! Rigid contacts that change in every step: 12,000 balls collapse into a pile in a box. Each step
//! finds the contacts, makes a schedule and solves them in parallel. Two ways in turn:
//!
//! - a grid split, which starts from nothing in every step;
//! - a coloring that is kept and told which contacts have come and gone.
//!
//! The ground is a static body: it is in thousands of contacts, but nothing ever writes it, so
//! it never conflicts.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::HashSet;
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use rayon::prelude::*;
use taut_partition::change::DynamicColoring;
use taut_partition::coloring::{DEFAULT_BLOCK_SIZE, Options};
use taut_partition::grid::GridSplit;
use taut_partition::{Elements, Schedule};

const RADIUS: f32 = 0.5;
/// Balls that are closer than this may touch before the step is over.
const MARGIN: f32 = 0.05;
/// Half the width of the box.
const WALL: f32 = 12.0;
const STEP: f32 = 1.0 / 120.0;
const ITERATIONS: usize = 6;

fn main() -> Result<(), Box<dyn Error>> {
    run(Pile::new(20, 30, 20), 240)
}

fn run(mut pile: Pile, steps: usize) -> Result<(), Box<dyn Error>> {
    let ground = pile.positions.len() as u32;
    let body_count = pile.positions.len() + 1;
    let mut fixed = vec![false; body_count];
    fixed[ground as usize] = true;
    // The points of two contacts of a ball are at most this far apart. That of the ground, which
    // is static, is never looked at.
    let mut extents = vec![2.0 * RADIUS + MARGIN; body_count];
    extents[ground as usize] = f32::INFINITY;

    let mut split = GridSplit::default();
    let none = Elements::uniform::<2>(&[], body_count)?.with_fixed(&fixed)?;
    let mut kept = KeptColoring::new(&none);
    println!("                 grid split               kept coloring");
    println!(
        "step  contacts   ms    phases  blocks     ms    phases  blocks  changes  deepest overlap"
    );
    for step in 1..=steps {
        pile.predict();
        let (contacts, points) = pile.contacts(ground);
        let start = Instant::now();
        let elements = Elements::uniform(&contacts, body_count)?.with_fixed(&fixed)?;
        let by_grid = split.split(&elements, &points, &extents)?;
        let grid_time = start.elapsed().as_secs_f64() * 1e3;
        let start = Instant::now();
        let changes = kept.update(&contacts)?;
        let by_color = &kept.schedule;
        let color_time = start.elapsed().as_secs_f64() * 1e3;
        if !pile.solve(if step % 2 == 0 { by_grid } else { by_color }) {
            return Err("the parallel sweep differs from the serial one".into());
        }
        pile.update_velocities();
        if step % 20 == 0 {
            println!(
                "{step:4}  {:8}  {grid_time:5.2}  {:6}  {:6}  {color_time:7.2}  {:6}  {:6}  {changes:7}  {:.3}",
                contacts.len(),
                by_grid.phase_count(),
                by_grid.block_count(),
                by_color.phase_count(),
                by_color.block_count(),
                pile.deepest_overlap(&contacts, ground),
            );
        }
    }
    Ok(())
}

/// A coloring that follows the contacts, with its own list of them.
struct KeptColoring {
    coloring: DynamicColoring,
    contacts: Vec<[u32; 2]>,
    known: HashSet<[u32; 2]>,
    schedule: Schedule,
}

impl KeptColoring {
    fn new(none: &Elements<'_>) -> Self {
        Self {
            coloring: DynamicColoring::new(none, &Options::default()),
            contacts: Vec::new(),
            known: HashSet::new(),
            schedule: Schedule::default(),
        }
    }

    /// Removes contacts that are gone, adds those that are new, and returns how many these are.
    fn update(&mut self, contacts: &[[u32; 2]]) -> Result<usize, Box<dyn Error>> {
        let now: HashSet<[u32; 2]> = contacts.iter().copied().collect();
        let mut changes = 0;
        for contact in (0..self.contacts.len()).rev() {
            if !now.contains(&self.contacts[contact]) {
                self.coloring.swap_remove(contact as u32)?;
                self.contacts.swap_remove(contact);
                changes += 1;
            }
        }
        for contact in contacts.iter().filter(|contact| !self.known.contains(*contact)) {
            self.coloring.add(contact)?;
            self.contacts.push(*contact);
            changes += 1;
        }
        self.known = now;
        if self.coloring.wants_rebuild() {
            self.coloring.rebuild(&Options::default());
        }
        self.coloring.update_schedule(&mut self.schedule, DEFAULT_BLOCK_SIZE);
        Ok(changes)
    }
}

/// Balls with their positions now and before the step.
struct Pile {
    positions: Vec<[f32; 3]>,
    before: Vec<[f32; 3]>,
    velocities: Vec<[f32; 3]>,
}

impl Pile {
    /// A column of balls, a little out of line so that it collapses.
    fn new(width: u32, height: u32, depth: u32) -> Self {
        let positions: Vec<[f32; 3]> = (0..width * height * depth)
            .map(|ball| {
                let at = [ball % width, ball / width / depth, ball / width % depth];
                let shift = (ball * 7919 % 101) as f32 / 101.0 * 0.1;
                let place = |axis: usize, count: u32| {
                    (at[axis] as f32 - (count - 1) as f32 / 2.0) * 1.1 + shift
                };
                [place(0, width), at[1] as f32 * 1.05 + RADIUS, place(2, depth)]
            })
            .collect();
        let velocities = vec![[0.0; 3]; positions.len()];
        Self { before: positions.clone(), positions, velocities }
    }

    /// Where balls would be without contacts, kept inside the walls.
    fn predict(&mut self) {
        self.before.clone_from(&self.positions);
        for (position, velocity) in self.positions.iter_mut().zip(&mut self.velocities) {
            velocity[1] -= 9.81 * STEP;
            for (x, v) in position.iter_mut().zip(&*velocity) {
                *x += v * STEP;
            }
            for axis in [0, 2] {
                position[axis] = position[axis].clamp(RADIUS - WALL, WALL - RADIUS);
            }
        }
    }

    /// Pairs of balls that may touch, and balls that may touch the ground; each with the point
    /// where it happens.
    fn contacts(&self, ground: u32) -> (Vec<[u32; 2]>, Vec<[f32; 3]>) {
        let cell =
            |position: &[f32; 3]| position.map(|x| (x / (2.0 * RADIUS + MARGIN)).floor() as i32);
        let mut sorted: Vec<([i32; 3], u32)> =
            self.positions.iter().zip(0..).map(|(position, ball)| (cell(position), ball)).collect();
        sorted.par_sort_unstable();
        let found: Vec<([u32; 2], [f32; 3])> = self
            .positions
            .par_iter()
            .zip(0..ground)
            .flat_map_iter(|(position, ball)| {
                let neighbors =
                    neighbors(&sorted, cell(position)).filter(move |&other| other > ball);
                let pairs = neighbors.filter_map(move |other| self.touch(ball, other));
                let floor = (position[1] < RADIUS + MARGIN)
                    .then(|| ([ball, ground], [position[0], 0.0, position[2]]));
                pairs.chain(floor)
            })
            .collect();
        found.into_iter().unzip()
    }

    fn touch(&self, ball: u32, other: u32) -> Option<([u32; 2], [f32; 3])> {
        let (a, b) = (self.positions[ball as usize], self.positions[other as usize]);
        let between = [0, 1, 2].map(|axis| (a[axis] + b[axis]) / 2.0);
        (distance(a, b) < 2.0 * RADIUS + MARGIN).then_some(([ball, other], between))
    }

    /// Sweeps over the contacts in parallel, and in serial to compare. Returns whether both agree.
    fn solve(&mut self, schedule: &Schedule) -> bool {
        let parallel = Shared::new(&self.positions);
        let serial = Shared::new(&self.positions);
        for _ in 0..ITERATIONS {
            for phase in 0..schedule.phase_count() {
                schedule.blocks(phase).into_par_iter().for_each(|block| {
                    schedule.block(block).for_each(|place| parallel.push_apart(schedule, place));
                });
            }
            (0..schedule.len()).for_each(|place| serial.push_apart(schedule, place));
        }
        self.positions = parallel.positions();
        self.positions == serial.positions()
    }

    fn update_velocities(&mut self) {
        let moved = self.positions.iter().zip(&self.before);
        for (velocity, (now, before)) in self.velocities.iter_mut().zip(moved) {
            // A little friction with everything, so that the pile comes to rest.
            *velocity = [0, 1, 2].map(|axis| 0.995 * (now[axis] - before[axis]) / STEP);
        }
    }

    fn deepest_overlap(&self, contacts: &[[u32; 2]], ground: u32) -> f32 {
        let overlap = |&[ball, other]: &[u32; 2]| {
            let position = self.positions[ball as usize];
            match other == ground {
                true => RADIUS - position[1],
                false => 2.0 * RADIUS - distance(position, self.positions[other as usize]),
            }
        };
        contacts.iter().map(overlap).fold(0.0, f32::max)
    }
}

/// Positions that several threads write, each its own balls: a phase never gives a ball to two.
/// Relaxed atomics hold the bits; the end of a phase orders everything.
struct Shared(Vec<[AtomicU32; 3]>);

impl Shared {
    fn new(positions: &[[f32; 3]]) -> Self {
        Self(positions.iter().map(|position| position.map(|x| x.to_bits().into())).collect())
    }

    fn positions(&self) -> Vec<[f32; 3]> {
        (0..self.0.len()).map(|ball| self.get(ball as u32)).collect()
    }

    fn get(&self, ball: u32) -> [f32; 3] {
        [0, 1, 2].map(|axis| f32::from_bits(self.0[ball as usize][axis].load(Relaxed)))
    }

    fn shift(&self, ball: u32, direction: [f32; 3], by: f32) {
        let position = self.get(ball);
        for axis in 0..3 {
            let x = position[axis] + direction[axis] * by;
            self.0[ball as usize][axis].store(x.to_bits(), Relaxed);
        }
    }

    /// Moves the two bodies of a contact apart, half of the overlap each; the ground stays.
    fn push_apart(&self, schedule: &Schedule, place: usize) {
        let &[ball, other] = schedule.bodies_at(place) else { return };
        let position = self.get(ball);
        if schedule.is_fixed(other) {
            self.shift(ball, [0.0, 1.0, 0.0], (RADIUS - position[1]).max(0.0));
            return;
        }
        let other_position = self.get(other);
        let distance = distance(position, other_position);
        if distance < 2.0 * RADIUS && distance > 0.0 {
            let normal = [0, 1, 2].map(|axis| (position[axis] - other_position[axis]) / distance);
            let overlap = 2.0 * RADIUS - distance;
            self.shift(ball, normal, 0.5 * overlap);
            self.shift(other, normal, -0.5 * overlap);
        }
    }
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}

/// The balls in a cell and in the 26 around it.
fn neighbors(sorted: &[([i32; 3], u32)], cell: [i32; 3]) -> impl Iterator<Item = u32> {
    // Cells are sorted by x, y, z: three of them along z lie side by side.
    (0..9).flat_map(move |row| {
        let low = [cell[0] + row / 3 - 1, cell[1] + row % 3 - 1, cell[2] - 1];
        let start = sorted.partition_point(|&(cell, _)| cell < low);
        let high = [low[0], low[1], cell[2] + 1];
        let row = sorted[start..].iter().take_while(move |&&(cell, _)| cell <= high);
        row.map(|&(_, ball)| ball)
    })
}

#[test]
fn the_example_succeeds_with_fewer_balls() -> Result<(), Box<dyn Error>> {
    run(Pile::new(8, 10, 8), 60)
}
