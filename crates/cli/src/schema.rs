//! `taut schema`: the JSON Schema of scene files.

use clap::Args;

use crate::console;
use crate::failure::Failure;

/// Print the JSON Schema of scene files, for editors
#[derive(Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<(), Failure> {
    Ok(console::print_json(&taut::scene::schema())?)
}
