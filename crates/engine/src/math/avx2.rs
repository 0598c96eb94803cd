//! Eight numbers side by side in the registers of an x86 processor with AVX2.
//!
//! Why a file of its own, next to the plain array of `wide.rs`: particles are loaded as eight
//! 16-byte rows and transposed in registers, and no compiler finds those shuffles by itself.
//!
//! Why this is sound. The intrinsics need a processor that has AVX2. [`run`] is the only way to
//! this file's lane type, which has no name outside, and it asks the processor first; so a value of
//! the type exists only where its operations may be used.
#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128, __m256, _CMP_LT_OQ, _mm_loadu_ps, _mm_storeu_ps, _mm256_add_ps, _mm256_and_ps,
    _mm256_andnot_ps, _mm256_blend_ps, _mm256_castps128_ps256, _mm256_castps256_ps128,
    _mm256_cmp_ps, _mm256_div_ps, _mm256_extractf128_ps, _mm256_insertf128_ps, _mm256_loadu_ps,
    _mm256_max_ps, _mm256_min_ps, _mm256_movemask_ps, _mm256_mul_ps, _mm256_or_ps,
    _mm256_permute_ps, _mm256_set1_ps, _mm256_setzero_ps, _mm256_shuffle_ps, _mm256_sqrt_ps,
    _mm256_storeu_ps, _mm256_sub_ps, _mm256_unpackhi_ps, _mm256_unpacklo_ps, _mm256_xor_ps,
};
use std::ops::{Add, Div, Mul, Neg, Sub};

use super::lane::{Lane, Work};

const LANES: usize = 8;

/// Does some work with AVX2, or gives it back on a processor without.
#[inline]
pub(super) fn run<W: Work>(work: W) -> Result<W::Output, W> {
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function is compiled for.
        Ok(unsafe { run_with_avx2(work) })
    } else {
        Err(work)
    }
}

#[target_feature(enable = "avx2")]
fn run_with_avx2<W: Work>(work: W) -> W::Output {
    work.run::<Avx2>()
}

/// Eight `f32` lanes in one register.
#[derive(Clone, Copy)]
struct Avx2(__m256);

/// All bits of a lane set, or none.
#[derive(Clone, Copy)]
struct Mask(__m256);

/// Eight rows of four numbers: the first four in the low halves of the registers, the others in the
/// high halves.
#[derive(Clone, Copy)]
struct Rows([__m256; 4]);

macro_rules! lanewise {
    ($trait:ident, $method:ident, $intrinsic:ident) => {
        impl $trait for Avx2 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: the processor has AVX2, or there were no value of this type.
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    };
}

lanewise!(Add, add, _mm256_add_ps);
lanewise!(Sub, sub, _mm256_sub_ps);
lanewise!(Mul, mul, _mm256_mul_ps);
lanewise!(Div, div, _mm256_div_ps);

impl Neg for Avx2 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_xor_ps(self.0, _mm256_set1_ps(-0.0)) })
    }
}

