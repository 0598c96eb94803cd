//! From the state of a simulation to a picture: camera, colors and lines.

use glam::{Quat, Vec3};
use taut::Simulation;
use taut::backend::gpu::Gpu;
use taut::constraint::Kind;
use taut::mesh::Bounds;
use taut::output::{Drawing, Field, KindElements, NO_PARTICLE, ShapePose, elements_by_kind};
use taut::scene::Scene;
use taut_render::{
    Camera, Frame, Line, Look, Picture, Points, Renderer, Source, partition_colors,
    repeating_colors,
};

use super::{Arguments, Coloring, Part};
use crate::failure::Failure;

/// From where a framed scene is seen, degrees, and how close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct View {
    pub(super) azimuth: f32,
    pub(super) elevation: f32,
    pub(super) zoom: f32,
}

impl View {
    fn usual() -> Self {
        let [azimuth, elevation] = Camera::usual();
        Self { azimuth, elevation, zoom: 1.0 }
    }
}

/// How far below a scene without a floor a ground is drawn, in radii of the scene.
const GROUND_BELOW: f32 = 0.4;

/// How far beyond its first picture a sequence frames what may come, as a share of the scene's size.
const ROOM: f32 = 0.55;

/// Draws the states of one simulation.
pub(super) struct Painter {
    drawing: Drawing,
    renderer: Renderer,
    field: Option<(Field, f32)>,
    camera: Camera,
    supersample: u32,
    turntable: f32,
    drawn: u32,
    /// Until the first picture of something that is framed by itself.
    framing: Option<Framing>,
    places: Vec<[f32; 3]>,
    values: Vec<f32>,
    hidden: Vec<usize>,
    /// The height of a ground under a scene that has no floor.
    ground: Option<f32>,
}

/// How to choose a camera once it is known what is to be seen.
struct Framing {
    view: View,
    aspect: f32,
    /// More that has to be in the picture than what is there at first.
    also: Vec<Vec3>,
}

impl Painter {
    pub(super) fn new(
        gpu: &Gpu,
        scene: &Scene,
        simulation: &Simulation,
        arguments: &Arguments,
        is_sequence: bool,
    ) -> Result<Self, Failure> {
        let drawing = Drawing::of(simulation);
        let mut places = Vec::new();
        drawing.place(simulation, &mut places);
        let look = Look {
            wireframe: arguments.wireframe,
            lines: lines(simulation, arguments)?,
            hidden: hidden(&drawing, &arguments.hide)?,
            theme: arguments.theme.into(),
        };
        let supersample = arguments.supersample;
        let size = arguments.size.map(|pixels| pixels.saturating_mul(supersample));
        let mut renderer = Renderer::new(gpu, size, &drawing, &drawing.rest(simulation), &look)?;
        let sources = drawing.sources(simulation).into_iter();
        let sources: Vec<Source> =
            sources.map(|(corners, weights)| Source { corners, weights }).collect();
        renderer.set_sources(&sources)?;
        let [width, height] = arguments.size.map(|pixels| pixels as f32);
        let own = scene.file.camera.as_ref().filter(|_| arguments.camera.is_none());
        let camera = own.map(|camera| Camera {
            eye: camera.eye.into(),
            target: camera.target.into(),
            fov: camera.fov,
        });
        let framing = camera.is_none().then(|| Framing {
            view: arguments.camera.unwrap_or_else(View::usual),
            aspect: width / height,
            also: if is_sequence { later(scene) } else { Vec::new() },
        });
        let camera = camera.unwrap_or(Camera { eye: Vec3::Z, target: Vec3::ZERO, fov: 30.0 });
        let field = field(arguments, simulation);
        let turntable = arguments.turntable;
        Ok(Self {
            drawing,
            renderer,
            field,
            camera,
            supersample,
            turntable,
            drawn: 0,
            framing,
            places,
            values: Vec::new(),
            hidden: look.hidden,
            ground: None,
        }
        .on_ground(simulation))
    }

    /// As on the page: a scene without a floor has a ground some way below where it starts.
    fn on_ground(mut self, simulation: &Simulation) -> Self {
        let poses: Vec<ShapePose> = self.drawing.poses(simulation).collect();
        let is_level = |pose: &ShapePose| (Quat::from_array(pose.rotation) * Vec3::Y).y > 0.999;
        let mut planes = self.drawing.shapes.iter().zip(&poses).filter(|(shape, _)| shape.is_plane);
        if !planes.any(|(_, pose)| is_level(pose)) {
            let bounds = Bounds::of(&self.solid(&poses));
            self.ground = bounds.map(|b| b.min.y - GROUND_BELOW * b.min.distance(b.max) / 2.0);
        }
        self
    }

    /// What the last color stands for, if colors are values.
    pub(super) fn scale(&self) -> Option<f32> {
        self.field.map(|(_, scale)| scale)
    }

