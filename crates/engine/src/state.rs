//! What changes while a scene runs, and how kernels reach it.
//!
//! Kernels read and write particles through [`Access`], by index and through a shared reference,
//! and so know nothing of threads: the serial back-end hands them plain cells, the multi-core
//! back-end a slice whose disjointness a checked schedule guarantees.

mod contacts;
mod particles;

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;

use taut_partition::Schedule;

pub use contacts::{ContactSizes, ContactState, ContactView, MOST_PARTNERS};
pub use particles::Particles;

/// A particle: x, y, z and its inverse mass w, in the 16 bytes of one vector register.
pub type Particle = [f32; 4];

/// The moving part of a simulation: 48 bytes a particle.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Place (m) and inverse mass (1/kg; 0: pinned).
    pub positions: Particles,
    /// Place at the start of the substep; fourth component unused.
    pub previous: Vec<[f32; 4]>,
    /// Velocity (m/s); fourth component unused.
    pub velocities: Vec<[f32; 4]>,
    /// XPBD's total multiplier of every compliant constraint in this substep, in schedule order.
    pub multipliers: Vec<f32>,
    /// Places before the last two sweeps, where sweeps are accelerated; else empty.
    pub memories: [Vec<[f32; 4]>; 2],
    /// What stages leave for the next one: gradients and sums of balloons.
    pub scratch: Vec<[f32; 4]>,
    /// Contacts between particles, on top of the 48 bytes.
    pub contacts: ContactState,
    /// Simulated time, s.
    pub time: f64,
}

/// Numbers that may be read and written by index through a shared reference.
pub trait Access<T>: Copy {
    /// The same numbers, reached through the elements of a schedule.
    type Bodies<'s, const N: usize>: Bodies<T, N>;

    /// The value at an index.
    fn get(&self, index: usize) -> T;
    /// Puts a value at an index.
    fn set(&self, index: usize, value: T);
    /// The bodies of a schedule's elements, one value each.
    ///
    /// # Panics
    /// If there are fewer values than the schedule has bodies, or its elements have not `N` each.
    fn bodies<'s, const N: usize>(&self, schedule: &'s Schedule) -> Self::Bodies<'s, N>;

    /// The values from an index on.
    #[inline(always)]
    fn read(&self, start: usize, values: &mut [T]) {
        for (offset, value) in values.iter_mut().enumerate() {
            *value = self.get(start + offset);
        }
    }

    /// Puts values from an index on.
    #[inline(always)]
    fn write(&self, start: usize, values: &[T])
    where
        T: Copy,
    {
        for (offset, &value) in values.iter().enumerate() {
            self.set(start + offset, value);
        }
    }
}

/// Values of the bodies of some elements of a schedule, in the order of execution.
pub trait Bodies<T, const N: usize>: Copy {
    /// How many elements there are.
    fn count(&self) -> usize;
    /// Some of the elements.
    fn part(&self, places: Range<usize>) -> Self;
    /// The value of a body of an element.
    fn get(&self, element: usize, corner: usize) -> T;
    /// Puts a value at a body of an element.
    fn set(&self, element: usize, corner: usize, value: T);
    /// Whether the first bodies of the elements, which ascend, follow each other without a gap.
    fn is_row(&self) -> bool;
    /// The values of the first bodies of the elements, which are a row.
    fn read_row(&self, values: &mut [T]);
    /// Puts values there.
    fn write_row(&self, values: &[T]);
    /// Has the value of any body brought closer, for somebody who needs it soon.
    #[inline(always)]
    fn prefetch_body(&self, _body: usize) {}
    /// Has the ids of so many elements brought closer, whether they are in this part or after it.
    #[inline(always)]
    fn prefetch_ids(&self, _first: usize, _count: usize) {}
}

/// Bodies by way of their indices: what there is for numbers whose access is checked anyway.
#[derive(Clone, Copy, Debug)]
pub struct ByIndex<'s, A, const N: usize> {
    values: A,
    ids: &'s [[u32; N]],
}

impl<'s, A, const N: usize> ByIndex<'s, A, N> {
    /// The bodies of a schedule's elements.
    pub fn new(values: A, schedule: &'s Schedule) -> Self {
        Self::of_ids(values, schedule.bodies().expect("elements have as many bodies as asked for"))
    }

    /// Bodies with these ids.
    pub fn of_ids(values: A, ids: &'s [[u32; N]]) -> Self {
        Self { values, ids }
    }
}

