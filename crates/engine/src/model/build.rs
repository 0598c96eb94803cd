//! From a scene to a model and its start: bodies, then attachments, then shapes, then schedules.

use std::ops::Range;
use std::sync::Arc;

use glam::{Affine3A, Vec3};

use super::elements::{Piece, Pools, Sites, pool, softness};
use super::{
    Body, ConstraintLists, Model, ModelError, Numbering, ParticleContacts, Pieces, Shape, Wind,
    schedules,
};
use crate::collide::{Form, Frame, Motion};
use crate::constraint::{Balloon, Group, Kind};
use crate::math;
use crate::mesh::{Bounds, Embedding, Mesh, MeshError, SparseSdf, Topology};
use crate::scene::file::{self, Attachment, BodyKind, Geometry, Target};
use crate::scene::{self, Part, Scene};
use crate::state::{Particles, State};

/// Surface density of cloth where the scene gives none: a light cotton, kg/m².
const CLOTH_DENSITY: f32 = 0.2;
/// Density of soft bodies where the scene gives none: water, kg/m³.
const SOFT_DENSITY: f32 = 1000.0;
/// Cells of a mesh's distance field along its longest side, where the scene does not say.
const FIELD_CELLS: f32 = 64.0;

pub(super) fn build(scene: &Scene) -> Result<(Model, State), ModelError> {
    let shapes = shapes(scene)?;
    Ok(Builder::fill(scene, &shapes)?.finish(scene, shapes))
}

pub(super) fn start(scene: &Scene, model: &Model) -> Result<State, ModelError> {
    let builder = Builder::fill(scene, &shapes(scene)?)?;
    Ok(start_of(model, builder.particles, builder.velocities))
}

pub(super) fn constraint_lists(scene: &Scene) -> Result<ConstraintLists, ModelError> {
    let builder = Builder::fill(scene, &shapes(scene)?)?;
    let scene_ids = builder.scene_ids();
    Ok(ConstraintLists {
        lists: builder.pools.into_iter().map(|((kind, _), pool)| (kind, pool.particles)).collect(),
        scene_ids,
        particles: builder.body_of.len(),
        positions: builder.particles.iter().map(|&[x, y, z, _]| [x, y, z]).collect(),
        fixed: builder.particles.iter().map(|particle| particle[3] == 0.0).collect(),
    })
}

#[derive(Default)]
struct Builder {
    bodies: Vec<Body>,
    body_of: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    /// Places and inverse masses of the bodies' particles.
    particles: Vec<[f32; 4]>,
    velocities: Vec<[f32; 4]>,
    pools: Pools,
    balloons: Vec<Balloon>,
    targets: Vec<Option<(usize, [f32; 3])>>,
}

impl Builder {
    /// Takes in all bodies, then all attachments, whose kinematic particles come after the bodies'.
    fn fill(scene: &Scene, shapes: &[Shape]) -> Result<Self, ModelError> {
        let mut builder = Self::default();
        for (index, (body, mesh)) in scene.file.bodies.iter().zip(&scene.meshes).enumerate() {
            let surface = scene.surfaces.get(index).and_then(Option::as_deref);
            builder.add_body(index, body, mesh, surface)?;
        }
        for attachment in &scene.file.attachments {
            builder.add_attachment(scene, shapes, attachment);
        }
        Ok(builder)
    }

