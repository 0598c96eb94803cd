//! The programs that draw, and what they are given.

use wgpu::ShaderStages;

use crate::style::style;

/// Format of the picture: what is written are amounts of light.
pub(crate) const COLOR: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;
/// Format of all depths.
pub(crate) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
/// Samples of a pixel.
pub(crate) const SAMPLES: u32 = 4;

const LIGHT: &str = include_str!("shaders/light.wgsl");

/// The shaders, by name. Those that draw begin with the constants and the light that they share.
pub(crate) fn shaders() -> [(&'static str, String); 7] {
    let constants = style().constants();
    let lit = |text: &str| format!("{constants}\n{LIGHT}\n{text}");
    [
        ("gather", include_str!("shaders/gather.wgsl").to_owned()),
        ("place", include_str!("shaders/place.wgsl").to_owned()),
        ("shadow", include_str!("shaders/shadow.wgsl").to_owned()),
        ("surface", lit(include_str!("shaders/surface.wgsl"))),
        ("ground", lit(include_str!("shaders/ground.wgsl"))),
        ("backdrop", lit(include_str!("shaders/backdrop.wgsl"))),
        ("lines", lit(include_str!("shaders/lines.wgsl"))),
    ]
}

/// What the programs are given.
pub(crate) struct Layouts {
    pub(crate) gather: wgpu::BindGroupLayout,
    pub(crate) place: wgpu::BindGroupLayout,
    pub(crate) shadow: wgpu::BindGroupLayout,
    pub(crate) globals: wgpu::BindGroupLayout,
    pub(crate) plane: wgpu::BindGroupLayout,
    pub(crate) lines: wgpu::BindGroupLayout,
}

/// The programs.
pub(crate) struct Pipelines {
    pub(crate) layouts: Layouts,
    pub(crate) gather: wgpu::ComputePipeline,
    pub(crate) place: wgpu::ComputePipeline,
    pub(crate) shadow: wgpu::RenderPipeline,
    pub(crate) surface: wgpu::RenderPipeline,
    pub(crate) ground: wgpu::RenderPipeline,
    pub(crate) backdrop: wgpu::RenderPipeline,
    pub(crate) lines: wgpu::RenderPipeline,
}

impl Layouts {
    fn new(device: &wgpu::Device) -> Self {
        let layout = |label, entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
                label: Some(label),
                entries,
            })
        };
        let compute = ShaderStages::COMPUTE;
        let both = ShaderStages::VERTEX_FRAGMENT;
        Self {
            gather: layout(
                "gather",
                &[storage(0, compute, true), storage(1, compute, true), storage(2, compute, false)],
            ),
            place: layout(
                "place",
                &[0, 1, 2, 3, 4, 5].map(|binding| storage(binding, compute, binding < 4)),
            ),
            shadow: layout("shadow", &[uniform(0, ShaderStages::VERTEX, true)]),
            globals: layout(
                "globals",
                &[
                    uniform(0, both, false),
                    depths(1, wgpu::TextureViewDimension::D2),
                    depths(2, wgpu::TextureViewDimension::D2Array),
                    wgpu::BindGroupLayoutEntry {
                        binding: 3,
                        visibility: ShaderStages::FRAGMENT,
                        ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison),
                        count: None,
                    },
                ],
            ),
            plane: layout("plane", &[uniform(0, both, false)]),
            lines: layout(
                "lines",
                &[0, 1].map(|binding| storage(binding, ShaderStages::VERTEX, true)),
            ),
        }
    }
}

fn storage(binding: u32, visibility: ShaderStages, read_only: bool) -> wgpu::BindGroupLayoutEntry {
    let ty = wgpu::BufferBindingType::Storage { read_only };
    buffer(binding, visibility, ty, false)
}

fn uniform(binding: u32, visibility: ShaderStages, offset: bool) -> wgpu::BindGroupLayoutEntry {
    buffer(binding, visibility, wgpu::BufferBindingType::Uniform, offset)
}

fn buffer(
    binding: u32,
    visibility: ShaderStages,
    ty: wgpu::BufferBindingType,
    has_dynamic_offset: bool,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    }
}

fn depths(binding: u32, dimension: wgpu::TextureViewDimension) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Texture {
            sample_type: wgpu::TextureSampleType::Depth,
            view_dimension: dimension,
            multisampled: false,
        },
        count: None,
    }
}

const PLACE: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![0 => Float32x4];
const NORMAL: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![1 => Float32x4];
const TINT: [wgpu::VertexAttribute; 1] = wgpu::vertex_attr_array![2 => Unorm8x4];

