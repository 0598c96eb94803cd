//! The only file that shares memory between threads: a slice that several workers write at the same
//! time, each its own part.
//!
//! Why this is sound. A view is made from an exclusive borrow of the state, and only for a model
//! whose schedules fit it (checked in [`share`]). It is handed to the stages of `solver/stage.rs`
//! alone, whose table says who touches what between two waits: ranges
//! of particles, which are disjoint by arithmetic, or the movable particles of blocks of a phase,
//! which are disjoint because every [`Schedule`](taut_partition::Schedule) passed its conflict
//! check. Fixed particles are read by many and written by none. A wait orders the writes before it
//! and the reads after it. Indices are checked, by the slice or by the schedule, so that a mistake in
//! a stage can at worst race, not reach outside; a test runs every stage with a recorder in place of the slice and fails on any
//! access that the table does not allow.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;

use taut_partition::Schedule;

use crate::math::{fetch, fetch_some};
use crate::model::Model;
use crate::state::{Access, Bodies, Open, State, Storage, View, row_of};

/// A slice that workers write at the same time, at different indices.
#[derive(Debug)]
pub(crate) struct SharedSlice<'a, T> {
    start: *mut T,
    length: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: the pointer comes from an exclusive borrow that lives as long as the slice. Workers on
// other threads only copy values in and out, at indices that no other worker uses until the next
// wait (see the top of this file); T is Send, so its values may cross threads.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<T> Clone for SharedSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), borrow: PhantomData }
    }
}

impl<'a, T: Copy> Access<T> for SharedSlice<'a, T> {
    type Bodies<'s, const N: usize> = SharedBodies<'a, 's, T, N>;

    #[inline(always)]
    fn get(&self, index: usize) -> T {
        assert!(index < self.length);
        // SAFETY: in bounds by the line above; not being written, see the top of this file.
        unsafe { self.start.add(index).read() }
    }

    #[inline(always)]
    fn set(&self, index: usize, value: T) {
        assert!(index < self.length);
        // SAFETY: in bounds by the line above; ours alone to write, see the top of this file.
        unsafe { self.start.add(index).write(value) }
    }

    fn bodies<'s, const N: usize>(&self, schedule: &'s Schedule) -> SharedBodies<'a, 's, T, N> {
        assert!(schedule.body_count() <= self.length);
        let ids = schedule.bodies().expect("elements have as many bodies as asked for");
        SharedBodies { start: self.start, ids, borrow: PhantomData }
    }

    #[inline(always)]
    fn read(&self, start: usize, values: &mut [T]) {
        assert!(start < self.length && values.len() <= self.length - start);
        // SAFETY: in bounds by the line above; not being written, see the top of this file. The
        // exclusive borrow cannot overlap with the slice.
        unsafe {
            self.start.add(start).copy_to_nonoverlapping(values.as_mut_ptr(), values.len());
        }
    }

    #[inline(always)]
    fn write(&self, start: usize, values: &[T]) {
        assert!(start < self.length && values.len() <= self.length - start);
        // SAFETY: in bounds by the line above; ours alone to write, see the top of this file. What is
        // borrowed elsewhere cannot overlap with the slice, which is borrowed exclusively.
        unsafe {
            self.start.add(start).copy_from_nonoverlapping(values.as_ptr(), values.len());
        }
    }
}

/// The bodies of a schedule's elements in a slice that has room for all bodies of that schedule. A
/// schedule exists only with ids below its number of bodies, so they need no check of their own.
#[derive(Debug)]
pub(crate) struct SharedBodies<'a, 's, T, const N: usize> {
    start: *mut T,
    ids: &'s [[u32; N]],
    borrow: PhantomData<&'a mut [T]>,
}

impl<T, const N: usize> Clone for SharedBodies<'_, '_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, const N: usize> Copy for SharedBodies<'_, '_, T, N> {}

impl<T: Copy, const N: usize> Bodies<T, N> for SharedBodies<'_, '_, T, N> {
    fn count(&self) -> usize {
        self.ids.len()
    }

    #[inline(always)]
    fn part(&self, places: Range<usize>) -> Self {
        Self { ids: &self.ids[places], ..*self }
    }

    #[inline(always)]
    fn get(&self, element: usize, corner: usize) -> T {
        // SAFETY: in bounds, see the type; not being written, see the top of this file.
        unsafe { self.start.add(self.ids[element][corner] as usize).read() }
    }

    #[inline(always)]
    fn set(&self, element: usize, corner: usize, value: T) {
        // SAFETY: in bounds, see the type; ours alone to write, see the top of this file.
        unsafe { self.start.add(self.ids[element][corner] as usize).write(value) }
    }

    #[inline(always)]
    fn is_row(&self) -> bool {
        row_of(self.ids).is_some()
    }

    #[inline(always)]
    fn read_row(&self, values: &mut [T]) {
        let first = row_of(self.ids).expect("a row");
        assert!(values.len() == self.ids.len());
        // SAFETY: from the first id to the last, which is in bounds, see the type, there are as many bodies
        // as there are ids; not being written, see the top of this file. The exclusive borrow cannot
        // overlap with the slice.
        unsafe { self.start.add(first).copy_to_nonoverlapping(values.as_mut_ptr(), values.len()) }
    }

    #[inline(always)]
    fn write_row(&self, values: &[T]) {
        let first = row_of(self.ids).expect("a row");
        assert!(values.len() == self.ids.len());
        // SAFETY: in bounds as above; ours alone to write, for whoever asks knows that the ids ascend, so
        // that these are the elements' own bodies. What is borrowed elsewhere cannot overlap with the slice.
        unsafe { self.start.add(first).copy_from_nonoverlapping(values.as_ptr(), values.len()) }
    }

    #[inline(always)]
    fn prefetch_body(&self, body: usize) {
        fetch(self.start.wrapping_add(body));
    }

    #[inline(always)]
    fn prefetch_ids(&self, first: usize, count: usize) {
        fetch_some(self.ids.as_ptr().wrapping_add(first), count);
    }
}

/// Numbers for a team of workers.
pub(super) struct Shared<'a>(PhantomData<&'a mut ()>);

impl<'a> Storage for Shared<'a> {
    type Of<T: Copy + 'static> = SharedSlice<'a, T>;
}

/// The state of a simulation, open to a team of workers for one step.
///
/// # Panics
/// If the model's schedules were made for other particles: a bug, not bad input.
pub(super) fn share<'a>(state: &'a mut State, model: &Model) -> View<Shared<'a>> {
    for group in &model.groups {
        assert!(group.schedule.body_count() <= state.positions.len());
    }
    for &fixed in &model.fixed {
        // A particle that schedules take for fixed must not be written by two blocks at once.
        assert!(state.positions[fixed as usize][3] == 0.0);
    }
    state.view(&AsShared)
}

/// Opens arrays to a team of workers. Private: only [`share`] may, which checks first.
struct AsShared;

impl<'a> Open<'a, Shared<'a>> for AsShared {
    fn open<T: Copy + 'static>(&self, array: &'a mut [T]) -> SharedSlice<'a, T> {
        SharedSlice::new(array)
    }
}
