//! Conflict-free parallel schedules for anything that sweeps over elements and writes bodies.

mod elements;
mod error;
mod schedule;

pub use elements::Elements;
pub use error::{InputError, Place, ScheduleError};
pub use schedule::{Parts, Schedule};
