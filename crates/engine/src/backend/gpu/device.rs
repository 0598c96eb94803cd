//! Adapters and the devices opened on them.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use thiserror::Error;

/// What a system calls a graphics processor: one way to reach it, with its limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdapterInfo {
    /// Its place in the list of [`adapters`].
    pub index: usize,
    /// Its name, as the driver gives it.
    pub name: String,
    /// What it is.
    pub kind: AdapterKind,
    /// The interface: `vulkan`, `metal` or `dx12`.
    pub backend: &'static str,
    /// The driver and its version.
    pub driver: String,
    /// The largest buffer, bytes.
    pub max_buffer: u64,
    /// The largest part of a buffer that a kernel can be given, bytes.
    pub max_storage_binding: u64,
    /// How many such parts a kernel can be given.
    pub storage_bindings: u32,
    /// Memory that the invocations of a workgroup share, bytes.
    pub workgroup_memory: u32,
    /// The most invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// The most workgroups in each direction of a dispatch.
    pub workgroups: u32,
    /// The largest picture, pixels in each direction.
    pub max_texture: u32,
    /// Whether the device can measure its own time.
    pub timestamps: bool,
    /// Whether compiled pipelines can be kept on disk.
    pub pipeline_cache: bool,
}

/// What an adapter is, the preferred ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AdapterKind {
    /// A card with memory of its own.
    Discrete,
    /// A part of the processor, or of the board.
    Integrated,
    /// What a virtual machine was given.
    Virtual,
    /// The driver does not say.
    Other,
    /// A driver that computes on the processor.
    Software,
}

impl fmt::Display for AdapterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Other => "other",
            Self::Software => "software",
        })
    }
}

/// Which adapter to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// Discrete before integrated before software; of equals the first.
    #[default]
    Best,
    /// By its place in the list of [`adapters`].
    Index(usize),
    /// The first whose name contains this, in any case of letters.
    Name(String),
}

impl FromStr for DeviceChoice {
    type Err = std::convert::Infallible;

    /// `best`, a number, or a part of a name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse() {
            Ok(index) => Self::Index(index),
            Err(_) if text.eq_ignore_ascii_case("best") => Self::Best,
            Err(_) => Self::Name(text.to_owned()),
        })
    }
}

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

/// All adapters of this system, in the order in which `DeviceChoice::Index` counts them.
#[must_use]
pub fn adapters() -> Vec<AdapterInfo> {
    found().iter().enumerate().map(|(index, adapter)| describe(index, adapter)).collect()
}

fn found() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        // The same checks in every build, so that times and dispatches mean the same; the
        // environment (WGPU_VALIDATION=1, WGPU_DEBUG=1) adds those of the driver.
        flags: wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL.with_env(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
}

fn describe(index: usize, adapter: &wgpu::Adapter) -> AdapterInfo {
    let (info, limits, features) = (adapter.get_info(), adapter.limits(), adapter.features());
    AdapterInfo {
        index,
        kind: match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Software,
            wgpu::DeviceType::Other => AdapterKind::Other,
        },
        backend: info.backend.to_str(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        name: info.name,
        max_buffer: limits.max_buffer_size,
        max_storage_binding: limits.max_storage_buffer_binding_size,
        storage_bindings: limits.max_storage_buffers_per_shader_stage,
        workgroup_memory: limits.max_compute_workgroup_storage_size,
        workgroup_invocations: limits.max_compute_invocations_per_workgroup,
        workgroups: limits.max_compute_workgroups_per_dimension,
        max_texture: limits.max_texture_dimension_2d,
        timestamps: features.contains(wgpu::Features::TIMESTAMP_QUERY),
        pipeline_cache: features.contains(wgpu::Features::PIPELINE_CACHE),
    }
}

/// The place of the adapter that was asked for.
fn choose(choice: &DeviceChoice, infos: &[AdapterInfo]) -> Result<usize, GpuError> {
    if infos.is_empty() {
        return Err(GpuError::NoAdapter);
    }
    let place = match choice {
        // Of equal keys, `min_by_key` gives the first.
        DeviceChoice::Best => infos.iter().min_by_key(|info| info.kind),
        DeviceChoice::Index(index) => infos.get(*index),
        DeviceChoice::Name(name) => infos.iter().find(|info| has_name(info, name)),
    };
    place.map(|info| info.index).ok_or_else(|| GpuError::NotFound {
        wanted: match choice {
            DeviceChoice::Best => "best".to_owned(),
            DeviceChoice::Index(index) => index.to_string(),
            DeviceChoice::Name(name) => name.clone(),
        },
        known: infos.iter().map(|info| format!("{} {}", info.index, info.name)).collect(),
    })
}

