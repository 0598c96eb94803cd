//! Coloring on several threads, with the same result on any number of them.
//!
//! Elements are cut into chunks whose size depends on their number alone. An element is *inner*
//! if no other chunk touches its bodies; all chunks color their inner elements at the same time,
//! first fit in natural order. What remains is colored in rounds after Jones & Plassmann 1993:
//! an element whose hashed priority is the highest at each of its bodies takes its color now, so
//! the winners of a round share no body. A mesh in a sensible order is nearly all inner; a
//! shuffled one is nearly all rounds. Where rounds stop paying (a body of huge valence lets one
//! element win at a time) the rest is colored on one thread.
//!
//! All tables are atomics with relaxed order, which are plain loads and stores: bodies written
//! at the same time are disjoint, and rayon's joins order the steps.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::sets::ColorSets;
use crate::Elements;

/// Inner chunks are no smaller than this, so that small problems are not all boundary.
const SMALLEST_CHUNK: usize = 4096;
/// And no more in number: enough to spread over any machine's cores, few enough for small
/// boundaries.
const MOST_CHUNKS: usize = 64;
/// Rounds end when fewer than one in so many remaining elements won.
const WORTHWHILE: usize = 64;
/// Below this number of elements a round costs more than it saves.
const FEW: usize = 1024;

const UNCOLORED: u32 = u32::MAX;
const NOBODY: u32 = u32::MAX;
const SHARED: u32 = u32::MAX - 1;

/// Colors all elements on `threads` threads (0: those of the pool this is called in).
pub(crate) fn color(elements: &Elements<'_>, max_valence: usize, threads: usize) -> Vec<u32> {
    let work = || ParallelColoring::new(elements, max_valence).run();
    match threads {
        0 => work(),
        // Without threads from the system the result is the same, only later.
        _ => match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) => pool.install(work),
            Err(_) => work(),
        },
    }
}

struct ParallelColoring<'a> {
    elements: Elements<'a>,
    /// Colors in use per body, `words` bit words each.
    used: Vec<AtomicU64>,
    words: usize,
    colors: Vec<AtomicU32>,
}

impl<'a> ParallelColoring<'a> {
    fn new(elements: &Elements<'a>, max_valence: usize) -> Self {
        let words = ColorSets::dense_words(max_valence + max_valence / 4);
        let used = atomics(elements.body_count() * words, AtomicU64::default);
        let colors = atomics(elements.len(), || AtomicU32::new(UNCOLORED));
        Self { elements: *elements, used, words, colors }
    }

    fn run(self) -> Vec<u32> {
        self.color_inner();
        let all = 0..self.colors.len() as u32;
        let mut rest: Vec<u32> = all.into_par_iter().filter(|&e| self.is_uncolored(e)).collect();
        self.color_in_rounds(&mut rest);
        self.color_one_by_one(rest)
    }

    fn is_uncolored(&self, element: u32) -> bool {
        self.colors[element as usize].load(Relaxed) == UNCOLORED
    }

    fn color_inner(&self) {
        let size = self.colors.len().div_ceil(MOST_CHUNKS).max(SMALLEST_CHUNK);
        let chunks = self.colors.len().div_ceil(size) as u32;
        let range = |chunk: u32| {
            let start = chunk as usize * size;
            start..(start + size).min(self.colors.len())
        };
        let owners = atomics(self.elements.body_count(), || AtomicU32::new(NOBODY));
        (0..chunks).into_par_iter().for_each(|chunk| {
            for &body in self.elements.bodies_of(range(chunk)) {
                claim(&owners[body as usize], chunk);
            }
        });
        (0..chunks).into_par_iter().for_each(|chunk| {
            for element in range(chunk) {
                let mut bodies = self.elements.movable_of(element);
                if bodies.all(|body| owners[body as usize].load(Relaxed) == chunk) {
                    self.take_first(element);
                }
            }
        });
    }

    /// Gives an element the smallest color its bodies leave free, if there is one within the
    /// words of this table. Nobody else may touch its bodies meanwhile.
    fn take_first(&self, element: usize) {
        let bodies = self.elements.movable_of(element);
        for word in 0..self.words {
            let at = |body: u32| &self.used[body as usize * self.words + word];
            let used = bodies.clone().fold(0, |used, body| used | at(body).load(Relaxed));
            if used != u64::MAX {
                let bit = 1 << used.trailing_ones();
                bodies.for_each(|body| at(body).store(at(body).load(Relaxed) | bit, Relaxed));
                let color = word as u32 * 64 + used.trailing_ones();
                self.colors[element].store(color, Relaxed);
                return;
            }
        }
    }

    fn color_in_rounds(&self, rest: &mut Vec<u32>) {
        let best = match rest.len() {
            0..FEW => return,
            _ => atomics(self.elements.body_count(), AtomicU64::default),
        };
        for round in 1..u16::MAX {
            rest.par_iter().for_each(|&element| {
                let key = priority(round, element);
                for body in self.elements.movable_of(element as usize) {
                    // Most bids lose; a load is cheaper than an exchange.
                    if best[body as usize].load(Relaxed) < key {
                        best[body as usize].fetch_max(key, Relaxed);
                    }
                }
            });
            rest.par_iter().for_each(|&element| {
                let key = priority(round, element);
                let mut bodies = self.elements.movable_of(element as usize);
                if bodies.all(|body| best[body as usize].load(Relaxed) == key) {
                    self.take_first(element as usize);
                }
            });
            let before = rest.len();
            *rest = rest.par_iter().copied().filter(|&e| self.is_uncolored(e)).collect();
            if rest.len() < FEW || before - rest.len() < before / WORTHWHILE {
                return;
            }
        }
    }

    /// Colors the rest first fit, highest priority first, with as many colors as it takes.
    fn color_one_by_one(self, mut rest: Vec<u32>) -> Vec<u32> {
        let mut colors: Vec<u32> = self.colors.into_iter().map(AtomicU32::into_inner).collect();
        let used = self.used.into_iter().map(AtomicU64::into_inner).collect();
        let mut sets = ColorSets::from_dense(used, self.words);
        rest.sort_unstable_by_key(|&element| std::cmp::Reverse(priority(0, element)));
        for element in rest {
            let bodies = self.elements.movable_of(element as usize);
            colors[element as usize] = sets.take_first_free(bodies);
        }
        colors
    }
}

fn atomics<T>(count: usize, make: impl Fn() -> T) -> Vec<T> {
    (0..count).map(|_| make()).collect()
}

/// Notes that a chunk touches a body.
fn claim(owner: &AtomicU32, chunk: u32) {
    let earlier = owner.load(Relaxed);
    if earlier == chunk || earlier == SHARED {
        return;
    }
    // Between the load and here another chunk may have claimed it: then it is shared as well.
    let claimed =
        earlier == NOBODY && owner.compare_exchange(NOBODY, chunk, Relaxed, Relaxed).is_ok();
    if !claimed {
        owner.store(SHARED, Relaxed);
    }
}

/// A bid of an element for its bodies: later rounds beat earlier ones (so bids need no reset),
/// then a hash decides, then the number.
#[inline]
fn priority(round: u16, element: u32) -> u64 {
    // The finalizer of SplitMix64 (Steele, Lea & Flood 2014).
    let mut hash = u64::from(element).wrapping_add(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (u64::from(round) << 48) | ((hash >> 48) << 32) | u64::from(element)
}
