//! Draws pictures: buffers, passes, and what comes back.

use std::ops::Range;

use glam::{Mat4, Quat, Vec3};
use taut::backend::gpu::Gpu;
use taut::mesh::Bounds;
use taut::output::{Drawing, ShapePose};
use wgpu::BufferUsages as Usage;

use crate::RenderError;
use crate::camera::Camera;
use crate::color;
use crate::geometry::{Line, Surface, edges};
use crate::light::{KEY_MAP, SKY_LIGHTS, SKY_MAP, key_direction, shadow_matrix, sky_direction};
use crate::picture::Picture;
use crate::pipelines::{COLOR, DEPTH, Pipelines, SAMPLES};

/// How things look, for as long as a renderer lives.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// Whether the edges of triangles are drawn.
    pub wireframe: bool,
    /// Lines of elements; with any, bodies are drawn plain.
    pub lines: Vec<Line>,
    /// Shapes that are left out, by their place in the drawing's list.
    pub hidden: Vec<usize>,
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
    /// Values between 0 and 1 to color points by, in place of their bodies' colors.
    pub values: Option<&'a [f32]>,
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

/// Vertices and triangles on the device.
struct Batch {
    places: wgpu::Buffer,
    normals: wgpu::Buffer,
    colors: wgpu::Buffer,
    indices: wgpu::Buffer,
    count: u32,
}

/// A shape that is not a plane: its vertices in the shapes' batch, in its own frame.
struct Solid {
    shape: usize,
    first: usize,
    places: Vec<Vec3>,
    normals: Vec<Vec3>,
}

/// Textures that are drawn to.
struct Targets {
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
    picture: wgpu::Texture,
    key: wgpu::TextureView,
    sky: Vec<wgpu::TextureView>,
    back: wgpu::Buffer,
}

/// Draws the pictures of one scene, all of the same size.
pub struct Renderer {
    gpu: Gpu,
    size: [u32; 2],
    pipelines: Pipelines,
    targets: Targets,
    surface: Surface,
    points: wgpu::Buffer,
    sources: Option<wgpu::Buffer>,
    bodies: Batch,
    body_colors: Vec<[u8; 4]>,
    shapes: Batch,
    solids: Vec<Solid>,
    planes: Vec<(usize, wgpu::Buffer, wgpu::BindGroup)>,
    globals: wgpu::Buffer,
    globals_group: wgpu::BindGroup,
    matrices: wgpu::Buffer,
    shadow_group: wgpu::BindGroup,
    place_group: wgpu::BindGroup,
    lines: Option<(wgpu::BindGroup, u32)>,
}

/// Bytes from the matrix of a light to that of the next: what devices agree on.
const MATRIX_STRIDE: u64 = 256;

