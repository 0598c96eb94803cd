//! Coloring on several threads, with the same result on any number of them.
//!
//! Elements are cut into chunks that depend on the problem alone. An element is *inner* if its
//! bodies are touched by no other chunk; all chunks color their inner elements at the same time,
//! first fit in natural order. The rest is colored in rounds of Jones & Plassmann 1993: each
//! element bids for its bodies with a hashed priority, and those that are highest at all of
//! their bodies take a color, so the winners of a round share no body. The elements enter the
//! rounds in windows (the prefixes of Blelloch et al. 2012): most of a small random window wins
//! at once, where most of all elements together would lose.
//!
//! A mesh in any sensible order is nearly all inner; a shuffled one is all windows. Where few
//! elements win (a body of huge valence lets one win at a time) the rest is colored on one
//! thread.
//!
//! All tables are atomics with relaxed order, which are plain loads and stores: bodies written
//! at the same time are disjoint, and rayon's joins order the steps.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::group;
use super::sets::ColorSets;
use crate::Elements;

/// Chunks hold no fewer elements or bodies than this, so that small problems are not all
/// boundary.
const SMALLEST_CHUNK: usize = 2048;
/// Enough chunks to spread over any machine's cores, few enough for small boundaries.
const MOST_CHUNKS: usize = 64;
const MOST_WINDOWS: usize = 256;
/// Elements of a window at least: below, a round costs more than it saves.
const SMALLEST_WINDOW: usize = 2048;
/// A round in which fewer than one in so many elements won is the last for the others.
const WORTHWHILE: usize = 32;

const UNCOLORED: u32 = u32::MAX;
const NOBODY: u32 = u32::MAX;
const SHARED: u32 = u32::MAX - 1;

/// Colors all elements on `threads` threads (0: those of the pool this is called in).
pub(crate) fn color(elements: &Elements<'_>, valences: &[u32], threads: usize) -> Vec<u32> {
    let work = || ParallelColoring::new(elements, valences).run();
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
    /// How many others an element conflicts with on average, counted once per body shared.
    mean_degree: usize,
    /// Colors in use per body, `words` bit words each.
    used: Vec<AtomicU64>,
    words: usize,
    colors: Vec<AtomicU32>,
}

impl<'a> ParallelColoring<'a> {
    fn new(elements: &Elements<'a>, valences: &[u32]) -> Self {
        let max_valence = valences.iter().copied().max().unwrap_or(0) as usize;
        let pairs: u64 = valences.iter().map(|&valence| u64::from(valence).pow(2)).sum();
        let mean_degree = pairs as usize / elements.len().max(1);
        let words = ColorSets::dense_words(max_valence + max_valence / 4);
        let used = atomics(elements.body_count() * words, AtomicU64::default);
        let colors = atomics(elements.len(), || AtomicU32::new(UNCOLORED));
        Self { elements: *elements, mean_degree, used, words, colors }
    }

    fn run(self) -> Vec<u32> {
        let (offsets, order) = self.chunks();
        let (rest, inner) = offsets.split_last().map_or((0, &[][..]), |(_, inner)| {
            (inner.last().map_or(0, |&start| start as usize), inner)
        });
        inner.par_windows(2).for_each(|chunk| {
            for &element in &order[chunk[0] as usize..chunk[1] as usize] {
                self.take_first(element as usize);
            }
        });
        // An inner element that found no free color in the table joins the rest.
        let full = order[..rest].par_iter().copied().filter(|&element| self.is_uncolored(element));
        let rest = full.chain(order[rest..].par_iter().copied()).collect();
        let last = self.color_in_windows(rest);
        self.color_one_by_one(last)
    }

    fn is_uncolored(&self, element: u32) -> bool {
        self.colors[element as usize].load(Relaxed) == UNCOLORED
    }

    /// Groups the elements: the inner ones of each chunk, and at last those that are not inner.
    /// Chunks are ranges of bodies if that leaves most elements inner, else ranges of elements.
    fn chunks(&self) -> (Vec<u32>, Vec<u32>) {
        let size = chunk_size(self.elements.body_count());
        let chunks = self.elements.body_count().div_ceil(size) as u32;
        let homes = self.homes_by_bodies(size as u32, chunks);
        let inner = homes.par_iter().filter(|&&home| home < chunks).count();
        if inner >= homes.len() / 2 {
            return group(&homes, chunks as usize + 1);
        }
        let size = chunk_size(self.elements.len());
        let chunks = self.elements.len().div_ceil(size) as u32;
        group(&self.homes_by_elements(size, chunks), chunks as usize + 1)
    }