fn has_name(info: &AdapterInfo, part: &str) -> bool {
    info.name.to_lowercase().contains(&part.to_lowercase())
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
    /// The first thing that went wrong.
    trouble: Arc<Mutex<Option<GpuError>>>,
}

impl Gpu {
    /// Opens an adapter with all its limits, and with time stamps and a pipeline cache if it has them.
    ///
    /// # Errors
    /// If there is no such adapter, or its driver refuses.
    pub fn open(choice: &DeviceChoice) -> Result<Self, GpuError> {
        let mut found = found();
        let infos: Vec<AdapterInfo> =
            found.iter().enumerate().map(|(index, adapter)| describe(index, adapter)).collect();
        let index = choose(choice, &infos)?;
        Self::on(&found.swap_remove(index), infos[index].clone())
    }

    fn on(adapter: &wgpu::Adapter, info: AdapterInfo) -> Result<Self, GpuError> {
        let wanted = wgpu::Features::TIMESTAMP_QUERY
            | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
            | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES
            | wgpu::Features::PIPELINE_CACHE;
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("taut"),
            required_features: adapter.features() & wanted,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..wgpu::DeviceDescriptor::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) = opened.map_err(|error| GpuError::NotOpened {
            name: info.name.clone(),
            reason: error.to_string(),
        })?;
        let gpu = Self { device, queue, info: Arc::new(info), trouble: Arc::default() };
        gpu.watch();
        Ok(gpu)
    }

    /// Keeps what goes wrong for [`Gpu::check`], in place of wgpu's panic.
    fn watch(&self) {
        let (trouble, name) = (Arc::clone(&self.trouble), self.info.name.clone());
        self.device.set_device_lost_callback(move |_, reason| {
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
    //! Contract: the adapter that was asked for is opened, and whatever goes wrong on a device comes
    //! out as an error. These tests need a driver; the software one of mesa-vulkan-drivers will do.

    use super::*;

    fn info(index: usize, name: &str, kind: AdapterKind) -> AdapterInfo {
        let mut info = adapters().swap_remove(0);
        (info.index, info.name, info.kind) = (index, name.to_owned(), kind);
        info
    }

    fn open() -> Gpu {
        Gpu::open(&DeviceChoice::Best).unwrap()
    }

    #[test]
    fn adapters_are_listed_with_limits_that_make_sense() {
        let adapters = adapters();
        assert!(!adapters.is_empty(), "{}", GpuError::NoAdapter);
        for adapter in adapters {
            assert!(!adapter.name.is_empty() && !adapter.backend.is_empty());
            assert!(adapter.max_buffer >= adapter.max_storage_binding);
            assert!(adapter.max_storage_binding >= 128 << 20);
            assert!(adapter.workgroup_memory >= 16 << 10);
            assert!(adapter.workgroup_invocations >= 256);
        }
    }

    #[test]
    fn the_best_is_discrete_then_integrated_then_software() {
        let infos = [
            info(0, "llvmpipe", AdapterKind::Software),
            info(1, "Small", AdapterKind::Integrated),
            info(2, "Big A", AdapterKind::Discrete),
            info(3, "Big B", AdapterKind::Discrete),
        ];
        let pick = |text: &str, count: usize| choose(&text.parse().unwrap(), &infos[..count]);
        assert_eq!([pick("best", 1), pick("best", 2), pick("Best", 4)], [Ok(0), Ok(1), Ok(2)]);
        assert_eq!([pick("3", 4), pick("big b", 4), pick("PIPE", 4)], [Ok(3), Ok(3), Ok(0)]);
        let message = pick("4", 2).unwrap_err().to_string();
        assert_eq!(message, "no graphics device '4'; there are: 0 llvmpipe, 1 Small");
        assert!(pick("radeon", 4).unwrap_err().to_string().contains("'radeon'"));
    }

    #[test]
    fn no_adapter_at_all_names_what_to_install() {
        let message = choose(&DeviceChoice::Best, &[]).unwrap_err().to_string();
        assert!(message.contains("driver"), "{message}");
        #[cfg(target_os = "linux")]
        assert!(message.contains("mesa-vulkan-drivers"), "{message}");
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
