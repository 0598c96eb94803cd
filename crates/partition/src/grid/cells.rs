//! Which cell an element belongs to, as a key to sort by.

use rayon::prelude::*;

use super::{CellSize, GridAxes, GridOptions};
use crate::{Elements, InputError};

/// Cells wrap around at this number per axis (two axes, three axes): their keys then have at
/// most 22 bits, which two passes of the sort can do.
const MAX_CELLS: [u32; 2] = [1024, 128];

/// A cell is wider than the extents ask for by this much, which is more than rounding can do in
/// the first [`MAX_CELLS`]: two points at the distance of a cell's width must not end up two
/// cells apart.
const MARGIN: f64 = 1.001;

/// Bodies whose extent is larger than so many mean extents do not determine the width of cells.
const OUTLIER: f64 = 8.0;

/// Points of a task when looking for the bounds.
const CHUNK: usize = 1 << 14;

/// Cells laid over the points of a step.
pub(super) struct Grid<'a> {
    low: [f32; 3],
    /// Cells per unit of length; 0 along an axis that is not diced.
    density: [f32; 3],
    /// Half the number of cells along each axis: those with the same parity.
    halves: [u32; 3],
    cells_per_phase: u32,
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
        let movable = Movable::of(elements, extents)?;
        let width = width(options.cell, &movable, &bounds)?;
        let axes: &[usize] = match options.axes {
            GridAxes::Xy => &[0, 1],
            GridAxes::Xz => &[0, 2],
            GridAxes::Yz => &[1, 2],
            GridAxes::Xyz => &[0, 1, 2],
        };
        let (mut density, mut halves) = ([0.0; 3], [1; 3]);
        for &axis in axes {
            density[axis] = (1.0 / (f64::from(width) * MARGIN)) as f32;
            let last = bounds.extent(axis) * f64::from(density[axis]);
            // The conversion saturates, so even absurd extents give a number of cells.
            halves[axis] = (last as u32 / 2 + 1).min(MAX_CELLS[axes.len() - 2] / 2);
        }
        Ok(Self {
            low: bounds.low,
            density,
            halves,
            cells_per_phase: halves.iter().product(),
            width,
            extents,
            any_overflow: movable.largest > width,
        })
    }

    /// Sort key of an element: parity first, then the cell; the overflow comes last.
    #[inline]
    pub(super) fn key(&self, elements: &Elements<'_>, element: usize, point: [f32; 3]) -> u32 {
        if self.any_overflow && self.overflows(elements, element) {
            return self.overflow_key();
        }
        let (mut parity, mut cell) = (0, 0);
        for (axis, &x) in point.iter().enumerate() {
            let coordinate = self.coordinate(x, axis);
            parity |= (coordinate & 1) << axis;
            cell = cell * self.halves[axis] + coordinate / 2;
        }
        parity * self.cells_per_phase + cell
    }

    #[inline]
    fn coordinate(&self, x: f32, axis: usize) -> u32 {
        let cells = 2 * self.halves[axis];
        let coordinate = ((x - self.low[axis]) * self.density[axis]) as u32;
        if coordinate < cells {
            return coordinate;
        }
        // Far away, where f32 cannot tell cells apart any more.
        let offset = f64::from(x) - f64::from(self.low[axis]);
        ((offset * f64::from(self.density[axis])) as u64 % u64::from(cells)) as u32
    }

    pub(super) fn key_bound(&self) -> usize {
        self.overflow_key() as usize + 1
    }

    /// The phase that a key belongs to, and whether it is that of the overflow.
    pub(super) fn phase(&self, key: u32) -> (u32, bool) {
        (key / self.cells_per_phase, key == self.overflow_key())
    }

    fn overflows(&self, elements: &Elements<'_>, element: usize) -> bool {
        elements.movable_of(element).any(|body| self.extents[body as usize] > self.width)
    }

    /// Each axis has a bit of parity, whether it is diced or not.
    fn overflow_key(&self) -> u32 {
        8 * self.cells_per_phase
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
}

impl Bounds {
    fn of(points: &[[f32; 3]]) -> Result<Self, InputError> {
        let chunks = points.par_chunks(CHUNK).map(Extremes::of);
        let extremes = chunks.reduce(|| Extremes::NONE, Extremes::union);
        if extremes.zero.iter().any(|zero| zero.is_nan()) {
            let index = points.iter().position(|point| !point.iter().all(|x| x.is_finite()));
            return Err(InputError::NotFinite { what: "point", index: index.unwrap_or(0) });
        }
        let mut bounds = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };
        for lane in 0..LANES {
            bounds.low[lane % 3] = bounds.low[lane % 3].min(extremes.low[lane]);
            bounds.high[lane % 3] = bounds.high[lane % 3].max(extremes.high[lane]);
        }
        Ok(bounds)
    }

    /// In f64: the difference of two finite f32 may not be finite. 0 where there are no points.
    fn extent(&self, axis: usize) -> f64 {
        (f64::from(self.high[axis]) - f64::from(self.low[axis])).max(0.0)
    }
}

/// Coordinates that are looked at together: whole points and whole vectors.
const LANES: usize = 12;

/// Bounds in the making, several points side by side: lane modulo 3 is the axis.
#[derive(Clone, Copy)]
struct Extremes {
    low: [f32; LANES],
    high: [f32; LANES],
    /// Zero times each coordinate: not a number if one was not finite.
    zero: [f32; LANES],
}

impl Extremes {
    const NONE: Self =
        Self { low: [f32::INFINITY; LANES], high: [f32::NEG_INFINITY; LANES], zero: [0.0; LANES] };

    fn of(points: &[[f32; 3]]) -> Self {
        let mut extremes = Self::NONE;
        let (groups, rest) = points.as_flattened().as_chunks::<LANES>();
        groups.iter().for_each(|group| extremes.include(group));
        rest.as_chunks::<3>().0.iter().for_each(|point| extremes.include(point));
        extremes
    }

    #[inline]
    fn include<const N: usize>(&mut self, coordinates: &[f32; N]) {
        for (lane, &x) in coordinates.iter().enumerate() {
            // Unlike `min`, this is one instruction; what is not a number shows below.
            self.low[lane] = if x < self.low[lane] { x } else { self.low[lane] };
            self.high[lane] = if x > self.high[lane] { x } else { self.high[lane] };
            self.zero[lane] += x * 0.0;
        }
    }

    fn union(mut self, other: Self) -> Self {
        for lane in 0..LANES {
            self.low[lane] = self.low[lane].min(other.low[lane]);
            self.high[lane] = self.high[lane].max(other.high[lane]);
            self.zero[lane] += other.zero[lane];
        }
        self
    }
}
