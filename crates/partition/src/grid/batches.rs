//! Local batches (paper D, section 2.2): the elements of a cell in batches that share no body.
//!
//! Cells of one phase share no movable body, so they can use one table of body states between
//! them. It is atomic only because the borrow checker cannot know that the cells are disjoint:
//! loads and stores are relaxed, which costs nothing. Should a caller's extents be wrong, cells
//! do meet there; the batches may then be wrong too, and the conflict check refuses them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Batching, Cell};
use crate::Elements;
use crate::sort::RadixSort;

/// A state per body, all zero between two cells.
#[derive(Debug, Default)]
pub(super) struct BodyStates(Vec<AtomicU64>);

impl BodyStates {
    pub(super) fn prepare(&mut self, bodies: usize) {
        self.0.resize_with(bodies, AtomicU64::default);
    }

    #[inline]
    fn get(&self, body: u32) -> u64 {
        self.0[body as usize].load(Relaxed)
    }

    #[inline]
    fn set(&self, body: u32, state: u64) {
        self.0[body as usize].store(state, Relaxed);
    }
}

/// Memory for [`Slots`].
#[derive(Debug, Default)]
pub(super) struct SlotMemory {
    marks: Vec<u8>,
    batch_starts: Vec<bool>,
}

impl SlotMemory {
    pub(super) fn prepare<'a>(&'a mut self, order: &'a mut [u32]) -> Slots<'a> {
        self.marks.resize(order.len(), 0);
        self.batch_starts.clear();
        self.batch_starts.resize(order.len(), false);
        Slots { order, marks: &mut self.marks, batch_starts: &mut self.batch_starts }
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
    /// What has become of the elements while the batches are made, in the sorted order.
    marks: &'a mut [u8],
    /// Whether a batch starts here, in the order by batch.
    batch_starts: &'a mut [bool],
}

impl<'a> Slots<'a> {
    fn split(self, middle: usize) -> (Self, Self) {
        let (order, more_order) = self.order.split_at_mut(middle);
        let (marks, more_marks) = self.marks.split_at_mut(middle);
        let (batch_starts, more_batch_starts) = self.batch_starts.split_at_mut(middle);
        (
            Slots { order, marks, batch_starts },
            Slots { order: more_order, marks: more_marks, batch_starts: more_batch_starts },
        )
    }
}

/// Batches that one window of first fit makes: bits of a state.
const WINDOW: u8 = u64::BITS as u8;
/// Marks: below [`WINDOW`], the batch in the window.
const WAITING: u8 = u8::MAX;
const TRYING: u8 = u8::MAX - 1;
const JOINED: u8 = u8::MAX - 2;
const DONE: u8 = u8::MAX - 3;

/// Elements that are worth a task of their own.
const TASK: usize = 2048;

pub(super) struct Batcher<'a> {
    pub(super) elements: &'a Elements<'a>,
    pub(super) sort: &'a RadixSort,
    pub(super) states: &'a BodyStates,
    pub(super) batching: Batching,
}

impl Batcher<'_> {
    /// Makes the batches of all cells, phase after phase.
    pub(super) fn fill_phases(&self, cells: &[Cell], mut slots: Slots<'_>) {
        for phase in cells.chunk_by(|a, b| a.phase == b.phase) {
            let elements = phase.iter().map(|cell| cell.end - cell.start).sum();
            let (now, later) = slots.split(elements);
            self.fill(phase, now);
            slots = later;
        }
    }

    /// Makes the batches of cells that share no body.
    fn fill(&self, cells: &[Cell], slots: Slots<'_>) {
        match *cells {
            [] => {}
            [cell] => self.fill_cell(cell, slots),
            [first, ..] => {
                let (left, right) = cells.split_at(cells.len() / 2);
                let parallel = slots.order.len() >= TASK;
                let (left_slots, right_slots) = slots.split(right[0].start - first.start);
                let fill_left = || self.fill(left, left_slots);
                let fill_right = || self.fill(right, right_slots);
                if parallel {
                    rayon::join(fill_left, fill_right);
                } else {
                    fill_left();
                    fill_right();
                }
            }
        }
    }

    fn fill_cell(&self, cell: Cell, slots: Slots<'_>) {
        let mut batches = CellBatches { batcher: self, start: cell.start, slots, filled: 0 };
        batches.slots.marks.fill(WAITING);
        match self.batching {
            Batching::Rounds(rounds) if !cell.overflow => batches.lock_all(rounds),
            _ => while batches.first_fit_window() {},
        }
    }
}

/// The batches of a cell in the making.
struct CellBatches<'a> {
    batcher: &'a Batcher<'a>,
    /// The cell's first place in the sorted order.
    start: usize,
    slots: Slots<'a>,
    /// How many elements are in a batch already.
    filled: usize,
}

