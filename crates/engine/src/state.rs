//! What changes while a scene runs, and how kernels reach it.
//!
//! Kernels read and write particles through [`Access`], by index and through a shared reference,
//! and so know nothing of threads: the serial back-end hands them plain cells, the multi-core
//! back-end a slice whose disjointness a checked schedule guarantees.

use std::cell::Cell;

/// A particle: x, y, z and its inverse mass w, in the 16 bytes of one vector register.
pub type Particle = [f32; 4];

/// The moving part of a simulation: 48 bytes a particle.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Place (m) and inverse mass (1/kg; 0: pinned).
    pub positions: Vec<Particle>,
    /// Place at the start of the substep; fourth component unused.
    pub previous: Vec<[f32; 4]>,
    /// Velocity (m/s); fourth component unused.
    pub velocities: Vec<[f32; 4]>,
    /// XPBD's total multiplier of every compliant constraint in this substep, in schedule order.
    pub multipliers: Vec<f32>,
    /// Simulated time, s.
    pub time: f64,
}

/// Numbers that may be read and written by index through a shared reference.
pub trait Access<T> {
    /// The value at an index.
    fn get(&self, index: usize) -> T;
    /// Puts a value at an index.
    fn set(&self, index: usize, value: T);
}

impl<T: Copy> Access<T> for [Cell<T>] {
    #[inline(always)]
    fn get(&self, index: usize) -> T {
        self[index].get()
    }
    #[inline(always)]
    fn set(&self, index: usize, value: T) {
        self[index].set(value);
    }
}

/// The state as the kernels see it.
#[derive(Debug)]
pub struct View<'a, V: ?Sized, F: ?Sized> {
    /// See [`State::positions`].
    pub positions: &'a V,
    /// See [`State::previous`].
    pub previous: &'a V,
    /// See [`State::velocities`].
    pub velocities: &'a V,
    /// See [`State::multipliers`].
    pub multipliers: &'a F,
}

/// A view for one thread: safe, and as fast as a mutable slice.
pub type CellView<'a> = View<'a, [Cell<[f32; 4]>], [Cell<f32>]>;

impl State {
    /// The whole state for a single thread.
    pub fn cells(&mut self) -> CellView<'_> {
        View {
            positions: Cell::from_mut(&mut self.positions[..]).as_slice_of_cells(),
            previous: Cell::from_mut(&mut self.previous[..]).as_slice_of_cells(),
            velocities: Cell::from_mut(&mut self.velocities[..]).as_slice_of_cells(),
            multipliers: Cell::from_mut(&mut self.multipliers[..]).as_slice_of_cells(),
        }
    }
}
