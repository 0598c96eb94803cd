//! Which cell an element belongs to, as a key to sort by.

use rayon::prelude::*;

use super::{CellSize, GridAxes, GridOptions};
use crate::{Elements, InputError};

/// Cells wrap around at this number per axis (two axes, three axes): their keys then have at
/// most 21 bits, which two passes of the sort can do.
const MAX_CELLS: [u32; 2] = [1024, 128];

/// A cell is wider than the extents ask for by this much, which is more than rounding can do:
/// two points at the distance of a cell's width must not end up two cells apart.
const MARGIN: f64 = 1.0 + 1e-6;

/// Bodies whose extent is larger than so many mean extents do not determine the width of cells.
const OUTLIER: f64 = 8.0;

/// Points of a task when looking for the bounds.
const CHUNK: usize = 1 << 14;

/// Cells laid over the points of a step.
pub(super) struct Grid<'a> {
    /// The axes along which space is diced.
    axes: &'static [usize],
    low: [f32; 3],
    cells_per_unit: f64,
    /// Half the number of cells along each diced axis: cells with the same parity.
    halves: [u32; 3],
    /// Bodies with a larger extent overflow.
    width: f32,
    extents: &'a [f32],
    any_overflow: bool,
}

impl<'a> Grid<'a> {
    pub(super) fn new(
        options: &GridOptions,
        elements: &Elements<'_>,
        points: &[[f32; 3]],
        extents: &'a [f32],
    ) -> Result<Self, InputError> {
        let bounds = Bounds::of(points)?;
        let axes: &[usize] = match options.axes {
            GridAxes::Xy => &[0, 1],
            GridAxes::Xz => &[0, 2],
            GridAxes::Yz => &[1, 2],
            GridAxes::Xyz => &[0, 1, 2],
        };
        let movable = Movable::of(elements, extents)?;
        let width = width(options.cell, &movable, &bounds)?;
        let cells_per_unit = 1.0 / (f64::from(width) * MARGIN);
        let mut halves = [1; 3];
        for (half, &axis) in halves.iter_mut().zip(axes) {
            let last = bounds.extent(axis) * cells_per_unit;
            // The conversion saturates, so even absurd extents give a number of cells.
            *half = (last as u32 / 2 + 1).min(MAX_CELLS[axes.len() - 2] / 2);
        }
        let any_overflow = movable.largest > width;
        Ok(Self { axes, low: bounds.low, cells_per_unit, halves, width, extents, any_overflow })
    }

    /// Sort key of an element: parity first, then the cell; the overflow comes last.
    #[inline]
    pub(super) fn key(&self, elements: &Elements<'_>, element: usize, point: [f32; 3]) -> u32 {
        if self.any_overflow && self.overflows(elements, element) {
            return self.overflow_key();
        }
        let (mut parity, mut cell) = (0, 0);
        for (bit, &axis) in self.axes.iter().enumerate() {
            let offset = f64::from(point[axis]) - f64::from(self.low[axis]);
            let mut coordinate = (offset * self.cells_per_unit) as u64;
            let period = u64::from(2 * self.halves[bit]);
            if coordinate >= period {
                coordinate %= period;
            }
            let coordinate = coordinate as u32;
            parity |= (coordinate & 1) << bit;
            cell = cell * self.halves[bit] + coordinate / 2;
        }
        parity * self.cells_per_phase() + cell
    }

    pub(super) fn key_bound(&self) -> usize {
        self.overflow_key() as usize + 1
    }

    /// The phase that a key belongs to, and whether it is that of the overflow.
    pub(super) fn phase(&self, key: u32) -> (u32, bool) {
        (key / self.cells_per_phase(), key == self.overflow_key())
    }

    fn overflows(&self, elements: &Elements<'_>, element: usize) -> bool {
        elements.movable_of(element).any(|body| self.extents[body as usize] > self.width)
    }

