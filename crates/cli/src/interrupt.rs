//! Ctrl-C: work stops at the end of a step and closes what it writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// A flag that Ctrl-C raises; by default, nobody watches for it.
#[derive(Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for Ctrl-C from now on. Once per process.
    pub(crate) fn watch() -> Result<Self, Failure> {
        let flag = Arc::new(AtomicBool::new(false));
        let raised = Arc::clone(&flag);
        ctrlc::set_handler(move || raised.store(true, Ordering::Relaxed))
            .map_err(|error| Failure::Work(format!("could not watch for Ctrl-C: {error}")))?;
        Ok(Self(flag))
    }

    /// As if it had come.
    #[cfg(test)]
    pub(crate) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it came.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
