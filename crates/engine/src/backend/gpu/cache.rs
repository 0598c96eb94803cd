//! Compiled kernels, kept on disk where the driver can give them away, so that the next start need not
//! compile them again.
//!
//! A file holds a line of magic, a checksum and what the driver gave. Drivers trust what they are given,
//! so a file that is not to the byte what was written is as good as none; drivers themselves refuse what
//! another version of them made. Whatever goes wrong with files is no error: kernels are compiled then.
//!
//! Handing bytes to a driver is `unsafe` in wgpu, because it cannot know where they come from; the
//! checksum is what makes it sound to do so here.
#![allow(unsafe_code)]

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use wgpu::{AdapterInfo, Device, Features, PipelineCache, PipelineCacheDescriptor};

/// The first bytes of a file.
const MAGIC: &[u8] = b"taut pipelines 1\n";

/// The compiled kernels of a device.
#[derive(Debug, Default)]
pub(super) struct Pipelines {
    cache: Option<PipelineCache>,
    /// Where they are kept.
    path: Option<PathBuf>,
}

impl Pipelines {
    /// Those of a device, with what an earlier start left in the user's folder.
    pub(super) fn of(device: &Device, adapter: &AdapterInfo) -> Self {
        Self::in_folder(device, adapter, user_folder().map(|folder| folder.join("taut")).as_deref())
    }

    fn in_folder(device: &Device, adapter: &AdapterInfo, folder: Option<&Path>) -> Self {
        let key = wgpu::util::pipeline_cache_key(adapter);
        let (Some(folder), Some(key)) = (folder, key) else { return Self::default() };
        if !device.features().contains(Features::PIPELINE_CACHE) {
            return Self::default();
        }
        let path = folder.join(key);
        let data = fs::read(&path).ok().and_then(|file| unpack(&file).map(<[u8]>::to_vec));
        let label = Some("kernels");
        let descriptor = PipelineCacheDescriptor { label, data: data.as_deref(), fallback: true };
        // SAFETY: the data, if any, came from `PipelineCache::get_data` for an adapter with this key:
        // only `save` writes such files, and the checksum says that this one is as it was written.
        let cache = unsafe { device.create_pipeline_cache(&descriptor) };
        Self { cache: Some(cache), path: Some(path) }
    }

    /// What pipelines are compiled with.
    pub(super) fn cache(&self) -> Option<&PipelineCache> {
        self.cache.as_ref()
    }

    /// Keeps what has been compiled so far, if that is not kept already.
    pub(super) fn save(&self) {
        let data = self.cache.as_ref().and_then(PipelineCache::get_data);
        if let (Some(data), Some(path)) = (data, &self.path) {
            let file = pack(&data);
            if fs::read(path).ok().as_ref() != Some(&file) {
                // A full or read-only disk only means that the next start takes longer.
                let _ = write(path, &file);
            }
        }
    }
}

/// Writes a file beside its place and renames it, so that nobody sees a part of it.
fn write(path: &Path, file: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension(format!("{}.partial", process::id()));
    fs::write(&beside, file)?;
    fs::rename(&beside, path).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

fn pack(data: &[u8]) -> Vec<u8> {
    [MAGIC, &checksum(data).to_le_bytes(), data].concat()
}

/// What is in a file, if that is whole.
fn unpack(file: &[u8]) -> Option<&[u8]> {
    let (sum, data) = file.strip_prefix(MAGIC)?.split_first_chunk()?;
    (u64::from_le_bytes(*sum) == checksum(data)).then_some(data)
}

/// FNV-1a, over the length too.
fn checksum(data: &[u8]) -> u64 {
    let length = (data.len() as u64).to_le_bytes();
    let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    length.iter().chain(data).fold(0xcbf2_9ce4_8422_2325, hash)
}

/// Where this system keeps files of a user that can be made again.
fn user_folder() -> Option<PathBuf> {
    let folder =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(windows) {
        folder("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Caches"))
    } else {
        folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")))
    }
}

#[cfg(test)]
mod tests {
    //! Contract: what is compiled once is found by the next start, and a file that was damaged is never
    //! handed to a driver.

    use super::*;
    use crate::backend::gpu::{DeviceChoice, Gpu, adapter};

    #[test]
    fn a_file_is_whole_or_nothing() {
        let data: Vec<u8> = (0..200).collect();
        let file = pack(&data);
        assert_eq!(unpack(&file), Some(&data[..]));
        for length in 0..file.len() {
            assert_eq!(unpack(&file[..length]), None, "cut to {length} bytes");
        }
        for place in 0..file.len() {
            let mut damaged = file.clone();
            damaged[place] ^= 0x10;
            assert_eq!(unpack(&damaged), None, "byte {place}");
        }
        assert_eq!(unpack(&[&file[..], &[0]].concat()), None, "a byte more");
    }

    #[test]
    fn the_next_start_finds_what_was_compiled_and_damage_does_no_harm() {
        let gpu = Gpu::open(&DeviceChoice::Best).unwrap_or_else(|error| panic!("{error}"));
        if !gpu.info.pipeline_cache {
            return;
        }
        let adapter = adapter::found().swap_remove(gpu.info.index).get_info();
        let folder = tempfile::tempdir().unwrap();
        let open = || Pipelines::in_folder(&gpu.device, &adapter, Some(folder.path()));
        let first = open();
        let path = first.path.clone().unwrap();
        assert!(first.cache().is_some() && !path.exists());
        compile(&gpu, &first);
        first.save();
        let kept = fs::read(&path).unwrap();
        assert!(unpack(&kept).is_some_and(|data| !data.is_empty()));

        // The second start has it from there: saved again without compiling, it is the same.
        let second = open();
        fs::remove_file(&path).unwrap();
        second.save();
        assert_eq!(fs::read(&path).unwrap(), kept);

        for damaged in [&kept[..kept.len() - 1], b"nonsense", b""] {
            fs::write(&path, damaged).unwrap();
            let third = open();
            compile(&gpu, &third);
            gpu.check().unwrap();
            third.save();
            assert!(unpack(&fs::read(&path).unwrap()).is_some());
        }
    }

    fn compile(gpu: &Gpu, pipelines: &Pipelines) {
        let source = "@compute @workgroup_size(1) fn nothing() {}";
        let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
        let _ = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: pipelines.cache(),
        });
    }
}
