//! Flags that are short for `--set`.

use taut::scene::Override;

use crate::failure::Failure;

/// The values of `--set`, followed by those of flags that stand for a key of the scene.
pub(crate) fn with_flags(
    set: &[Override],
    flags: impl IntoIterator<Item = (&'static str, Option<String>)>,
) -> Result<Vec<Override>, Failure> {
    let mut overrides = set.to_vec();
    for (key, value) in flags {
        if let Some(value) = value {
            let flag = format!("{key}={value}").parse::<Override>();
            overrides.push(flag.map_err(|error| Failure::Input(error.to_string()))?);
        }
    }
    Ok(overrides)
}
