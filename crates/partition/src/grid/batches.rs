//! Local batches (paper D, section 2.2): the elements of a cell in batches that share no body.
//!
//! Cells know nothing of each other here, so all of them are done at the same time. A task does
//! a run of cells and has a table of body states of its own: with a common one, threads would
//! write to the same cache lines all the time.

use rayon::prelude::*;

use super::{Batching, Cell};
use crate::Elements;
use crate::schedule::gather_bodies;
use crate::sort::CountingSort;

/// Tables of body states, one per task.
#[derive(Debug, Default)]
pub(super) struct Tables(Vec<BodyStates>);

impl Tables {
    /// As many tables as the elements are worth on this number of threads, and at least one.
    pub(super) fn prepare(&mut self, bodies: usize, elements: usize) -> &mut [BodyStates] {
        let tasks = TASKS_PER_THREAD * rayon::current_num_threads();
        let tasks = tasks.min(elements / TASK).max(1);
        if self.0.len() < tasks {
            self.0.resize_with(tasks, BodyStates::default);
        }
        self.0[..tasks].par_iter_mut().for_each(|states| states.0.resize(bodies, 0));
        &mut self.0[..tasks]
    }
}

/// More than one, so that a thread that is held up does not hold up the others as much.
const TASKS_PER_THREAD: usize = 2;

/// Elements that are worth a task of their own.
const TASK: usize = 2048;

/// A state per body, all zero between two cells.
#[derive(Debug, Default)]
pub(super) struct BodyStates(Vec<u64>);

impl BodyStates {
    #[inline]
    fn get(&self, body: u32) -> u64 {
        self.0[body as usize]
    }

    #[inline]
    fn set(&mut self, body: u32, state: u64) {
        self.0[body as usize] = state;
    }
}

/// Elements in the order of their cells, with their bodies.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    elements: Vec<u32>,
    /// Fixed ones replaced by [`FIXED`], so that nobody needs to ask again.
    bodies: Vec<u32>,
    /// Where the bodies of each place start, unless all elements have as many.
    starts: Vec<u32>,
    arity: usize,
}

impl Sorted {
    /// Reading bodies in the elements' own order is slow, but is done only here.
    pub(super) fn gather(&mut self, elements: &Elements<'_>, sort: &CountingSort) {
        self.elements.resize(sort.len(), 0);
        self.elements.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(
            |(place, element)| {
                *element = sort.at(place);
            },
        );
        self.arity = elements.arity().unwrap_or(0);
        self.bodies.resize(elements.bodies().len(), 0);
        self.starts.clear();
        let map = |body| if elements.is_fixed(body) { FIXED } else { body };
        gather_bodies(elements, &self.elements, map, &mut self.bodies, &mut self.starts);
    }
}

/// The bodies of elements by place. Loops over a number of bodies that is known to the compiler
/// take a third less time, so there is a kind of rows for each usual number.
trait Rows: Sync {
    /// The movable bodies of the element at a place.
    fn movable(&self, place: u32) -> impl Iterator<Item = u32>;
}

struct Uniform<'a, const N: usize>(&'a [[u32; N]]);

impl<const N: usize> Rows for Uniform<'_, N> {
    #[inline]
    fn movable(&self, place: u32) -> impl Iterator<Item = u32> {
        self.0[place as usize].into_iter().filter(|&body| body != FIXED)
    }
}

/// Rows of any length: `bodies[starts[place]..starts[place + 1]]`, or `arity` bodies each.
struct Ragged<'a>(&'a Sorted);

impl Rows for Ragged<'_> {
    #[inline]
    fn movable(&self, place: u32) -> impl Iterator<Item = u32> {
        let Sorted { bodies, starts, arity, .. } = self.0;
        let place = place as usize;
        let row = match starts.is_empty() {
            true => &bodies[place * arity..(place + 1) * arity],
            false => &bodies[starts[place] as usize..starts[place + 1] as usize],
        };
        row.iter().copied().filter(|&body| body != FIXED)
    }
}

/// In place of a fixed body.
const FIXED: u32 = u32::MAX;

/// Places that one task copies.
const CHUNK: usize = 1 << 14;

/// Memory for [`Slots`].
#[derive(Debug, Default)]
pub(super) struct SlotMemory {
    waiting: Vec<u32>,
    marks: Vec<u8>,
    batch_starts: Vec<bool>,
}

impl SlotMemory {
    pub(super) fn prepare<'a>(&'a mut self, order: &'a mut [u32]) -> Slots<'a> {
        self.waiting.resize(order.len(), 0);
        self.marks.resize(order.len(), 0);
        self.batch_starts.clear();
        self.batch_starts.resize(order.len(), false);
        let Self { waiting, marks, batch_starts } = self;
        Slots { order, waiting, marks, batch_starts }
    }

    /// The places where batches start.
    pub(super) fn batch_starts(&self) -> &[bool] {
        &self.batch_starts
    }
}

