//! A stable parallel counting sort (a radix sort of one digit) for keys of few bits, which
//! allocates nothing once it has run.
//!
//! Keys are counted per chunk; the counts become offsets (all chunks' first key, then all chunks'
//! second, …); each chunk then puts its values where the offsets say. The writes of different
//! chunks never meet, but that is beyond what the borrow checker can see; relaxed atomic stores
//! say it without `unsafe` and compile to plain ones.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

/// Values of a chunk at least: a chunk must be worth its counters.
const MIN_CHUNK: usize = 1 << 14;
/// Chunks at most, so that the counters stay few however many values there are.
const MAX_CHUNKS: usize = 64;

/// Values sorted by key, and the memory to do it again.
#[derive(Debug, Default)]
pub(crate) struct CountingSort {
    /// The key of each value.
    keys: Vec<u32>,
    /// The values in the order of their keys.
    values: Vec<AtomicU32>,
    /// Per chunk and key: first how many values, then where to put the next one.
    counts: Vec<u32>,
    key_bound: usize,
}

impl CountingSort {
    /// Sorts the values `0..count` by their keys, which are below `key_bound`. Values with equal
    /// keys stay in ascending order.
    pub(crate) fn sort(
        &mut self,
        count: usize,
        key_bound: usize,
        key: impl Fn(usize) -> u32 + Sync,
    ) {
        let chunk = count.div_ceil(MAX_CHUNKS).max(MIN_CHUNK);
        self.key_bound = key_bound;
        self.keys.resize(count, 0);
        self.values.resize_with(count, AtomicU32::default);
        self.counts.clear();
        self.counts.resize(count.div_ceil(chunk) * key_bound, 0);
        let chunks = self.keys.par_chunks_mut(chunk).zip(self.counts.par_chunks_mut(key_bound));
        chunks.enumerate().for_each(|(at, (keys, counts))| {
            for (slot, value) in keys.iter_mut().zip(at * chunk..) {
                *slot = key(value);
                counts[*slot as usize] += 1;
            }
        });
        self.counts_to_offsets();
        let chunks = self.keys.par_chunks(chunk).zip(self.counts.par_chunks_mut(key_bound));
        chunks.enumerate().for_each(|(at, (keys, offsets))| {
            for (&key, value) in keys.iter().zip(at * chunk..) {
                let offset = &mut offsets[key as usize];
                self.values[*offset as usize].store(value as u32, Relaxed);
                *offset += 1;
            }
        });
    }

    fn counts_to_offsets(&mut self) {
        let mut end = 0;
        for key in 0..self.key_bound {
            for at in (key..self.counts.len()).step_by(self.key_bound) {
                end += std::mem::replace(&mut self.counts[at], end);
            }
        }
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The value at a place of the sorted order.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> u32 {
        self.values[place].load(Relaxed)
    }

    /// Calls with each key that occurs and the places of its values, in ascending order.
    pub(crate) fn for_each_key(&self, mut call: impl FnMut(u32, Range<usize>)) {
        // What the last chunk has left of the offsets is where the values of each key end.
        let last = self.counts.len().saturating_sub(self.key_bound);
        let mut start = 0;
        for (key, &end) in self.counts[last..].iter().enumerate() {
            let end = end as usize;
            if end > start {
                call(key as u32, start..end);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: a stable sort by key, for any number of chunks.

    use super::*;

    #[test]
    fn sorts_like_the_standard_library() {
        let mut sort = CountingSort::default();
        for (count, bound) in [(0, 1), (1, 1), (100, 5), (70_000, 2049), (40_000, 7)] {
            let key = |value: usize| (value as u64 * 2_654_435_761 % bound as u64) as u32;
            sort.sort(count, bound, key);
            let mut expected: Vec<(u32, u32)> =
                (0..count).map(|value| (key(value), value as u32)).collect();
            expected.sort();
            let mut sorted = Vec::new();
            sort.for_each_key(|key, places| {
                sorted.extend(places.map(|place| (key, sort.at(place))));
            });
            assert!(sorted == expected, "{count} values with keys below {bound}");
        }
    }
}
