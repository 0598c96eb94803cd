//! Which colors are in use at each body.
//!
//! The first colors live in a dense table of bit words, all bodies with as many words, which is
//! what nearly every problem needs: 64 colors, growing to 256. A body with a valence in the
//! thousands would blow such a table up for all bodies; the colors beyond go to a short sorted
//! list of words per body instead, so that memory stays proportional to the incidences.

/// Dense words per body at most.
const MAX_DENSE_WORDS: usize = 4;

/// A set of colors per body.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColorSets {
    words: usize,
    dense: Vec<u64>,
    /// Colors beyond the dense ones; empty until the first of them is used.
    sparse: Vec<SparseSet>,
}

/// Words of a bit set that are not zero.
#[derive(Clone, Debug, Default)]
struct SparseSet {
    /// Words before this one are full (and not listed), so that looking for a free color at a
    /// body with thousands of them does not start from the first each time.
    full: u32,
    listed: Vec<(u32, u64)>,
}

impl SparseSet {
    fn word(&self, index: u32) -> u64 {
        if index < self.full {
            return u64::MAX;
        }
        match self.listed.binary_search_by_key(&index, |&(index, _)| index) {
            Ok(place) => self.listed[place].1,
            Err(_) => 0,
        }
    }

    fn insert(&mut self, index: u32, bit: u64) {
        if index < self.full {
            return;
        }
        match self.listed.binary_search_by_key(&index, |&(index, _)| index) {
            Ok(place) => self.listed[place].1 |= bit,
            Err(place) => self.listed.insert(place, (index, bit)),
        }
        let full = self.listed.iter().zip(self.full..);
        let full = full.take_while(|&(&word, index)| word == (index, u64::MAX)).count();
        self.listed.drain(..full);
        self.full += full as u32;
    }

    fn remove(&mut self, index: u32, bit: u64) {
        if index < self.full {
            // The words from here on are no longer known to be full without being listed.
            let again = (index..self.full).map(|index| (index, u64::MAX));
            self.listed.splice(0..0, again);
            self.full = index;
        }
        if let Ok(place) = self.listed.binary_search_by_key(&index, |&(index, _)| index) {
            self.listed[place].1 &= !bit;
            if self.listed[place].1 == 0 {
                self.listed.remove(place);
            }
        }
    }
}

impl ColorSets {
    /// No color anywhere. `expected` colors are stored densely where they are few enough.
    pub(crate) fn new(body_count: usize, expected: usize) -> Self {
        let words = Self::dense_words(expected);
        Self { words, dense: vec![0; body_count * words], sparse: Vec::new() }
    }

    /// Continues with a table of `words` words per body, filled elsewhere.
    pub(crate) fn from_dense(dense: Vec<u64>, words: usize) -> Self {
        Self { words, dense, sparse: Vec::new() }
    }

    /// Adds a body with no colors.
    pub(crate) fn push_body(&mut self) {
        self.dense.resize(self.dense.len() + self.words, 0);
        if !self.sparse.is_empty() {
            self.sparse.push(SparseSet::default());
        }
    }

    /// How many words per body a table for this many colors has.
    pub(crate) fn dense_words(expected: usize) -> usize {
        expected.div_ceil(64).clamp(1, MAX_DENSE_WORDS)
    }

    /// The colors `64 · index` to `64 · index + 63` in use at a body.
    #[inline]
    pub(crate) fn word(&self, body: u32, index: usize) -> u64 {
        if index < self.words {
            self.dense[body as usize * self.words + index]
        } else {
            self.sparse.get(body as usize).map_or(0, |set| set.word((index - self.words) as u32))
        }
    }

    /// Puts a color into use at a body.
    #[inline]
    pub(crate) fn insert(&mut self, body: u32, color: u32) {
        let index = color as usize / 64;
        let bit = 1 << (color % 64);
        if index < self.words {
            self.dense[body as usize * self.words + index] |= bit;
        } else {
            self.insert_beyond(body, index, bit);
        }
    }