fn vertices<'a>(
    attributes: &'a [wgpu::VertexAttribute; 1],
    bytes: u64,
) -> Option<wgpu::VertexBufferLayout<'a>> {
    let step_mode = wgpu::VertexStepMode::Vertex;
    Some(wgpu::VertexBufferLayout { array_stride: bytes, step_mode, attributes })
}

/// How a program draws.
struct Drawn<'a> {
    label: &'static str,
    entries: [&'static str; 2],
    groups: &'a [Option<&'a wgpu::BindGroupLayout>],
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    /// Whether what is drawn hides what lies behind it.
    hides: bool,
    blend: Option<wgpu::BlendState>,
}

impl Pipelines {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let layouts = Layouts::new(device);
        let maker = Maker { device, shaders: shaders() };
        let globals = Some(&layouts.globals);
        let surface = [vertices(&PLACE, 16), vertices(&NORMAL, 16), vertices(&TINT, 4)];
        let drawn = |label, entries, groups: &[_], buffers: &[_], hides, blend| {
            maker.draw(&Drawn { label, entries, groups, buffers, hides, blend })
        };
        let over = Some(wgpu::BlendState::ALPHA_BLENDING);
        Self {
            gather: maker.compute("gather", &layouts.gather),
            place: maker.compute("place", &layouts.place),
            shadow: maker.shadow(&layouts.shadow),
            surface: drawn("surface", ["corner", "surface"], &[globals], &surface, true, None),
            ground: drawn(
                "ground",
                ["corner", "ground"],
                &[globals, Some(&layouts.plane)],
                &[],
                true,
                None,
            ),
            backdrop: drawn("backdrop", ["everywhere", "behind"], &[globals], &[], false, None),
            lines: drawn(
                "lines",
                ["corner", "line"],
                &[globals, Some(&layouts.lines)],
                &[],
                false,
                over,
            ),
            layouts,
        }
    }
}

struct Maker<'a> {
    device: &'a wgpu::Device,
    shaders: [(&'static str, String); 7],
}

impl Maker<'_> {
    fn module(&self, name: &str) -> wgpu::ShaderModule {
        let text = self.shaders.iter().find(|(known, _)| *known == name);
        let text = text.map_or("", |(_, text)| text.as_str());
        self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        })
    }

    fn layout(&self, groups: &[Option<&wgpu::BindGroupLayout>]) -> wgpu::PipelineLayout {
        self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: groups,
            immediate_size: 0,
        })
    }

    /// A kernel that has the name of its file.
    fn compute(&self, name: &'static str, layout: &wgpu::BindGroupLayout) -> wgpu::ComputePipeline {
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&self.layout(&[Some(layout)])),
            module: &self.module(name),
            entry_point: Some(name),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    }

    /// Depths only, in a shadow map.
    fn shadow(&self, layout: &wgpu::BindGroupLayout) -> wgpu::RenderPipeline {
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("shadow"),
            layout: Some(&self.layout(&[Some(layout)])),
            vertex: wgpu::VertexState {
                module: &self.module("shadow"),
                entry_point: Some("shadow"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[vertices(&PLACE, 16)],
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: wgpu::StencilState::default(),
                // Surfaces that the light grazes would else shade themselves.
                bias: wgpu::DepthBiasState { constant: 2, slope_scale: 2.0, clamp: 0.0 },
            }),
            multisample: wgpu::MultisampleState::default(),
            fragment: None,
            multiview_mask: None,
            cache: None,
        })
    }

    fn draw(&self, drawn: &Drawn<'_>) -> wgpu::RenderPipeline {
        let module = self.module(drawn.label);
        let target =
            wgpu::ColorTargetState { blend: drawn.blend, ..wgpu::ColorTargetState::from(COLOR) };
        self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(drawn.label),
            layout: Some(&self.layout(drawn.groups)),
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: Some(drawn.entries[0]),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: drawn.buffers,
            },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: DEPTH,
                depth_write_enabled: Some(drawn.hides),
                depth_compare: Some(wgpu::CompareFunction::LessEqual),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: Some(drawn.entries[1]),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                targets: &[Some(target)],
            }),
            multiview_mask: None,
            cache: None,
        })
    }
}

#[cfg(test)]
mod tests {
    //! Contract: every shader is sound; no graphics processor is needed to know.

    use naga::valid::{Capabilities, ValidationFlags, Validator};

    use super::*;

    #[test]
    fn shaders_are_valid() {
        for (name, text) in shaders() {
            let module = naga::front::wgsl::parse_str(&text)
                .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&text)));
            let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
            let result = validator.validate(&module);
            assert!(result.is_ok(), "{name}: {:?}", result.err());
            assert!(!module.entry_points.is_empty(), "{name}");
        }
    }
}
