//! What the device does for a picture, one pass after another.

use glam::Vec3;

use crate::make::{Batch, Make, row_bytes};
use crate::renderer::{Frame, Points, Renderer};
use crate::upload::MATRIX_STRIDE;

impl Renderer {
    /// Brings points to their buffer, and vertices from there to theirs.
    pub(crate) fn place(&self, encoder: &mut wgpu::CommandEncoder, points: Points<'_>) {
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
    pub(crate) fn shadow_pass(&self, encoder: &mut wgpu::CommandEncoder, light: usize) {
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

    pub(crate) fn picture_pass(&self, encoder: &mut wgpu::CommandEncoder, frame: &Frame<'_>) {
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
        for plane in &self.planes {
            let Some((turn, place)) = plane.pose(frame) else { continue };
            if (turn * Vec3::Y).dot(frame.camera.eye - place) > 0.0 {
                pass.set_bind_group(1, &plane.group, &[]);
                pass.draw(0..6, 0..1);
            }
        }
    }

    pub(crate) fn copy_back(&self, encoder: &mut wgpu::CommandEncoder) {
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

/// Workgroups of 64 in two directions: one has room for 65,535 only.
fn workgroups(invocations: u64) -> [u32; 2] {
    let groups = invocations.div_ceil(64).max(1);
    let rows = groups.div_ceil(65_535);
    [groups.div_ceil(rows) as u32, rows as u32]
}