    fn add_body(
        &mut self,
        index: usize,
        body: &file::Body,
        mesh: &Arc<Mesh>,
        surface: Option<&Mesh>,
    ) -> Result<(), ModelError> {
        let within = |part: Part| {
            move |error: MeshError| ModelError::Mesh { part, name: body.name.clone(), error }
        };
        let surface = surface.map(|surface| Embedding::new(mesh, surface)).transpose();
        let surface = surface.map_err(within(Part::Surface))?.map(Arc::new);
        let numbering = Arc::new(Numbering::along_curve(mesh));
        let stored = numbering.renumber(mesh);
        let sites = Sites::new(&stored, Topology::new(&stored).map_err(within(Part::Body))?);
        let copies = scene::instances(body).count();
        for (copy, instance) in scene::instances(body).enumerate() {
            let name =
                if copies == 1 { body.name.clone() } else { format!("{}[{copy}]", body.name) };
            let particles = self.add_copy(body, &name, mesh, &instance, &sites, &numbering)?;
            let first_triangle = self.triangles.len();
            let moved =
                |triangle: &[u32; 3]| triangle.map(|corner| corner + particles.start as u32);
            self.triangles.extend(stored.triangles.iter().map(moved));
            self.add_balloon(body, mesh, &particles, first_triangle);
            self.body_of.resize(particles.end, self.bodies.len() as u32);
            self.bodies.push(Body {
                name,
                in_scene: index,
                particles,
                triangles: first_triangle..self.triangles.len(),
                thickness: body.thickness,
                damping: body.damping,
                drag: body.drag,
                mesh: Arc::clone(mesh),
                surface: surface.clone(),
                numbering: Arc::clone(&numbering),
            });
        }
        Ok(())
    }

    /// Adds the particles and constraints of one copy of a body.
    fn add_copy(
        &mut self,
        body: &file::Body,
        name: &str,
        mesh: &Arc<Mesh>,
        instance: &Affine3A,
        sites: &Sites,
        numbering: &Numbering,
    ) -> Result<Range<usize>, ModelError> {
        let rest: Vec<Vec3> =
            mesh.positions.iter().map(|&place| instance.transform_point3(place)).collect();
        let start = scene::start_positions(body, mesh, instance);
        let first_particle = self.particles.len();
        let mut inverse_masses = inverse_masses(body, name, mesh, &rest)?;
        for pins in &body.pins {
            for pinned in scene::select(pins, mesh, &start) {
                inverse_masses[pinned as usize] = 0.0;
            }
        }
        let rest = numbering.by_particle(&rest);
        let inverse_masses = numbering.by_particle(&inverse_masses);
        let piece = Piece {
            body: name,
            first_particle,
            rest: &rest,
            numbering,
            inverse_masses: &inverse_masses,
            warp: instance.transform_vector3(body.warp.into()),
        };
        sites.gather(&body.elements, &piece, &mut self.pools)?;

        let [vx, vy, vz] = body.velocity;
        for (place, w) in numbering.by_particle(&start).into_iter().zip(inverse_masses) {
            self.particles.push([place.x, place.y, place.z, w]);
            self.velocities.push(if w == 0.0 { [0.0; 4] } else { [vx, vy, vz, 0.0] });
        }
        Ok(first_particle..self.particles.len())
    }

    /// Puts the triangles from `first_triangle` on under pressure, if the body is a balloon.
    fn add_balloon(
        &mut self,
        body: &file::Body,
        mesh: &Mesh,
        particles: &Range<usize>,
        first_triangle: usize,
    ) {
        let Some(material) = &body.elements.balloon else { return };
        let triangles = &self.triangles[first_triangle..];
        let volume = f64::from(body.transform.scale).powi(3) * mesh.volume();
        let volume = (f64::from(material.pressure) * volume) as f32;
        let (response, softness) = softness(material.stiffness, material.compliance);
        let balloon = Balloon::new(particles.clone(), triangles, volume, response, softness);
        self.balloons.push(balloon);
    }

    /// The place of every particle in the scene's order; kinematic ones come last in either order.
    fn scene_ids(&self) -> Vec<u32> {
        let mut ids = Vec::with_capacity(self.particles.len());
        for body in &self.bodies {
            let first = body.particles.start as u32;
            let own = 0..body.particles.len() as u32;
            ids.extend(own.map(|particle| first + body.numbering.vertex(particle)));
        }
        ids.extend(ids.len() as u32..self.particles.len() as u32);
        ids
    }

