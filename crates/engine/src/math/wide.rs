//! Eight numbers side by side.
//!
//! A plain array whose operations are loops over the lanes: inside a function that is compiled for
//! AVX2 they become single instructions, elsewhere pairs of narrower ones. Either way each lane does
//! what `f32` does, so the bits are the same.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Lane;

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
/// as a function of its own, compiled without the caller's instructions.
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
    const WIDTH: usize = LANES;

    #[inline(always)]
    fn load(numbers: &[f32], start: usize) -> Self {
        let whole: &[f32; LANES] = numbers[start..].first_chunk().expect("eight numbers");
        Self(*whole)
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
    fn from_quadruples(quadruple: impl Fn(usize) -> [f32; 4]) -> [Self; 4] {
        let rows = lanes!(lane => quadruple(lane));
        [
            Self(lanes!(lane => rows[lane][0])),
            Self(lanes!(lane => rows[lane][1])),
            Self(lanes!(lane => rows[lane][2])),
            Self(lanes!(lane => rows[lane][3])),
        ]
    }
    #[inline(always)]
    fn into_quadruples(parts: [Self; 4], mut store: impl FnMut(usize, [f32; 4])) {
        let [x, y, z, w] = parts;
        let _: [(); LANES] =
            lanes!(lane => store(lane, [x.0[lane], y.0[lane], z.0[lane], w.0[lane]]));
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
    fn all_nonzero(self) -> bool {
        let nonzero = lanes!(lane => u32::from(self.0[lane] != 0.0));
        nonzero.iter().sum::<u32>() == LANES as u32
    }
}

#[cfg(test)]
mod tests {
    //! Contract: every lane does exactly what `f32` does.

    use proptest::prelude::*;

    use super::*;
    use crate::math::atan2;

    fn numbers() -> impl Strategy<Value = [f32; LANES]> {
        prop::array::uniform8(-1e3_f32..1e3)
    }

    fn same(wide: F32x8, scalar: impl Fn(usize) -> f32) -> bool {
        (0..LANES).all(|lane| wide.lane(lane).to_bits() == scalar(lane).to_bits())
    }

    proptest! {
        #[test]
        fn lanes_have_the_bits_of_scalars(a in numbers(), b in numbers()) {
            let (x, y) = (F32x8::load(&a, 0), F32x8::load(&b, 0));
            prop_assert!(same(x + y, |i| a[i] + b[i]));
            prop_assert!(same(x - y, |i| a[i] - b[i]));
            prop_assert!(same(x * y, |i| a[i] * b[i]));
            prop_assert!(same(x / y, |i| a[i] / b[i]));
            prop_assert!(same(-x, |i| -a[i]));
            prop_assert!(same(x.abs().sqrt(), |i| a[i].abs().sqrt()));
            prop_assert!(same(x.min(y), |i| Lane::min(a[i], b[i])));
            prop_assert!(same(x.max(y), |i| Lane::max(a[i], b[i])));
            prop_assert!(same(atan2(x, y), |i| atan2(a[i], b[i])));
            let smaller = F32x8::select(x.less(y), x, y);
            prop_assert!(same(smaller, |i| f32::select(a[i] < b[i], a[i], b[i])));
        }
    }

    #[test]
    fn quadruples_go_in_and_out() {
        let quadruple = |lane: usize| [0.0, 0.1, 0.2, 0.3].map(|part| lane as f32 + part);
        let parts = F32x8::from_quadruples(quadruple);
        assert_eq!(parts[2].lane(5), 5.2);
        let mut seen = 0;
        F32x8::into_quadruples(parts, |lane, out| {
            assert_eq!((lane, out), (seen, quadruple(lane)));
            seen += 1;
        });
        assert_eq!(seen, LANES);
    }

    #[test]
    fn one_zero_is_noticed() {
        assert!(F32x8::splat(1.0).all_nonzero());
        for zero in 0..LANES {
            assert!(!F32x8::from_lanes(|lane| if lane == zero { 0.0 } else { 2.0 }).all_nonzero());
        }
    }
}
