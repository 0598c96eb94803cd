//! Scene files: TOML in, a validated [`Scene`] out.
//!
//! ```text
//! text → tree.rs → overrides.rs → check.rs (schema.rs) → file.rs → validate.rs → meshes.rs
//!      → particles.rs → Scene
//! ```
//! Each step goes on with what the step before found sound (`prune.rs`), so that one run
//! reports everything that is wrong.

mod check;
mod describe;
#[cfg(test)]
mod documentation;
mod error;
pub mod file;
pub mod library;
mod load;
mod meshes;
mod overrides;
mod particles;
mod path;
mod place;
mod prune;
mod schema;
mod select;
mod sources;
mod suggest;
mod text;
mod tree;
mod validate;

pub use error::{Place, SceneError, SceneErrors};
pub use load::{Scene, read_text};
pub use meshes::{Folder, MAX_CELLS, MAX_PARTICLES, MeshFiles};
pub use overrides::{Override, OverrideError};
pub use particles::MAX_COORDINATE;
pub use place::{instances, rotation, start_positions};
pub use schema::schema;
pub use select::{select, select_in_order};
pub(crate) use text::Part;
pub use validate::{ATTACHMENT_KIND, ELEMENT_KINDS};
