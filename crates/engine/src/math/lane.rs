//! What a kernel may do with a number.
//!
//! Only operations that IEEE 754 rounds exactly one way, so that every lane of every width gives
//! the same bits: no fused multiply-add, no reciprocal estimate, no library function.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The most numbers that a lane type has side by side.
pub const MAX_WIDTH: usize = 16;

/// One number, or several side by side.
pub trait Lane:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The outcome of a comparison in every lane.
    type Mask: Copy;
    /// Particles as they lie in memory: four numbers for each lane, one after another.
    type Rows: Copy;
    /// Fewer of them, for what is too little for all: half as many if there are such lanes, else the same.
    type Half: Lane;
    /// How many numbers stand side by side, at most [`MAX_WIDTH`].
    const WIDTH: usize;

    /// Does some work with these lanes in a function of its own. Work is inlined where it is done; compilers
    /// take long over functions that are long, and many kinds of work together are.
    fn apart<W: Work>(work: W) -> W::Output;

    /// Up to `WIDTH` numbers, at least one; the last of them again in the lanes beyond.
    fn load(numbers: &[f32]) -> Self;
    /// The way back: the first lanes, as many as there is room for.
    fn store(self, numbers: &mut [f32]);
    /// `number(i)` in lane `i`.
    fn from_lanes(number: impl Fn(usize) -> f32) -> Self;
    /// The number in lane `i`, rounded to `f32`.
    fn lane(self, i: usize) -> f32;
    /// `row(i)` for lane `i`: how particles are loaded.
    fn gather(row: impl Fn(usize) -> [f32; 4]) -> Self::Rows;
    /// The way back: calls `store` with every lane and its row, in order.
    fn scatter(rows: Self::Rows, store: impl FnMut(usize, [f32; 4]));
    /// Rows sorted by component. Wide lanes transpose registers here.
    fn columns(rows: Self::Rows) -> [Self; 4];
    /// The way back.
    fn rows(columns: [Self; 4]) -> Self::Rows;
    /// x, y and z of `a` less those of `b`, and the sum of the fourth numbers.
    fn between(a: Self::Rows, b: Self::Rows) -> Self::Rows;
    /// x, y and z times the lane's factor, and 0.
    fn scaled(rows: Self::Rows, factor: Self) -> Self::Rows;
    /// x, y and z, to which `way` times the fourth number is added; the fourth number.
    fn pushed(rows: Self::Rows, way: Self::Rows) -> Self::Rows;
    /// The same, but subtracted.
    fn pulled(rows: Self::Rows, way: Self::Rows) -> Self::Rows;
    /// The sum of all four numbers.
    fn plus(a: Self::Rows, b: Self::Rows) -> Self::Rows;
    /// Every row times the same four numbers.
    fn times(rows: Self::Rows, factors: [f32; 4]) -> Self::Rows;
    /// Numbers of particles that follow each other in memory, from their order to that of the lanes that
    /// [have them](in_row): `in_row(i)` of them in lane `i`.
    #[inline(always)]
    fn dealt(self) -> Self {
        Self::from_lanes(|lane| self.lane(in_row::<Self>(lane)))
    }
    /// The way back.
    #[inline(always)]
    fn collected(self) -> Self {
        let mut numbers = [0.0; MAX_WIDTH];
        for lane in 0..Self::WIDTH {
            numbers[in_row::<Self>(lane)] = self.lane(lane);
        }
        Self::load(&numbers[..Self::WIDTH])
    }
    /// Gathers rows and sorts them by component.
    #[inline(always)]
    fn from_quadruples(row: impl Fn(usize) -> [f32; 4]) -> [Self; 4] {
        Self::columns(Self::gather(row))
    }
    /// The way back.
    #[inline(always)]
    fn into_quadruples(columns: [Self; 4], store: impl FnMut(usize, [f32; 4])) {
        Self::scatter(Self::rows(columns), store);
    }
    /// A bit for every lane in which a comparison holds, the first lane's the lowest.
    fn bits(mask: Self::Mask) -> u32;
    /// Whether a comparison holds in some lane.
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        Self::bits(mask) != 0
    }

    /// The same number in every lane.
    fn splat(value: f32) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Magnitude.
    fn abs(self) -> Self;
    /// The smaller one. Operands are never NaN.
    fn min(self, other: Self) -> Self;
    /// The larger one. Operands are never NaN.
    fn max(self, other: Self) -> Self;
    /// Where `self < other`.
    fn less(self, other: Self) -> Self::Mask;
    /// `yes` where the mask holds, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
}

