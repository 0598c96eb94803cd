//! Compiled kernels, and dispatches of them with all that they are bound to.

use wgpu::{
    BindGroup, BindGroupDescriptor, BindGroupEntry, BindGroupLayout, BindGroupLayoutDescriptor,
    BindGroupLayoutEntry, BindingType, Buffer, BufferBinding, BufferBindingType, BufferSize,
    ComputePass, ComputePipeline, ComputePipelineDescriptor, PipelineLayoutDescriptor,
    ShaderModule, ShaderModuleDescriptor, ShaderSource, ShaderStages,
};

use super::device::Gpu;
use super::shaders::Module;

/// Invocations of a workgroup, but for kernels that say otherwise.
pub(super) const WIDTH: usize = 64;

/// The most workgroups along an axis of a dispatch that every device allows.
const MOST_GROUPS: usize = 65535;

/// What a kernel is bound to.
#[derive(Clone, Debug)]
pub(super) enum Bind {
    /// An array that it reads and writes.
    Write(Buffer),
    /// An array that it reads.
    Read(Buffer),
    /// Its parameters: where they start in the array of all parameters, and how many words.
    Parameters(u64, usize),
}

/// How many workgroups.
#[derive(Clone, Debug)]
pub(super) enum Groups {
    /// As many as the host says, along x and y.
    Fixed([u32; 2]),
    /// As many as a kernel before wrote into an array, from a byte on.
    Indirect(Buffer, u64),
}

impl Groups {
    /// One invocation for each of so many things.
    pub(super) fn for_each(count: usize) -> Self {
        Self::of(count.div_ceil(WIDTH))
    }

    /// So many workgroups.
    pub(super) fn of(count: usize) -> Self {
        Self::Fixed(sides(count))
    }
}

/// So many workgroups along x and y, some more where they do not come out even.
pub(super) fn sides(count: usize) -> [u32; 2] {
    let x = count.clamp(1, MOST_GROUPS);
    [x as u32, count.div_ceil(x).max(1) as u32]
}

/// A dispatch that is still to be bound.
pub(super) struct Recorded {
    pub(super) module: Module,
    pub(super) entry: &'static str,
    pub(super) binds: Vec<(u32, Bind)>,
    pub(super) groups: Groups,
}

/// A dispatch, ready to be encoded.
pub(super) struct Dispatch {
    pub(super) pipeline: ComputePipeline,
    pub(super) bindings: BindGroup,
    pub(super) groups: Groups,
}

impl Dispatch {
    /// Encodes it, with conditions from a byte on.
    pub(super) fn encode(&self, conditions: &BindGroup, byte: u32, pass: &mut ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, conditions, &[byte]);
        pass.set_bind_group(1, &self.bindings, &[]);
        match &self.groups {
            Groups::Fixed([x, y]) => pass.dispatch_workgroups(*x, *y, 1),
            Groups::Indirect(buffer, byte) => pass.dispatch_workgroups_indirect(buffer, *byte),
        }
    }
}

/// A kernel that was compiled.
struct Kernel {
    module: Module,
    entry: &'static str,
    pipeline: ComputePipeline,
    layout: BindGroupLayout,
}

/// Compiles each kernel once.
pub(super) struct Kernels<'a> {
    gpu: &'a Gpu,
    /// The layout of the conditions of a substep, the first group of every kernel.
    conditions: BindGroupLayout,
    modules: Vec<(Module, ShaderModule)>,
    kernels: Vec<Kernel>,
}

impl<'a> Kernels<'a> {
    pub(super) fn new(gpu: &'a Gpu) -> Self {
        let conditions = gpu.device.create_bind_group_layout(&BindGroupLayoutDescriptor {
            label: Some("conditions"),
            entries: &[entry(0, BufferBindingType::Uniform, true)],
        });
        Self { gpu, conditions, modules: Vec::new(), kernels: Vec::new() }
    }

