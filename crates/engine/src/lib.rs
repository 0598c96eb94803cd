//! Parallel constraint dynamics.

pub mod constraint;
pub mod math;
pub mod mesh;
pub mod scene;
pub mod state;
