//! Eight numbers side by side.
//!
//! A plain array whose operations are loops over the lanes, which compilers turn into the vector
//! instructions that every processor of a kind has. Each lane does what `f32` does, so the bits are
//! the same. On x86 processors `x86.rs` is faster.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::{Lane, Work};

/// How many lanes there are.
const LANES: usize = 8;

/// Eight `f32` lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct F32x8([f32; LANES]);

/// All bits of a lane set, or none.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct Mask8([u32; LANES]);

/// An array of what an expression gives for every lane. A macro and no closure: a closure may end up
/// as a function of its own.
macro_rules! lanes {
    ($lane:ident => $value:expr) => {
        [
            lanes!(@ 0, $lane, $value), lanes!(@ 1, $lane, $value), lanes!(@ 2, $lane, $value),
            lanes!(@ 3, $lane, $value), lanes!(@ 4, $lane, $value), lanes!(@ 5, $lane, $value),
            lanes!(@ 6, $lane, $value), lanes!(@ 7, $lane, $value),
        ]
    };
    (@ $number:literal, $lane:ident, $value:expr) => {{
        let $lane: usize = $number;
        $value
    }};
}

macro_rules! lanewise {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for F32x8 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(lanes!(lane => self.0[lane] $operator other.0[lane]))
            }
        }
    };
}

lanewise!(Add, add, +);
lanewise!(Sub, sub, -);
lanewise!(Mul, mul, *);
lanewise!(Div, div, /);

impl Neg for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(lanes!(lane => -self.0[lane]))
    }
}

impl Lane for F32x8 {
    type Mask = Mask8;
    type Rows = [[f32; 4]; LANES];
    type Half = Self;
    const WIDTH: usize = LANES;

    #[inline(never)]
    fn apart<W: Work>(work: W) -> W::Output {
        work.run::<Self>()
    }

    #[inline(always)]
    fn load(numbers: &[f32]) -> Self {
        match numbers.try_into() {
            Ok(whole) => Self(whole),
            Err(_) => Self(lanes!(lane => numbers[lane.min(numbers.len() - 1)])),
        }
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f32]) {
        numbers.copy_from_slice(&self.0[..numbers.len()]);
    }
    #[inline(always)]
    fn from_lanes(number: impl Fn(usize) -> f32) -> Self {
        Self(lanes!(lane => number(lane)))
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f32 {
        self.0[i]
    }
    #[inline(always)]
    fn gather(row: impl Fn(usize) -> [f32; 4]) -> Self::Rows {
        lanes!(lane => row(lane))
    }
    #[inline(always)]
    fn scatter(rows: Self::Rows, mut store: impl FnMut(usize, [f32; 4])) {
        let _: [(); LANES] = lanes!(lane => store(lane, rows[lane]));
    }
    #[inline(always)]
    fn columns(rows: Self::Rows) -> [Self; 4] {
        [
            Self(lanes!(lane => rows[lane][0])),
            Self(lanes!(lane => rows[lane][1])),
            Self(lanes!(lane => rows[lane][2])),
            Self(lanes!(lane => rows[lane][3])),
        ]
    }
    #[inline(always)]
    fn rows([x, y, z, w]: [Self; 4]) -> Self::Rows {
        lanes!(lane => [x.0[lane], y.0[lane], z.0[lane], w.0[lane]])
    }
    #[inline(always)]
    fn between(a: Self::Rows, b: Self::Rows) -> Self::Rows {
        lanes!(lane => f32::between(a[lane], b[lane]))
    }
    #[inline(always)]
    fn scaled(rows: Self::Rows, factor: Self) -> Self::Rows {
        lanes!(lane => f32::scaled(rows[lane], factor.0[lane]))
    }
    #[inline(always)]
    fn pushed(rows: Self::Rows, way: Self::Rows) -> Self::Rows {
        lanes!(lane => f32::pushed(rows[lane], way[lane]))
    }
    #[inline(always)]
    fn pulled(rows: Self::Rows, way: Self::Rows) -> Self::Rows {
        lanes!(lane => f32::pulled(rows[lane], way[lane]))
    }
    #[inline(always)]
    fn plus(a: Self::Rows, b: Self::Rows) -> Self::Rows {
        lanes!(lane => f32::plus(a[lane], b[lane]))
    }
    #[inline(always)]
    fn times(rows: Self::Rows, factors: [f32; 4]) -> Self::Rows {
        lanes!(lane => f32::times(rows[lane], factors))
    }
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self([value; LANES])
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(lanes!(lane => self.0[lane].sqrt()))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(lanes!(lane => self.0[lane].abs()))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(lanes!(lane => Lane::min(self.0[lane], other.0[lane])))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(lanes!(lane => Lane::max(self.0[lane], other.0[lane])))
    }
    #[inline(always)]
    fn less(self, other: Self) -> Mask8 {
        Mask8(lanes!(lane => if self.0[lane] < other.0[lane] { u32::MAX } else { 0 }))
    }
    #[inline(always)]
    fn select(mask: Mask8, yes: Self, no: Self) -> Self {
        Self(lanes!(lane => {
            let (yes, no) = (yes.0[lane].to_bits(), no.0[lane].to_bits());
            f32::from_bits((yes & mask.0[lane]) | (no & !mask.0[lane]))
        }))
    }
    #[inline(always)]
    fn bits(mask: Mask8) -> u32 {
        let bit = |(lane, &own): (usize, &u32)| own & 1 << lane;
        mask.0.iter().enumerate().map(bit).fold(0, |all, bit| all | bit)
    }
}

#[cfg(test)]
mod tests;