    fn overflow_key(&self) -> u32 {
        self.cells_per_phase() << self.axes.len()
    }

    fn cells_per_phase(&self) -> u32 {
        self.halves.iter().product()
    }
}

/// The width of a cell.
fn width(cell: CellSize, movable: &Movable, bounds: &Bounds) -> Result<f32, InputError> {
    let bad = |option, range, given: f32| {
        Err(InputError::BadOption { option, range, given: given.to_string() })
    };
    let width = match cell {
        CellSize::Fixed(width) if !(width > 0.0 && width.is_finite()) => {
            return bad("the width of a cell", "positive and finite", width);
        }
        CellSize::Extents(times) if !(times >= 1.0 && times.is_finite()) => {
            return bad("the width of a cell in extents", "at least 1 and finite", times);
        }
        CellSize::Fixed(width) => width,
        CellSize::Extents(times) => (movable.typical * times).min(f32::MAX),
    };
    if width > 0.0 {
        return Ok(width);
    }
    // All extents are zero: the elements of a body lie in one point, so any cell will do.
    let longest = (0..3).map(|axis| bounds.extent(axis)).fold(0.0, f64::max);
    Ok(if longest > 0.0 { (longest / 16.0) as f32 } else { 1.0 })
}

/// The extents of the bodies that can conflict.
struct Movable {
    largest: f32,
    /// The largest that is no outlier.
    typical: f32,
}

impl Movable {
    fn of(elements: &Elements<'_>, extents: &[f32]) -> Result<Self, InputError> {
        let movable = || {
            let bodies = extents.iter().enumerate();
            bodies.filter(|&(body, _)| !elements.is_fixed(body as u32))
        };
        let (mut sum, mut count, mut largest) = (0.0, 0_u32, 0.0_f32);
        for (index, &extent) in movable() {
            if !(extent.is_finite() && extent >= 0.0) {
                return Err(InputError::NotFinite { what: "extent", index });
            }
            sum += f64::from(extent);
            count += 1;
            largest = largest.max(extent);
        }
        let limit = OUTLIER * sum / f64::from(count.max(1));
        let typical = movable()
            .map(|(_, &extent)| extent)
            .filter(|&extent| f64::from(extent) <= limit)
            .fold(0.0, f32::max);
        Ok(Self { largest, typical })
    }
}

/// The bounding box of the points.
#[derive(Clone, Copy)]
struct Bounds {
    low: [f32; 3],
    high: [f32; 3],
    finite: bool,
}

impl Bounds {
    const EMPTY: Self =
        Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3], finite: true };

    fn of(points: &[[f32; 3]]) -> Result<Self, InputError> {
        let chunks = points.par_chunks(CHUNK).map(Self::of_chunk);
        let bounds = chunks.reduce(|| Self::EMPTY, Self::union);
        if bounds.finite {
            return Ok(bounds);
        }
        let index = points.iter().position(|point| !point.iter().all(|x| x.is_finite()));
        Err(InputError::NotFinite { what: "point", index: index.unwrap_or(0) })
    }

    fn of_chunk(points: &[[f32; 3]]) -> Self {
        let mut bounds = Self::EMPTY;
        for point in points {
            for (axis, &x) in point.iter().enumerate() {
                bounds.low[axis] = bounds.low[axis].min(x);
                bounds.high[axis] = bounds.high[axis].max(x);
                bounds.finite &= x.is_finite();
            }
        }
        bounds
    }

    fn union(mut self, other: Self) -> Self {
        for axis in 0..3 {
            self.low[axis] = self.low[axis].min(other.low[axis]);
            self.high[axis] = self.high[axis].max(other.high[axis]);
        }
        self.finite &= other.finite;
        self
    }

    /// In f64: the difference of two finite f32 may not be finite. 0 where there are no points.
    fn extent(&self, axis: usize) -> f64 {
        (f64::from(self.high[axis]) - f64::from(self.low[axis])).max(0.0)
    }
}