/// Which of the particles that follow each other in memory a lane has: a register of rows gets those that are
/// beside each other, so that one load fills it.
#[inline(always)]
pub fn in_row<L: Lane>(lane: usize) -> usize {
    (L::WIDTH / 4) * (lane % 4) + lane / 4
}

/// Something to be computed with lanes that somebody else chooses.
pub trait Work {
    /// What comes out.
    type Output;
    /// Does the work, `L::WIDTH` at a time. Always inlined, because the caller may be compiled for
    /// instructions that the rest of the program must not use.
    fn run<L: Lane>(self) -> Self::Output;
}

macro_rules! scalar_lane {
    ($float:ty) => {
        impl Lane for $float {
            type Mask = bool;
            type Rows = [Self; 4];
            type Half = Self;
            const WIDTH: usize = 1;

            #[inline(never)]
            fn apart<W: Work>(work: W) -> W::Output {
                work.run::<Self>()
            }

            #[inline(always)]
            fn load(numbers: &[f32]) -> Self {
                numbers[0].into()
            }
            #[inline(always)]
            fn store(self, numbers: &mut [f32]) {
                numbers[0] = self as f32;
            }
            #[inline(always)]
            fn from_lanes(number: impl Fn(usize) -> f32) -> Self {
                number(0).into()
            }
            #[inline(always)]
            fn lane(self, _: usize) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn gather(row: impl Fn(usize) -> [f32; 4]) -> [Self; 4] {
                row(0).map(Self::from)
            }
            #[inline(always)]
            fn scatter(rows: [Self; 4], mut store: impl FnMut(usize, [f32; 4])) {
                store(0, rows.map(|number| number as f32));
            }
            #[inline(always)]
            fn columns(rows: [Self; 4]) -> [Self; 4] {
                rows
            }
            #[inline(always)]
            fn rows(columns: [Self; 4]) -> [Self; 4] {
                columns
            }
            #[inline(always)]
            fn between(a: [Self; 4], b: [Self; 4]) -> [Self; 4] {
                [a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] + b[3]]
            }
            #[inline(always)]
            fn scaled([x, y, z, _]: [Self; 4], factor: Self) -> [Self; 4] {
                [x * factor, y * factor, z * factor, 0.0]
            }
            #[inline(always)]
            fn pushed([x, y, z, w]: [Self; 4], way: [Self; 4]) -> [Self; 4] {
                [x + way[0] * w, y + way[1] * w, z + way[2] * w, w]
            }
            #[inline(always)]
            fn pulled([x, y, z, w]: [Self; 4], way: [Self; 4]) -> [Self; 4] {
                [x - way[0] * w, y - way[1] * w, z - way[2] * w, w]
            }
            #[inline(always)]
            fn plus(a: [Self; 4], b: [Self; 4]) -> [Self; 4] {
                [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]
            }
            #[inline(always)]
            fn times([x, y, z, w]: [Self; 4], factors: [f32; 4]) -> [Self; 4] {
                let [a, b, c, d] = factors.map(Self::from);
                [x * a, y * b, z * c, w * d]
            }
            #[inline(always)]
            fn bits(mask: bool) -> u32 {
                u32::from(mask)
            }
            #[inline(always)]
            fn splat(value: f32) -> Self {
                value.into()
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$float>::abs(self)
            }
            // Written as comparisons: that is what SIMD instructions compute.
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
        }
    };
}

scalar_lane!(f32);
// Tests only: gradients are compared with central differences, which need the precision.
scalar_lane!(f64);
