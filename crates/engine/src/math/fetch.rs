//! Has numbers brought closer for somebody who needs them soon. Processors find out by themselves what
//! is read in a row, but begin anew with every page of memory.
#![allow(unsafe_code)]

/// Bytes that memory moves at a time on x86 processors.
pub(crate) const LINE: usize = 64;

/// Particles in that many.
pub(crate) const PARTICLES_IN_LINE: usize = LINE / size_of::<[f32; 4]>();

/// Has the place of a value brought to the second-level cache.
#[inline(always)]
pub(crate) fn fetch<T>(place: *const T) {
    // SAFETY: a hint that reads nothing, whatever the address; every x86-64 processor knows it.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T1>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// Has so many values that follow each other brought to the second-level cache, those from a place on.
#[inline(always)]
pub(crate) fn fetch_some<T>(start: *const T, count: usize) {
    let mut next = 0;
    while next < count {
        fetch(start.wrapping_add(next));
        next += LINE / size_of::<T>();
    }
}
