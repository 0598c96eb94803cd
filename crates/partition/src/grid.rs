//! Grid split (Harada 2011, 'A parallel constraint solver for a rigid body simulation'), for
//! elements that are new in every step, such as contacts.
//!
//! Space is diced into cells, and an element belongs to the cell that its point lies in. If a
//! cell is at least as wide as the largest distance between the points of two elements of a body,
//! elements that share a body lie in the same cell or in neighboring ones; neighbors differ in
//! the parity of a coordinate. So the cells of one parity can run at the same time: 4 phases in
//! two dimensions, 8 in three, a cell being a block. Inside a cell, batches are made by iterative
//! locking.
//!
//! - Bodies too large for a cell: all elements of such a body go to phases of their own at the
//!   end, colored by first fit. Colors large enough to share out are phases; the others follow
//!   one another as the batches of one last block, because a barrier for each would cost more
//!   than they do.
//! - Fixed bodies never conflict, and their extents are never looked at.
//! - Coordinates of cells wrap around at an even number, so a body flung far away costs no
//!   memory: two cells that fall together have the same parity and are one block.
//!
//! The schedule is the same for any number of threads. Nothing is allocated from the second call
//! on, as long as no number of elements or bodies exceeds what was there before. (Called from
//! outside a rayon pool, rayon itself allocates a little now and then to hand the work over; wrap
//! the whole loop of steps in `ThreadPool::install` to avoid that.)
//!
//! ```
//! use taut_partition::Elements;
//! use taut_partition::grid::GridSplit;
//!
//! // A row of touching balls of diameter 1: contacts in between, each at its contact point.
//! let contacts: Vec<[u32; 2]> = (0..99).map(|ball| [ball, ball + 1]).collect();
//! let points: Vec<[f32; 3]> = (0..99).map(|contact| [contact as f32, 0.0, 0.0]).collect();
//! let extents = [1.0; 100];
//!
//! let mut split = GridSplit::default();
//! for _step in 0..3 {
//!     let contacts = Elements::uniform(&contacts, 100)?;
//!     let schedule = split.split(&contacts, &points, &extents)?;
//!     assert_eq!((schedule.len(), schedule.phase_count()), (99, 2));
//! }
//! # Ok::<(), taut_partition::PartitionError>(())
//! ```

mod batches;
mod cells;

use std::ops::Range;

use crate::sort::CountingSort;
use crate::{Elements, InputError, PartitionError, Parts, Schedule};
use batches::{SlotMemory, Sorted, Tables};
use cells::Grid;

/// Along which axes space is diced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GridAxes {
    /// Columns along z: 4 phases.
    Xy,
    /// Columns along y (usually the vertical, as in the paper): 4 phases.
    Xz,
    /// Columns along x: 4 phases.
    Yz,
    /// Boxes: 8 phases.
    #[default]
    Xyz,
}

/// How wide a cell is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellSize {
    /// So many times the largest extent of a movable body, where bodies with more than 8 times
    /// the mean extent do not count (they overflow). At least 1. Large cells make large batches,
    /// small ones many blocks.
    Extents(f32),
    /// This wide. Bodies with a larger extent overflow.
    Fixed(f32),
}

/// How the batches of a cell are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Batching {
    /// What locking ends in when it is repeated until no element can join: every batch takes all
    /// it can in ascending order. One pass over the cell, without locks.
    #[default]
    Exhaustive,
    /// As on a GPU (paper D, section 2.2): in each round all elements that are left try to lock
    /// their bodies, and those that got all of them join the batch. After so many rounds (the
    /// paper: 4; at least 1) the batch is closed, and what is left goes to the next batches. Of
    /// several elements that want a body the lowest gets it, where a GPU would let chance decide.
    Rounds(usize),
}

/// How to split.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridOptions {
    /// Along which axes.
    pub axes: GridAxes,
    /// How wide the cells are.
    pub cell: CellSize,
    /// How batches are made.
    pub batching: Batching,
}

impl Default for GridOptions {
    fn default() -> Self {
        Self {
            axes: GridAxes::default(),
            cell: CellSize::Extents(2.0),
            batching: Batching::default(),
        }
    }
}

/// A grid split with its memory, to be used step after step.
#[derive(Debug, Default)]
pub struct GridSplit {
    options: GridOptions,
    /// Elements sorted by cell.
    sort: CountingSort,
    /// The cells that hold elements.
    cells: Vec<Cell>,
    sorted: Sorted,
    tables: Tables,
    slots: SlotMemory,
    schedule: Schedule,
}

/// A cell that holds elements, or all that overflowed.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Its places in the sorted order.
    start: u32,
    end: u32,
    phase: u32,
    overflow: bool,
}

