//! What is brought closer while something else is solved, where caches do not hold the scene.
//!
//! Between two phases of a tile of phantoms nothing comes from far away, and at the start of the next tile
//! everything does. So a tile's particles and their copies, each of which are in a row, are fetched while the
//! tile before is solved: with every few elements a few of them, for a processor waits if it is asked for
//! more than it can bring.

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
    //! Contract: parts are of about the same length and have everything once; so have the elements of a
    //! batch.

    use super::*;

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
