//! Which cell an element belongs to, as a key to sort by.
//!
//! Coordinates of cells wrap around at a power of two, so keys have 11 bits however far the
//! points spread, and nobody needs to know their bounds. Cells that fall together have the same
//! parity, so they make one block as well as they would make several.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{CellSize, GridAxes, GridOptions};
use crate::{Elements, InputError};

/// Bits of a key. As many blocks per phase as 2048 cells give (256, or 512 in two dimensions)
/// are enough for any number of threads.
const KEY_BITS: u32 = 11;

/// A cell is wider than the extents ask for by this much, which is more than rounding can do:
/// two points at the distance of a cell's width must not end up two cells apart.
const MARGIN: f64 = 1.004;

/// Coordinates up to this many cells from the origin are computed in f32, with an error of at
/// most 2⁻¹² cells.
const NEAR: f32 = 4096.0;

/// 1.5 · 2²³: when this is added to an f32, no bits are left for a fraction, and the last bits of
/// the sum are those of the nearest integer, also of a negative one. That is much faster than a
/// conversion, which has to mind its range.
const ROUNDING: f32 = 12_582_912.0;

/// Bits of a coordinate that can matter.
const COORDINATE_BITS: u32 = 6;
const COORDINATES: usize = 1 << COORDINATE_BITS;

/// Bodies whose extent is larger than so many mean extents do not determine the width of cells.
const OUTLIER: f64 = 8.0;

/// Cells laid over space; their centers are at multiples of the width.
pub(super) struct Grid<'a> {
    /// Cells per unit of length.
    density: f32,
    /// What a coordinate along each axis contributes to the key.
    bits_of: [[u16; COORDINATES]; 3],
    /// Bits of the key below those of the parity.
    half_bits: u32,
    /// Bodies with a larger extent overflow.
    width: f32,
    extents: &'a [f32],
    any_overflow: bool,
    /// Whether a point was not finite.
    not_finite: AtomicBool,
}

impl<'a> Grid<'a> {
    pub(super) fn new(
        options: &GridOptions,
        elements: &Elements<'_>,
        extents: &'a [f32],
    ) -> Result<Self, InputError> {
        let movable = Movable::of(elements, extents)?;
        let width = width(options.cell, &movable)?;
        // Fewer cells along the axis that is usually the vertical: piles are wider than high.
        let bits = match options.axes {
            GridAxes::Xy => [6, 5, 0],
            GridAxes::Xz => [6, 0, 5],
            GridAxes::Yz => [0, 5, 6],
            GridAxes::Xyz => [4, 3, 4],
        };
        let (bits_of, half_bits) = layout(bits);
        Ok(Self {
            density: (1.0 / (f64::from(width) * MARGIN)) as f32,
            bits_of,
            half_bits,
            width,
            extents,
            any_overflow: movable.largest > width,
            not_finite: AtomicBool::new(false),
        })
    }

    /// Sort key of an element: parity first, then the rest of the cell; the overflow comes last.
    #[inline]
    pub(super) fn key(&self, elements: &Elements<'_>, element: usize, point: [f32; 3]) -> u32 {
        let mut key = 0;
        for (x, bits_of) in point.into_iter().zip(&self.bits_of) {
            key |= bits_of[self.coordinate(x) as usize % COORDINATES];
        }
        if self.any_overflow && self.overflows(elements, element) {
            return 1 << KEY_BITS;
        }
        u32::from(key)
    }

    /// The last bits of the coordinate of the nearest cell along an axis (and others above them).
    #[inline]
    fn coordinate(&self, x: f32) -> u32 {
        let coordinate = x * self.density;
        if coordinate.abs() < NEAR {
            (coordinate + ROUNDING).to_bits()
        } else {
            self.far_coordinate(x)
        }
    }

    #[cold]
    fn far_coordinate(&self, x: f32) -> u32 {
        if !x.is_finite() {
            self.not_finite.store(true, Relaxed);
        }
        // Beyond what fits into 64 bits, neighboring f32 are too far apart to share a body.
        (f64::from(x) * f64::from(self.density)).round_ties_even() as i64 as u32
    }

    pub(super) fn key_bound(&self) -> usize {
        (1 << KEY_BITS) + 1
    }

    /// The phase that a key belongs to, and whether it is that of the overflow.
    pub(super) fn phase(&self, key: u32) -> (u32, bool) {
        (key >> self.half_bits, key == 1 << KEY_BITS)
    }

    /// After all keys: whether all points were finite.
    pub(super) fn check_points(&self, points: &[[f32; 3]]) -> Result<(), InputError> {
        if !self.not_finite.load(Relaxed) {
            return Ok(());
        }
        let index = points.iter().position(|point| !point.iter().all(|x| x.is_finite()));
        Err(InputError::NotFinite { what: "point", index: index.unwrap_or(0) })
    }

    fn overflows(&self, elements: &Elements<'_>, element: usize) -> bool {
        elements.movable_of(element).any(|body| self.extents[body as usize] > self.width)
    }
}

/// Tables of what coordinates contribute to a key, if each axis has so many bits; and how many
/// bits of the key are below those of the parity.
fn layout(bits: [u32; 3]) -> ([[u16; COORDINATES]; 3], u32) {
    let half_bits = bits.iter().map(|bits| bits.saturating_sub(1)).sum();
    let (mut parity_shift, mut half_shift) = (half_bits, 0);
    let mut bits_of = [[0; COORDINATES]; 3];
    for (bits_of, bits) in bits_of.iter_mut().zip(bits).filter(|(_, bits)| *bits > 0) {
        for (coordinate, entry) in bits_of.iter_mut().enumerate() {
            let cell = coordinate % (1 << bits);
            *entry = ((cell & 1) << parity_shift | (cell >> 1) << half_shift) as u16;
        }
        parity_shift += 1;
        half_shift += bits - 1;
    }
    (bits_of, half_bits)
}

/// The width of a cell.
fn width(cell: CellSize, movable: &Movable) -> Result<f32, InputError> {
    let bad = |option, range, given: f32| {
        Err(InputError::BadOption { option, range, given: given.to_string() })
    };
    match cell {
        CellSize::Fixed(width) if !(width > 0.0 && width.is_finite()) => {
            bad("the width of a cell", "positive and finite", width)
        }
        CellSize::Extents(times) if !(times >= 1.0 && times.is_finite()) => {
            bad("the width of a cell in extents", "at least 1 and finite", times)
        }
        CellSize::Fixed(width) => Ok(width),
        // With extents of zero the elements of a body lie in one point, so any width will do.
        CellSize::Extents(_) if movable.typical <= 0.0 => Ok(1.0),
        CellSize::Extents(times) => Ok((movable.typical * times).min(f32::MAX)),
    }
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
