//! A running simulation in the browser: the page, embedded in the program, and the server that sends
//! it frames and takes its commands. What the two say to each other is docs/viewer-protocol.md.
//!
//! ```text
//! simulation thread (live.rs)  ── scenes, frames, figures ──►  connections (connection.rs)  ──►  pages
//!            ▲                                                          │
//!            └────────────────── commands, bounded ─────────────────────┘
//! ```
//!
//! The simulation has a thread of its own and waits for nobody. It leaves its newest state where all
//! connections find it (`shared.rs`); each takes as many frames as its page acknowledges.

mod assets;
mod connection;
mod encode;
mod flow;
mod live;
mod origin;
mod pace;
mod protocol;
mod server;
mod shared;
mod source;
mod stats;

pub use assets::{NO_PAGE, has_page};
pub use server::{DEFAULT_PORT, Options, Server, ViewerError};
pub use source::Source;
