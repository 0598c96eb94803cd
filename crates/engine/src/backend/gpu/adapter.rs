//! Adapters: which graphics processors there are, and which one to open.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::device::GpuError;

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

/// All adapters of this system, in the order in which `DeviceChoice::Index` counts them.
#[must_use]
pub fn adapters() -> Vec<AdapterInfo> {
    found().iter().enumerate().map(|(index, adapter)| describe(index, adapter)).collect()
}

pub(super) fn found() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        // The same checks in every build, so that times and dispatches mean the same; the
        // environment (WGPU_VALIDATION=1, WGPU_DEBUG=1) adds those of the driver.
        flags: wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL.with_env(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
}

pub(super) fn describe(index: usize, adapter: &wgpu::Adapter) -> AdapterInfo {
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
pub(super) fn choose(choice: &DeviceChoice, infos: &[AdapterInfo]) -> Result<usize, GpuError> {
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

#[cfg(test)]
mod tests {
    //! Contract: the adapter that was asked for is found. These tests need a driver; the software one of
    //! mesa-vulkan-drivers will do.

    use super::*;

    fn info(index: usize, name: &str, kind: AdapterKind) -> AdapterInfo {
        let mut info = adapters().swap_remove(0);
        (info.index, info.name, info.kind) = (index, name.to_owned(), kind);
        info
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
}
