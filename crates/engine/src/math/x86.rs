//! Lanes in the registers of x86 processors: eight with AVX2, sixteen with AVX-512.
//!
//! Why files of their own, next to the plain array of `wide.rs`: particles are loaded as 16-byte rows
//! and transposed in registers, and no compiler finds those shuffles by itself.
//!
//! Why this is sound. The intrinsics need a processor that has them. `run` of each file is the only
//! way to its lane type, which has no name outside, and it asks the processor first; so a value of the
//! type exists only where its operations may be used. (Processors with AVX-512 have AVX2.)
#![allow(unsafe_code)]

pub(super) mod avx2;
pub(super) mod avx512;

/// Makes a lane type of a register. Whoever calls this has the register's intrinsics in scope under the
/// names without prefix and width (`add`, `shuffle`, …), and what differs between the widths:
///
/// - `run_here`: does some work, compiled for the instructions;
/// - `type Mask`, `less`, `select`, `bits`: comparisons;
/// - `join`: the rows of the lanes i, i + 4, i + 8 … in one register; `part::<Q>`: its row number Q;
/// - `without_fourths`: 0 in place of every fourth number;
/// - `whole`: the same register, of which the compiler does not know what is in it;
/// - `deal`, `collect`: numbers in the order of [`in_row`](super::in_row), and back.
macro_rules! register_lane {
    ($lanes:ident, $register:ty, $width:literal, half: $half:ty, parts: $($part:literal),*) => {
        /// `f32` lanes in one register.
        #[derive(Clone, Copy)]
        pub(super) struct $lanes($register);

        /// Rows of four numbers. A register holds those of the lanes i, i + 4, i + 8 …
        #[derive(Clone, Copy)]
        pub(super) struct Rows([$register; 4]);

        register_lane!(@ $lanes, Add, add);
        register_lane!(@ $lanes, Sub, sub);
        register_lane!(@ $lanes, Mul, mul);
        register_lane!(@ $lanes, Div, div);

        impl std::ops::Neg for $lanes {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                // SAFETY: the processor has the instructions, or there were no value of this type.
                Self(unsafe { xor(self.0, set1(-0.0)) })
            }
        }

        /// Transposes the 4×4 matrices in the quarters or halves of four registers.
        #[inline(always)]
        fn transpose([a, b, c, d]: [$register; 4]) -> [$register; 4] {
            // SAFETY: called by the methods of the lane type alone.
            unsafe {
                let (ab_low, ab_high) = (unpacklo(a, b), unpackhi(a, b));
                let (cd_low, cd_high) = (unpacklo(c, d), unpackhi(c, d));
                [
                    shuffle::<0x44>(ab_low, cd_low),
                    shuffle::<0xEE>(ab_low, cd_low),
                    shuffle::<0x44>(ab_high, cd_high),
                    shuffle::<0xEE>(ab_high, cd_high),
                ]
            }
        }

        /// For each register of rows, the numbers of its lanes, four times each.
        #[inline(always)]
        fn spread($lanes(numbers): $lanes) -> [$register; 4] {
            // SAFETY: the processor has the instructions, or there were no value of this type.
            unsafe {
                [
                    permute::<0x00>(numbers),
                    permute::<0x55>(numbers),
                    permute::<0xAA>(numbers),
                    permute::<0xFF>(numbers),
                ]
            }
        }

        #[inline(always)]
        fn row(row: std::arch::x86_64::__m128) -> [f32; 4] {
            let mut numbers = [0.0; 4];
            // SAFETY: every x86-64 processor has this; there is room for four numbers.
            unsafe { std::arch::x86_64::_mm_storeu_ps(numbers.as_mut_ptr(), row) };
            numbers
        }

        impl crate::math::Lane for $lanes {
            type Mask = Mask;
            type Rows = Rows;
            type Half = $half;
            const WIDTH: usize = $width;

            #[inline(always)]
            fn apart<W: crate::math::Work>(work: W) -> W::Output {
                // SAFETY: whoever can name this type was called by `run`, which asked the processor.
                unsafe { run_here(work) }
            }

            #[inline(always)]
            fn load(numbers: &[f32]) -> Self {
                let mut all = [0.0; $width];
                if let Ok(whole) = numbers.try_into() {
                    all = whole;
                } else {
                    for (lane, number) in all.iter_mut().enumerate() {
                        *number = numbers[lane.min(numbers.len() - 1)];
                    }
                }
                // SAFETY: the processor has the instructions (see `x86.rs`); the array has as many
                // numbers as the register.
                Self(unsafe { loadu(all.as_ptr()) })
            }
            #[inline(always)]
            fn store(self, numbers: &mut [f32]) {
                let mut all = [0.0; $width];
                // SAFETY: as above; there is room for all numbers.
                unsafe { storeu(all.as_mut_ptr(), self.0) };
                numbers.copy_from_slice(&all[..numbers.len()]);
            }
            #[inline(always)]
            fn from_lanes(number: impl Fn(usize) -> f32) -> Self {
                let mut all = [0.0; $width];
                for (lane, value) in all.iter_mut().enumerate() {
                    *value = number(lane);
                }
                Self::load(&all)
            }
            #[inline(always)]
            fn lane(self, i: usize) -> f32 {
                let mut all = [0.0; $width];
                self.store(&mut all);
                all[i]
            }
            #[inline(always)]
            fn gather(quadruple: impl Fn(usize) -> [f32; 4]) -> Rows {
                // SAFETY: as above.
                unsafe {
                    Rows([
                        join([$(quadruple(4 * $part)),*]),
                        join([$(quadruple(1 + 4 * $part)),*]),
                        join([$(quadruple(2 + 4 * $part)),*]),
                        join([$(quadruple(3 + 4 * $part)),*]),
                    ])
                }
            }
            #[inline(always)]
            fn scatter(Rows(rows): Rows, mut store: impl FnMut(usize, [f32; 4])) {
                // SAFETY: as above.
                unsafe {
                    $(
                        store(4 * $part, row(part::<$part>(rows[0])));
                        store(1 + 4 * $part, row(part::<$part>(rows[1])));
                        store(2 + 4 * $part, row(part::<$part>(rows[2])));
                        store(3 + 4 * $part, row(part::<$part>(rows[3])));
                    )*
                }
            }
            #[inline(always)]
            fn columns(Rows(rows): Rows) -> [Self; 4] {
                let [x, y, z, w] = transpose(rows);
                [Self(x), Self(y), Self(z), Self(w)]
            }
            #[inline(always)]
            fn rows([x, y, z, w]: [Self; 4]) -> Rows {
                let [a, b, c, d] = transpose([x.0, y.0, z.0, w.0]);
                // SAFETY: as above.
                unsafe { Rows([whole(a), whole(b), whole(c), whole(d)]) }
            }
            #[inline(always)]
            fn between(Rows(a): Rows, Rows(b): Rows) -> Rows {
                let mut between = a;
                for i in 0..4 {
                    // SAFETY: as above.
                    unsafe {
                        // a + (−b) rounds as a − b does.
                        let negated = join([[-0.0, -0.0, -0.0, 0.0]; $width / 4]);
                        between[i] = add(a[i], xor(b[i], negated));
                    }
                }
                Rows(between)
            }
            #[inline(always)]
            fn scaled(Rows(rows): Rows, factor: Self) -> Rows {
                let factors = spread(factor);
                let mut scaled = rows;
                for i in 0..4 {
                    // SAFETY: as above.
                    scaled[i] = unsafe { mul(without_fourths(rows[i]), factors[i]) };
                }
                Rows(scaled)
            }
            #[inline(always)]
            fn pushed(Rows(rows): Rows, Rows(way): Rows) -> Rows {
                let mut pushed = rows;
                for i in 0..4 {
                    // SAFETY: as above.
                    pushed[i] = unsafe { add(rows[i], mul(way[i], permute::<0xFF>(rows[i]))) };
                }
                Rows(pushed)
            }
            #[inline(always)]
            fn pulled(Rows(rows): Rows, Rows(way): Rows) -> Rows {
                let mut pulled = rows;
                for i in 0..4 {
                    // SAFETY: as above.
                    pulled[i] = unsafe { sub(rows[i], mul(way[i], permute::<0xFF>(rows[i]))) };
                }
                Rows(pulled)
            }
            #[inline(always)]
            fn plus(Rows(a): Rows, Rows(b): Rows) -> Rows {
                let mut sum = a;
                for i in 0..4 {
                    // SAFETY: as above.
                    sum[i] = unsafe { add(a[i], b[i]) };
                }
                Rows(sum)
            }
            #[inline(always)]
            fn times(Rows(rows): Rows, factors: [f32; 4]) -> Rows {
                let mut product = rows;
                for i in 0..4 {
                    // SAFETY: as above.
                    product[i] = unsafe { mul(rows[i], join([factors; $width / 4])) };
                }
                Rows(product)
            }
            #[inline(always)]
            fn dealt(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { deal(self.0) })
            }
            #[inline(always)]
            fn collected(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { collect(self.0) })
            }
            #[inline(always)]
            fn bits(mask: Mask) -> u32 {
                // SAFETY: as above.
                unsafe { bits(mask) }
            }
            #[inline(always)]
            fn splat(value: f32) -> Self {
                // SAFETY: as above.
                Self(unsafe { set1(value) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { sqrt(self.0) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { andnot(set1(-0.0), self.0) })
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { min(self.0, other.0) })
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { max(self.0, other.0) })
            }
            #[inline(always)]
            fn less(self, other: Self) -> Mask {
                // SAFETY: as above.
                unsafe { less(self.0, other.0) }
            }
            #[inline(always)]
            fn select(mask: Mask, yes: Self, no: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { select(mask, yes.0, no.0) })
            }
        }
    };
    (@ $lanes:ident, $trait:ident, $method:ident) => {
        impl std::ops::$trait for $lanes {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: the processor has the instructions, or there were no value of this type.
                Self(unsafe { $method(self.0, other.0) })
            }
        }
    };
}

use register_lane;
