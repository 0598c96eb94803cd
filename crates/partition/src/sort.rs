//! A stable parallel radix sort of small keys that allocates nothing once it has run.
//!
//! Each pass counts digits per chunk, turns the counts into offsets (all chunks' first bucket,
//! then all chunks' second, …) and scatters. The scattered writes of different chunks never meet,
//! but that is beyond what the borrow checker can see; relaxed atomic stores say it without
//! `unsafe` and compile to plain ones.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

/// Bits of a digit: 2048 counters are 8 KB, which leaves room in the first-level cache.
const DIGIT_BITS: u32 = 11;
const BUCKETS: usize = 1 << DIGIT_BITS;
/// Values of a chunk at least: a chunk must be worth its counters.
const MIN_CHUNK: usize = 1 << 14;
/// Chunks at most, so that the counters stay few however many values there are.
const MAX_CHUNKS: usize = 64;

/// Values sorted by key, and the memory to do it again.
#[derive(Debug, Default)]
pub(crate) struct RadixSort {
    /// The key of each value.
    keys: Vec<u32>,
    /// The values in the order of their keys.
    values: Vec<AtomicU32>,
    /// Between two passes: keys (upper half) and values, read from one and written to the other.
    records: [Vec<AtomicU64>; 2],
    /// Per chunk and bucket: first how many values, then where to put the next one.
    counts: Vec<u32>,
    chunk: usize,
    passes: usize,
}

impl RadixSort {
    /// Sorts the values `0..count` by their keys, which are below `key_bound`. Values with equal
    /// keys stay in ascending order.
    pub(crate) fn sort(
        &mut self,
        count: usize,
        key_bound: usize,
        key: impl Fn(usize) -> u32 + Sync,
    ) {
        self.prepare(count, key_bound);
        let Self { keys, values, records: [from, to], counts, chunk, passes } = self;
        let (chunk, passes) = (*chunk, *passes);
        let chunks = keys.par_chunks_mut(chunk).zip(counts.par_chunks_mut(BUCKETS));
        chunks.enumerate().for_each(|(at, (keys, counts))| {
            for (slot, value) in keys.iter_mut().zip(at * chunk..) {
                *slot = key(value);
                counts[digit(*slot, 0)] += 1;
            }
        });
        let sorted = |place: usize, _key: u32, value: u32| values[place].store(value, Relaxed);
        let mut pass = Pass { count, chunk, number: 0, counts };
        let by_value = |value: usize| (keys[value], value as u32);
        if passes == 1 {
            return pass.scatter(by_value, sorted);
        }
        pass.scatter(by_value, |place, key, value| to[place].store(record(key, value), Relaxed));
        for number in 1..passes {
            std::mem::swap(from, to);
            let by_record = |place: usize| parts(from[place].load(Relaxed));
            pass.number = number;
            pass.count(by_record);
            if number + 1 == passes {
                pass.scatter(by_record, sorted);
            } else {
                let next = |place: usize, key, value| to[place].store(record(key, value), Relaxed);
                pass.scatter(by_record, next);
            }
        }
    }

    fn prepare(&mut self, count: usize, key_bound: usize) {
        let key_bits = usize::BITS - key_bound.saturating_sub(1).leading_zeros();
        self.passes = key_bits.div_ceil(DIGIT_BITS).max(1) as usize;
        self.chunk = count.div_ceil(MAX_CHUNKS).max(MIN_CHUNK);
        self.keys.resize(count, 0);
        self.values.resize_with(count, AtomicU32::default);
        if self.passes > 1 {
            self.records
                .iter_mut()
                .for_each(|records| records.resize_with(count, AtomicU64::default));
        }
        self.counts.clear();
        self.counts.resize(count.div_ceil(self.chunk) * BUCKETS, 0);
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
        let mut start = 0;
        if self.passes == 1 {
            // What the last chunk has left of the counters is where the buckets end.
            let ends = self.counts.last_chunk::<BUCKETS>().into_iter().flatten();
            for (key, &end) in ends.enumerate().filter(|&(_, &end)| end > 0) {
                let end = end as usize;
                if end > start {
                    call(key as u32, start..end);
                }
                start = end;
            }
            return;
        }
        while start < self.len() {
            let key = self.keys[self.at(start) as usize];
            let same = |&place: &usize| self.keys[self.at(place) as usize] == key;
            let end = start + (start..self.len()).take_while(same).count();
            call(key, start..end);
            start = end;
        }
    }
}

/// One stable pass over the values in some order.
struct Pass<'a> {
    count: usize,
    chunk: usize,
    number: usize,
    counts: &'a mut [u32],
}

impl Pass<'_> {
    /// Counts the digits of each chunk. `source` tells key and value at a place.
    fn count(&mut self, source: impl Fn(usize) -> (u32, u32) + Sync) {
        let Self { count, chunk, number, .. } = *self;
        self.counts.par_chunks_mut(BUCKETS).enumerate().for_each(|(at, counts)| {
            counts.fill(0);
            for place in at * chunk..((at + 1) * chunk).min(count) {
                counts[digit(source(place).0, number)] += 1;
            }
        });
    }

    /// Moves everything to where the counts say that its digit goes.
    fn scatter(
        &mut self,
        source: impl Fn(usize) -> (u32, u32) + Sync,
        sink: impl Fn(usize, u32, u32) + Sync,
    ) {
        self.counts_to_offsets();
        let Self { count, chunk, number, .. } = *self;
        self.counts.par_chunks_mut(BUCKETS).enumerate().for_each(|(at, offsets)| {
            for place in at * chunk..((at + 1) * chunk).min(count) {
                let (key, value) = source(place);
                let offset = &mut offsets[digit(key, number)];
                sink(*offset as usize, key, value);
                *offset += 1;
            }
        });
    }

    /// All chunks' first bucket, then all chunks' second, and so on.
    fn counts_to_offsets(&mut self) {
        let mut end = 0;
        for bucket in 0..BUCKETS {
            for at in (bucket..self.counts.len()).step_by(BUCKETS) {
                end += std::mem::replace(&mut self.counts[at], end);
            }
        }
    }
}

#[inline]
fn digit(key: u32, number: usize) -> usize {
    key as usize >> (number * DIGIT_BITS as usize) & (BUCKETS - 1)
}

#[inline]
fn record(key: u32, value: u32) -> u64 {
    u64::from(key) << 32 | u64::from(value)
}

#[inline]
fn parts(record: u64) -> (u32, u32) {
    ((record >> 32) as u32, record as u32)
}

#[cfg(test)]
mod tests {
    //! Contract: a stable sort by key, for any number of passes and of chunks.

    use super::*;

    #[test]
    fn sorts_like_the_standard_library() {
        let mut sort = RadixSort::default();
        for (count, bound) in [(0, 1), (1, 1), (100, 5), (70_000, 2049), (40_000, 1 << 30)] {
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
