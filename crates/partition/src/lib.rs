//! Conflict-free parallel schedules.