/// Where the batches of some cells are written to.
pub(super) struct Slots<'a> {
    /// The elements by batch.
    order: &'a mut [u32],
    /// Whether a batch starts here, in the order by batch.
    batch_starts: &'a mut [bool],
    /// While batches are made: the places of elements without a batch, from the first slot on.
    waiting: &'a mut [u32],
    /// What has become of them.
    marks: &'a mut [u8],
}

impl Slots<'_> {
    fn split(self, middle: usize) -> (Self, Self) {
        let (order, more_order) = self.order.split_at_mut(middle);
        let (batch_starts, more_batch_starts) = self.batch_starts.split_at_mut(middle);
        let (waiting, more_waiting) = self.waiting.split_at_mut(middle);
        let (marks, more_marks) = self.marks.split_at_mut(middle);
        let more = Slots {
            order: more_order,
            batch_starts: more_batch_starts,
            waiting: more_waiting,
            marks: more_marks,
        };
        (Slots { order, batch_starts, waiting, marks }, more)
    }
}

/// Makes the batches of cells, with as many tasks as there are tables.
pub(super) fn fill(
    sorted: &Sorted,
    batching: Batching,
    cells: &[Cell],
    slots: Slots<'_>,
    tables: &mut [BodyStates],
) {
    let bodies = sorted.bodies.as_slice();
    let elements = sorted.elements.as_slice();
    match sorted.arity {
        1 => {
            let rows = Uniform(bodies.as_chunks::<1>().0);
            Batcher { rows, elements, batching }.fill(cells, slots, tables);
        }
        2 => {
            let rows = Uniform(bodies.as_chunks::<2>().0);
            Batcher { rows, elements, batching }.fill(cells, slots, tables);
        }
        3 => {
            let rows = Uniform(bodies.as_chunks::<3>().0);
            Batcher { rows, elements, batching }.fill(cells, slots, tables);
        }
        _ => Batcher { rows: Ragged(sorted), elements, batching }.fill(cells, slots, tables),
    }
}

struct Batcher<'a, R> {
    rows: R,
    elements: &'a [u32],
    batching: Batching,
}

impl<R: Rows> Batcher<'_, R> {
    fn fill(&self, cells: &[Cell], mut slots: Slots<'_>, tables: &mut [BodyStates]) {
        if tables.len() == 1 || cells.len() < 2 {
            for &cell in cells {
                let (now, later) = slots.split(cell.places().len());
                self.fill_cell(cell, now, &mut tables[0]);
                slots = later;
            }
            return;
        }
        let (left, right) = tables.split_at_mut(tables.len() / 2);
        let start = cells[0].start as usize;
        let middle = start + slots.order.len() * left.len() / (left.len() + right.len());
        let border = cells.partition_point(|cell| (cell.end as usize) <= middle);
        let (left_cells, right_cells) = cells.split_at(border.clamp(1, cells.len() - 1));
        let (left_slots, right_slots) = slots.split(right_cells[0].start as usize - start);
        rayon::join(
            || self.fill(left_cells, left_slots, left),
            || self.fill(right_cells, right_slots, right),
        );
    }

    fn fill_cell(&self, cell: Cell, slots: Slots<'_>, states: &mut BodyStates) {
        for (waiting, place) in slots.waiting.iter_mut().zip(cell.start..) {
            *waiting = place;
        }
        let (rows, elements, count) = (&self.rows, self.elements, slots.waiting.len());
        let mut batches = CellBatches { rows, elements, states, slots, count, filled: 0 };
        match self.batching {
            Batching::Rounds(rounds) if !cell.overflow => batches.lock_all(rounds),
            _ => batches.first_fit(),
        }
        for place in cell.start..cell.end {
            for body in self.rows.movable(place) {
                states.set(body, 0);
            }
        }
    }
}

/// The batches of a cell in the making.
struct CellBatches<'a, R> {
    rows: &'a R,
    /// The elements by place.
    elements: &'a [u32],
    states: &'a mut BodyStates,
    slots: Slots<'a>,
    /// How many elements are waiting.
    count: usize,
    /// How many are in a batch.
    filled: usize,
}

/// Batches that one window of first fit makes: bits of a state. Marks below this are batches.
const WINDOW: u8 = u64::BITS as u8;
/// Mark: for a later batch.
const LATER: u8 = u8::MAX;
/// Mark: tries to lock its bodies.
const TRYING: u8 = u8::MAX - 1;
/// Mark: has joined the batch.
const JOINED: u8 = u8::MAX - 2;

