//! Stands in for the commands that need a graphics processor where the feature `gpu` is left out.

use crate::failure::Failure;

/// Needs the feature `gpu`, which this taut was built without
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _ignored: Vec<String>,
}

pub(crate) fn run(_: &Arguments) -> Result<(), Failure> {
    Err(failure())
}

/// Why there is no graphics processor.
pub(crate) fn failure() -> Failure {
    let message = "this taut was built without graphics; \
                   build it with `cargo build --release --features gpu`";
    Failure::Input(message.to_owned())
}
