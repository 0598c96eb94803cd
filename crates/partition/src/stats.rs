//! How good a schedule is: counts and sizes, how full the lanes and the caches are, and the
//! speed-up to expect from a number of workers. Works on any [`Schedule`].
//!
//! ```
//! use taut_partition::{Elements, coloring, stats};
//!
//! let path: Vec<[u32; 2]> = (0..1000).map(|i| [i, i + 1]).collect();
//! let edges = Elements::uniform(&path, 1001)?;
//! let options = coloring::Options { block_size: 50, ..Default::default() };
//! let schedule = coloring::schedule(&edges, &options);
//!
//! let stats = stats::Stats::new(&schedule);
//! assert_eq!((stats.phases, stats.blocks, stats.lower_bound), (2, 20, 2));
//! assert_eq!((stats.largest_phase, stats.imbalance), (500, 1.0));
//! // 50 elements take seven vectors of 8 lanes, of which the last has 2.
//! assert_eq!(stats::lane_utilization(&schedule, 8), 50.0 / 56.0);
//! // Ten blocks of 50 on four workers take three rounds: 150 of 500 elements in a row.
//! let costs = stats::Costs { element: 1.0, barrier: 0.0 };
//! assert_eq!(stats::predict(&schedule, 4, &costs).speed_up, 500.0 / 150.0);
//! # Ok::<(), taut_partition::InputError>(())
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::Schedule;
use crate::phantoms::Split;

/// Counts and sizes of a schedule.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// Elements.
    pub elements: usize,
    /// Bodies, copies included.
    pub bodies: usize,
    /// Phases: barriers of a sweep.
    pub phases: usize,
    /// Blocks of all phases.
    pub blocks: usize,
    /// Batches of all blocks.
    pub batches: usize,
    /// Elements of each phase.
    pub phase_sizes: Vec<usize>,
    /// Elements of the largest phase.
    pub largest_phase: usize,
    /// Elements of the smallest phase.
    pub smallest_phase: usize,
    /// Elements of the largest block.
    pub largest_block: usize,
    /// The largest phase in terms of the mean; 1 if there is none.
    pub imbalance: f64,
    /// Batches that follow each other even with as many workers as blocks: per phase the block
    /// with the most batches. For a coloring this is the number of colors.
    pub steps: usize,
    /// No schedule has fewer steps: the highest valence of a body that is not fixed (and 1 if
    /// there is any element).
    pub lower_bound: usize,
    /// Copies of bodies made by splitting.
    pub copies: usize,
    /// No splitting into as many colors makes fewer copies.
    pub copies_lower_bound: usize,
}

impl Stats {
    /// Counts and sizes of a schedule.
    pub fn new(schedule: &Schedule) -> Self {
        let phases = 0..schedule.phase_count();
        let phase_sizes: Vec<usize> = phases.map(|phase| schedule.phase(phase).len()).collect();
        let largest_phase = phase_sizes.iter().copied().max().unwrap_or(0);
        Self {
            elements: schedule.len(),
            bodies: schedule.body_count(),
            phases: schedule.phase_count(),
            blocks: schedule.block_count(),
            batches: schedule.batch_count(),
            largest_phase,
            smallest_phase: phase_sizes.iter().copied().min().unwrap_or(0),
            largest_block: largest(0..schedule.block_count(), |block| schedule.block(block).len()),
            imbalance: imbalance(&phase_sizes),
            steps: steps(schedule),
            lower_bound: highest_valence(schedule).max(usize::from(!schedule.is_empty())),
            phase_sizes,
            copies: 0,
            copies_lower_bound: 0,
        }
    }

    /// Counts and sizes of the schedule of a split problem, with its copies.
    pub fn of_split(split: &Split) -> Self {
        Self {
            copies: split.copy_count(),
            copies_lower_bound: split.lower_bound,
            ..Self::new(&split.schedule)
        }
    }
}

/// The largest of some sizes in terms of their mean; 1 if there are none.
pub fn imbalance(sizes: &[usize]) -> f64 {
    let sum: usize = sizes.iter().sum();
    match sizes.iter().max() {
        Some(&largest) if sum > 0 => (largest * sizes.len()) as f64 / sum as f64,
        _ => 1.0,
    }
}

