//! Eight numbers side by side: AVX2.

use std::arch::asm;
use std::arch::x86_64::{
    __m256, _CMP_LT_OQ, _mm_loadu_ps, _mm256_add_ps as add, _mm256_and_ps as and,
    _mm256_andnot_ps as andnot, _mm256_blend_ps, _mm256_castps128_ps256, _mm256_cmp_ps,
    _mm256_div_ps as div, _mm256_extractf128_ps as part, _mm256_insertf128_ps,
    _mm256_loadu_ps as loadu, _mm256_max_ps as max, _mm256_min_ps as min, _mm256_movemask_ps,
    _mm256_mul_ps as mul, _mm256_or_ps as or, _mm256_permute_ps as permute,
    _mm256_permutevar8x32_ps, _mm256_set1_ps as set1, _mm256_setr_epi32, _mm256_setzero_ps,
    _mm256_shuffle_ps as shuffle, _mm256_sqrt_ps as sqrt, _mm256_storeu_ps as storeu,
    _mm256_sub_ps as sub, _mm256_unpackhi_ps as unpackhi, _mm256_unpacklo_ps as unpacklo,
    _mm256_xor_ps as xor,
};

use super::register_lane;
use crate::math::Work;

/// Does some work with AVX2, or gives it back on a processor without.
#[inline]
pub(in crate::math) fn run<W: Work>(work: W) -> Result<W::Output, W> {
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has what the function is compiled for.
        Ok(unsafe { run_here(work) })
    } else {
        Err(work)
    }
}

#[target_feature(enable = "avx2")]
#[inline(never)]
fn run_here<W: Work>(work: W) -> W::Output {
    work.run::<Avx2>()
}

/// All bits of a lane set, or none.
#[derive(Clone, Copy)]
pub(super) struct Mask(__m256);

register_lane!(Avx2, __m256, 8, half: Self, parts: 0, 1);

/// Two rows of four numbers in one register.
#[inline(always)]
unsafe fn join([low, high]: [[f32; 4]; 2]) -> __m256 {
    // SAFETY: called by the methods of `Avx2` alone; each array has the four numbers that are read.
    unsafe {
        let (low, high) = (_mm_loadu_ps(low.as_ptr()), _mm_loadu_ps(high.as_ptr()));
        _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
    }
}

/// As in `avx512.rs`.
#[target_feature(enable = "avx")]
#[inline]
unsafe fn whole(mut rows: __m256) -> __m256 {
    // SAFETY: no instruction.
    unsafe {
        asm!("/* {0} */", inout(ymm_reg) rows, options(pure, nomem, nostack, preserves_flags));
    }
    rows
}

#[inline(always)]
unsafe fn without_fourths(rows: __m256) -> __m256 {
    // SAFETY: called by the methods of `Avx2` alone.
    unsafe { _mm256_blend_ps::<0x88>(rows, _mm256_setzero_ps()) }
}

#[inline(always)]
unsafe fn deal(numbers: __m256) -> __m256 {
    // SAFETY: called by the methods of `Avx2` alone.
    unsafe { _mm256_permutevar8x32_ps(numbers, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7)) }
}

#[inline(always)]
unsafe fn collect(numbers: __m256) -> __m256 {
    // SAFETY: called by the methods of `Avx2` alone.
    unsafe { _mm256_permutevar8x32_ps(numbers, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)) }
}

#[inline(always)]
unsafe fn less(a: __m256, b: __m256) -> Mask {
    // SAFETY: called by the methods of `Avx2` alone.
    Mask(unsafe { _mm256_cmp_ps::<_CMP_LT_OQ>(a, b) })
}

#[inline(always)]
unsafe fn select(mask: Mask, yes: __m256, no: __m256) -> __m256 {
    // SAFETY: called by the methods of `Avx2` alone.
    unsafe { or(and(mask.0, yes), andnot(mask.0, no)) }
}

#[inline(always)]
unsafe fn bits(mask: Mask) -> u32 {
    // SAFETY: called by the methods of `Avx2` alone.
    unsafe { _mm256_movemask_ps(mask.0) as u32 }
}
