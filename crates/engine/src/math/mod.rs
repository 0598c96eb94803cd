//! The arithmetic of the kernels: written once over a lane type, run on one `f32`, on several
//! at a time, or on `f64` in tests, with the same operations in the same order.

mod angle;
mod lane;
mod vec3;
mod wide;

pub use angle::atan2;
pub use lane::Lane;
pub use vec3::Vec3;
pub use wide::F32x8;
