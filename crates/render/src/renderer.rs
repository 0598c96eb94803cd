//! Draws pictures: buffers, passes, and what comes back.

use taut::backend::gpu::Gpu;
use taut::mesh::Bounds;
use taut::output::{Drawing, Field, ShapePose};
use wgpu::BufferUsages as Usage;

use crate::RenderError;
use crate::camera::Camera;
use crate::geometry::{Line, Surface};
use crate::light::SKY_LIGHTS;
use crate::make::{Batch, Make, Plane, Targets, row_bytes};
use crate::picture::Picture;
use crate::pipelines::Pipelines;
use crate::solids::{Solid, body_colors, solids};
use crate::style::{Theme, style};
use crate::upload::{MATRIX_STRIDE, globals_length};

/// How things look, for as long as a renderer lives.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Whether the edges of triangles are drawn.
    pub wireframe: bool,
    /// Lines of elements; with any, bodies are drawn plain.
    pub lines: Vec<Line>,
    /// Shapes that are left out, by their place in the drawing's list.
    pub hidden: Vec<usize>,
    /// The backdrop, and the colors of all that is no body.
    pub theme: Theme,
}

/// One picture.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Where it is taken from.
    pub camera: Camera,
    /// Where the points are.
    pub points: Points<'a>,
    /// Where the shapes stand.
    pub poses: &'a [ShapePose],
    /// A box that holds everything but planes: what lights shine on.
    pub bounds: Bounds,
    /// The height of a level ground that is drawn although the scene has none: things cast shadows on it.
    pub ground: Option<f32>,
    /// Values between 0 and 1 to color points by, in place of their bodies' colors.
    pub values: Option<(Field, &'a [f32])>,
}

/// Where points are.
#[derive(Clone, Copy, Debug)]
pub enum Points<'a> {
    /// Here, as many as the drawing has.
    Here(&'a [[f32; 3]]),
    /// In a storage buffer of `vec4<f32>` on the same device, in an order of its own, which
    /// [`Renderer::set_sources`] knows.
    OnDevice(&'a wgpu::Buffer),
}

/// How a point follows from the buffer of a solver: a sum of four of its entries, with weights that
/// add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// Entries of the buffer.
    pub corners: [u32; 4],
    /// Their weights.
    pub weights: [f32; 4],
}

/// Draws the pictures of one scene, all of the same size.
pub struct Renderer {
    pub(crate) gpu: Gpu,
    pub(crate) size: [u32; 2],
    pub(crate) theme: Theme,
    pub(crate) pipelines: Pipelines,
    pub(crate) targets: Targets,
    pub(crate) surface: Surface,
    pub(crate) points: wgpu::Buffer,
    pub(crate) sources: Option<wgpu::Buffer>,
    pub(crate) bodies: Batch,
    pub(crate) body_colors: Vec<[u8; 4]>,
    pub(crate) shapes: Batch,
    pub(crate) solids: Vec<Solid>,
    pub(crate) planes: Vec<Plane>,
    pub(crate) globals: wgpu::Buffer,
    pub(crate) globals_group: wgpu::BindGroup,
    pub(crate) matrices: wgpu::Buffer,
    pub(crate) shadow_group: wgpu::BindGroup,
    pub(crate) place_group: wgpu::BindGroup,
    pub(crate) lines: Option<(wgpu::BindGroup, u32)>,
}

