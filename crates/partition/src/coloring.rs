//! Coloring: elements of one color share no body, so a color is a phase (papers A and C).
//!
//! ```
//! use taut_partition::{Elements, coloring};
//!
//! // A square with one diagonal: five edges, three of them at bodies 0 and 2.
//! let edges = Elements::uniform(&[[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]], 4)?;
//! let coloring = coloring::color(&edges, &coloring::Options::default());
//! assert_eq!((coloring.color_count, coloring.lower_bound), (3, 3));
//! let schedule = coloring::schedule(&edges, &coloring::Options::default());
//! assert_eq!(schedule.phase_count(), 3);
//! # Ok::<(), taut_partition::InputError>(())
//! ```

mod balance;
mod exchange;
mod fewer;
mod greedy;
mod parallel;
mod sets;
mod smallest_last;

pub(crate) use balance::balance;
pub(crate) use fewer::save_colors;
pub(crate) use greedy::first_fit;
pub(crate) use sets::ColorSets;
pub(crate) use smallest_last::smallest_last;

use crate::incidence::valences;
use crate::{Elements, Incidence, Parts, Schedule, ScheduleError};

/// How elements get their colors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest-last order (Matula & Beck), first fit: the fewest colors.
    #[default]
    SmallestLast,
    /// In the order given, first fit: the fastest on one thread.
    Natural,
    /// Elements with the most neighbors first, first fit.
    LargestFirst,
    /// As few colors as smallest-last, then the least loaded permissible color for elements of
    /// the colors that are too large.
    Balanced,
    /// On several threads; the result does not depend on how many.
    Parallel,
}

/// What a caller may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How elements get their colors.
    pub order: Order,
    /// Elements of a block (a chunk of a color). Best a multiple of the lane width. Never derive
    /// it from the number of threads: a schedule must not depend on it.
    pub block_size: usize,
    /// Threads for [`Order::Parallel`]; 0 for the rayon pool this is called in.
    pub threads: usize,
    /// How hard to try to save colors after the greedy coloring; 0 takes what greedy gives. Its
    /// work grows in proportion, from less than that of the smallest-last order at 1. Nothing is
    /// spent where the colors are as few as the lower bound.
    pub effort: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { order: Order::default(), block_size: DEFAULT_BLOCK_SIZE, threads: 0, effort: 1 }
    }
}

impl Options {
    /// Moves to spend on saving a color: a third of the elements suffices for 27 colors on large
    /// tetrahedral grids of valence 24. The orders that are chosen for their speed get a tenth.
    fn moves(&self, elements: usize) -> usize {
        let share = match self.order {
            Order::SmallestLast | Order::LargestFirst | Order::Balanced => 3,
            Order::Natural | Order::Parallel => 32,
        };
        self.effort.saturating_mul(1024 + elements / share)
    }
}

/// Elements of a block unless the caller chooses otherwise: 64 vectors of 8 lanes, long enough
/// to hide the cost of handing it out, short enough to spread small colors over threads.
pub const DEFAULT_BLOCK_SIZE: usize = 512;

/// A color for every element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coloring {
    /// The color of each element, from 0.
    pub colors: Vec<u32>,
    /// How many colors there are; each is in use.
    pub color_count: usize,
    /// No coloring has fewer colors: the highest valence of a body that is not fixed (and 1 if
    /// there is any element).
    pub lower_bound: usize,
}

impl Coloring {
    pub(crate) fn from_colors(colors: Vec<u32>, lower_bound: usize) -> Self {
        let color_count = colors.iter().max().map_or(0, |&last| last as usize + 1);
        Self { colors, color_count, lower_bound }
    }

    /// The schedule: a phase per color, in blocks of `block_size` elements (at least 1).
    /// The elements of a color stay in natural order, for the sake of the caches.
    pub fn schedule(
        &self,
        elements: &Elements<'_>,
        block_size: usize,
    ) -> Result<Schedule, ScheduleError> {
        Schedule::new(elements, self.parts(block_size))
    }

    /// The same, not checked yet.
    pub(crate) fn parts(&self, block_size: usize) -> Parts {
        let (offsets, order) = group(&self.colors, self.color_count);
        let mut parts = Parts { order, batches: vec![0], blocks: vec![0], phases: vec![0] };
        for color in offsets.windows(2) {
            chunk_phase(&mut parts, color[0] as usize, color[1] as usize, block_size.max(1));
        }
        parts
    }
}

/// Colors the elements.
pub fn color(elements: &Elements<'_>, options: &Options) -> Coloring {
    let (colors, max_valence) = match options.order {
        Order::Natural => {
            let bound = highest(&valences(elements));
            (first_fit(elements, 0..elements.len() as u32, bound), bound)
        }
        Order::Parallel => {
            let valences = valences(elements);
            let bound = highest(&valences);
            (parallel::color(elements, &valences, options.threads), bound)
        }
        Order::SmallestLast | Order::Balanced => {
            let incidence = Incidence::new(elements);
            let bound = incidence.max_valence();
            let order = smallest_last(elements, incidence);
            (first_fit(elements, order.into_iter(), bound), bound)
        }
        Order::LargestFirst => {
            let incidence = Incidence::new(elements);
            let bound = incidence.max_valence();
            let order = greedy::largest_first(elements, &incidence);
            (first_fit(elements, order.into_iter(), bound), bound)
        }
    };
    let lower_bound = max_valence.max(usize::from(!elements.is_empty()));
    let mut coloring = Coloring::from_colors(colors, lower_bound);
    let Coloring { colors, color_count, .. } = &mut coloring;
    *color_count =
        save_colors(elements, colors, *color_count, lower_bound, options.moves(elements.len()));
    if options.order == Order::Balanced {
        balance(elements, colors, *color_count);
    }
    coloring
}

/// Colors the elements and makes the schedule of it.
///
/// # Panics
///
/// Never, unless the coloring is wrong: then the conflict check of [`Schedule::new`] stops it.
pub fn schedule(elements: &Elements<'_>, options: &Options) -> Schedule {
    let coloring = color(elements, options);
    let schedule = coloring.schedule(elements, options.block_size);
    schedule.expect("a coloring has no conflict inside a color")
}

fn highest(valences: &[u32]) -> usize {
    valences.iter().copied().max().unwrap_or(0) as usize
}

/// Elements by color, or by another number of theirs (counting sort, natural order kept): offsets of the
/// colors, and the order.
pub(crate) fn group(colors: &[u32], color_count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; color_count + 1];
    for &color in colors {
        offsets[color as usize + 1] += 1;
    }
    for color in 0..color_count {
        offsets[color + 1] += offsets[color];
    }
    let mut next = offsets.clone();
    let mut order = vec![0; colors.len()];
    for (element, &color) in colors.iter().enumerate() {
        let place = &mut next[color as usize];
        order[*place as usize] = element as u32;
        *place += 1;
    }
    (offsets, order)
}

/// Adds a phase over the places `start..end`, in blocks of one batch each.
pub(crate) fn chunk_phase(parts: &mut Parts, start: usize, end: usize, block_size: usize) {
    let mut at = start;
    while at < end {
        at = at.saturating_add(block_size).min(end);
        parts.batches.push(at as u32);
        parts.end_block();
    }
    parts.end_phase();
}
