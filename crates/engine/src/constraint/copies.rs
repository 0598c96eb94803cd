//! Particles that take part in a sweep several times over: paper A's phantoms.

use std::ops::Range;

use crate::math::MAX_WIDTH;

/// The split particles of a group and their copies, which stand at the end of the state's arrays:
/// those of one particle after those of another.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    /// The particles, themselves among those who take part, and where the copies of each end.
    /// They begin where those of the one before end.
    pub ends: Vec<(u32, u32)>,
    /// Inverse masses of the particles.
    pub inverse_masses: Vec<f32>,
    /// How many times as much those of each of those are who take part for them: as many times as there
    /// are of them, so that together they weigh as much as the particle and momentum is kept; once in
    /// the paper.
    pub factors: Vec<f32>,
    /// The first copy of all.
    pub first: u32,
    /// Where in the list the particles of each tile end that are this tile's own; after them come those that
    /// several tiles share. Empty where there are no tiles.
    tile_ends: Vec<u32>,
    /// The lowest and the highest of the particles that are each tile's own.
    tile_bounds: Vec<[u32; 2]>,
    /// Those that can be split and merged several at a time.
    runs: Vec<Run>,
    /// Where in the list those that are no tile's own begin again with a low particle: each of these parts
    /// goes once through the whole scene.
    rounds: Vec<Range<usize>>,
}

/// Particles of the list with as many copies each, of the same weight and in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Run {
    /// Where in the list they are.
    pub(crate) places: Range<usize>,
    /// How many copies each of them has.
    pub(crate) copies: usize,
    /// How much more inverse mass they have while they are split.
    pub(crate) factor: f32,
}

impl Copies {
    /// The copies of each particle, from the owners of all copies, and what they weigh: `mass_factor` of
    /// the number of those who take part for a particle.
    pub(crate) fn new(
        owners: &[u32],
        tile_ends: Vec<u32>,
        particles: &[[f32; 4]],
        mass_factor: impl Fn(usize) -> f32,
    ) -> Self {
        let first = particles.len() as u32;
        let mut copies = Self { first, tile_ends, ..Self::default() };
        let mut end = first;
        for own in owners.chunk_by(|a, b| a == b) {
            end += own.len() as u32;
            let [.., w] = particles[own[0] as usize];
            copies.ends.push((own[0], end));
            copies.inverse_masses.push(w);
            copies.factors.push(mass_factor(own.len() + 1));
        }
        copies.runs = copies.find_runs();
        copies.rounds = copies.find_rounds();
        copies.tile_bounds = (0..copies.tile_ends.len()).map(|tile| copies.bounds(tile)).collect();
        copies
    }

    fn bounds(&self, tile: usize) -> [u32; 2] {
        let own = self.ends[self.of_tile(tile)].iter().map(|&(particle, _)| particle);
        [own.clone().min().unwrap_or(0), own.max().unwrap_or(0)]
    }

    fn find_runs(&self) -> Vec<Run> {
        let copies = |place: usize| self.ends[place].1 as usize - self.start(place);
        let goes_on = |place: usize| {
            self.ends[place].0 < self.ends[place + 1].0
                && copies(place) == copies(place + 1)
                && self.factors[place] == self.factors[place + 1]
        };
        let mut runs = Vec::new();
        let mut start = 0;
        for place in 0..self.len() {
            if place + 1 == self.len() || !goes_on(place) {
                let places = start..place + 1;
                if places.len() >= MAX_WIDTH {
                    runs.push(Run { places, copies: copies(start), factor: self.factors[start] });
                }
                start = place + 1;
            }
        }
        runs
    }

    fn find_rounds(&self) -> Vec<Range<usize>> {
        let shared = self.shared();
        let mut start = shared.start;
        let ascending = self.ends[shared].chunk_by(|(one, _), (next, _)| one < next);
        let place = |round: &[_]| {
            let places = start..start + round.len();
            start = places.end;
            places
        };
        ascending.map(place).collect()
    }

    /// The parts of the list of those that are no tile's own in which particles ascend. Workers who take
    /// their share of each find most of its particles and copies in their own caches, where their share of
    /// the constraints was; of the whole list one would have those with few copies, another the others.
    pub(crate) fn rounds(&self) -> &[Range<usize>] {
        &self.rounds
    }

