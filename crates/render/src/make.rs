//! Makes buffers, textures and groups of them on the device.

use glam::{Quat, Vec3};
use taut::backend::gpu::Gpu;
use taut::output::Drawing;
use wgpu::BufferUsages as Usage;

use crate::RenderError;
use crate::geometry::{Line, Surface, edges};
use crate::light::{KEY_MAP, SKY_LIGHTS, SKY_MAP};
use crate::pipelines::{COLOR, DEPTH, Pipelines, SAMPLES};
use crate::renderer::{Frame, Look};
use crate::style::style;

/// Vertices and triangles on the device.
pub(crate) struct Batch {
    pub(crate) places: wgpu::Buffer,
    pub(crate) normals: wgpu::Buffer,
    pub(crate) colors: wgpu::Buffer,
    pub(crate) indices: wgpu::Buffer,
    pub(crate) count: u32,
}

/// A plane without end on the device.
pub(crate) struct Plane {
    /// Its place in the drawing's list of shapes; none: the ground of [`Frame::ground`].
    pub(crate) shape: Option<usize>,
    pub(crate) buffer: wgpu::Buffer,
    pub(crate) group: wgpu::BindGroup,
}

impl Plane {
    /// How it is turned, and a point on it, if it is there.
    pub(crate) fn pose(&self, frame: &Frame<'_>) -> Option<(Quat, Vec3)> {
        match self.shape {
            Some(shape) => {
                let pose = frame.poses.get(shape)?;
                Some((Quat::from_array(pose.rotation), Vec3::from(pose.place)))
            }
            None => Some((Quat::IDENTITY, Vec3::Y * frame.ground?)),
        }
    }
}

/// Textures that are drawn to.
pub(crate) struct Targets {
    pub(crate) color: wgpu::TextureView,
    pub(crate) depth: wgpu::TextureView,
    pub(crate) picture: wgpu::Texture,
    pub(crate) key: wgpu::TextureView,
    pub(crate) sky: Vec<wgpu::TextureView>,
    pub(crate) back: wgpu::Buffer,
}

/// Makes things on the device, if they fit.
pub(crate) struct Make<'a> {
    pub(crate) gpu: &'a Gpu,
}

impl Make<'_> {
    pub(crate) fn empty(&self, bytes: usize, usage: Usage) -> Result<wgpu::Buffer, RenderError> {
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

    pub(crate) fn filled(&self, words: &[u32], usage: Usage) -> Result<wgpu::Buffer, RenderError> {
        let buffer = self.empty(4 * words.len(), usage | Usage::COPY_DST)?;
        self.gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        Ok(buffer)
    }

    pub(crate) fn batch(&self, vertices: usize, indices: &[u32]) -> Result<Batch, RenderError> {
        let usage = Usage::VERTEX | Usage::STORAGE | Usage::COPY_DST;
        Ok(Batch {
            places: self.empty(16 * vertices, usage)?,
            normals: self.empty(16 * vertices, usage)?,
            colors: self.empty(4 * vertices, usage)?,
            indices: self.filled(indices, Usage::INDEX)?,
            count: indices.len() as u32,
        })
    }

    pub(crate) fn group(
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

    pub(crate) fn buffers(
        &self,
        layout: &wgpu::BindGroupLayout,
        buffers: &[&wgpu::Buffer],
    ) -> wgpu::BindGroup {
        let whole: Vec<_> = buffers.iter().map(|buffer| buffer.as_entire_binding()).collect();
        self.group(layout, &whole)
    }

    pub(crate) fn place_group(
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

    pub(crate) fn globals_group(
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

    /// The planes of the scene, and one more for a ground that it does not have itself.
    pub(crate) fn planes(
        &self,
        pipelines: &Pipelines,
        drawing: &Drawing,
        hidden: &[usize],
    ) -> Result<Vec<Plane>, RenderError> {
        let planes = drawing.shapes.iter().enumerate().filter(|(_, shape)| shape.is_plane);
        let shown = planes.map(|(shape, _)| shape).filter(|shape| !hidden.contains(shape));
        let make = |shape| {
            let buffer = self.empty(64, Usage::UNIFORM | Usage::COPY_DST)?;
            let group = self.buffers(&pipelines.layouts.plane, &[&buffer]);
            Ok(Plane { shape, buffer, group })
        };
        shown.map(Some).chain([None]).map(make).collect()
    }

    pub(crate) fn lines(
        &self,
        pipelines: &Pipelines,
        points: &wgpu::Buffer,
        drawing: &Drawing,
        look: &Look,
    ) -> Result<Option<(wgpu::BindGroup, u32)>, RenderError> {
        let wires = if look.wireframe { edges(&drawing.triangles) } else { Vec::new() };
        let [r, g, b] = style().tones(look.theme).wire.0;
        let wires = wires.iter().flat_map(|ends| Line::of_element(ends, [r, g, b, WIRE]));
        let words: Vec<[u32; 8]> =
            wires.chain(look.lines.iter().copied()).map(|line| line.words()).collect();
        if words.is_empty() {
            return Ok(None);
        }
        let buffer = self.filled(words.as_flattened(), Usage::STORAGE)?;
        let group = self.buffers(&pipelines.layouts.lines, &[points, &buffer]);
        Ok(Some((group, words.len() as u32)))
    }

    pub(crate) fn targets(&self, [width, height]: [u32; 2]) -> Result<Targets, RenderError> {
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

/// How opaque the edges of triangles are.
const WIRE: u8 = 90;

/// Bytes of a row of the picture, in whole multiples of what copies need.
pub(crate) fn row_bytes(width: u32) -> u64 {
    (4 * u64::from(width)).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT.into())
}
