//! Pictures of simulations without a window: a [`Renderer`] draws what [`taut::output::Drawing`] says, on
//! any graphics processor that wgpu reaches, the software driver included.
//!
//! Light comes from one bright source and from the sky. Every light, each of the sky's 32 as well, has a
//! shadow map, so that folds, contacts and the ground under things are as dark as they should be. The
//! same input gives the same bits on the same device.
//!
//! Colors and lights are in `look.json`, which the viewer's page is built from too: both look alike.
//!
//! Places come from the processor, or from the very buffer that a solver on the device wrote
//! ([`Points::OnDevice`]).

mod camera;
mod color;
mod geometry;
mod light;
mod make;
mod passes;
mod picture;
mod pipelines;
mod renderer;
mod solids;
mod style;
mod upload;

pub use camera::Camera;
pub use color::{body_color, partition_colors, repeating_colors};
pub use geometry::Line;
pub use picture::Picture;
pub use renderer::{Frame, Look, Points, Renderer, Source};
pub use style::Theme;

use taut::backend::gpu::GpuError;
use thiserror::Error;

/// A picture that cannot be drawn.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RenderError {
    /// The device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A picture larger than the device can draw.
    #[error(
        "a picture of {width}x{height} pixels cannot be drawn; give 1 to {limit} in each direction"
    )]
    Size {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
        /// The most in each direction.
        limit: u32,
    },
    /// A scene larger than the device can hold.
    #[error(
        "the scene needs a buffer of {bytes} bytes, and the device '{device}' has at most {limit}; choose another with --device, or a smaller scene"
    )]
    TooLarge {
        /// What is needed.
        bytes: u64,
        /// What there is.
        limit: u64,
        /// The device's name.
        device: String,
    },
}