impl Renderer {
    /// A renderer for what a drawing shows. Creases are found where the points start.
    ///
    /// # Errors
    /// A size that the device cannot draw, a scene that it cannot hold, and whatever goes wrong on it.
    pub fn new(
        gpu: &Gpu,
        size: [u32; 2],
        drawing: &Drawing,
        places: &[[f32; 3]],
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
        let surface = Surface::new(&drawing.triangles, places);
        let body_colors = body_colors(drawing, &surface, !look.lines.is_empty());
        let count = surface.vertices.len();
        let bodies = make.batch(count, &surface.indices)?;
        gpu.queue.write_buffer(&bodies.colors, 0, bytemuck::cast_slice(&body_colors));
        let (solids, indices) = solids(drawing, &look.hidden);
        let vertices = solids.iter().map(|solid| solid.places.len()).sum();
        let shapes = make.batch(vertices, &indices)?;
        let [r, g, b] = color::SHAPE;
        let shape_colors = vec![[r, g, b, 0]; vertices];
        gpu.queue.write_buffer(&shapes.colors, 0, bytemuck::cast_slice(&shape_colors));

        let points = make.empty(16 * places.len(), Usage::STORAGE | Usage::COPY_DST)?;
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

    fn write_colors(&self, values: Option<&[f32]>) {
        if let Some(values) = values {
            let colors = self.surface.vertices.iter().zip(&self.body_colors);
            let colors: Vec<[u8; 4]> = colors
                .map(|([point, ..], &plain)| match values.get(*point as usize) {
                    Some(&value) => {
                        let [r, g, b] = color::map(value);
                        [r, g, b, 0]
                    }
                    None => plain,
                })
                .collect();
            self.gpu.queue.write_buffer(&self.bodies.colors, 0, bytemuck::cast_slice(&colors));
        }
    }

    /// Puts the shapes where they stand.
    fn write_shapes(&self, poses: &[ShapePose]) {
        for solid in &self.solids {
            let Some(pose) = poses.get(solid.shape) else { continue };
            let (turn, place) = (Quat::from_array(pose.rotation), Vec3::from(pose.place));
            let places: Vec<[f32; 4]> =
                solid.places.iter().map(|&p| (turn * p + place).extend(1.0).to_array()).collect();
            let normals: Vec<[f32; 4]> =
                solid.normals.iter().map(|&n| (turn * n).extend(0.0).to_array()).collect();
            let offset = 16 * solid.first as u64;
            let queue = &self.gpu.queue;
            queue.write_buffer(&self.shapes.places, offset, bytemuck::cast_slice(&places));
            queue.write_buffer(&self.shapes.normals, offset, bytemuck::cast_slice(&normals));
        }
    }

    fn write_lights(&self, frame: &Frame<'_>, center: Vec3, radius: f32) {
        let [width, height] = self.size.map(|pixels| pixels as f32);
        let directions: Vec<Vec3> =
            [key_direction()].into_iter().chain((0..SKY_LIGHTS).map(sky_direction)).collect();
        let matrices: Vec<Mat4> =
            directions.iter().map(|&direction| shadow_matrix(direction, center, radius)).collect();
        let camera = frame.camera.view_projection(width / height, center, radius);
        let mut globals: Vec<f32> = camera.to_cols_array().to_vec();
        globals.extend(matrices.iter().flat_map(Mat4::to_cols_array));
        for direction in &directions[1..] {
            globals.extend(direction.extend(0.0).to_array());
        }
        globals.extend(frame.camera.eye.extend(1.0).to_array());
        globals.extend(directions[0].extend(0.0).to_array());
        globals.extend(center.extend(radius).to_array());
        // Lines keep their share of the picture, whatever its size.
        globals.extend([width, height, (height / 320.0).max(1.0), 0.0]);
        self.gpu.queue.write_buffer(&self.globals, 0, bytemuck::cast_slice(&globals));
        for (light, matrix) in matrices.iter().enumerate() {
            let bytes = matrix.to_cols_array();
            let offset = light as u64 * MATRIX_STRIDE;
            self.gpu.queue.write_buffer(&self.matrices, offset, bytemuck::cast_slice(&bytes));
        }
        self.write_planes(frame.poses, center);
    }

    fn write_planes(&self, poses: &[ShapePose], center: Vec3) {
        for (shape, buffer, _) in &self.planes {
            let Some(pose) = poses.get(*shape) else { continue };
            let (turn, place) = (Quat::from_array(pose.rotation), Vec3::from(pose.place));
            let [right, normal, forward] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| turn * axis);
            let nearest = center - normal * (center - place).dot(normal);
            let vectors = [nearest, right, forward, normal].map(|v| v.extend(0.0).to_array());
            self.gpu.queue.write_buffer(buffer, 0, bytemuck::cast_slice(&vectors));
        }
    }

    /// Brings points to their buffer, and vertices from there to theirs.
    fn place(&self, encoder: &mut wgpu::CommandEncoder, points: Points<'_>) {
        let gathered = match points {
            Points::Here(places) => {
                let places: Vec<[f32; 4]> =
                    places.iter().map(|&[x, y, z]| [x, y, z, 1.0]).collect();
                self.gpu.queue.write_buffer(&self.points, 0, bytemuck::cast_slice(&places));
                None
            }
            Points::OnDevice(buffer) => self.sources.as_ref().map(|sources| {
                let buffers = [buffer, sources, &self.points];
                Make { gpu: &self.gpu }.buffers(&self.pipelines.layouts.gather, &buffers)
            }),
        };
        let mut pass = encoder.begin_compute_pass(&Default::default());
        if let Some(group) = &gathered {
            pass.set_pipeline(&self.pipelines.gather);
            pass.set_bind_group(0, group, &[]);
            let [x, y] = workgroups(self.points.size() / 16);
            pass.dispatch_workgroups(x, y, 1);
        }
        if !self.surface.vertices.is_empty() {
            pass.set_pipeline(&self.pipelines.place);
            pass.set_bind_group(0, &self.place_group, &[]);
            let [x, y] = workgroups(self.surface.vertices.len() as u64);
            pass.dispatch_workgroups(x, y, 1);
        }
    }