    /// The runs that reach into a part of the list, cut to it.
    pub(crate) fn runs(&self, part: Range<usize>) -> impl Iterator<Item = Run> + '_ {
        let first = self.runs.partition_point(|run| run.places.end <= part.start);
        let cut = move |run: &Run| {
            let places = run.places.start.max(part.start)..run.places.end.min(part.end);
            (!places.is_empty()).then_some(Run { places, ..run.clone() })
        };
        self.runs[first..].iter().map_while(cut)
    }

    /// Whether copies belong to tiles.
    pub(crate) fn has_tiles(&self) -> bool {
        !self.tile_ends.is_empty()
    }

    /// Where in the list a tile's own particles are.
    #[inline(always)]
    pub(crate) fn of_tile(&self, tile: usize) -> Range<usize> {
        let start = if tile == 0 { 0 } else { self.tile_ends[tile - 1] };
        start as usize..self.tile_ends[tile] as usize
    }

    /// Where in memory the particles are that are a tile's own; a few of them may be others'.
    pub(crate) fn particles_of_tile(&self, tile: usize) -> Range<usize> {
        let [lowest, highest] = self.tile_bounds[tile];
        lowest as usize..highest as usize + 1
    }

    /// Where in memory their copies are.
    pub(crate) fn copies_of_tile(&self, tile: usize) -> Range<usize> {
        let own = self.of_tile(tile);
        self.start(own.start)..self.start(own.end)
    }

    /// Where in the list those are that are no tile's own.
    pub(crate) fn shared(&self) -> Range<usize> {
        self.tile_ends.last().map_or(0, |&end| end as usize)..self.len()
    }

    /// How many particles have copies.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no particle has copies.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How many copies there are.
    pub fn count(&self) -> usize {
        self.ends.last().map_or(0, |&(_, end)| (end - self.first) as usize)
    }

    /// Where the copies of a particle of the list begin.
    #[inline(always)]
    pub fn start(&self, index: usize) -> usize {
        if index == 0 { self.first as usize } else { self.ends[index - 1].1 as usize }
    }

    /// The particle that an id stands for.
    pub(crate) fn original(&self, id: u32) -> u32 {
        if self.is_empty() || id < self.first {
            return id;
        }
        let after = self.ends.partition_point(|&(_, end)| end <= id);
        self.ends.get(after).map_or(id, |&(particle, _)| particle)
    }
}

#[cfg(test)]
mod tests {
    //! Contract: runs are of particles with as many copies each, and long enough for lanes.

    use super::*;

    /// Copies of particles with so many copies each.
    fn copies(counts: &[usize]) -> Copies {
        let particles = vec![[0.0, 0.0, 0.0, 1.0]; counts.len()];
        let own = counts.iter().enumerate();
        let owners: Vec<u32> =
            own.flat_map(|(particle, &count)| vec![particle as u32; count]).collect();
        Copies::new(&owners, Vec::new(), &particles, |count| count as f32)
    }

    #[test]
    fn runs_are_found_and_cut() {
        // 17 with one copy, one of them after a particle without; one with two; 18 with one.
        let mut counts = vec![1; 4];
        counts.push(0);
        counts.extend([1; 13]);
        counts.push(2);
        counts.extend([1; 18]);
        let copies = copies(&counts);
        let places = |part: Range<usize>| -> Vec<Range<usize>> {
            copies.runs(part).map(|run| run.places).collect()
        };
        assert_eq!(places(0..copies.len()), [0..17, 18..36]);
        assert_eq!(places(3..20), [3..17, 18..20]);
        assert_eq!(places(17..18), []);
        assert!(copies.runs(0..36).all(|run| (run.copies, run.factor) == (1, 2.0)));
    }

    #[test]
    fn runs_end_where_the_number_of_copies_changes_and_short_ones_are_left_out() {
        let short = copies(&[1; MAX_WIDTH - 1]);
        assert_eq!(short.runs(0..short.len()).count(), 0);
        let mut counts = vec![1; 20];
        counts.extend([2; 20]);
        let runs: Vec<Run> = copies(&counts).runs(0..40).collect();
        assert_eq!(runs.iter().map(|run| run.copies).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((&runs[1].places, runs[1].factor), (&(20..40), 3.0));
    }

    #[test]
    fn tiles_have_their_own_and_the_rest_is_shared() {
        let copies = Copies { tile_ends: vec![2, 2, 5], ..copies(&[1; 9]) };
        let tiles: Vec<_> = (0..3).map(|tile| copies.of_tile(tile)).collect();
        assert_eq!((tiles, copies.shared()), (vec![0..2, 2..2, 2..5], 5..9));
    }

    #[test]
    fn a_tile_has_its_particles_and_copies_in_a_row() {
        let owners = [3, 2, 2, 7, 5, 9];
        let particles = [[0.0, 0.0, 0.0, 1.0]; 10];
        let copies = Copies::new(&owners, vec![2, 2, 4], &particles, |count| count as f32);
        assert_eq!((copies.particles_of_tile(0), copies.copies_of_tile(0)), (2..4, 10..13));
        assert!(copies.copies_of_tile(1).is_empty());
        assert_eq!((copies.particles_of_tile(2), copies.copies_of_tile(2)), (5..8, 13..15));
    }
}
