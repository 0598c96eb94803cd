//! A uniform grid that wraps around, for finding particles that are close to each other.
//!
//! The number of cells is fixed, a power of two; how many there are along each axis follows from
//! how far the particles spread. Coordinates wrap around, so a particle flung far away costs no
//! memory: particles that fall into the same cell although they are far apart cost a comparison.
//! Cells are numbered along x first, so that three neighbors along x are one range.

/// Most ranges of cells around a cell: three by three rows, each cut in two where it wraps around.
const MOST_RANGES: usize = 18;

/// A grid for one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    inverse_cell: f32,
    /// Cells along each axis, as powers of two.
    bits: [u32; 3],
}

/// A few ranges of numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ranges {
    ranges: [[u32; 2]; MOST_RANGES],
    count: usize,
}

impl Ranges {
    /// The ends of each range.
    #[inline(always)]
    pub fn all(&self) -> &[[u32; 2]] {
        &self.ranges[..self.count]
    }

    /// Adds a range.
    #[inline(always)]
    pub fn push(&mut self, range: [u32; 2]) {
        self.ranges[self.count] = range;
        self.count += 1;
    }
}

impl Grid {
    /// A grid of 2^`bits` cells of a width, for particles that spread over these lengths: each time
    /// the axis that lacks cells most gets twice as many.
    pub fn new(cell: f32, spread: [f64; 3], bits: u32) -> Self {
        let mut needed = spread;
        let mut each = [0; 3];
        for _ in 0..bits {
            let mut axis = 0;
            for other in 1..3 {
                if needed[other] > needed[axis] {
                    axis = other;
                }
            }
            needed[axis] *= 0.5;
            each[axis] += 1;
        }
        Self { inverse_cell: 1.0 / cell, bits: each }
    }

    /// Coordinates of the cell that a point lies in.
    #[inline(always)]
    pub fn coordinates(&self, [x, y, z, _]: [f32; 4]) -> [u32; 3] {
        [self.along(x, 0), self.along(y, 1), self.along(z, 2)]
    }

    #[inline(always)]
    fn along(&self, x: f32, axis: usize) -> u32 {
        let scaled = x * self.inverse_cell;
        // Rounds down; `floor` is a call of a function on processors that the program must run on.
        let truncated = scaled as i32;
        let down = truncated.wrapping_sub(i32::from(scaled < truncated as f32));
        down as u32 & self.last(axis)
    }

    #[inline(always)]
    fn last(&self, axis: usize) -> u32 {
        (1 << self.bits[axis]) - 1
    }

    /// Number of a cell.
    #[inline(always)]
    pub fn cell(&self, [x, y, z]: [u32; 3]) -> u32 {
        x | (y | z << self.bits[1]) << self.bits[0]
    }

    /// All cells that have a point closer than a cell's width to one in this cell, each once: the
    /// first and the last cell of ranges.
    #[inline(always)]
    pub fn neighborhood(&self, [x, y, z]: [u32; 3]) -> Ranges {
        let mut found = Ranges::default();
        for z in around(z, self.last(2)).into_iter().flatten() {
            for y in around(y, self.last(1)).into_iter().flatten() {
                self.add_row(x, [y, z], &mut found);
            }
        }
        found
    }

    /// Adds the neighbors along x in one row.
    #[inline(always)]
    fn add_row(&self, x: u32, [y, z]: [u32; 2], found: &mut Ranges) {
        let row = self.cell([0, y, z]);
        let last = self.last(0);
        let (range, beyond) = match x {
            _ if last < 3 => ([0, last], None),
            0 => ([0, 1], Some(last)),
            x if x == last => ([last - 1, last], Some(0)),
            x => ([x - 1, x + 1], None),
        };
        found.push(range.map(|x| row | x));
        if let Some(x) = beyond {
            found.push([row | x; 2]);
        }
    }
}

/// A coordinate and its neighbors, each once: with one or two cells along an axis, they coincide.
#[inline(always)]
fn around(coordinate: u32, last: u32) -> [Option<u32>; 3] {
    let next = coordinate.wrapping_add(1) & last;
    let before = coordinate.wrapping_sub(1) & last;
    [Some(coordinate), (last > 0).then_some(next), (last > 1).then_some(before)]
}

#[cfg(test)]
mod tests {
    //! Contract: points closer than a cell's width lie in neighboring cells, wherever they are, and
    //! a neighborhood has every cell at most once.

    use proptest::prelude::*;

    use super::*;

    fn cells(grid: &Grid, coordinates: [u32; 3]) -> Vec<u32> {
        let found = grid.neighborhood(coordinates);
        let mut all: Vec<u32> =
            found.all().iter().flat_map(|&[first, last]| first..=last).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count, "a cell comes twice");
        all
    }

    proptest! {
        #[test]
        fn near_points_are_in_neighboring_cells(
            point in prop::array::uniform3(-50.0..50.0_f32),
            way in prop::array::uniform3(-0.499..0.499_f32),
            spread in prop::array::uniform3(0.0..100.0_f64),
            bits in 0..12_u32,
        ) {
            let grid = Grid::new(0.5, spread, bits);
            let near = [0, 1, 2].map(|axis| point[axis] + way[axis]);
            let of = |[x, y, z]: [f32; 3]| grid.coordinates([x, y, z, 0.0]);
            let cell = grid.cell(of(near));
            prop_assert!(cell < 1 << bits);
            prop_assert!(cells(&grid, of(point)).contains(&cell));
        }
    }

    #[test]
    fn cells_follow_the_spread() {
        assert_eq!(Grid::new(1.0, [64.0, 0.1, 64.0], 12).bits, [6, 0, 6]);
        assert_eq!(Grid::new(1.0, [1.0, 1.0, 1.0], 3).bits, [1, 1, 1]);
    }

    #[test]
    fn lost_points_do_no_harm() {
        let grid = Grid::new(0.01, [f64::NAN, f64::INFINITY, 1.0], 9);
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN] {
            let coordinates = grid.coordinates([x, x, x, 0.0]);
            assert!(grid.cell(coordinates) < 1 << 9);
            assert!(cells(&grid, coordinates).iter().all(|&cell| cell < 1 << 9));
        }
    }
}
