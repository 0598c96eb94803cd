//! Graphics processors through wgpu: Vulkan, Metal or Direct3D 12, whichever the platform has.
//!
//! `adapter.rs` finds adapters, `device.rs` opens one, `cache.rs` keeps its compiled kernels on disk. What goes wrong on a device later (it is lost, a command
//! is refused, memory runs out) is reported by [`Gpu::check`] as an error, never by a panic.
//!
//! `graphics.rs` is the back-end. It runs the same programs over the same schedules as the others:
//!
//! - `plan.rs` turns a program into dispatches, once; `group.rs` lays out the constraints of a group,
//!   `contacts.rs` the contacts between particles, `arrays.rs` makes the arrays, `kernels.rs` compiles
//!   the kernels that `shaders.rs` puts together from the WGSL files beside their Rust twins;
//! - `conditions.rs` writes down what changes from step to step, `hands.rs` pulls particles;
//! - `coloring.rs` colors elements on the device;
//! - `residual.rs` measures errors, of which only sums come home;
//! - `staging.rs` brings bytes home without waiting for them, `frames.rs` whole states;
//! - `report.rs` hears of contacts, divergence and times, without waiting for them.

mod adapter;
mod arrays;
mod cache;
mod coloring;
mod conditions;
mod contacts;
mod device;
mod frames;
mod graphics;
mod group;
mod hands;
mod kernels;
mod plan;
mod report;
mod residual;
mod shaders;
mod staging;

pub use adapter::{AdapterInfo, AdapterKind, DeviceChoice, adapters};
pub use coloring::color;
pub use device::{Gpu, GpuError, Limits};
pub use graphics::Graphics;

#[cfg(test)]
mod tests;
