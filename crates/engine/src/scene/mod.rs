//! Scene files: TOML in, a validated [`Scene`] out.

pub mod file;
