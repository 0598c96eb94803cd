//! Devices that are open, and what can go wrong with them.

use std::ops::Range;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use super::adapter::{AdapterInfo, DeviceChoice, choose, describe, found};
use super::cache::Pipelines;

/// What can go wrong with a graphics processor.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum GpuError {
    /// There is none.
    #[error("no graphics device was found; {}", remedy())]
    NoAdapter,
    /// There are some, but not the one that was asked for.
    #[error("no graphics device '{wanted}'; there are: {}", known.join(", "))]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// Numbers and names of those that exist.
        known: Vec<String>,
    },
    /// The driver refused to open it.
    #[error("could not open the graphics device '{name}': {reason}; is its driver up to date?")]
    NotOpened {
        /// Its name.
        name: String,
        /// What the driver said.
        reason: String,
    },
    /// The device went away while it worked.
    #[error(
        "the graphics device '{name}' was lost: {reason}; it may have been reset because a kernel took too long, or unplugged"
    )]
    Lost {
        /// Its name.
        name: String,
        /// What the driver said.
        reason: String,
    },
    /// It has too little memory.
    #[error(
        "the graphics device '{name}' is out of memory{}; use a smaller scene or the cpu back-end",
        needed.map_or(String::new(), |bytes| format!(": this scene takes {} MiB", bytes.div_ceil(1 << 20)))
    )]
    OutOfMemory {
        /// Its name.
        name: String,
        /// What was to be put there, bytes, if that is known.
        needed: Option<u64>,
    },
    /// An array is larger than the device can bind.
    #[error(
        "the {name} of this scene take {} MiB in one array, and the graphics device '{device}' takes {} MiB at most; use a smaller scene or the cpu back-end",
        needed.div_ceil(1 << 20), most >> 20
    )]
    ArrayTooLarge {
        /// The device's name.
        device: String,
        /// What the array has.
        name: &'static str,
        /// Its size, bytes.
        needed: u64,
        /// The most that the device takes, bytes.
        most: u64,
    },
    /// It refused a command: a mistake in this program or in the driver.
    #[error("the graphics device '{name}' refused a command: {reason}")]
    Refused {
        /// Its name.
        name: String,
        /// What it said.
        reason: String,
    },
}

impl GpuError {
    /// Says how much memory was needed, where there was too little.
    pub(super) fn with_estimate(self, bytes: u64) -> Self {
        match self {
            Self::OutOfMemory { name, .. } => Self::OutOfMemory { name, needed: Some(bytes) },
            other => other,
        }
    }
}

/// What to install where no adapter is found.
fn remedy() -> &'static str {
    if cfg!(target_os = "linux") {
        "install the vendor's Vulkan driver, or a software one: apt-get install mesa-vulkan-drivers libvulkan1"
    } else {
        "install the vendor's graphics driver"
    }
}

/// What a device may be used up to, where that is less than it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest array that a kernel is given, bytes.
    pub array: u64,
    /// Memory of all arrays of a scene, bytes.
    pub memory: u64,
}

/// All that there is.
impl Default for Limits {
    fn default() -> Self {
        Self { array: u64::MAX, memory: u64::MAX }
    }
}

/// An open device. Clones share it.
#[derive(Clone, Debug)]
pub struct Gpu {
    /// Makes buffers, pipelines and encoders.
    pub device: wgpu::Device,
    /// Takes commands.
    pub queue: wgpu::Queue,
    /// What it was opened on.
    pub info: Arc<AdapterInfo>,
    /// Memory that a scene may take, bytes. Drivers do not say how much they have: what they refuse is
    /// reported when they do.
    pub(super) memory: u64,
    /// Compiled kernels.
    pub(super) pipelines: Arc<Pipelines>,
    /// The first thing that went wrong.
    trouble: Arc<Mutex<Option<GpuError>>>,
}

/// Whether they are clones of each other.
impl PartialEq for Gpu {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.trouble, &other.trouble)
    }
}

impl Eq for Gpu {}

impl Gpu {
    /// Opens an adapter with all its limits, and with time stamps and a pipeline cache if it has them.
    ///
    /// # Errors
    /// If there is no such adapter, or its driver refuses.
    pub fn open(choice: &DeviceChoice) -> Result<Self, GpuError> {
        Self::open_within(choice, Limits::default())
    }

    /// Opens an adapter that is to be used up to some limits only.
    ///
    /// # Errors
    /// As [`Gpu::open`].
    pub fn open_within(choice: &DeviceChoice, limits: Limits) -> Result<Self, GpuError> {
        let mut found = found();
        let infos: Vec<AdapterInfo> =
            found.iter().enumerate().map(|(index, adapter)| describe(index, adapter)).collect();
        let index = choose(choice, &infos)?;
        Self::on(&found.swap_remove(index), infos[index].clone(), limits)
    }

