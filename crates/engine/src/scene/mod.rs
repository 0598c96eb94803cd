//! Scene files: TOML in, a validated [`Scene`] out.

pub mod file;
mod schema;

pub use schema::schema;
