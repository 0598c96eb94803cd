//! What is brought closer while something else is solved, where caches do not hold the scene: what the next
//! cluster needs, or the next tile of phantoms.
//!
//! Between two batches of a cluster, and between two phases of a tile, nothing comes from far away, and at the
//! start of the next one everything does. So that is fetched meanwhile, a few lines of memory with every few
//! elements, for a processor waits if it is asked for more than it can bring. A tile's particles and their copies
//! are in two rows; of a cluster there is a list of the lines that its particles are in.

use taut_partition::Schedule;

use super::{Copies, Group};
use crate::math::{PARTICLES_IN_LINE, fetch_some};
use crate::state::Bodies;

/// Elements between the one that is solved and those whose ids and constants are fetched.
const LEAD: usize = 512;

/// So many particles need not be fetched early for a cluster: they and what else a sweep reads are in a cache,
/// from where processors fetch well by themselves.
const NEAR_PARTICLES: usize = 1 << 17;

/// The lines of memory that the particles of each block are in.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    lines: Vec<u32>,
    /// Where those of each block end.
    ends: Vec<u32>,
}

impl Lines {
    /// Those of the blocks of a schedule, if it pays to fetch them early: none where caches hold the scene, and
    /// where blocks have one batch, for which fetching would be as much work as solving it.
    pub(crate) fn of_far(schedule: &Schedule) -> Self {
        let mut all = Self::default();
        let has_batches = schedule.batch_count() > schedule.block_count();
        let blocks = if has_batches && schedule.body_count() > NEAR_PARTICLES {
            0..schedule.block_count()
        } else {
            0..0
        };
        for block in blocks {
            let ids = schedule.block(block).flat_map(|place| schedule.bodies_at(place));
            let mut own: Vec<u32> = ids.map(|id| id / PARTICLES_IN_LINE as u32).collect();
            own.sort_unstable();
            own.dedup();
            all.lines.extend(own);
            all.ends.push(all.lines.len() as u32);
        }
        all.lines.shrink_to_fit();
        all
    }

    /// Those of a block; none if it need not be fetched.
    #[inline(always)]
    pub(super) fn of(&self, block: usize) -> &[u32] {
        let Some(&end) = self.ends.get(block) else { return &[] };
        let start = if block == 0 { 0 } else { self.ends[block - 1] };
        &self.lines[start as usize..end as usize]
    }
}

/// Particles to fetch while a block is solved, or several.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    /// Where rows of them start, and how long these are.
    starts: [usize; 2],
    lengths: [usize; 2],
    /// Lines of memory that have some, wherever they are.
    lines: &'a [u32],
}

impl<'a> Ahead<'a> {
    /// What is a tile's own.
    pub(crate) fn tile(copies: &Copies, tile: usize) -> Self {
        let rows = [copies.particles_of_tile(tile), copies.copies_of_tile(tile)];
        let (starts, lengths) = (rows.clone().map(|row| row.start), rows.map(|row| row.len()));
        Self { starts, lengths, lines: &[] }
    }

    /// What a block needs, if it is fetched early.
    #[inline(always)]
    pub(crate) fn block(group: &'a Group, block: usize) -> Option<Self> {
        let lines = group.lines.of(block);
        (!lines.is_empty()).then_some(Self { starts: [0; 2], lengths: [0; 2], lines })
    }

    /// One of several parts of the rows, all of about the same length.
    pub(crate) fn part(self, part: usize, parts: usize) -> Self {
        let cut = |length: usize, part: usize| length * part / parts;
        let Self { mut starts, mut lengths, lines } = self;
        for row in 0..2 {
            starts[row] += cut(lengths[row], part);
            lengths[row] = cut(lengths[row], part + 1) - cut(lengths[row], part);
        }
        Self { starts, lengths, lines }
    }

    /// How to spread the fetching over a block of so many elements.
    #[inline(always)]
    pub(super) fn over(self, elements: usize) -> Spread<'a> {
        let share = |length: usize| ((length as u64) << 32) / elements.max(1) as u64;
        let Self { starts, lengths, lines } = self;
        let shares = [share(lengths[0]), share(lengths[1]), share(lines.len())];
        Spread { starts, lines, shares, passed: 0 }
    }
}

/// Particles to fetch with each element of a block.
#[derive(Clone, Copy, Debug)]
pub struct Spread<'a> {
    starts: [usize; 2],
    lines: &'a [u32],
    /// How many particles of each row, and how many lines, in parts of 2⁻³²: dividing takes as long as a dozen
    /// other instructions.
    shares: [u64; 3],
    /// Elements of the block before the batch at hand.
    pub(super) passed: usize,
}