    /// Depths as a light sees them: 0 is the key light, the others are the sky's.
    fn shadow_pass(&self, encoder: &mut wgpu::CommandEncoder, light: usize) {
        let view = if light == 0 { &self.targets.key } else { &self.targets.sky[light - 1] };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow"),
            depth_stencil_attachment: Some(cleared_depth(view, wgpu::StoreOp::Store)),
            ..Default::default()
        });
        pass.set_pipeline(&self.pipelines.shadow);
        pass.set_bind_group(0, &self.shadow_group, &[light as u32 * MATRIX_STRIDE as u32]);
        for batch in [&self.bodies, &self.shapes] {
            if batch.count > 0 {
                pass.set_vertex_buffer(0, batch.places.slice(..));
                pass.set_index_buffer(batch.indices.slice(..), wgpu::IndexFormat::Uint32);
                pass.draw_indexed(0..batch.count, 0, 0..1);
            }
        }
    }

    fn picture_pass(&self, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) {
        let resolved = self.targets.picture.create_view(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.targets.color,
                depth_slice: None,
                resolve_target: Some(&resolved),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::WHITE),
                    store: wgpu::StoreOp::Discard,
                },
            })],
            depth_stencil_attachment: Some(cleared_depth(
                &self.targets.depth,
                wgpu::StoreOp::Discard,
            )),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.globals_group, &[]);
        pass.set_pipeline(&self.pipelines.backdrop);
        pass.draw(0..3, 0..1);
        self.draw_planes(&mut pass, frame);
        pass.set_pipeline(&self.pipelines.surface);
        for batch in [&self.bodies, &self.shapes] {
            batch.draw(&mut pass);
        }
        if let Some((group, count)) = &self.lines {
            pass.set_pipeline(&self.pipelines.lines);
            pass.set_bind_group(1, group, &[]);
            pass.draw(0..6, 0..*count);
        }
    }

    /// Planes seen from their front; from behind they would hide everything.
    fn draw_planes(&self, pass: &mut wgpu::RenderPass<'_>, frame: &Frame<'_>) {
        pass.set_pipeline(&self.pipelines.ground);
        for (shape, _, group) in &self.planes {
            let Some(pose) = frame.poses.get(*shape) else { continue };
            let normal = Quat::from_array(pose.rotation) * Vec3::Y;
            if normal.dot(frame.camera.eye - Vec3::from(pose.place)) > 0.0 {
                pass.set_bind_group(1, group, &[]);
                pass.draw(0..6, 0..1);
            }
        }
    }

    fn copy_back(&self, encoder: &mut wgpu::CommandEncoder) {
        let [width, height] = self.size;
        encoder.copy_texture_to_buffer(
            self.targets.picture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &self.targets.back,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(row_bytes(width) as u32),
                    rows_per_image: None,
                },
            },
            wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        );
    }
}

impl Batch {
    fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        if self.count > 0 {
            for (slot, buffer) in (0..).zip([&self.places, &self.normals, &self.colors]) {
                pass.set_vertex_buffer(slot, buffer.slice(..));
            }
            pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..self.count, 0, 0..1);
        }
    }
}

/// Makes things on the device, if they fit.
struct Make<'a> {
    gpu: &'a Gpu,
}