    /// Particles that a selection picks from all copies of a body, copy after copy.
    fn select(&self, scene: &Scene, name: &str, selection: &file::Selection) -> Vec<u32> {
        let mut picked = Vec::new();
        let Some(index) = scene.file.bodies.iter().position(|body| body.name == name) else {
            return picked;
        };
        let (body, mesh) = (&scene.file.bodies[index], &scene.meshes[index]);
        let copies = self.bodies.iter().filter(|copy| copy.in_scene == index);
        for (instance, copy) in scene::instances(body).zip(copies) {
            let start = scene::start_positions(body, mesh, &instance);
            let own = scene::select_in_order(selection, mesh, &start);
            let particle = |vertex| copy.numbering.particle(vertex) + copy.particles.start as u32;
            picked.extend(own.into_iter().map(particle));
        }
        picked
    }

    /// Ties particles to each other, or to kinematic particles that stay or follow a shape.
    fn add_attachment(&mut self, scene: &Scene, shapes: &[Shape], attachment: &Attachment) {
        let particles = self.select(scene, &attachment.body, &attachment.particles);
        let partners = match &attachment.to {
            Target::Body { name, particles } => self.select(scene, name, particles),
            Target::Place {} => self.add_targets(&particles, None, shapes),
            Target::Shape { name } => {
                let shape = shapes.iter().position(|shape| shape.name == *name);
                self.add_targets(&particles, shape, shapes)
            }
        };
        let (response, softness) = softness(attachment.stiffness, attachment.compliance);
        let pool = pool(&mut self.pools, Kind::Attachment, response);
        for (particle, partner) in particles.into_iter().zip(partners) {
            if particle != partner {
                pool.push(&[particle, partner], &[0.0], &[softness]);
            }
        }
    }

    /// Adds a kinematic particle where each of these starts, after the bodies' particles.
    fn add_targets(
        &mut self,
        particles: &[u32],
        follows: Option<usize>,
        shapes: &[Shape],
    ) -> Vec<u32> {
        let first = self.particles.len() as u32;
        for &particle in particles {
            let [x, y, z, _] = self.particles[particle as usize];
            self.targets.push(follows.map(|shape| {
                let local = shapes[shape].motion.at(0.0).invert(math::Vec3::<f32>::new(x, y, z));
                (shape, [local.x, local.y, local.z])
            }));
            self.particles.push([x, y, z, 0.0]);
            self.velocities.push([0.0; 4]);
        }
        (first..self.particles.len() as u32).collect()
    }

    fn finish(mut self, scene: &Scene, shapes: Vec<Shape>) -> (Model, State) {
        let is_fixed: Vec<bool> =
            self.particles.iter().map(|particle| particle[3] == 0.0).collect();
        let file = &scene.file;
        let settings = schedules::Settings {
            solver: file.solver,
            relaxation: file.relaxation,
            partition: &file.partition,
        };
        let groups = schedules::schedule(self.pools, &self.particles, &is_fixed, settings);
        let (size, speed) = (size(scene, &self.particles), speed(scene, &shapes));
        let mut first_scratch = 0;
        let mut first_multiplier = groups.iter().map(Group::multipliers).sum();
        for balloon in &mut self.balloons {
            balloon.place(first_scratch, first_multiplier);
            first_scratch += balloon.scratch();
            first_multiplier += balloon.multipliers();
        }
        let fixed = (0..is_fixed.len() as u32).filter(|&id| is_fixed[id as usize]).collect();
        let wind = file.wind.as_ref();
        let wind = wind.map(|wind| wind_on(wind, self.body_of.len(), &self.triangles));
        let particle_contacts = ParticleContacts::new(scene, &self.bodies);
        // These have grown body by body and keep room for more, which never come.
        self.body_of.shrink_to_fit();
        self.triangles.shrink_to_fit();
        let mut model = Model {
            bodies: self.bodies,
            body_of: self.body_of,
            triangles: self.triangles,
            groups,
            balloons: self.balloons,
            shapes,
            targets: self.targets,
            fixed,
            wind,
            chebyshev: file.chebyshev,
            size,
            speed,
            particle_contacts,
            pieces: None,
        };
        model.pieces = Pieces::of(&model);
        let state = start_of(&model, self.particles, self.velocities);
        (model, state)
    }
}