/// Transposes the 4×4 matrices in the two halves of four registers.
#[inline(always)]
fn transpose([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: called by the methods of `Avx2` alone.
    unsafe {
        let (ab_low, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(ab_low, cd_low),
            _mm256_shuffle_ps::<0xEE>(ab_low, cd_low),
            _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm256_shuffle_ps::<0xEE>(ab_high, cd_high),
        ]
    }
}

/// Two rows of four numbers in one register.
#[inline(always)]
fn join(low: [f32; 4], high: [f32; 4]) -> __m256 {
    // SAFETY: called by the methods of `Avx2` alone; each array has the four numbers that are read.
    unsafe {
        let (low, high) = (_mm_loadu_ps(low.as_ptr()), _mm_loadu_ps(high.as_ptr()));
        _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
    }
}

#[inline(always)]
fn row(row: __m128) -> [f32; 4] {
    let mut numbers = [0.0; 4];
    // SAFETY: called by the methods of `Avx2` alone; there is room for four numbers.
    unsafe { _mm_storeu_ps(numbers.as_mut_ptr(), row) };
    numbers
}

/// For each register of rows, the numbers of its two lanes, four times each.
#[inline(always)]
fn spread(Avx2(numbers): Avx2) -> [__m256; 4] {
    // SAFETY: the processor has AVX2, or there were no value of this type.
    unsafe {
        [
            _mm256_permute_ps::<0x00>(numbers),
            _mm256_permute_ps::<0x55>(numbers),
            _mm256_permute_ps::<0xAA>(numbers),
            _mm256_permute_ps::<0xFF>(numbers),
        ]
    }
}

impl Lane for Avx2 {
    type Mask = Mask;
    type Rows = Rows;
    const WIDTH: usize = LANES;

    #[inline(always)]
    fn load(numbers: &[f32]) -> Self {
        let mut all = [0.0; LANES];
        if let Ok(whole) = numbers.try_into() {
            all = whole;
        } else {
            for (lane, number) in all.iter_mut().enumerate() {
                *number = numbers[lane.min(numbers.len() - 1)];
            }
        }
        // SAFETY: the processor has AVX2 (see the top of this file); the array has eight numbers.
        Self(unsafe { _mm256_loadu_ps(all.as_ptr()) })
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f32]) {
        let mut all = [0.0; LANES];
        // SAFETY: as above; there is room for eight numbers.
        unsafe { _mm256_storeu_ps(all.as_mut_ptr(), self.0) };
        numbers.copy_from_slice(&all[..numbers.len()]);
    }
    #[inline(always)]
    fn from_lanes(number: impl Fn(usize) -> f32) -> Self {
        let mut all = [0.0; LANES];
        for (lane, value) in all.iter_mut().enumerate() {
            *value = number(lane);
        }
        Self::load(&all)
    }
    #[inline(always)]
    fn lane(self, i: usize) -> f32 {
        let mut all = [0.0; LANES];
        self.store(&mut all);
        all[i]
    }
    #[inline(always)]
    fn gather(quadruple: impl Fn(usize) -> [f32; 4]) -> Rows {
        Rows([
            join(quadruple(0), quadruple(4)),
            join(quadruple(1), quadruple(5)),
            join(quadruple(2), quadruple(6)),
            join(quadruple(3), quadruple(7)),
        ])
    }
    #[inline(always)]
    fn scatter(Rows(rows): Rows, mut store: impl FnMut(usize, [f32; 4])) {
        // SAFETY: the processor has AVX2 (see the top of this file).
        unsafe {
            store(0, row(_mm256_castps256_ps128(rows[0])));
            store(1, row(_mm256_castps256_ps128(rows[1])));
            store(2, row(_mm256_castps256_ps128(rows[2])));
            store(3, row(_mm256_castps256_ps128(rows[3])));
            store(4, row(_mm256_extractf128_ps::<1>(rows[0])));
            store(5, row(_mm256_extractf128_ps::<1>(rows[1])));
            store(6, row(_mm256_extractf128_ps::<1>(rows[2])));
            store(7, row(_mm256_extractf128_ps::<1>(rows[3])));
        }
    }
    #[inline(always)]
    fn columns(Rows(rows): Rows) -> [Self; 4] {
        let [x, y, z, w] = transpose(rows);
        [Self(x), Self(y), Self(z), Self(w)]
    }
    #[inline(always)]
    fn rows([x, y, z, w]: [Self; 4]) -> Rows {
        Rows(transpose([x.0, y.0, z.0, w.0]))
    }
    #[inline(always)]
    fn between(Rows(a): Rows, Rows(b): Rows) -> Rows {
        // a + (−b) rounds as a − b does.
        let negated = join([-0.0, -0.0, -0.0, 0.0], [-0.0, -0.0, -0.0, 0.0]);
        let mut between = a;
        for pair in 0..4 {
            // SAFETY: the processor has AVX2 (see the top of this file).
            between[pair] = unsafe { _mm256_add_ps(a[pair], _mm256_xor_ps(b[pair], negated)) };
        }
        Rows(between)
    }
    #[inline(always)]
    fn scaled(Rows(rows): Rows, factor: Self) -> Rows {
        let factors = spread(factor);
        let mut scaled = rows;
        for pair in 0..4 {
            // SAFETY: the processor has AVX2 (see the top of this file).
            unsafe {
                let direction = _mm256_blend_ps::<0x88>(rows[pair], _mm256_setzero_ps());
                scaled[pair] = _mm256_mul_ps(direction, factors[pair]);
            }
        }
        Rows(scaled)
    }
    #[inline(always)]
    fn pushed(Rows(rows): Rows, Rows(way): Rows) -> Rows {
        let mut pushed = rows;
        for pair in 0..4 {
            // SAFETY: the processor has AVX2 (see the top of this file).
            unsafe {
                let fourth = _mm256_permute_ps::<0xFF>(rows[pair]);
                pushed[pair] = _mm256_add_ps(rows[pair], _mm256_mul_ps(way[pair], fourth));
            }
        }
        Rows(pushed)
    }
    #[inline(always)]
    fn pulled(Rows(rows): Rows, Rows(way): Rows) -> Rows {
        let mut pulled = rows;
        for pair in 0..4 {
            // SAFETY: the processor has AVX2 (see the top of this file).
            unsafe {
                let fourth = _mm256_permute_ps::<0xFF>(rows[pair]);
                pulled[pair] = _mm256_sub_ps(rows[pair], _mm256_mul_ps(way[pair], fourth));
            }
        }
        Rows(pulled)
    }
    #[inline(always)]
    fn plus(Rows(a): Rows, Rows(b): Rows) -> Rows {
        let mut sum = a;
        for pair in 0..4 {
            // SAFETY: the processor has AVX2 (see the top of this file).
            sum[pair] = unsafe { _mm256_add_ps(a[pair], b[pair]) };
        }
        Rows(sum)
    }
    #[inline(always)]
    fn times(Rows(rows): Rows, factors: [f32; 4]) -> Rows {
        let factors = join(factors, factors);
        let mut product = rows;
        for pair in 0..4 {
            // SAFETY: the processor has AVX2 (see the top of this file).
            product[pair] = unsafe { _mm256_mul_ps(rows[pair], factors) };
        }
        Rows(product)
    }
    #[inline(always)]
    fn bits(mask: Mask) -> u32 {
        // SAFETY: the processor has AVX2 (see the top of this file).
        unsafe { _mm256_movemask_ps(mask.0) as u32 }
    }
    #[inline(always)]
    fn splat(value: f32) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_set1_ps(value) })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_sqrt_ps(self.0) })
    }
    #[inline(always)]
    fn abs(self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0) })
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_min_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_max_ps(self.0, other.0) })
    }
    #[inline(always)]
    fn less(self, other: Self) -> Mask {
        // SAFETY: as above.
        Mask(unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(self.0, other.0) })
    }
    #[inline(always)]
    fn select(mask: Mask, yes: Self, no: Self) -> Self {
        // SAFETY: as above.
        Self(unsafe { _mm256_or_ps(_mm256_and_ps(mask.0, yes.0), _mm256_andnot_ps(mask.0, no.0)) })
    }
}
