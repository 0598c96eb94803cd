//! The search for partners: the members of a cell look through the cells around it together. Whoever
//! is there is lined up once, coordinate by coordinate, and then compared with each of them, several at
//! a time.

use std::ops::Range;

use super::together;
use crate::collide::{Grid, Ranges};
use crate::math::{Lane, MAX_WIDTH, Work};
use crate::model::ParticleContacts;
use crate::state::{Access, ContactView, MOST_PARTNERS, SEVERAL_BODIES, Storage, View};

/// How many candidates are lined up at a time.
const ROOM: usize = 128;

/// The search for the partners of some places.
pub(super) struct Search<'a, S: Storage> {
    pub(super) contacts: &'a ParticleContacts,
    pub(super) grid: Grid,
    pub(super) places: Range<usize>,
    pub(super) view: &'a View<S>,
}

impl<S: Storage> Work for Search<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lane>(self) -> usize {
        let memory = &self.view.contacts;
        let reach = self.contacts.reach();
        let mut candidates = Candidates::new(reach * reach);
        let mut dropped = 0;
        let mut next = self.places.start;
        while next < self.places.end {
            let coordinates = self.grid.coordinates(memory.positions.get(next));
            let own = self.places_from(next, coordinates);
            next = own.end;
            for place in own.clone() {
                memory.counts.set(place, 0);
            }
            for &[start, end] in self.places_around(coordinates).all() {
                for first in (start as usize..end as usize).step_by(L::WIDTH) {
                    if candidates.is_full() {
                        dropped += candidates.compare::<L, S>(own.clone(), memory);
                    }
                    candidates.add::<L, S>(first..end as usize, memory);
                }
            }
            dropped += candidates.compare::<L, S>(own, memory);
        }
        dropped
    }
}

impl<S: Storage> Search<'_, S> {
    /// The places from one on that are in its cell.
    #[inline(always)]
    fn places_from(&self, first: usize, coordinates: [u32; 3]) -> Range<usize> {
        let [end, _] = self.view.contacts.ends.get(self.grid.cell(coordinates) as usize);
        first..self.places.end.min(end as usize)
    }

    /// The places in the cells around one, where ranges start and where the next place is, but for rows
    /// that have only particles which those of this cell cannot touch.
    #[inline(always)]
    fn places_around(&self, coordinates: [u32; 3]) -> Ranges {
        let ends = &self.view.contacts.ends;
        let [_, own] = ends.get(self.grid.cell(coordinates) as usize);
        let mut places = Ranges::default();
        for &[first, last] in self.grid.neighborhood(coordinates).all() {
            let start = if first == 0 { 0 } else { ends.get(first as usize - 1)[0] };
            let [end, _] = ends.get(last as usize);
            if start == end {
                continue;
            }
            let mut alone = own;
            // Where some may touch each other already, nobody can be alone.
            if own != SEVERAL_BODIES {
                for cell in first..=last {
                    alone = together(alone, ends.get(cell as usize)[1]);
                }
            }
            if alone == SEVERAL_BODIES {
                places.push([start, end]);
            }
        }
        places
    }
}

/// The rows from one on, sorted by component.
#[inline(always)]
fn row_from<L: Lane, A: Access<[f32; 4]>>(rows: A, first: usize) -> [L; 4] {
    let mut own = [[0.0; 4]; MAX_WIDTH];
    rows.read(first, &mut own[..L::WIDTH]);
    L::from_quadruples(|lane| own[lane])
}

/// Members that others are to be compared with.
struct Candidates {
    /// x, y and z, and the four coordinates in the rest shape.
    columns: [[f32; ROOM + MAX_WIDTH]; 7],
    places: [u32; ROOM + MAX_WIDTH],
    count: usize,
    reach_squared: f32,
}

impl Candidates {
    fn new(reach_squared: f32) -> Self {
        let (columns, places) = ([[0.0; _]; 7], [0; _]);
        Self { columns, places, count: 0, reach_squared }
    }

    fn is_full(&self) -> bool {
        self.count >= ROOM
    }

    /// Adds the first of some places, as many as there are lanes at most.
    #[inline(always)]
    fn add<L: Lane, S: Storage>(&mut self, places: Range<usize>, memory: &ContactView<S>) {
        let [x, y, z, _] = row_from::<L, _>(memory.positions, places.start);
        let [rest_x, rest_y, rest_z, body] = row_from::<L, _>(memory.rests, places.start);
        let lanes = self.count..self.count + L::WIDTH;
        let numbers = [x, y, z, rest_x, rest_y, rest_z, body];
        for (column, numbers) in self.columns.iter_mut().zip(numbers) {
            numbers.store(&mut column[lanes.clone()]);
        }
        for (lane, place) in self.places[lanes].iter_mut().enumerate() {
            *place = (places.start + lane) as u32;
        }
        self.count += L::WIDTH.min(places.len());
    }

    /// Adds those who are close enough to the partners of some places; there are no candidates then.
    /// Returns how many had no room in a list.
    #[inline(always)]
    fn compare<L: Lane, S: Storage>(
        &mut self,
        places: Range<usize>,
        memory: &ContactView<S>,
    ) -> usize {
        let (one, reach_squared) = (L::splat(1.0), L::splat(self.reach_squared));
        let mut dropped = 0;
        for place in places {
            let [x, y, z, w] = memory.positions.get(place);
            // Fixed particles need no partners of their own: nothing moves them.
            if w == 0.0 {
                continue;
            }
            let rest = memory.rests.get(place);
            let own = [x, y, z, rest[0], rest[1], rest[2], rest[3]];
            let mut found = memory.counts.get(place) as usize;
            for first in (0..self.count).step_by(L::WIDTH) {
                let mut squares = [one; 7];
                for axis in 0..7 {
                    let other = L::load(&self.columns[axis][first..first + L::WIDTH]);
                    let way = L::splat(own[axis]) - other;
                    squares[axis] = way * way;
                }
                let [x, y, z, rest_x, rest_y, rest_z, body] = squares;
                let is_near = (x + y + z).less(reach_squared);
                let are_neighbors = (rest_x + rest_y + rest_z + body).less(one);
                let own_lanes = (1 << (self.count - first).min(L::WIDTH)) - 1;
                let mut may_touch = L::bits(is_near) & !L::bits(are_neighbors) & own_lanes;
                while may_touch != 0 {
                    let lane = may_touch.trailing_zeros() as usize;
                    may_touch &= may_touch - 1;
                    if found < MOST_PARTNERS {
                        let partner = memory.particles.get(self.places[first + lane] as usize);
                        memory.partners.set(place * MOST_PARTNERS + found, partner);
                        found += 1;
                    } else {
                        dropped += 1;
                    }
                }
            }
            memory.counts.set(place, found as u32);
        }
        self.count = 0;
        dropped
    }
}
