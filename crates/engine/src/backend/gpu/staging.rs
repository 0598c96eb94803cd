//! Bytes on their way home: copied behind what has been submitted, and read once they have arrived.
//! Nothing waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use wgpu::{Buffer, BufferDescriptor, BufferUsages};

use super::device::{Gpu, GpuError};

/// Nothing under way; being mapped; ready to be read; could not be mapped.
const IDLE: u8 = 0;
const MAPPING: u8 = 1;
const READY: u8 = 2;
const FAILED: u8 = 3;

/// A buffer that the host reads, and how far it is.
pub(super) struct Staging {
    pub(super) buffer: Buffer,
    progress: Arc<AtomicU8>,
}

impl Staging {
    /// Room for so many bytes.
    pub(super) fn new(gpu: &Gpu, label: &str, bytes: u64) -> Self {
        let buffer = gpu.device.create_buffer(&BufferDescriptor {
            label: Some(label),
            size: bytes,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { buffer, progress: Arc::default() }
    }

    /// Whether it is known to have arrived.
    #[cfg(test)]
    pub(super) fn has_arrived(&self) -> bool {
        self.progress.load(Ordering::Acquire) == READY
    }

    /// The commands that write into it were submitted: it can be read when they are done.
    pub(super) fn submitted(&self) {
        self.progress.store(MAPPING, Ordering::Release);
        let progress = Arc::clone(&self.progress);
        self.buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            progress.store(if result.is_ok() { READY } else { FAILED }, Ordering::Release);
        });
    }

    /// Reads it if it has arrived; returns whether it had.
    pub(super) fn receive(&self, gpu: &Gpu, read: impl FnOnce(&[u8])) -> Result<bool, GpuError> {
        match self.progress.load(Ordering::Acquire) {
            FAILED => {
                gpu.check()?;
                Err(gpu.lost("what it was to send did not arrive"))
            }
            READY => {
                let bytes = self.buffer.get_mapped_range(..);
                let arrived = bytes.map(|bytes| read(&bytes));
                self.buffer.unmap();
                self.progress.store(IDLE, Ordering::Release);
                arrived.map(|()| true).map_err(|error| gpu.lost(&error.to_string()))
            }
            _ => Ok(false),
        }
    }
}
