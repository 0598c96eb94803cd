//! What is brought closer while something else is solved, where caches do not hold the scene.
//!
//! While a cluster is solved, the particles of the next one are fetched, by the lines of memory that have any.
//!
//! Between two phases of a tile of phantoms nothing comes from far away, and at the start of the next tile
//! everything does. So a tile's particles and their copies, each of which are in a row, are fetched while the
//! tile before is solved: with every few elements a few of them, for a processor waits if it is asked for
//! more than it can bring.

use taut_partition::Schedule;

use super::Copies;
use crate::math::{PARTICLES_IN_LINE, fetch};
use crate::state::Bodies;

/// Elements between the one that is solved and those whose ids and constants are fetched.
const LEAD: usize = 512;

/// What comes after a block.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    /// Another block.
    Block(usize),
    /// Another tile.
    Tile(Ahead),
}

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

/// Particles to fetch while a block is solved: two rows of them.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    starts: [usize; 2],
    lengths: [usize; 2],
}

impl Ahead {
    /// What is a tile's own.
    pub(crate) fn tile(copies: &Copies, tile: usize) -> Self {
        let rows = [copies.particles_of_tile(tile), copies.copies_of_tile(tile)];
        Self { starts: [rows[0].start, rows[1].start], lengths: [rows[0].len(), rows[1].len()] }
    }

    /// One of several parts, all of about the same length.
    pub(crate) fn part(self, part: usize, parts: usize) -> Self {
        let cut = |length: usize, part: usize| length * part / parts;
        let Self { mut starts, mut lengths } = self;
        for row in 0..2 {
            starts[row] += cut(lengths[row], part);
            lengths[row] = cut(lengths[row], part + 1) - cut(lengths[row], part);
        }
        Self { starts, lengths }
    }

    /// How to spread the fetching over so many elements, of which some are solved at a time.
    #[inline(always)]
    pub(super) fn over(self, elements: usize, width: usize) -> Spread {
        let mut spread = Spread { starts: self.starts, shares: [0; 2], lines: [0; 2] };
        for row in 0..2 {
            let share = ((self.lengths[row] as u64) << 32) / elements.max(1) as u64;
            let particles = ((width as u64 * share) >> 32) as usize + 1;
            spread.shares[row] = share;
            spread.lines[row] = particles.div_ceil(PARTICLES_IN_LINE);
        }
        spread
    }
}

/// Particles to fetch with each element.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    starts: [usize; 2],
    /// How many, in parts of 2⁻³²: dividing takes as long as a dozen other instructions.
    shares: [u64; 2],
    /// Lines that are fetched at a time. Always as many, though one would sometimes do: a processor foresees
    /// how often a loop goes round only if that does not change, and a surprise takes longer than a fetch.
    lines: [usize; 2],
}

impl Spread {
    /// Fetches what falls to the elements from one of a batch on, and ids and constants of elements after
    /// them: the lists go on with the tile after this one.
    #[inline(always)]
    pub(super) fn fetch<P: Bodies<[f32; 4], N>, const N: usize, const K: usize>(
        &self,
        particles: P,
        constants: &[&[f32]; K],
        first: usize,
        width: usize,
    ) {
        for row in 0..2 {
            let mut place = self.starts[row] + ((first as u64 * self.shares[row]) >> 32) as usize;
            for _ in 0..self.lines[row] {
                particles.prefetch_body(place);
                place += PARTICLES_IN_LINE;
            }
        }
        particles.prefetch_ids(first + LEAD, width);
        for list in constants {
            fetch(list.as_ptr().wrapping_add(first + LEAD));
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: lines are those that have a particle of a block, each once; parts are of about the same length
    //! and have everything once; so have the elements of a batch.

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

    #[test]
    fn parts_and_elements_have_everything_once() {
        let all = Ahead { starts: [100, 7000], lengths: [4097, 3] };
        let mut next = all.starts;
        for part in 0..5 {
            let own = all.part(part, 5);
            assert_eq!(own.starts, next);
            next = [0, 1].map(|row| next[row] + own.lengths[row]);
            assert!(own.lengths[0].abs_diff(4097 / 5) <= 1 && own.lengths[1] <= 1);
        }
        assert_eq!(next, [100 + 4097, 7003]);
        let spread = all.over(320, 16);
        for row in 0..2 {
            // What is fetched with some elements reaches to what is fetched with those after them.
            let place = |first: u64| (first * spread.shares[row]) >> 32;
            let reach = (PARTICLES_IN_LINE * spread.lines[row]) as u64;
            assert!((0..320).step_by(16).all(|first| place(first) + reach >= place(first + 16)));
            assert!(place(304) + reach >= all.lengths[row] as u64);
        }
    }
}