impl Cell {
    fn places(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Elements of a block of an overflow phase; a color with fewer than two such blocks is no phase
/// of its own.
const OVERFLOW_BLOCK: usize = 256;

impl GridSplit {
    /// With options.
    pub fn new(options: GridOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// The options.
    pub fn options(&self) -> &GridOptions {
        &self.options
    }

    /// The schedule of the last split.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Splits elements with one point each, given the extent of each body: the largest distance
    /// between the points of two of its elements. If the points are contact points, that is at
    /// most the body's diameter; if they are centers of bodies, twice as much.
    ///
    /// An extent that is too small shows as [`PartitionError::Schedule`] when it leads to a
    /// conflict: the result is checked, as every schedule is.
    pub fn split(
        &mut self,
        elements: &Elements<'_>,
        points: &[[f32; 3]],
        extents: &[f32],
    ) -> Result<&Schedule, PartitionError> {
        check_count("points", points.len(), "elements", elements.len())?;
        check_count("extents", extents.len(), "bodies", elements.body_count())?;
        if self.options.batching == Batching::Rounds(0) {
            let (option, range) = ("the number of rounds", "at least 1");
            return Err(InputError::BadOption { option, range, given: "0".into() }.into());
        }
        // One entry into the pool instead of one for every parallel loop.
        rayon::join(|| self.run(elements, points, extents), || ()).0?;
        Ok(&self.schedule)
    }

    fn run(
        &mut self,
        elements: &Elements<'_>,
        points: &[[f32; 3]],
        extents: &[f32],
    ) -> Result<(), PartitionError> {
        let grid = Grid::new(&self.options, elements, extents)?;
        let key = |element: usize| grid.key(elements, element, points[element]);
        self.sort.sort(elements.len(), grid.key_bound(), key);
        grid.check_points(points)?;
        self.find_cells(&grid);
        let Self { options, sort, cells, sorted, tables, slots, schedule } = self;
        sorted.gather(elements, sort);
        let tables = tables.prepare(elements.body_count(), elements.len());
        schedule.replace(elements, |parts| {
            parts.order.resize(elements.len(), 0);
            // As many as there can ever be, so that no later step needs more.
            parts.batches.reserve(elements.len());
            parts.blocks.reserve(elements.len());
            parts.phases.reserve(9 + elements.len() / OVERFLOW_BLOCK);
            let order = slots.prepare(&mut parts.order);
            batches::fill(sorted, options.batching, cells, order, tables);
            append_phases(cells, slots.batch_starts(), parts);
        })?;
        Ok(())
    }

    fn find_cells(&mut self, grid: &Grid<'_>) {
        self.cells.clear();
        self.cells.reserve(self.sort.len());
        self.sort.for_each_key(|key, places| {
            let (phase, overflow) = grid.phase(key);
            let (start, end) = (places.start as u32, places.end as u32);
            self.cells.push(Cell { start, end, phase, overflow });
        });
    }
}

/// Appends phases, blocks and batches, given the places where batches start.
fn append_phases(cells: &[Cell], batch_starts: &[bool], parts: &mut Parts) {
    for phase in cells.chunk_by(|a, b| a.phase == b.phase) {
        if phase[0].overflow {
            append_overflow(phase[0].places(), batch_starts, parts);
            continue;
        }
        for cell in phase {
            append_batches(cell.places(), batch_starts, parts);
            parts.end_block();
        }
        parts.end_phase();
    }
}

fn append_batches(places: Range<usize>, batch_starts: &[bool], parts: &mut Parts) {
    let inner = places.start + 1..places.end;
    let starts = inner.clone().zip(&batch_starts[inner]).filter(|&(_, &starts)| starts);
    parts.batches.extend(starts.map(|(place, _)| place as u32));
    parts.batches.push(places.end as u32);
}

/// Colors that are worth it become phases; runs of others become phases of one block each.
fn append_overflow(places: Range<usize>, batch_starts: &[bool], parts: &mut Parts) {
    let mut start = places.start;
    let mut open_block = false;
    while start < places.end {
        let rest = &batch_starts[start + 1..places.end];
        let end = rest.iter().position(|&starts| starts).map_or(places.end, |at| start + 1 + at);
        let is_phase = end - start >= 2 * OVERFLOW_BLOCK;
        if is_phase && std::mem::take(&mut open_block) {
            parts.end_block();
            parts.end_phase();
        }
        if is_phase {
            for block in (start..end).step_by(OVERFLOW_BLOCK) {
                parts.batches.push((block + OVERFLOW_BLOCK).min(end) as u32);
                parts.end_block();
            }
            parts.end_phase();
        } else {
            parts.batches.push(end as u32);
            open_block = true;
        }
        start = end;
    }
    if open_block {
        parts.end_block();
        parts.end_phase();
    }
}

fn check_count(
    what: &'static str,
    given: usize,
    of: &'static str,
    expected: usize,
) -> Result<(), InputError> {
    if given == expected {
        return Ok(());
    }
    Err(InputError::WrongCount { what, given, of, expected })
}