    fn on(
        adapter: &wgpu::Adapter,
        mut info: AdapterInfo,
        limits: Limits,
    ) -> Result<Self, GpuError> {
        info.max_storage_binding = info.max_storage_binding.min(limits.array);
        let wanted = wgpu::Features::TIMESTAMP_QUERY
            | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES
            | wgpu::Features::PIPELINE_CACHE;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("taut"),
            required_features: adapter.features() & wanted,
            required_limits: wgpu::Limits {
                max_storage_buffer_binding_size: info.max_storage_binding,
                ..adapter.limits()
            },
            memory_hints: wgpu::MemoryHints::Performance,
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) = opened.map_err(|error| GpuError::NotOpened {
            name: info.name.clone(),
            reason: error.to_string(),
        })?;
        let pipelines = Arc::new(Pipelines::of(&device, &adapter.get_info()));
        let (info, memory) = (Arc::new(info), limits.memory);
        let gpu = Self { device, queue, info, memory, pipelines, trouble: Arc::default() };
        gpu.watch();
        Ok(gpu)
    }

    /// This device, or, if something went wrong on it, the same adapter opened anew, up to the same limits.
    ///
    /// # Errors
    /// If it cannot be opened again.
    pub(crate) fn or_anew(self) -> Result<Self, GpuError> {
        match self.check() {
            Ok(()) => Ok(self),
            Err(_) => {
                let limits = Limits { array: self.info.max_storage_binding, memory: self.memory };
                Self::open_within(&DeviceChoice::Index(self.info.index), limits)
            }
        }
    }

    /// Keeps what goes wrong for [`Gpu::check`], in place of wgpu's panic.
    fn watch(&self) {
        let (trouble, name) = (Arc::clone(&self.trouble), self.info.name.clone());
        self.device.set_device_lost_callback(move |_, mut reason| {
            if reason.is_empty() {
                reason.push_str("its driver does not say why");
            }
            record(&trouble, GpuError::Lost { name: name.clone(), reason });
        });
        let (trouble, name) = (Arc::clone(&self.trouble), self.info.name.clone());
        self.device.on_uncaptured_error(Arc::new(move |error| {
            record(&trouble, from_wgpu(&error, name.clone()));
        }));
    }

    /// Whether anything went wrong on the device so far: the first thing that did.
    ///
    /// # Errors
    /// That thing. A device that failed once goes on failing.
    pub fn check(&self) -> Result<(), GpuError> {
        lock(&self.trouble).clone().map_or(Ok(()), Err)
    }

    /// Waits until everything that was submitted is done.
    ///
    /// # Errors
    /// If anything went wrong on the device so far.
    pub fn wait(&self) -> Result<(), GpuError> {
        let polled = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.check()?;
        polled.map(|_| ()).map_err(|error| self.lost(&error.to_string()))
    }

    /// The bytes of a buffer with the usage `MAP_READ`, once all that was submitted is done.
    ///
    /// # Errors
    /// If anything went wrong on the device so far.
    pub fn read(&self, buffer: &wgpu::Buffer, bytes: Range<u64>) -> Result<Vec<u8>, GpuError> {
        self.check()?;
        let (sender, receiver) = mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, bytes.clone(), move |result| {
            // The receiver is gone only if waiting failed, which was reported.
            let _ = sender.send(result);
        });
        self.wait()?;
        let mapped = receiver.try_recv().map_err(|error| self.lost(&error.to_string()))?;
        mapped.map_err(|error| self.refused(&error.to_string()))?;
        let view = buffer.get_mapped_range(bytes);
        let copy = view.map(|view| view.to_vec()).map_err(|error| self.refused(&error.to_string()));
        buffer.unmap();
        copy
    }

    pub(super) fn lost(&self, reason: &str) -> GpuError {
        GpuError::Lost { name: self.info.name.clone(), reason: reason.to_owned() }
    }

    fn refused(&self, reason: &str) -> GpuError {
        GpuError::Refused { name: self.info.name.clone(), reason: reason.to_owned() }
    }
}

fn from_wgpu(error: &wgpu::Error, name: String) -> GpuError {
    match error {
        wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory { name, needed: None },
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            // One line: wgpu describes where it happened over several.
            let reason = description.split_whitespace().collect::<Vec<_>>().join(" ");
            GpuError::Refused { name, reason }
        }
    }
}

/// The first error is the cause of the others.
fn record(trouble: &Mutex<Option<GpuError>>, error: GpuError) {
    lock(trouble).get_or_insert(error);
}

/// A thread that panicked elsewhere left a value that is still whole.
fn lock(trouble: &Mutex<Option<GpuError>>) -> MutexGuard<'_, Option<GpuError>> {
    trouble.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    //! Contract: whatever goes wrong on a device comes out as an error. These tests need a driver; the
    //! software one of mesa-vulkan-drivers will do.

    use super::*;

    fn open() -> Gpu {
        Gpu::open(&DeviceChoice::Best).unwrap()
    }

    #[test]
    fn a_device_has_the_limits_of_its_adapter_and_gives_back_what_was_written() {
        let gpu = open();
        assert_eq!(gpu.device.limits().max_buffer_size, gpu.info.max_buffer);
        let stamps = gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        assert_eq!(stamps, gpu.info.timestamps);
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        gpu.queue.write_buffer(&buffer, 0, &(0..16).collect::<Vec<u8>>());
        gpu.queue.submit([]);
        for _ in 0..2 {
            assert_eq!(gpu.read(&buffer, 8..16).unwrap(), (8..16).collect::<Vec<u8>>());
        }
        gpu.check().unwrap();
    }

    #[test]
    fn a_refused_command_is_an_error_and_no_panic() {
        let gpu = open();
        let _ = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("nonsense"),
            source: wgpu::ShaderSource::Wgsl("fn broken( {".into()),
        });
        let error = gpu.check().unwrap_err();
        assert!(matches!(error, GpuError::Refused { .. }), "{error}");
        assert!(!error.to_string().contains('\n') && error.to_string().contains(&gpu.info.name));
        assert_eq!(gpu.wait(), Err(error));
    }

    #[test]
    fn a_lost_device_is_an_error_and_no_panic() {
        let gpu = open();
        gpu.device.destroy();
        let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let error = gpu.read(&buffer, 0..16).unwrap_err();
        assert!(matches!(error, GpuError::Lost { .. } | GpuError::Refused { .. }), "{error}");
        assert!(gpu.wait().is_err());
    }
}
