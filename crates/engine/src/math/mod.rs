//! The arithmetic of the kernels: written once over a lane type, run on one `f32`, on several
//! at a time, or on `f64` in tests, with the same operations in the same order.

mod angle;
mod fetch;
mod lane;
mod vec3;
mod wide;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use angle::atan2;
pub(crate) use fetch::{LINE, PARTICLES_IN_LINE, fetch, fetch_some};
pub use lane::{Lane, MAX_WIDTH, Work, in_row};
pub use vec3::Vec3;
pub use wide::F32x8;

/// Does some work with the widest lanes of this processor. An x86 processor without AVX2 gets one lane:
/// there are few left, and every width that is compiled makes the program larger and slower to build.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn widest<W: Work>(work: W) -> W::Output {
    let narrower = |work: W| x86::avx2::run(work).unwrap_or_else(W::run::<f32>);
    x86::avx512::run(work).unwrap_or_else(narrower)
}

/// Does some work with the widest lanes of this processor: the compiler makes the registers that it has
/// out of an array.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn widest<W: Work>(work: W) -> W::Output {
    work.run::<F32x8>()
}
