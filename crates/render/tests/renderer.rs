//! Contract: places from a solver's own buffer give the very picture that the same places give from here,
//! whatever the order and the embedding. Needs a graphics driver; the software one will do.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::path::Path;

use taut::backend::gpu::{DeviceChoice, Gpu};
use taut::output::Drawing;
use taut::scene::Scene;
use taut::{BackendChoice, Simulation};
use taut_render::{Camera, Frame, Look, Points, RenderError, Renderer, Source};

const TEXT: &str = r#"
    [[bodies]]
    name = "cloth"
    mesh.grid = { particles = [9, 9], size = [1, 1] }
    elements.stretch = { stiffness = 1 }

    [[shapes]]
    name = "ball"
    geometry.sphere = { radius = 0.3 }
    position = [0, -0.5, 0]
"#;

struct Setting {
    simulation: Simulation,
    drawing: Drawing,
    places: Vec<[f32; 3]>,
    gpu: Gpu,
}

impl Setting {
    fn new() -> Self {
        let scene = Scene::parse("test", TEXT, Path::new(""), &[]).unwrap();
        let mut simulation = Simulation::new(&scene, BackendChoice::Serial).unwrap();
        for _ in 0..10 {
            simulation.step().unwrap();
        }
        let drawing = Drawing::of(&simulation);
        let mut places = Vec::new();
        drawing.place(&simulation, &mut places);
        Self { simulation, drawing, places, gpu: Gpu::open(&DeviceChoice::Best).unwrap() }
    }

    fn renderer(&self, size: [u32; 2]) -> Result<Renderer, RenderError> {
        let rest = self.drawing.rest(&self.simulation);
        Renderer::new(&self.gpu, size, &self.drawing, &rest, &Look::default())
    }

    fn draw(&self, renderer: &mut Renderer, points: Points<'_>) -> Vec<u8> {
        let poses: Vec<_> = self.drawing.poses(&self.simulation).collect();
        let places: Vec<glam::Vec3> = self.places.iter().copied().map(Into::into).collect();
        let frame = Frame {
            camera: Camera::framing(&places, 1.5, 30.0, 20.0),
            points,
            poses: &poses,
            bounds: self.drawing.bounds(&self.simulation),
            ground: None,
            values: None,
        };
        renderer.draw(&frame).unwrap().rgb
    }
}

#[test]
fn a_solvers_buffer_gives_the_same_picture() {
    let setting = Setting::new();
    let mut renderer = setting.renderer([96, 64]).unwrap();
    let here = setting.draw(&mut renderer, Points::Here(&setting.places));

    // The solver has its particles backwards, with something else in front of them.
    let count = setting.places.len() as u32;
    let mut stored = vec![[9.0_f32; 4]; 3];
    stored.extend(setting.places.iter().rev().map(|&[x, y, z]| [x, y, z, 0.5]));
    let buffer = setting.gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16 * stored.len() as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    setting.gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&stored));
    let source = |point: u32| Source {
        corners: [3 + count - 1 - point, 0, 1, 2],
        weights: [1.0, 0.0, 0.0, 0.0],
    };
    renderer.set_sources(&(0..count).map(source).collect::<Vec<_>>()).unwrap();
    let there = setting.draw(&mut renderer, Points::OnDevice(&buffer));
    assert!(here == there);

    // Halfway between two particles is somewhere else.
    let source =
        |point: u32| Source { corners: [3 + point, 3, 4, 5], weights: [0.5, 0.5, 0.0, 0.0] };
    renderer.set_sources(&(0..count).map(source).collect::<Vec<_>>()).unwrap();
    assert!(here != setting.draw(&mut renderer, Points::OnDevice(&buffer)));
}

#[test]
fn sizes_that_the_device_cannot_draw_are_refused() {
    let setting = Setting::new();
    for size in [[0, 64], [64, 1 << 20]] {
        let error = setting.renderer(size).err().unwrap();
        assert!(matches!(error, RenderError::Size { .. }), "{error}");
    }
    setting.gpu.check().unwrap();
}