impl Renderer {
    /// A renderer for what a drawing shows. Creases are those of the shapes at rest, [`Drawing::rest`].
    ///
    /// # Errors
    /// A size that the device cannot draw, a scene that it cannot hold, and whatever goes wrong on it.
    pub fn new(
        gpu: &Gpu,
        size: [u32; 2],
        drawing: &Drawing,
        rest: &[[f32; 3]],
        look: &Look,
    ) -> Result<Self, RenderError> {
        let limit = gpu.info.max_texture;
        let [width, height] = size;
        if !(1..=limit).contains(&width) || !(1..=limit).contains(&height) {
            return Err(RenderError::Size { width, height, limit });
        }
        let pipelines = Pipelines::new(&gpu.device);
        let make = Make { gpu };
        let targets = make.targets(size)?;
        let surface = Surface::new(&drawing.triangles, rest);
        let tones = style().tones(look.theme);
        let plain = (!look.lines.is_empty()).then_some(tones.plain.0);
        let body_colors = body_colors(drawing, &surface, plain);
        let count = surface.vertices.len();
        let bodies = make.batch(count, &surface.indices)?;
        gpu.queue.write_buffer(&bodies.colors, 0, bytemuck::cast_slice(&body_colors));
        let (solids, indices) = solids(drawing, &look.hidden);
        let vertices = solids.iter().map(|solid| solid.places.len()).sum();
        let shapes = make.batch(vertices, &indices)?;
        let [r, g, b] = tones.shape.0;
        let shape_colors = vec![[r, g, b, 0]; vertices];
        gpu.queue.write_buffer(&shapes.colors, 0, bytemuck::cast_slice(&shape_colors));

        let points = make.empty(16 * rest.len(), Usage::STORAGE | Usage::COPY_DST)?;
        let globals = make.empty(16 * globals_length(), Usage::UNIFORM | Usage::COPY_DST)?;
        let matrices = make
            .empty(MATRIX_STRIDE as usize * (SKY_LIGHTS + 1), Usage::UNIFORM | Usage::COPY_DST)?;
        let renderer = Self {
            globals_group: make.globals_group(&pipelines, &globals, &targets),
            shadow_group: make.group(&pipelines.layouts.shadow, &[matrix_binding(&matrices)]),
            place_group: make.place_group(&pipelines, &points, &surface, drawing, &bodies)?,
            lines: make.lines(&pipelines, &points, drawing, look)?,
            planes: make.planes(&pipelines, drawing, &look.hidden)?,
            sources: None,
            gpu: gpu.clone(),
            size,
            theme: look.theme,
            pipelines,
            targets,
            surface,
            points,
            bodies,
            body_colors,
            shapes,
            solids,
            globals,
            matrices,
        };
        renderer.gpu.check()?;
        Ok(renderer)
    }

    /// Says how the drawing's points follow from the buffers that [`Points::OnDevice`] will name: one
    /// source for each point.
    ///
    /// # Errors
    /// If the device cannot hold them.
    pub fn set_sources(&mut self, sources: &[Source]) -> Result<(), RenderError> {
        let words = sources
            .iter()
            .flat_map(|source| source.corners.into_iter().chain(source.weights.map(f32::to_bits)));
        let words: Vec<u32> = words.collect();
        self.sources = Some(Make { gpu: &self.gpu }.filled(&words, Usage::STORAGE)?);
        Ok(())
    }

    /// Draws a picture.
    ///
    /// # Errors
    /// Whatever goes wrong on the device.
    pub fn draw(&mut self, frame: &Frame<'_>) -> Result<Picture, RenderError> {
        let center = (frame.bounds.min + frame.bounds.max) / 2.0;
        let radius = (frame.bounds.max - frame.bounds.min).length().max(1e-3) / 2.0 * 1.02;
        self.write_colors(frame.values);
        self.write_shapes(frame.poses);
        self.write_lights(frame, center, radius);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        self.place(&mut encoder, frame.points);
        for light in 0..=SKY_LIGHTS {
            self.shadow_pass(&mut encoder, light);
        }
        self.picture_pass(&mut encoder, frame);
        self.copy_back(&mut encoder);
        self.gpu.queue.submit([encoder.finish()]);
        let [width, height] = self.size;
        let stride = row_bytes(width);
        let bytes = self.gpu.read(&self.targets.back, 0..stride * u64::from(height))?;
        Ok(Picture::from_rows(width, height, &bytes, stride as usize))
    }
}

/// One matrix of many; which one is said when it is used.
fn matrix_binding(matrices: &wgpu::Buffer) -> wgpu::BindingResource<'_> {
    wgpu::BindingResource::Buffer(wgpu::BufferBinding {
        buffer: matrices,
        offset: 0,
        size: wgpu::BufferSize::new(64),
    })
}