impl Make<'_> {
    fn empty(&self, bytes: usize, usage: Usage) -> Result<wgpu::Buffer, RenderError> {
        // Devices have no empty buffers.
        let bytes = (bytes as u64).max(16);
        let limit = self.gpu.info.max_buffer.min(self.gpu.info.max_storage_binding);
        if bytes > limit {
            let device = self.gpu.info.name.clone();
            return Err(RenderError::TooLarge { bytes, limit, device });
        }
        Ok(self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes,
            usage,
            mapped_at_creation: false,
        }))
    }

    fn filled(&self, words: &[u32], usage: Usage) -> Result<wgpu::Buffer, RenderError> {
        let buffer = self.empty(4 * words.len(), usage | Usage::COPY_DST)?;
        self.gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        Ok(buffer)
    }

    fn batch(&self, vertices: usize, indices: &[u32]) -> Result<Batch, RenderError> {
        let usage = Usage::VERTEX | Usage::STORAGE | Usage::COPY_DST;
        Ok(Batch {
            places: self.empty(16 * vertices, usage)?,
            normals: self.empty(16 * vertices, usage)?,
            colors: self.empty(4 * vertices, usage)?,
            indices: self.filled(indices, Usage::INDEX)?,
            count: indices.len() as u32,
        })
    }

    fn group(
        &self,
        layout: &wgpu::BindGroupLayout,
        resources: &[wgpu::BindingResource<'_>],
    ) -> wgpu::BindGroup {
        let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        self.gpu.device.create_bind_group(&descriptor)
    }

    fn buffers(
        &self,
        layout: &wgpu::BindGroupLayout,
        buffers: &[&wgpu::Buffer],
    ) -> wgpu::BindGroup {
        let whole: Vec<_> = buffers.iter().map(|buffer| buffer.as_entire_binding()).collect();
        self.group(layout, &whole)
    }

    fn place_group(
        &self,
        pipelines: &Pipelines,
        points: &wgpu::Buffer,
        surface: &Surface,
        drawing: &Drawing,
        bodies: &Batch,
    ) -> Result<wgpu::BindGroup, RenderError> {
        let vertices = self.filled(surface.vertices.as_flattened(), Usage::STORAGE)?;
        let incident = self.filled(&surface.incident, Usage::STORAGE)?;
        let corners = self.filled(drawing.triangles.as_flattened(), Usage::STORAGE)?;
        let buffers = [points, &vertices, &incident, &corners, &bodies.places, &bodies.normals];
        Ok(self.buffers(&pipelines.layouts.place, &buffers))
    }

    fn globals_group(
        &self,
        pipelines: &Pipelines,
        globals: &wgpu::Buffer,
        targets: &Targets,
    ) -> wgpu::BindGroup {
        let sky = targets.sky[0].texture().create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            ..Default::default()
        });
        let sampler = self.gpu.device.create_sampler(&wgpu::SamplerDescriptor {
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..Default::default()
        });
        self.group(
            &pipelines.layouts.globals,
            &[
                globals.as_entire_binding(),
                wgpu::BindingResource::TextureView(&targets.key),
                wgpu::BindingResource::TextureView(&sky),
                wgpu::BindingResource::Sampler(&sampler),
            ],
        )
    }

    fn planes(
        &self,
        pipelines: &Pipelines,
        drawing: &Drawing,
        hidden: &[usize],
    ) -> Result<Vec<(usize, wgpu::Buffer, wgpu::BindGroup)>, RenderError> {
        let planes = drawing.shapes.iter().enumerate().filter(|(_, shape)| shape.is_plane);
        planes
            .filter(|(shape, _)| !hidden.contains(shape))
            .map(|(shape, _)| {
                let buffer = self.empty(64, Usage::UNIFORM | Usage::COPY_DST)?;
                let group = self.buffers(&pipelines.layouts.plane, &[&buffer]);
                Ok((shape, buffer, group))
            })
            .collect()
    }

    fn lines(
        &self,
        pipelines: &Pipelines,
        points: &wgpu::Buffer,
        drawing: &Drawing,
        look: &Look,
    ) -> Result<Option<(wgpu::BindGroup, u32)>, RenderError> {
        let wires = if look.wireframe { edges(&drawing.triangles) } else { Vec::new() };
        let wires = wires.iter().flat_map(|ends| Line::of_element(ends, WIRE));
        let words: Vec<[u32; 8]> =
            wires.chain(look.lines.iter().copied()).map(|line| line.words()).collect();
        if words.is_empty() {
            return Ok(None);
        }
        let buffer = self.filled(words.as_flattened(), Usage::STORAGE)?;
        let group = self.buffers(&pipelines.layouts.lines, &[points, &buffer]);
        Ok(Some((group, words.len() as u32)))
    }

    fn targets(&self, [width, height]: [u32; 2]) -> Result<Targets, RenderError> {
        let attachment = wgpu::TextureUsages::RENDER_ATTACHMENT;
        let sampled = attachment | wgpu::TextureUsages::TEXTURE_BINDING;
        let size = [width, height, 1];
        let maps = self.texture([SKY_MAP, SKY_MAP, SKY_LIGHTS as u32], 1, DEPTH, sampled);
        let layer = |layer| {
            maps.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2),
                base_array_layer: layer,
                array_layer_count: Some(1),
                ..Default::default()
            })
        };
        let view = |texture: &wgpu::Texture| texture.create_view(&Default::default());
        let copied = attachment | wgpu::TextureUsages::COPY_SRC;
        let bytes = row_bytes(width) * u64::from(height);
        Ok(Targets {
            color: view(&self.texture(size, SAMPLES, COLOR, attachment)),
            depth: view(&self.texture(size, SAMPLES, DEPTH, attachment)),
            picture: self.texture(size, 1, COLOR, copied),
            key: view(&self.texture([KEY_MAP, KEY_MAP, 1], 1, DEPTH, sampled)),
            sky: (0..SKY_LIGHTS as u32).map(layer).collect(),
            back: self.empty(bytes as usize, Usage::MAP_READ | Usage::COPY_DST)?,
        })
    }

    fn texture(
        &self,
        [width, height, depth_or_array_layers]: [u32; 3],
        sample_count: u32,
        format: wgpu::TextureFormat,
        usage: wgpu::TextureUsages,
    ) -> wgpu::Texture {
        self.gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width, height, depth_or_array_layers },
            mip_level_count: 1,
            sample_count,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage,
            view_formats: &[],
        })
    }
}