    /// Binds the conditions of substeps; which one is an offset at every dispatch.
    pub(super) fn bind_conditions(&self, substeps: &Buffer, bytes: u64) -> BindGroup {
        self.gpu.device.create_bind_group(&BindGroupDescriptor {
            label: Some("conditions"),
            layout: &self.conditions,
            entries: &[BindGroupEntry { binding: 0, resource: part(substeps, 0, bytes) }],
        })
    }

    /// Compiles and binds a dispatch. `parameters` is the array of all parameters.
    pub(super) fn bind(&mut self, recorded: &Recorded, parameters: &Buffer) -> Dispatch {
        let kernel = self.kernel(recorded);
        let kernel = &self.kernels[kernel];
        let entries: Vec<BindGroupEntry<'_>> = recorded
            .binds
            .iter()
            .map(|(binding, bind)| BindGroupEntry {
                binding: *binding,
                resource: match bind {
                    Bind::Write(buffer) | Bind::Read(buffer) => buffer.as_entire_binding(),
                    Bind::Parameters(start, words) => part(parameters, *start, 4 * *words as u64),
                },
            })
            .collect();
        let bindings = self.gpu.device.create_bind_group(&BindGroupDescriptor {
            label: Some(recorded.entry),
            layout: &kernel.layout,
            entries: &entries,
        });
        let pipeline = kernel.pipeline.clone();
        Dispatch { pipeline, bindings, groups: recorded.groups.clone() }
    }

    fn kernel(&mut self, recorded: &Recorded) -> usize {
        let Recorded { module, entry, .. } = *recorded;
        let known = self.kernels.iter().position(|one| one.module == module && one.entry == entry);
        known.unwrap_or_else(|| {
            let kernel = self.compile(recorded);
            self.kernels.push(kernel);
            self.kernels.len() - 1
        })
    }

    fn compile(&mut self, recorded: &Recorded) -> Kernel {
        let entries: Vec<BindGroupLayoutEntry> = recorded
            .binds
            .iter()
            .map(|(binding, bind)| match bind {
                Bind::Write(_) => storage(*binding, false),
                Bind::Read(_) => storage(*binding, true),
                Bind::Parameters(..) => entry(*binding, BufferBindingType::Uniform, false),
            })
            .collect();
        let device = &self.gpu.device;
        let label = Some(recorded.entry);
        let layout = device
            .create_bind_group_layout(&BindGroupLayoutDescriptor { label, entries: &entries });
        let pipeline_layout = device.create_pipeline_layout(&PipelineLayoutDescriptor {
            label,
            bind_group_layouts: &[Some(&self.conditions), Some(&layout)],
            immediate_size: 0,
        });
        let module = self.module(recorded.module);
        let pipeline = device.create_compute_pipeline(&ComputePipelineDescriptor {
            label,
            layout: Some(&pipeline_layout),
            module: &self.modules[module].1,
            entry_point: label,
            compilation_options: wgpu::PipelineCompilationOptions {
                // Every kernel writes what it shares before it reads it.
                zero_initialize_workgroup_memory: false,
                ..Default::default()
            },
            cache: self.gpu.pipelines.cache(),
        });
        Kernel { module: recorded.module, entry: recorded.entry, pipeline, layout }
    }

    fn module(&mut self, module: Module) -> usize {
        let known = self.modules.iter().position(|(one, _)| *one == module);
        known.unwrap_or_else(|| {
            let source = ShaderSource::Wgsl(module.source().into());
            let label = Some("taut");
            let compiled =
                self.gpu.device.create_shader_module(ShaderModuleDescriptor { label, source });
            self.modules.push((module, compiled));
            self.modules.len() - 1
        })
    }
}

fn part(buffer: &Buffer, offset: u64, bytes: u64) -> wgpu::BindingResource<'_> {
    // A uniform struct may be padded to 16 bytes.
    let size = BufferSize::new(bytes.next_multiple_of(16));
    wgpu::BindingResource::Buffer(BufferBinding { buffer, offset, size })
}

fn storage(binding: u32, read_only: bool) -> BindGroupLayoutEntry {
    entry(binding, BufferBindingType::Storage { read_only }, false)
}

fn entry(binding: u32, ty: BufferBindingType, has_dynamic_offset: bool) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::COMPUTE,
        ty: BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    }
}