    fn homes_by_bodies(&self, size: u32, chunks: u32) -> Vec<u32> {
        let home = |element| {
            let mut bodies = self.elements.movable_of(element).map(|body| body / size);
            let home = bodies.next().unwrap_or(0);
            if bodies.all(|other| other == home) { home } else { chunks }
        };
        (0..self.elements.len()).into_par_iter().map(home).collect()
    }

    fn homes_by_elements(&self, size: usize, chunks: u32) -> Vec<u32> {
        let owners = atomics(self.elements.body_count(), || AtomicU32::new(NOBODY));
        (0..chunks).into_par_iter().for_each(|chunk| {
            let start = chunk as usize * size;
            let end = (start + size).min(self.elements.len());
            for &body in self.elements.bodies_of(start..end) {
                claim(&owners[body as usize], chunk);
            }
        });
        let home = |element| {
            let home = (element / size) as u32;
            let mut bodies = self.elements.movable_of(element);
            let inner = bodies.all(|body| owners[body as usize].load(Relaxed) == home);
            if inner { home } else { chunks }
        };
        (0..self.elements.len()).into_par_iter().map(home).collect()
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

    /// Colors what wins within a worthwhile number of rounds; returns the others.
    fn color_in_windows(&self, rest: Vec<u32>) -> Vec<u32> {
        if rest.len() < SMALLEST_WINDOW {
            return rest;
        }
        let count = (4 * self.mean_degree).clamp(1, MOST_WINDOWS);
        let count = count.min(rest.len() / SMALLEST_WINDOW).max(1);
        let window = |&element: &u32| ((u64::from(priority(element)) * count as u64) >> 32) as u32;
        let windows: Vec<u32> = rest.par_iter().map(window).collect();
        let (offsets, order) = group(&windows, count);
        let best = atomics(self.elements.body_count(), AtomicU64::default);
        let (mut pending, mut last) = (Vec::new(), Vec::new());
        for round in 1.. {
            let window = offsets
                .get(round - 1..=round)
                .map_or(0..0, |window| window[0] as usize..window[1] as usize);
            pending.extend(order[window].iter().map(|&place| rest[place as usize]));
            if round > count && pending.len() < SMALLEST_WINDOW {
                break;
            }
            let losers = self.round(&pending, round as u64, &best);
            if (pending.len() - losers.len()) * WORTHWHILE < pending.len() {
                last.extend(losers);
                pending.clear();
            } else {
                pending = losers;
            }
        }
        last.extend(pending);
        last
    }

    /// Lets the pending elements bid for their bodies and colors the winners; returns the losers.
    fn round(&self, pending: &[u32], round: u64, best: &[AtomicU64]) -> Vec<u32> {
        // Later rounds outbid earlier ones, so bids need no reset.
        let bid = |element| round << 32 | u64::from(priority(element));
        pending.par_iter().for_each(|&element| {
            let bid = bid(element);
            for body in self.elements.movable_of(element as usize) {
                best[body as usize].fetch_max(bid, Relaxed);
            }
        });
        pending.par_iter().for_each(|&element| {
            let bid = bid(element);
            let mut bodies = self.elements.movable_of(element as usize);
            if bodies.all(|body| best[body as usize].load(Relaxed) == bid) {
                self.take_first(element as usize);
            }
        });
        pending.par_iter().copied().filter(|&element| self.is_uncolored(element)).collect()
    }

    /// Colors the last elements first fit, with as many colors as it takes.
    fn color_one_by_one(self, last: Vec<u32>) -> Vec<u32> {
        let mut colors: Vec<u32> = self.colors.into_iter().map(AtomicU32::into_inner).collect();
        let used = self.used.into_iter().map(AtomicU64::into_inner).collect();
        let mut sets = ColorSets::from_dense(used, self.words);
        for element in last {
            let bodies = self.elements.movable_of(element as usize);
            colors[element as usize] = sets.take_first_free(bodies);
        }
        colors
    }
}

fn atomics<T>(count: usize, make: impl Fn() -> T) -> Vec<T> {
    (0..count).map(|_| make()).collect()
}

fn chunk_size(count: usize) -> usize {
    count.div_ceil(MOST_CHUNKS).max(SMALLEST_CHUNK)
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

/// A hash that is different for every element: each step can be undone.
#[inline]
fn priority(element: u32) -> u32 {
    let mut hash = element.wrapping_add(1).wrapping_mul(0x9e37_79b1);
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}