impl<R: Rows> CellBatches<'_, R> {
    /// First fit with one bit per batch and body. Elements that find no free batch in the window
    /// of one state wait for the next window.
    ///
    /// The batch that first fit chooses is the one that endless locking would choose: both take
    /// into each batch, in ascending order, whatever does not conflict with those taken.
    fn first_fit(&mut self) {
        while self.count > 0 {
            let sizes = self.choose_batches();
            self.close_window(&sizes);
        }
    }

    /// Marks waiting elements with batches of a window and returns the sizes of these batches.
    fn choose_batches(&mut self) -> [usize; WINDOW as usize] {
        let Self { rows, states, slots, count, .. } = self;
        let mut sizes = [0; WINDOW as usize];
        for (&place, mark) in slots.waiting[..*count].iter().zip(&mut *slots.marks) {
            let used = rows.movable(place).fold(0, |used, body| used | states.get(body));
            let batch = used.trailing_ones() as u8;
            *mark = if batch < WINDOW { batch } else { LATER };
            if batch < WINDOW {
                for body in rows.movable(place) {
                    states.set(body, states.get(body) | 1 << batch);
                }
                sizes[batch as usize] += 1;
            }
        }
        sizes
    }

    /// Moves the elements of a window into the order, batch by batch.
    fn close_window(&mut self, sizes: &[usize; WINDOW as usize]) {
        let mut next = [0; WINDOW as usize];
        for (next, &size) in next.iter_mut().zip(sizes) {
            if size > 0 {
                self.slots.batch_starts[self.filled] = true;
            }
            *next = self.filled;
            self.filled += size;
        }
        let (rows, elements) = (self.rows, self.elements);
        self.take(LATER, |slots, place, mark| {
            let next = &mut next[mark as usize];
            slots.order[*next] = elements[place as usize];
            *next += 1;
        });
        for &place in &self.slots.waiting[..self.count] {
            rows.movable(place).for_each(|body| self.states.set(body, 0));
        }
    }

    /// Takes out waiting elements, but for those with one mark.
    fn take(&mut self, keep: u8, mut taken: impl FnMut(&mut Slots<'_>, u32, u8)) {
        let mut kept = 0;
        for index in 0..self.count {
            let (place, mark) = (self.slots.waiting[index], self.slots.marks[index]);
            if mark == keep {
                self.slots.waiting[kept] = place;
                kept += 1;
            } else {
                taken(&mut self.slots, place, mark);
            }
        }
        self.count = kept;
    }

    fn lock_all(&mut self, rounds: usize) {
        for batch in 1.. {
            if self.count == 0 {
                break;
            }
            self.slots.marks[..self.count].fill(TRYING);
            for _ in 0..rounds {
                if !self.lock(batch) {
                    break;
                }
            }
            self.close_batch();
        }
    }

    /// Moves the elements that joined into the order; the others wait for the next batch.
    fn close_batch(&mut self) {
        self.slots.batch_starts[self.filled] = true;
        for mark in &mut self.slots.marks[..self.count] {
            *mark = if *mark == JOINED { JOINED } else { LATER };
        }
        let (elements, mut filled) = (self.elements, self.filled);
        self.take(LATER, |slots, place, _| {
            slots.order[filled] = elements[place as usize];
            filled += 1;
        });
        self.filled = filled;
    }

    /// One round of locking. A state holds the last batch that took the body (upper half) and
    /// the complement of the lowest place that wants it (lower half), so that zero means 'not
    /// taken, not wanted'. Returns whether any element is still trying.
    fn lock(&mut self, batch: u32) -> bool {
        let Self { rows, states, slots, count, .. } = self;
        let waiting = &slots.waiting[..*count];
        for (&place, mark) in waiting.iter().zip(&mut *slots.marks) {
            if *mark == TRYING {
                for body in rows.movable(place) {
                    let (taken, wanted) = halves(states.get(body));
                    states.set(body, taken | wanted.max(ticket(place)));
                }
            }
        }
        for (&place, mark) in waiting.iter().zip(&mut *slots.marks) {
            let locked = |body| halves(states.get(body)).1 == ticket(place);
            if *mark == TRYING && rows.movable(place).all(locked) {
                *mark = JOINED;
            }
        }
        self.unlock(batch)
    }

    /// Frees all locks and marks bodies of elements that joined as taken; elements that share
    /// one of these have to wait for a later batch.
    fn unlock(&mut self, batch: u32) -> bool {
        let Self { rows, states, slots, count, .. } = self;
        let waiting = &slots.waiting[..*count];
        for (&place, mark) in waiting.iter().zip(&*slots.marks) {
            if *mark != LATER {
                for body in rows.movable(place) {
                    let (taken, _) = halves(states.get(body));
                    let taken = if *mark == JOINED { u64::from(batch) << 32 } else { taken };
                    states.set(body, taken);
                }
            }
        }
        let mut trying = false;
        for (&place, mark) in waiting.iter().zip(&mut *slots.marks) {
            let taken = |body| states.get(body) >> 32 == u64::from(batch);
            if *mark == TRYING && rows.movable(place).any(taken) {
                *mark = LATER;
            }
            trying |= *mark == TRYING;
        }
        trying
    }
}

/// The halves of a locking state: the batch that took the body, and who wants it.
fn halves(state: u64) -> (u64, u64) {
    (state & !u64::from(u32::MAX), state & u64::from(u32::MAX))
}

/// What an element writes to lock a body: the lower its place, the higher.
fn ticket(place: u32) -> u64 {
    u64::from(!place)
}