/// Edges of triangles: dark and thin.
const WIRE: [u8; 4] = [20, 24, 32, 90];

fn cleared_depth(
    view: &wgpu::TextureView,
    store: wgpu::StoreOp,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store }),
        stencil_ops: None,
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

/// Vectors of four in `Globals` of `shaders/light.wgsl`.
const fn globals_length() -> usize {
    4 + 4 + SKY_LIGHTS * 4 + SKY_LIGHTS + 4
}

/// Bytes of a row of the picture, in whole multiples of what copies need.
fn row_bytes(width: u32) -> u64 {
    (4 * u64::from(width)).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT.into())
}

/// Workgroups of 64 in two directions: one has room for 65,535 only.
fn workgroups(invocations: u64) -> [u32; 2] {
    let groups = invocations.div_ceil(64).max(1);
    let rows = groups.div_ceil(65_535);
    [groups.div_ceil(rows) as u32, rows as u32]
}

/// A color for each vertex of the bodies. The fourth number says how far the back differs.
fn body_colors(drawing: &Drawing, surface: &Surface, plain: bool) -> Vec<[u8; 4]> {
    let mut by_point = vec![[0; 4]; drawing.points];
    for (number, body) in drawing.bodies.iter().enumerate() {
        let [r, g, b] = if plain { color::PLAIN } else { color::body_color(number) };
        let Range { start, end } = body.points;
        by_point[start..end].fill([r, g, b, if plain { 0 } else { 255 }]);
    }
    surface.vertices.iter().map(|[point, ..]| by_point[*point as usize]).collect()
}

/// The shapes that are not planes, and the corners of all their triangles.
fn solids(drawing: &Drawing, hidden: &[usize]) -> (Vec<Solid>, Vec<u32>) {
    let (mut solids, mut indices, mut first) = (Vec::new(), Vec::new(), 0);
    let shapes = drawing.shapes.iter().enumerate().filter(|(_, shape)| !shape.is_plane);
    for (shape, drawn) in shapes.filter(|(shape, _)| !hidden.contains(shape)) {
        let mesh = &drawn.mesh;
        let mut normals = vec![Vec3::ZERO; mesh.positions.len()];
        for corners in &mesh.triangles {
            let [a, b, c] = corners.map(|corner| mesh.positions[corner as usize]);
            for corner in corners {
                normals[*corner as usize] += (b - a).cross(c - a);
            }
        }
        let corners = mesh.triangles.as_flattened().iter();
        indices.extend(corners.map(|corner| corner + first as u32));
        let normals = normals.into_iter().map(|normal| normal.normalize_or(Vec3::Y)).collect();
        let places = mesh.positions.clone();
        let count = places.len();
        solids.push(Solid { shape, first, places, normals });
        first += count;
    }
    (solids, indices)
}