impl<T: Copy, A: Access<T>, const N: usize> Bodies<T, N> for ByIndex<'_, A, N> {
    fn count(&self) -> usize {
        self.ids.len()
    }
    #[inline(always)]
    fn part(&self, places: Range<usize>) -> Self {
        Self { values: self.values, ids: &self.ids[places] }
    }
    #[inline(always)]
    fn get(&self, element: usize, corner: usize) -> T {
        self.values.get(self.ids[element][corner] as usize)
    }
    #[inline(always)]
    fn set(&self, element: usize, corner: usize, value: T) {
        self.values.set(self.ids[element][corner] as usize, value);
    }
    #[inline(always)]
    fn is_row(&self) -> bool {
        row_of(self.ids).is_some()
    }
    #[inline(always)]
    fn read_row(&self, values: &mut [T]) {
        let first = row_of(self.ids).expect("a row");
        self.values.read(first, values);
    }
    #[inline(always)]
    fn write_row(&self, values: &[T]) {
        let first = row_of(self.ids).expect("a row");
        self.values.write(first, values);
    }
}

/// The first body of some elements, if the first bodies of all of them are as many as those from the first to
/// the last: a row, if they ascend.
#[inline(always)]
pub(crate) fn row_of<const N: usize>(ids: &[[u32; N]]) -> Option<usize> {
    let (first, last) = (ids.first()?[0] as usize, ids[ids.len() - 1][0] as usize);
    (last == first + ids.len() - 1).then_some(first)
}

impl<T: Copy> Access<T> for &[Cell<T>] {
    type Bodies<'s, const N: usize> = ByIndex<'s, Self, N>;

    #[inline(always)]
    fn get(&self, index: usize) -> T {
        self[index].get()
    }
    #[inline(always)]
    fn set(&self, index: usize, value: T) {
        self[index].set(value);
    }
    fn bodies<'s, const N: usize>(&self, schedule: &'s Schedule) -> ByIndex<'s, Self, N> {
        ByIndex::new(self, schedule)
    }
}

/// A way to keep numbers within reach of kernels.
pub trait Storage {
    /// The numbers of one array.
    type Of<T: Copy + 'static>: Access<T>;
}

/// Brings arrays within reach of kernels.
pub trait Open<'a, S: Storage> {
    /// Opens one array.
    fn open<T: Copy + 'static>(&self, array: &'a mut [T]) -> S::Of<T>;
}

/// The state as the kernels see it. Arrays are held by value, so that what they consist of can stay
/// in registers.
pub struct View<S: Storage> {
    /// See [`State::positions`].
    pub positions: S::Of<[f32; 4]>,
    /// See [`State::previous`].
    pub previous: S::Of<[f32; 4]>,
    /// See [`State::velocities`].
    pub velocities: S::Of<[f32; 4]>,
    /// See [`State::multipliers`].
    pub multipliers: S::Of<f32>,
    /// See [`State::memories`].
    pub memories: [S::Of<[f32; 4]>; 2],
    /// See [`State::scratch`].
    pub scratch: S::Of<[f32; 4]>,
    /// See [`State::contacts`].
    pub contacts: ContactView<S>,
}

/// Numbers for one thread: safe, and as fast as a mutable slice.
#[derive(Debug)]
pub struct Cells<'a>(PhantomData<&'a ()>);

impl<'a> Storage for Cells<'a> {
    type Of<T: Copy + 'static> = &'a [Cell<T>];
}

/// Opens arrays for one thread.
struct AsCells;

impl<'a> Open<'a, Cells<'a>> for AsCells {
    fn open<T: Copy + 'static>(&self, array: &'a mut [T]) -> &'a [Cell<T>] {
        Cell::from_mut(array).as_slice_of_cells()
    }
}

impl State {
    /// The whole state, opened to kernels.
    pub fn view<'a, S: Storage>(&'a mut self, opener: &impl Open<'a, S>) -> View<S> {
        View {
            positions: opener.open(&mut self.positions),
            previous: opener.open(&mut self.previous),
            velocities: opener.open(&mut self.velocities),
            multipliers: opener.open(&mut self.multipliers),
            memories: self.memories.each_mut().map(|memory| opener.open(memory)),
            scratch: opener.open(&mut self.scratch),
            contacts: self.contacts.view(opener),
        }
    }

    /// The whole state for a single thread.
    pub fn cells(&mut self) -> View<Cells<'_>> {
        self.view(&AsCells)
    }
}