fn largest(range: Range<usize>, size: impl FnMut(usize) -> usize) -> usize {
    range.map(size).max().unwrap_or(0)
}

fn steps(schedule: &Schedule) -> usize {
    let deepest = |phase| largest(schedule.blocks(phase), |block| schedule.batches(block).len());
    (0..schedule.phase_count()).map(deepest).sum()
}

fn highest_valence(schedule: &Schedule) -> usize {
    let mut valences = vec![0_u32; schedule.body_count()];
    for place in 0..schedule.len() {
        for &body in schedule.bodies_at(place) {
            valences[body as usize] += u32::from(!schedule.is_fixed(body));
        }
    }
    valences.into_iter().max().unwrap_or(0) as usize
}

/// The share of SIMD lanes that do work when each batch is cut into vectors of `lanes` elements,
/// the last of which may be part empty; 1 if there is no batch.
pub fn lane_utilization(schedule: &Schedule, lanes: usize) -> f64 {
    let lanes = lanes.max(1);
    let batches = (0..schedule.batch_count()).map(|batch| schedule.batch(batch).len());
    let padded: usize = batches.map(|size| size.next_multiple_of(lanes)).sum();
    if padded == 0 { 1.0 } else { schedule.len() as f64 / padded as f64 }
}

/// What the elements of a block touch, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Footprint {
    /// Of the block that touches most: compare it with the size of a cache.
    pub largest: usize,
    /// On average over the blocks.
    pub mean: f64,
}

/// How much memory a block touches: its distinct bodies and its elements.
pub fn footprint(
    schedule: &Schedule,
    bytes_per_body: usize,
    bytes_per_element: usize,
) -> Footprint {
    let mut last_block = vec![usize::MAX; schedule.body_count()];
    let mut bytes_of = |block: usize| {
        let places = schedule.block(block);
        let elements = places.len();
        let mut distinct = 0;
        for &body in places.flat_map(|place| schedule.bodies_at(place)) {
            let last = std::mem::replace(&mut last_block[body as usize], block);
            distinct += usize::from(last != block);
        }
        distinct * bytes_per_body + elements * bytes_per_element
    };
    let sizes: Vec<usize> = (0..schedule.block_count()).map(&mut bytes_of).collect();
    let sum: usize = sizes.iter().sum();
    Footprint {
        largest: sizes.iter().copied().max().unwrap_or(0),
        mean: sum as f64 / sizes.len().max(1) as f64,
    }
}

/// What things cost, in any unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// One element.
    pub element: f64,
    /// One barrier, at the end of each phase, if there is more than one worker.
    pub barrier: f64,
}

/// The time of a sweep to expect, in the unit of the [`Costs`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// By one worker, without barriers.
    pub serial: f64,
    /// By the workers asked for.
    pub parallel: f64,
    /// The ratio of the two; 1 if there is nothing to do.
    pub speed_up: f64,
}

/// Predicts the time of a sweep by list scheduling (Graham 1966): in each phase the blocks are
/// handed out in order, each to the worker that is free first.
pub fn predict(schedule: &Schedule, workers: usize, costs: &Costs) -> Prediction {
    let serial = schedule.len() as f64 * costs.element;
    let phases = 0..schedule.phase_count();
    let longest: usize = phases.map(|phase| makespan(schedule, phase, workers.max(1))).sum();
    let barriers = if workers > 1 { schedule.phase_count() } else { 0 };
    let parallel = longest as f64 * costs.element + barriers as f64 * costs.barrier;
    let speed_up = if parallel > 0.0 { serial / parallel } else { 1.0 };
    Prediction { serial, parallel, speed_up }
}

/// The elements of the worker that ends last in a phase.
fn makespan(schedule: &Schedule, phase: usize, workers: usize) -> usize {
    let blocks = schedule.blocks(phase);
    let mut free: BinaryHeap<Reverse<usize>> =
        std::iter::repeat_n(Reverse(0), workers.min(blocks.len())).collect();
    let mut end = 0;
    for block in blocks {
        if let Some(Reverse(start)) = free.pop() {
            let done = start + schedule.block(block).len();
            end = end.max(done);
            free.push(Reverse(done));
        }
    }
    end
}

