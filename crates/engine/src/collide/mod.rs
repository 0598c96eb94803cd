//! Collisions with static shapes: signed distances (`shape.rs`), motion along keyframes
//! (`pose.rs`) and the contact of a particle with friction (`contact.rs`).

mod contact;
mod pose;
mod shape;

pub use contact::{Obstacle, Resolved};
pub use pose::{Frame, Motion, Pose};
pub use shape::Form;