/// The state that begins with these particles, kinematic ones at the end.
fn start_of(model: &Model, mut particles: Vec<[f32; 4]>, mut velocities: Vec<[f32; 4]>) -> State {
    let previous = particles.clone();
    // Copies live only during a sweep, so all groups share the same room for them.
    let bodies = model.groups.iter().map(|group| group.schedule.body_count()).max().unwrap_or(0);
    particles.resize(bodies.max(particles.len()), [0.0; 4]);
    velocities.shrink_to_fit();
    let multipliers = model.groups.iter().map(Group::multipliers).sum::<usize>()
        + model.balloons.iter().map(Balloon::multipliers).sum::<usize>();
    let remembered = if model.chebyshev.is_some() { model.body_of.len() } else { 0 };
    State {
        positions: Particles::from(&particles[..]),
        previous,
        velocities,
        multipliers: vec![0.0; multipliers],
        scratch: vec![[0.0; 4]; model.balloons.iter().map(Balloon::scratch).sum()],
        memories: [vec![[0.0; 4]; remembered], vec![[0.0; 4]; remembered]],
        contacts: model
            .particle_contacts
            .as_ref()
            .map_or_else(Default::default, ParticleContacts::memory),
        time: 0.0,
    }
}

/// The diagonal of the box around all particles, or of a body at rest if that is longer.
fn size(scene: &Scene, particles: &[[f32; 4]]) -> f32 {
    let places: Vec<Vec3> = particles.iter().map(|&[x, y, z, _]| Vec3::new(x, y, z)).collect();
    let diagonal = |bounds: Bounds| bounds.size().length();
    let at_rest = scene
        .file
        .bodies
        .iter()
        .zip(&scene.meshes)
        .map(|(body, mesh)| body.transform.scale * mesh.bounds().map_or(0.0, diagonal));
    at_rest.fold(Bounds::of(&places).map_or(0.0, diagonal), f32::max)
}

/// The highest speed at the start or of a shape.
fn speed(scene: &Scene, shapes: &[Shape]) -> f32 {
    let bodies = scene.file.bodies.iter().map(|body| Vec3::from(body.velocity).length());
    bodies.chain(shapes.iter().map(|shape| shape.motion.fastest())).fold(0.0, f32::max)
}

/// Inverse masses from areas (cloth) or volumes (soft), shared out evenly among the corners.
fn inverse_masses(
    body: &file::Body,
    name: &str,
    mesh: &Mesh,
    rest: &[Vec3],
) -> Result<Vec<f32>, ModelError> {
    let mut masses = vec![0.0_f64; rest.len()];
    let at = |corner: u32| rest[corner as usize].as_dvec3();
    let default_density = match body.kind {
        BodyKind::Cloth => {
            for &[a, b, c] in &mesh.triangles {
                let area = (at(b) - at(a)).cross(at(c) - at(a)).length() / 2.0;
                for corner in [a, b, c] {
                    masses[corner as usize] += area / 3.0;
                }
            }
            CLOTH_DENSITY
        }
        BodyKind::Soft => {
            for &[a, b, c, d] in &mesh.tetrahedra {
                let volume = (at(b) - at(a)).cross(at(c) - at(a)).dot(at(d) - at(a)).abs() / 6.0;
                for corner in [a, b, c, d] {
                    masses[corner as usize] += volume / 4.0;
                }
            }
            SOFT_DENSITY
        }
    };
    let measure: f64 = masses.iter().sum();
    let density = match body.mass {
        Some(mass) => f64::from(mass) / measure,
        None => f64::from(body.density.unwrap_or(default_density)),
    };
    let invert = |(particle, mass): (usize, &f64)| {
        let inverse = (1.0 / (mass * density)) as f32;
        if inverse.is_finite() && inverse > 0.0 {
            Ok(inverse)
        } else {
            Err(ModelError::NoMass { body: name.to_owned(), particle })
        }
    };
    masses.iter().enumerate().map(invert).collect()
}

