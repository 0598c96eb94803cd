//! Parallel constraint dynamics.

pub mod mesh;
pub mod scene;
