//! The only file with unsafe code: a slice that several workers write at the same time, each its
//! own part.
//!
//! Why this is sound. A [`SharedState`] is made from an exclusive borrow of the state, and only for
//! a model whose schedules fit it (checked in [`SharedState::new`]). Its views are handed to the
//! stages of `solver/stage.rs` alone, whose table says who touches what between two waits: ranges
//! of particles, which are disjoint by arithmetic, or the movable particles of blocks of a phase,
//! which are disjoint because every [`Schedule`](taut_partition::Schedule) passed its conflict
//! check. Fixed particles are read by many and written by none. A wait orders the writes before it
//! and the reads after it. Indices are checked, so that a mistake in a stage can at worst race, not
//! reach outside; a test runs every stage with a recorder in place of the slice and fails on any
//! access that the table does not allow.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use crate::model::Model;
use crate::state::{Access, State, View};

/// A slice that workers write at the same time, at different indices.
#[derive(Debug)]
pub(super) struct SharedSlice<'a, T> {
    start: *mut T,
    length: usize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: the pointer comes from an exclusive borrow that lives as long as the slice. Workers on
// other threads only copy values in and out, at indices that no other worker uses until the next
// wait (see the top of this file); T is Send, so its values may cross threads.
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), length: slice.len(), borrow: PhantomData }
    }
}

impl<T: Copy> Access<T> for SharedSlice<'_, T> {
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
}

/// The state of a simulation, open to a team of workers for one step.
pub(super) struct SharedState<'a> {
    positions: SharedSlice<'a, [f32; 4]>,
    previous: SharedSlice<'a, [f32; 4]>,
    velocities: SharedSlice<'a, [f32; 4]>,
    multipliers: SharedSlice<'a, f32>,
}

impl<'a> SharedState<'a> {
    /// Opens the state.
    ///
    /// # Panics
    /// If the model's schedules were made for other particles: a bug, not bad input.
    pub(super) fn new(state: &'a mut State, model: &Model) -> Self {
        for group in &model.groups {
            assert!(group.schedule.body_count() <= state.positions.len());
        }
        for &fixed in &model.fixed {
            // A particle that schedules take for fixed must not be written by two blocks at once.
            assert!(state.positions[fixed as usize][3] == 0.0);
        }
        Self {
            positions: SharedSlice::new(&mut state.positions),
            previous: SharedSlice::new(&mut state.previous),
            velocities: SharedSlice::new(&mut state.velocities),
            multipliers: SharedSlice::new(&mut state.multipliers),
        }
    }

    /// What a worker gets to see.
    pub(super) fn view(&self) -> View<'_, SharedSlice<'a, [f32; 4]>, SharedSlice<'a, f32>> {
        View {
            positions: &self.positions,
            previous: &self.previous,
            velocities: &self.velocities,
            multipliers: &self.multipliers,
        }
    }
}
