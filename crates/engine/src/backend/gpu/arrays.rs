//! Arrays in the memory of a device.

use wgpu::util::{BufferInitDescriptor, DeviceExt};
use wgpu::{Buffer, BufferUsages};

use super::device::{Gpu, GpuError};

/// Uniform data of a dispatch starts at a multiple of this many bytes: what every device allows.
pub(super) const ALIGNMENT: usize = 256;

/// No binding may be empty, or smaller than one element of its array.
const LEAST: usize = 256;

/// Makes arrays, and refuses those that the device has no room for.
pub(super) struct Arrays<'a> {
    gpu: &'a Gpu,
    /// Bytes of all arrays so far.
    bytes: u64,
    /// The first array that was too large.
    refused: Option<GpuError>,
}

impl<'a> Arrays<'a> {
    pub(super) fn new(gpu: &'a Gpu) -> Self {
        Self { gpu, bytes: 0, refused: None }
    }

    /// An array that kernels read and the host can write.
    pub(super) fn words(&mut self, name: &'static str, words: &[u32]) -> Buffer {
        self.filled(name, bytemuck::cast_slice(words), BufferUsages::STORAGE)
    }

    /// An array of numbers that kernels read.
    pub(super) fn numbers(&mut self, name: &'static str, numbers: &[f32]) -> Buffer {
        self.filled(name, bytemuck::cast_slice(numbers), BufferUsages::STORAGE)
    }

    /// An array of four numbers for each particle that kernels write and the host reads.
    pub(super) fn particles(&mut self, name: &'static str, particles: &[[f32; 4]]) -> Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::VERTEX;
        self.filled(name, bytemuck::cast_slice(particles), usage)
    }

    /// An array of so many zeros that kernels write.
    pub(super) fn zeros(&mut self, name: &'static str, words: usize) -> Buffer {
        self.words(name, &vec![0; words])
    }

    /// Sizes of dispatches, which kernels write.
    pub(super) fn indirect(&mut self, name: &'static str, words: &[u32]) -> Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::INDIRECT | BufferUsages::COPY_SRC;
        self.filled(name, bytemuck::cast_slice(words), usage)
    }

    /// An array that kernels write and the host reads.
    pub(super) fn results(&mut self, name: &'static str, words: &[u32]) -> Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
        self.filled(name, bytemuck::cast_slice(words), usage)
    }

    /// Conditions and parameters of dispatches.
    pub(super) fn uniform(&mut self, name: &'static str, bytes: &[u8]) -> Buffer {
        self.filled(name, bytes, BufferUsages::UNIFORM)
    }

    fn filled(&mut self, name: &'static str, bytes: &[u8], usage: BufferUsages) -> Buffer {
        let usage = usage | BufferUsages::COPY_DST;
        let needed = bytes.len().max(LEAST) as u64;
        self.bytes += needed;
        let most = self.gpu.info.max_storage_binding.min(self.gpu.info.max_buffer);
        if needed > most {
            let device = self.gpu.info.name.clone();
            self.refused.get_or_insert(GpuError::ArrayTooLarge { device, name, needed, most });
        }
        if self.bytes > self.gpu.memory {
            let (name, needed) = (self.gpu.info.name.clone(), None);
            self.refused.get_or_insert(GpuError::OutOfMemory { name, needed });
        }
        if bytes.len() < LEAST || self.refused.is_some() {
            let mut padded = bytes[..bytes.len().min(LEAST)].to_vec();
            padded.resize(LEAST, 0);
            return self.make(name, &padded, usage);
        }
        self.make(name, bytes, usage)
    }

    fn make(&self, name: &str, contents: &[u8], usage: BufferUsages) -> Buffer {
        let label = Some(name);
        self.gpu.device.create_buffer_init(&BufferInitDescriptor { label, contents, usage })
    }

    /// How much memory all arrays take, bytes.
    ///
    /// # Errors
    /// If one was too large for the device, or all together.
    pub(super) fn finish(self) -> Result<u64, GpuError> {
        let refused = self.refused.map_or_else(|| self.gpu.check(), Err);
        refused.map_err(|error| error.with_estimate(self.bytes))?;
        Ok(self.bytes)
    }
}

/// Brings so many things of an array home, once all that was submitted is done.
pub(super) fn read<T: bytemuck::Pod>(
    gpu: &Gpu,
    buffer: &Buffer,
    count: usize,
) -> Result<Vec<T>, GpuError> {
    let bytes = (count * size_of::<T>()) as u64;
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let staging = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("on the way home"),
        size: bytes,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, bytes);
    gpu.queue.submit([encoder.finish()]);
    Ok(bytemuck::pod_collect_to_vec(&gpu.read(&staging, 0..bytes)?))
}

/// Parameters of dispatches, one after another in one array.
#[derive(Default)]
pub(super) struct Parameters {
    bytes: Vec<u8>,
}

impl Parameters {
    /// Adds parameters, as 32-bit words; returns where they start.
    pub(super) fn add(&mut self, words: &[u32]) -> u64 {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytemuck::cast_slice(words));
        self.bytes.resize(start + words.len().div_ceil(ALIGNMENT / 4) * ALIGNMENT, 0);
        start as u64
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