impl CellBatches<'_> {
    #[inline]
    fn element(&self, index: usize) -> u32 {
        self.batcher.sort.at(self.start + index).1
    }

    #[inline]
    fn bodies(&self, index: usize) -> impl Iterator<Item = u32> + Clone + use<'_> {
        self.batcher.elements.movable_of(self.element(index) as usize)
    }

    /// First fit with one bit per batch and body. An element that finds no free batch among
    /// these waits for the next window. Returns whether any does.
    ///
    /// The batch that first fit chooses is the one that exhaustive locking would choose: both
    /// take into each batch, in ascending order, whatever does not conflict with those taken.
    fn first_fit_window(&mut self) -> bool {
        let states = self.batcher.states;
        let mut sizes = [0; WINDOW as usize];
        let mut waiting = false;
        for index in 0..self.slots.marks.len() {
            if self.slots.marks[index] == WAITING {
                let used = self.bodies(index).fold(0, |used, body| used | states.get(body));
                let batch = used.trailing_ones() as u8;
                if batch == WINDOW {
                    waiting = true;
                    continue;
                }
                for body in self.bodies(index) {
                    states.set(body, states.get(body) | 1 << batch);
                }
                self.slots.marks[index] = batch;
                sizes[batch as usize] += 1;
            }
        }
        self.close_window(&sizes);
        self.clear_states();
        waiting
    }

    /// Moves the elements of a window into the order, batch by batch.
    fn close_window(&mut self, sizes: &[usize; WINDOW as usize]) {
        let mut next = [0; WINDOW as usize];
        for (next, &size) in next.iter_mut().zip(sizes) {
            *next = self.filled;
            if size > 0 {
                self.slots.batch_starts[self.filled] = true;
            }
            self.filled += size;
        }
        for index in 0..self.slots.marks.len() {
            let batch = self.slots.marks[index];
            if batch < WINDOW {
                self.slots.order[next[batch as usize]] = self.element(index);
                next[batch as usize] += 1;
                self.slots.marks[index] = DONE;
            }
        }
    }

    fn clear_states(&self) {
        for index in 0..self.slots.marks.len() {
            for body in self.bodies(index) {
                self.batcher.states.set(body, 0);
            }
        }
    }

    fn lock_all(&mut self, rounds: usize) {
        for batch in 1.. {
            if self.filled == self.slots.order.len() {
                break;
            }
            self.lock(batch, rounds);
            self.close_batch();
        }
        self.clear_states();
    }

    /// Makes one batch by iterative locking. A state holds the last batch that took the body
    /// (upper half) and the complement of the lowest element that wants it (lower half), so that
    /// zero means 'not taken, not wanted'.
    fn lock(&mut self, batch: u32, rounds: usize) {
        for _ in 0..rounds {
            if !self.try_locks(batch) {
                break;
            }
            self.take_locked(batch);
        }
    }

    /// Elements whose bodies are not taken by the batch lock them. Returns whether any did.
    fn try_locks(&mut self, batch: u32) -> bool {
        let states = self.batcher.states;
        let mut any = false;
        for index in 0..self.slots.marks.len() {
            let taken = |body| states.get(body) >> 32 == u64::from(batch);
            if self.slots.marks[index] == WAITING && !self.bodies(index).any(taken) {
                self.slots.marks[index] = TRYING;
                any = true;
                for body in self.bodies(index) {
                    let (taken, wanted) = halves(states.get(body));
                    states.set(body, taken | wanted.max(ticket(index)));
                }
            }
        }
        any
    }

    /// Elements that hold the locks of all their bodies join the batch; then all locks are free.
    fn take_locked(&mut self, batch: u32) {
        let states = self.batcher.states;
        for index in 0..self.slots.marks.len() {
            if self.slots.marks[index] == TRYING {
                let locked = |body| halves(states.get(body)).1 == ticket(index);
                self.slots.marks[index] =
                    if self.bodies(index).all(locked) { JOINED } else { WAITING };
            }
        }
        for index in 0..self.slots.marks.len() {
            for body in self.bodies(index) {
                let (taken, _) = halves(states.get(body));
                let joined = self.slots.marks[index] == JOINED;
                states.set(body, if joined { u64::from(batch) << 32 } else { taken });
            }
        }
    }

    /// Moves the elements that joined into the order.
    fn close_batch(&mut self) {
        self.slots.batch_starts[self.filled] = true;
        for index in 0..self.slots.marks.len() {
            if self.slots.marks[index] == JOINED {
                self.slots.order[self.filled] = self.element(index);
                self.filled += 1;
                self.slots.marks[index] = DONE;
            }
        }
    }
}

/// The halves of a locking state: the batch that took the body, and who wants it.
fn halves(state: u64) -> (u64, u64) {
    (state & !u64::from(u32::MAX), state & u64::from(u32::MAX))
}

/// What an element writes to lock a body: the lower the element, the higher.
fn ticket(index: usize) -> u64 {
    u64::from(!(index as u32))
}
