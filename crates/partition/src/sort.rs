//! A stable parallel radix sort of small keys that allocates nothing once it has run.
//!
//! Each pass counts digits per chunk, turns the counts into offsets (all chunks' first bucket,
//! then all chunks' second, …) and scatters. The scattered writes of different chunks never meet,
//! but that is beyond what the borrow checker can see; relaxed atomic stores say it without
//! `unsafe` and compile to plain ones.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

/// Bits of a digit: 2048 counters are 8 KB, which leaves room in the first-level cache.
const DIGIT_BITS: u32 = 11;
const BUCKETS: usize = 1 << DIGIT_BITS;
/// Records of a chunk at least: a chunk must be worth its counters.
const MIN_CHUNK: usize = 1 << 14;
/// Chunks at most, so that the counters stay few however many records there are.
const MAX_CHUNKS: usize = 64;

/// Values sorted by key, and the memory to do it again.
#[derive(Debug, Default)]
pub(crate) struct RadixSort {
    /// Key in the upper half, value in the lower.
    records: Vec<AtomicU64>,
    scattered: Vec<AtomicU64>,
    counts: Vec<u32>,
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
        for records in [&mut self.records, &mut self.scattered] {
            records.resize_with(count, AtomicU64::default);
        }
        let chunk = count.div_ceil(MAX_CHUNKS).max(MIN_CHUNK);
        self.clear_counts(chunk);
        let chunks = self.records.par_chunks(chunk).enumerate();
        chunks.zip(self.counts.par_chunks_mut(BUCKETS)).for_each(|((at, records), counts)| {
            for (record, value) in records.iter().zip(at * chunk..) {
                let key = key(value);
                record.store(u64::from(key) << 32 | value as u64, Relaxed);
                counts[key as usize % BUCKETS] += 1;
            }
        });
        self.scatter(chunk, 0);
        let key_bits = usize::BITS - key_bound.saturating_sub(1).leading_zeros();
        for shift in (0..key_bits).step_by(DIGIT_BITS as usize).skip(1) {
            self.count(chunk, shift);
            self.scatter(chunk, shift);
        }
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The key and the value at a place of the sorted order.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> (u32, u32) {
        let record = self.records[place].load(Relaxed);
        ((record >> 32) as u32, record as u32)
    }

    fn clear_counts(&mut self, chunk: usize) {
        self.counts.clear();
        self.counts.resize(self.records.len().div_ceil(chunk) * BUCKETS, 0);
    }

    /// Counts the digits that start at bit `shift` of the key, for each chunk.
    fn count(&mut self, chunk: usize, shift: u32) {
        self.clear_counts(chunk);
        let chunks = self.records.par_chunks(chunk);
        chunks.zip(self.counts.par_chunks_mut(BUCKETS)).for_each(|(records, counts)| {
            for record in records {
                counts[digit(record.load(Relaxed), shift)] += 1;
            }
        });
    }

    /// Moves the records to where the counts say that their digits go.
    fn scatter(&mut self, chunk: usize, shift: u32) {
        self.counts_to_offsets();
        let chunks = self.records.par_chunks(chunk);
        chunks.zip(self.counts.par_chunks_mut(BUCKETS)).for_each(|(records, offsets)| {
            for record in records {
                let record = record.load(Relaxed);
                let offset = &mut offsets[digit(record, shift)];
                self.scattered[*offset as usize].store(record, Relaxed);
                *offset += 1;
            }
        });
        std::mem::swap(&mut self.records, &mut self.scattered);
    }

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
fn digit(record: u64, shift: u32) -> usize {
    (record >> (32 + shift)) as usize % BUCKETS
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
            let sorted: Vec<(u32, u32)> = (0..sort.len()).map(|place| sort.at(place)).collect();
            assert!(sorted == expected, "{count} values with keys below {bound}");
        }
    }
}