    /// Draws the present state.
    pub(super) fn paint(&mut self, simulation: &Simulation) -> Result<Picture, Failure> {
        self.drawing.place(simulation, &mut self.places);
        let poses: Vec<ShapePose> = self.drawing.poses(simulation).collect();
        let solid = self.solid(&poses);
        let nothing = Bounds { min: Vec3::ZERO, max: Vec3::ZERO };
        let bounds = Bounds::of(&solid).unwrap_or(nothing);
        if let Some(Framing { view, aspect, also }) = self.framing.take() {
            // Bounds that were left wide open would make everything small.
            let room = ROOM * bounds.min.distance(bounds.max);
            let [low, high] = [bounds.min - room, bounds.max + room];
            let also = also.into_iter().map(|corner| corner.clamp(low, high));
            let all: Vec<Vec3> = solid.iter().copied().chain(also).collect();
            let camera = Camera::framing(&all, aspect, view.azimuth, view.elevation);
            self.camera = camera.zoomed(view.zoom);
        }
        if let Some((field, scale)) = self.field {
            self.drawing.field(simulation, field, &self.places, &mut self.values);
            self.values.iter_mut().for_each(|value| *value /= scale);
        }
        // A solver on a graphics device has written what is drawn; it is drawn from there.
        let on_device = simulation.device_positions();
        let frame = Frame {
            camera: self.camera.turned(self.turntable * self.drawn as f32),
            points: on_device.as_ref().map_or(Points::Here(&self.places), Points::OnDevice),
            poses: &poses,
            bounds,
            // A ground that is only drawn must not hide what falls through it.
            ground: self.ground.filter(|&height| bounds.min.y >= height),
            values: self.field.map(|(field, _)| (field, self.values.as_slice())),
        };
        self.drawn += 1;
        Ok(self.renderer.draw(&frame)?.reduced(self.supersample))
    }

    /// All that is drawn and has an end: points, and the vertices of shapes that are not planes.
    fn solid(&self, poses: &[ShapePose]) -> Vec<Vec3> {
        let mut all: Vec<Vec3> = self.places.iter().copied().map(Vec3::from).collect();
        let shapes = self.drawing.shapes.iter().zip(poses).enumerate();
        let is_drawn = |place: &usize| !self.hidden.contains(place);
        for (_, (shape, pose)) in shapes.filter(|(place, (s, _))| is_drawn(place) && !s.is_plane) {
            let (turn, place) = (Quat::from_array(pose.rotation), Vec3::from(pose.place));
            all.extend(shape.mesh.positions.iter().map(|&vertex| turn * vertex + place));
        }
        all
    }
}

/// The places of shapes with these names.
fn hidden(drawing: &Drawing, names: &[String]) -> Result<Vec<usize>, Failure> {
    let known = || drawing.shapes.iter().map(|shape| shape.name.as_str()).collect::<Vec<_>>();
    let find = |name: &String| {
        let place = drawing.shapes.iter().position(|shape| shape.name == *name);
        place.ok_or_else(|| {
            let known = known().join(", ");
            Failure::Input(format!("--hide: the scene has no shape '{name}'; it has: {known}"))
        })
    };
    names.iter().map(find).collect()
}

/// Where the scene says that its bodies will be: the corners of a box.
fn later(scene: &Scene) -> Vec<Vec3> {
    let Some(extent) = &scene.file.expect.extent else { return Vec::new() };
    let ends = [extent.min, extent.max];
    let corner = |i: usize| Vec3::new(ends[i & 1][0], ends[(i >> 1) & 1][1], ends[i >> 2][2]);
    (0..8).map(corner).collect()
}

fn field(arguments: &Arguments, simulation: &Simulation) -> Option<(Field, f32)> {
    let field = match arguments.color {
        Coloring::Material | Coloring::Partition => return None,
        Coloring::Strain => Field::Strain,
        Coloring::Speed => Field::Speed,
        Coloring::Contact => Field::Contact,
    };
    let wanted = arguments.scale.filter(|_| field != Field::Contact);
    Some((field, wanted.unwrap_or_else(|| field.usual_scale(simulation))))
}

/// The elements of a kind as lines, in the colors of their phases, blocks or batches.
fn lines(simulation: &Simulation, arguments: &Arguments) -> Result<Vec<Line>, Failure> {
    if arguments.color != Coloring::Partition {
        return match &arguments.kind {
            Some(_) => Err(Failure::Input("--kind needs --color partition".to_owned())),
            None => Ok(Vec::new()),
        };
    }
    let kinds = elements_by_kind(simulation.model());
    let names: Vec<&str> = kinds.iter().map(|elements| elements.kind.name()).collect();
    let wanted = match &arguments.kind {
        Some(kind) => kinds.iter().find(|elements| elements.kind.name() == kind),
        None => kinds.iter().find(|elements| elements.kind == Kind::Stretch).or(kinds.first()),
    };
    let elements = wanted.ok_or_else(|| {
        let kind = arguments.kind.as_deref().unwrap_or("any kind");
        Failure::Input(format!(
            "--kind: the scene has no constraints of {kind}; it has {}",
            names.join(", ")
        ))
    })?;
    Ok(lines_of(elements, arguments.part))
}

fn lines_of(elements: &KindElements, part: Part) -> Vec<Line> {
    let (numbers, colors) = match part {
        Part::Phase => (&elements.phases, partition_colors(elements.phase_sizes.len().max(1))),
        Part::Block => (&elements.blocks, repeating_colors()),
        Part::Batch => (&elements.batches, repeating_colors()),
    };
    let corners = elements.particles.chunks_exact(elements.kind.arity());
    let whole = corners.zip(numbers).filter(|(corners, _)| !corners.contains(&NO_PARTICLE));
    whole
        .flat_map(|(corners, &number)| {
            // Of a hinge, the edge that it turns about says where it is.
            let shown = if elements.kind == Kind::Bend { &corners[..2] } else { corners };
            let [r, g, b] = colors[number as usize % colors.len()];
            Line::of_element(shown, [r, g, b, 255])
        })
        .collect()
}
