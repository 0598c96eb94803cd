//! Graphics processors through wgpu: Vulkan, Metal or Direct3D 12, whichever the platform has.
//!
//! `device.rs` finds adapters and opens one. What goes wrong on a device later (it is lost, a command
//! is refused, memory runs out) is reported by [`Gpu::check`] as an error, never by a panic.

mod device;

pub use device::{AdapterInfo, AdapterKind, DeviceChoice, Gpu, GpuError, adapters};
