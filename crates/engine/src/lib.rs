//! Parallel constraint dynamics: cloth, soft bodies and contacts from one scene file, with the
//! same bits on any number of threads.
//!
//! A newcomer reads [`Simulation::step`] first; ARCHITECTURE.md in the repository shows the way
//! from there to every room.
//!
//! The modules build on each other in this order, and only in this order:
//! [`math`] → [`mesh`] → [`scene`] → [`state`] → [`constraint`] → [`collide`] → [`model`] →
//! [`solver`] → [`backend`] → [`simulation`] → [`output`].

pub mod backend;
pub mod collide;
pub mod constraint;
pub mod math;
pub mod mesh;
pub mod model;
pub mod output;
pub mod scene;
pub mod simulation;
pub mod solver;
pub mod state;

pub use simulation::{BackendChoice, Grab, GrabError, Settings, Simulation, SimulationError};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