impl Spread<'_> {
    /// Fetches what falls to `width` elements from one of a batch on, and ids and constants of elements after
    /// them: the lists go on with the block after this one.
    ///
    /// Always as much, though less would sometimes do: a processor foresees how often a loop goes round only if
    /// that does not change, and a surprise takes longer than a fetch.
    #[inline(always)]
    pub(super) fn fetch<P: Bodies<[f32; 4], N>, const N: usize, const K: usize>(
        &self,
        particles: P,
        constants: &[&[f32]; K],
        first: usize,
        width: usize,
    ) {
        let before = |share: u64| (((self.passed + first) as u64 * share) >> 32) as usize;
        let most = |share: u64| ((width as u64 * share) >> 32) as usize + 1;
        for row in 0..2 {
            let share = self.shares[row];
            let start = self.starts[row] + before(share);
            let lines = if share == 0 { 0 } else { most(share).div_ceil(PARTICLES_IN_LINE) };
            for line in 0..lines {
                particles.prefetch_body(start + line * PARTICLES_IN_LINE);
            }
        }
        let count = most(self.shares[2]).min(self.lines.len());
        let start = before(self.shares[2]).min(self.lines.len() - count);
        for &line in &self.lines[start..start + count] {
            particles.prefetch_body(line as usize * PARTICLES_IN_LINE);
        }
        particles.prefetch_ids(first + LEAD, width);
        for list in constants {
            fetch_some(list.as_ptr().wrapping_add(first + LEAD), width);
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: lines are those that have a particle of a block, each once; parts are of about the same length
    //! and have everything once; with the elements of a block all of the next one is fetched, and nothing else.

    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::ops::Range;

    use taut_partition::{Elements, Parts};

    use super::*;

    /// A schedule of pairs in one phase, two batches to a block.
    fn schedule(pairs: &[[u32; 2]], bodies: usize) -> Schedule {
        let count = pairs.len() as u32;
        let parts = Parts {
            order: (0..count).collect(),
            batches: (0..=count).collect(),
            blocks: (0..=count).step_by(2).collect(),
            phases: vec![0, count / 2],
        };
        Schedule::new(&Elements::uniform(pairs, bodies).unwrap(), parts).unwrap()
    }

    #[test]
    fn lines_have_the_particles_of_a_block() {
        let pairs = [[9, 3], [8, 1_000_000], [12, 13], [16, 15]];
        let lines = Lines::of_far(&schedule(&pairs, 1_000_001));
        assert_eq!((lines.of(0), lines.of(1)), (&[0, 2, 250_000][..], &[3, 4][..]));
        let near = Lines::of_far(&schedule(&[[9, 3], [8, 10], [12, 13], [16, 15]], 17));
        assert!(near.of(0).is_empty() && near.of(1).is_empty());
    }

    /// Keeps the particles that are fetched.
    #[derive(Clone, Copy)]
    struct Fetched<'a>(&'a RefCell<Vec<usize>>);

    impl Bodies<[f32; 4], 2> for Fetched<'_> {
        fn count(&self) -> usize {
            0
        }
        fn part(&self, _: Range<usize>) -> Self {
            *self
        }
        fn get(&self, _: usize, _: usize) -> [f32; 4] {
            [0.0; 4]
        }
        fn set(&self, _: usize, _: usize, _: [f32; 4]) {}
        fn is_row(&self) -> bool {
            false
        }
        fn read_row(&self, _: &mut [[f32; 4]]) {}
        fn write_row(&self, _: &[[f32; 4]]) {}
        fn prefetch_body(&self, body: usize) {
            self.0.borrow_mut().push(body);
        }
    }

    /// What is fetched during a block with batches of these lengths, some elements at a time.
    fn fetched(ahead: Ahead<'_>, batches: &[usize], width: usize) -> BTreeSet<usize> {
        let all = RefCell::new(Vec::new());
        let mut spread = ahead.over(batches.iter().sum());
        for &batch in batches {
            for first in (0..batch).step_by(width) {
                spread.fetch::<_, 2, 1>(Fetched(&all), &[&[]], first, width);
            }
            spread.passed += batch;
        }
        all.into_inner().into_iter().collect()
    }

    #[test]
    fn parts_have_everything_once() {
        let all = Ahead { starts: [100, 7000], lengths: [4097, 3], lines: &[] };
        let mut next = all.starts;
        for part in 0..5 {
            let own = all.part(part, 5);
            assert_eq!(own.starts, next);
            next = [0, 1].map(|row| next[row] + own.lengths[row]);
            assert!(own.lengths[0].abs_diff(4097 / 5) <= 1 && own.lengths[1] <= 1);
        }
        assert_eq!(next, [100 + 4097, 7003]);
    }

    #[test]
    fn a_block_fetches_all_rows_and_lines() {
        for (batches, width) in [(&[320][..], 16), (&[100, 7, 33, 1], 32), (&[1], 8)] {
            let rows = Ahead { starts: [100, 7000], lengths: [4097, 3], lines: &[] };
            let places = fetched(rows, batches, width);
            // With every fourth place come those up to the next one.
            let is_there = |place: &usize| places.range(place - 3..=*place).next().is_some();
            assert!((100..4197).chain(7000..7003).all(|place| is_there(&place)));
            for count in [1, 2, 31, 1000] {
                let lines: Vec<u32> = (0..count).map(|line| 3 * line).collect();
                let all = lines.iter().map(|&line| line as usize * PARTICLES_IN_LINE).collect();
                let ahead = Ahead { starts: [0; 2], lengths: [0; 2], lines: &lines };
                assert_eq!(fetched(ahead, batches, width), all);
            }
        }
    }
}