fn wind_on(wind: &file::Wind, particles: usize, triangles: &[[u32; 3]]) -> Wind {
    let mut offsets = vec![0_u32; particles + 1];
    for corner in triangles.as_flattened() {
        offsets[*corner as usize + 1] += 1;
    }
    for particle in 0..particles {
        offsets[particle + 1] += offsets[particle];
    }
    let mut next = offsets.clone();
    let mut incident = vec![0; triangles.len() * 3];
    for (index, triangle) in triangles.iter().enumerate() {
        for &corner in triangle {
            incident[next[corner as usize] as usize] = index as u32;
            next[corner as usize] += 1;
        }
    }
    Wind {
        density: wind.density,
        velocity: wind.velocity,
        gust: wind.gust,
        gust_period: wind.gust_period,
        offsets,
        incident,
    }
}

fn shapes(scene: &Scene) -> Result<Vec<Shape>, ModelError> {
    let thickness = scene.file.bodies.iter().map(|body| body.thickness).fold(0.0, f32::max);
    let build = |(shape, mesh): (&file::Shape, &Option<Arc<Mesh>>)| {
        Ok(Shape {
            name: shape.name.clone(),
            form: form(shape, mesh.as_deref(), thickness)?,
            friction: shape.friction,
            motion: motion(shape),
        })
    };
    scene.file.shapes.iter().zip(&scene.shape_meshes).map(build).collect()
}

fn motion(shape: &file::Shape) -> Motion {
    let frame = |time: f32, position: [f32; 3], rotation: [f32; 3]| Frame {
        time: time.into(),
        rotation: scene::rotation(rotation),
        translation: position.into(),
    };
    if shape.keyframes.is_empty() {
        return Motion::new(vec![frame(0.0, shape.position, shape.rotation)]);
    }
    let frames = shape.keyframes.iter().map(|key| frame(key.time, key.position, key.rotation));
    Motion::new(frames.collect())
}

fn form(shape: &file::Shape, mesh: Option<&Mesh>, thickness: f32) -> Result<Form, ModelError> {
    Ok(match &shape.geometry {
        Geometry::Plane {} => Form::Plane,
        Geometry::Sphere { radius } => Form::Sphere(*radius),
        Geometry::Box { size } => Form::Box(size.map(|length| length / 2.0)),
        Geometry::Capsule { radius, length } => {
            Form::Capsule { radius: *radius, half_length: length / 2.0 }
        }
        Geometry::Tube { radius, length } => {
            Form::Tube { radius: *radius, half_length: length / 2.0 }
        }
        Geometry::Torus { radius, tube_radius } => {
            Form::Torus { radius: *radius, tube_radius: *tube_radius }
        }
        Geometry::Mesh { cell, .. } => field(shape, mesh, *cell, thickness)?,
    })
}

/// A field that is exact up to the largest thickness of a body, where contacts begin.
fn field(
    shape: &file::Shape,
    mesh: Option<&Mesh>,
    cell: Option<f32>,
    thickness: f32,
) -> Result<Form, ModelError> {
    let (part, name) = (Part::Shape, &shape.name);
    let in_mesh = |error: MeshError| ModelError::Mesh { part, name: name.clone(), error };
    // The scene has loaded a mesh for every shape that is one.
    let mesh = mesh.cloned().unwrap_or_default();
    let longest = mesh.bounds().map_or(1.0, |bounds| bounds.size().max_element());
    let cell = cell.unwrap_or(longest / FIELD_CELLS);
    let field = SparseSdf::build_with_band(&mesh, cell, thickness + 2.0 * cell).map_err(in_mesh)?;
    Ok(Form::Field(Arc::new(field)))
}
