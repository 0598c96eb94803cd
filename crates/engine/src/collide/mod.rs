//! Collisions with static shapes: signed distances (`shape.rs`), motion along keyframes
//! (`pose.rs`) and the contact of a particle with friction (`contact.rs`); and the contact of two
//! particles with friction (`pair.rs`).

mod contact;
mod pair;
mod pose;
mod shape;

pub use contact::{Obstacle, Touch};
pub use pair::{Law, Moving, Parting, share};
pub use pose::{Frame, Motion, Pose};
pub use shape::Form;