#[cfg(test)]
mod tests {
    //! Contract: the figures of small schedules, counted by hand.

    use super::*;
    use crate::{Elements, Parts, phantoms};

    /// Phases of blocks of sizes; every element has a body of its own, and every block is cut
    /// into batches of two.
    fn schedule(phases: &[&[usize]]) -> Schedule {
        let count: usize = phases.iter().copied().flatten().sum();
        let elements: Vec<[u32; 1]> = (0..count as u32).map(|body| [body]).collect();
        let mut parts = Parts::default();
        parts.clear();
        for blocks in phases {
            for &size in *blocks {
                for element in 0..size {
                    parts.order.push(parts.order.len() as u32);
                    if element % 2 == 1 || element + 1 == size {
                        parts.end_batch();
                    }
                }
                parts.end_block();
            }
            parts.end_phase();
        }
        Schedule::new(&Elements::uniform(&elements, count).unwrap(), parts).unwrap()
    }

    #[test]
    fn sizes_and_steps() {
        let stats = Stats::new(&schedule(&[&[4, 1], &[3]]));
        assert_eq!((stats.phases, stats.blocks, stats.batches), (2, 3, 5));
        assert_eq!((stats.largest_phase, stats.smallest_phase, stats.largest_block), (5, 3, 4));
        assert_eq!((stats.phase_sizes, stats.imbalance), (vec![5, 3], 1.25));
        assert_eq!((stats.steps, stats.lower_bound), (4, 1));
    }

    #[test]
    fn workers_take_blocks_as_they_become_free() {
        let schedule = schedule(&[&[4, 2, 2, 3], &[5]]);
        let costs = Costs { element: 2.0, barrier: 3.0 };
        // First phase on two workers: 4 + 3 beside 2 + 2; second: 5.
        let two = predict(&schedule, 2, &costs);
        assert_eq!((two.serial, two.parallel), (32.0, 2.0 * 12.0 + 2.0 * 3.0));
        let one = predict(&schedule, 1, &costs);
        assert_eq!((one.parallel, one.speed_up), (32.0, 1.0));
        let many = predict(&schedule, 100, &costs);
        assert_eq!(many.parallel, 2.0 * 9.0 + 6.0);
    }

    #[test]
    fn bodies_of_a_block_count_once() {
        let triangle = Elements::uniform(&[[0, 1], [1, 2], [2, 0]], 3).unwrap();
        let mut parts = Parts::default();
        parts.clear();
        for element in 0..3 {
            parts.order.push(element);
            parts.end_batch();
        }
        parts.end_block();
        parts.end_phase();
        let schedule = Schedule::new(&triangle, parts).unwrap();
        assert_eq!(footprint(&schedule, 16, 8), Footprint { largest: 72, mean: 72.0 });
        assert_eq!(lane_utilization(&schedule, 8), 3.0 / 24.0);
        assert_eq!((Stats::new(&schedule).steps, Stats::new(&schedule).lower_bound), (3, 2));
    }

    #[test]
    fn nothing_is_perfect() {
        let nothing = schedule(&[]);
        let stats = Stats::new(&nothing);
        assert_eq!((stats.imbalance, stats.smallest_phase, stats.lower_bound), (1.0, 0, 0));
        assert_eq!((lane_utilization(&nothing, 8), footprint(&nothing, 1, 1).largest), (1.0, 0));
        assert_eq!(predict(&nothing, 4, &Costs { element: 1.0, barrier: 0.0 }).speed_up, 1.0);
    }

    #[test]
    fn copies_are_counted() {
        let star = Elements::uniform(&[[0, 1], [0, 2], [0, 3]], 4).unwrap();
        let split = phantoms::split(&star, &phantoms::Options::new(2)).unwrap();
        let stats = Stats::of_split(&split);
        assert_eq!((stats.copies, stats.copies_lower_bound, stats.bodies), (1, 1, 5));
    }
}