    /// Takes a color out of use at a body.
    #[inline]
    pub(crate) fn remove(&mut self, body: u32, color: u32) {
        let index = color as usize / 64;
        let bit = 1 << (color % 64);
        if index < self.words {
            self.dense[body as usize * self.words + index] &= !bit;
        } else if let Some(set) = self.sparse.get_mut(body as usize) {
            set.remove((index - self.words) as u32, bit);
        }
    }

    /// Whether a color is in use at a body.
    #[inline]
    pub(crate) fn contains(&self, body: u32, color: u32) -> bool {
        self.word(body, color as usize / 64) >> (color % 64) & 1 == 1
    }

    /// The smallest color that none of the bodies uses.
    #[inline]
    pub(crate) fn first_free(&self, bodies: &(impl Iterator<Item = u32> + Clone)) -> u32 {
        let mut index = 0;
        loop {
            let used = bodies.clone().fold(0, |used, body| used | self.word(body, index));
            if used != u64::MAX {
                return index as u32 * 64 + used.trailing_ones();
            }
            index += 1;
            if index == self.words {
                index += self.full_beyond(bodies.clone());
            }
        }
    }

    /// Puts the smallest color that none of the bodies uses into use at all of them.
    #[inline]
    pub(crate) fn take_first_free(&mut self, bodies: impl Iterator<Item = u32> + Clone) -> u32 {
        let color = self.first_free(&bodies);
        bodies.for_each(|body| self.insert(body, color));
        color
    }

    /// How many words beyond the dense ones are full at one of the bodies and need no look.
    fn full_beyond(&self, bodies: impl Iterator<Item = u32>) -> usize {
        let full = bodies.filter_map(|body| self.sparse.get(body as usize)).map(|set| set.full);
        full.max().unwrap_or(0) as usize
    }

    #[cold]
    fn insert_beyond(&mut self, body: u32, index: usize, bit: u64) {
        if self.words < MAX_DENSE_WORDS && self.sparse.is_empty() {
            self.widen();
            self.insert(body, index as u32 * 64 + bit.trailing_zeros());
        } else {
            let body_count = self.dense.len() / self.words;
            self.sparse.resize_with(body_count, SparseSet::default);
            self.sparse[body as usize].insert((index - self.words) as u32, bit);
        }
    }

    /// Doubles the number of dense words.
    fn widen(&mut self) {
        let mut dense = vec![0; self.dense.len() * 2];
        for (wide, narrow) in
            dense.chunks_exact_mut(self.words * 2).zip(self.dense.chunks_exact(self.words))
        {
            wide[..self.words].copy_from_slice(narrow);
        }
        self.words *= 2;
        self.dense = dense;
    }
}

#[cfg(test)]
mod tests {
    //! Contract: the sets behave like sets of integers for any number of colors.

    use super::*;

    #[test]
    fn first_free_grows_past_every_width() {
        let mut sets = ColorSets::new(2, 1);
        for color in 0..1000 {
            assert_eq!(sets.first_free(&[0, 1].into_iter()), color);
            sets.insert(color % 2, color);
        }
        assert_eq!(sets.first_free(&[0].into_iter()), 1);
        assert_eq!(sets.first_free(&[1].into_iter()), 0);
    }

    #[test]
    fn a_gap_far_out_is_found() {
        let mut sets = ColorSets::new(3, 1);
        for color in (0..5000).filter(|&color| color != 4321) {
            sets.insert(1, color);
        }
        assert_eq!(sets.first_free(&[0, 1].into_iter()), 4321);
        sets.insert(0, 4321);
        assert_eq!(sets.first_free(&[0, 1].into_iter()), 5000);
        assert_eq!(sets.word(1, 4321 / 64), !(1 << (4321 % 64)));
        assert_eq!(sets.word(2, 70), 0);
        for color in [70, 3000, 4999] {
            sets.remove(1, color);
            assert!(!sets.contains(1, color) && sets.contains(1, color - 1));
        }
        assert_eq!(sets.first_free(&[0, 1].into_iter()), 70);
        sets.insert(1, 70);
        assert_eq!(sets.first_free(&[0, 1].into_iter()), 3000);
    }
}
