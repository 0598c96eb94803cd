//! The arithmetic of the kernels: written once over a lane type, run on one `f32`, on several
//! at a time, or on `f64` in tests, with the same operations in the same order.

mod angle;
#[cfg(target_arch = "x86_64")]
mod avx2;
mod lane;
mod vec3;
mod wide;

pub use angle::atan2;
pub use lane::{Lane, MAX_WIDTH, Work};
pub use vec3::Vec3;
pub use wide::F32x8;

/// Does some work with the widest lanes of this processor.
#[inline]
pub fn widest<W: Work>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    let work = match avx2::run(work) {
        Ok(output) => return output,
        Err(work) => work,
    };
    work.run::<F32x8>()
}
