//! Sixteen numbers side by side: AVX-512.

use std::arch::asm;
use std::arch::x86_64::{
    __m128, __m512, __mmask16, _CMP_LT_OQ, _mm_loadu_ps, _mm256_castps128_ps256,
    _mm256_insertf128_ps, _mm512_add_ps as add, _mm512_andnot_ps as andnot, _mm512_castps256_ps512,
    _mm512_cmp_ps_mask, _mm512_div_ps as div, _mm512_extractf32x4_ps as part, _mm512_insertf32x8,
    _mm512_loadu_ps as loadu, _mm512_mask_blend_ps, _mm512_maskz_mov_ps, _mm512_max_ps as max,
    _mm512_min_ps as min, _mm512_mul_ps as mul, _mm512_permute_ps as permute,
    _mm512_permutexvar_ps, _mm512_set1_ps as set1, _mm512_setr_epi32, _mm512_shuffle_ps as shuffle,
    _mm512_sqrt_ps as sqrt, _mm512_storeu_ps as storeu, _mm512_sub_ps as sub,
    _mm512_unpackhi_ps as unpackhi, _mm512_unpacklo_ps as unpacklo, _mm512_xor_ps as xor,
};

use super::avx2::Avx2;
use super::register_lane;
use crate::math::Work;

/// Does some work with AVX-512, or gives it back on a processor without.
#[inline]
pub(in crate::math) fn run<W: Work>(work: W) -> Result<W::Output, W> {
    if std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
    {
        // SAFETY: the processor has what the function is compiled for.
        Ok(unsafe { run_here(work) })
    } else {
        Err(work)
    }
}

#[target_feature(enable = "avx2,avx512f,avx512dq,avx512vl")]
#[inline(never)]
fn run_here<W: Work>(work: W) -> W::Output {
    work.run::<Avx512>()
}

/// A bit for each lane.
type Mask = __mmask16;

register_lane!(Avx512, __m512, 16, half: Avx2, parts: 0, 1, 2, 3);

/// Four rows of four numbers in one register.
#[inline(always)]
unsafe fn join([a, b, c, d]: [[f32; 4]; 4]) -> __m512 {
    // SAFETY: called by the methods of `Avx512` alone; each array has the four numbers that are read.
    unsafe {
        let load = |row: [f32; 4]| -> __m128 { _mm_loadu_ps(row.as_ptr()) };
        let low = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(load(a)), load(b));
        let high = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(load(c)), load(d));
        _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
    }
}

/// Rows are stored one by one. A compiler that knows how they were transposed takes registers apart first and
/// transposes the parts, which takes more instructions.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn whole(mut rows: __m512) -> __m512 {
    // SAFETY: no instruction.
    unsafe {
        asm!("/* {0} */", inout(zmm_reg) rows, options(pure, nomem, nostack, preserves_flags));
    }
    rows
}

#[inline(always)]
unsafe fn without_fourths(rows: __m512) -> __m512 {
    // SAFETY: called by the methods of `Avx512` alone.
    unsafe { _mm512_maskz_mov_ps(0x7777, rows) }
}

#[inline(always)]
unsafe fn deal(numbers: __m512) -> __m512 {
    // SAFETY: called by the methods of `Avx512` alone.
    unsafe {
        let order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        _mm512_permutexvar_ps(order, numbers)
    }
}

/// A square that is turned over twice is what it was.
#[inline(always)]
unsafe fn collect(numbers: __m512) -> __m512 {
    // SAFETY: called by the methods of `Avx512` alone.
    unsafe { deal(numbers) }
}

#[inline(always)]
unsafe fn less(a: __m512, b: __m512) -> Mask {
    // SAFETY: called by the methods of `Avx512` alone.
    unsafe { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b) }
}

#[inline(always)]
unsafe fn select(mask: Mask, yes: __m512, no: __m512) -> __m512 {
    // SAFETY: called by the methods of `Avx512` alone.
    unsafe { _mm512_mask_blend_ps(mask, no, yes) }
}

#[inline(always)]
unsafe fn bits(mask: Mask) -> u32 {
    u32::from(mask)
}
