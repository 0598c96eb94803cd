//! What a viewer draws: points, triangles over them, and shapes.
//!
//! *Points* are the particles in the scene's order, followed by the vertices of embedded surfaces. A
//! body is drawn by its own triangles, or by those of the surface that is embedded in it. What can
//! be worked out once is worked out by [`Drawing::of`]; [`Drawing::place`] and [`Drawing::field`]
//! then fill memory that the caller keeps.

mod fields;
mod tessellate;

use std::ops::Range;
use std::sync::Arc;

use glam::{Quat, Vec3};

use self::fields::Edges;
use crate::collide::Form;
use crate::mesh::{Bounds, Embedding, Mesh};
use crate::model::Model;
use crate::simulation::Simulation;

pub use fields::Field;

/// The parts of a picture that stay the same while a scene runs.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The number of particles: the first points.
    pub particles: usize,
    /// The number of all points.
    pub points: usize,
    /// The bodies, each copy of a repeated one for itself.
    pub bodies: Vec<DrawnBody>,
    /// Corners of all triangles, as points, body after body.
    pub triangles: Vec<[u32; 3]>,
    /// The shapes.
    pub shapes: Vec<DrawnShape>,
    surfaces: Vec<PlacedSurface>,
    edges: Edges,
}

/// One body of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnBody {
    /// Name in the scene; copies have a number after it.
    pub name: String,
    /// Which of the scene's bodies it is (a copy of).
    pub in_scene: usize,
    /// Its particles, in the scene's order.
    pub particles: Range<usize>,
    /// The points that its triangles use: its particles, or the vertices of its surface.
    pub points: Range<usize>,
    /// Its part of [`Drawing::triangles`].
    pub triangles: Range<usize>,
}

/// One shape of a picture.
#[derive(Clone, Debug)]
pub struct DrawnShape {
    /// Name in the scene.
    pub name: String,
    /// Its surface around its own origin. Where it has sharp edges, the vertices there are doubled,
    /// so that normals averaged over the triangles of a vertex keep them sharp.
    pub mesh: Mesh,
    /// Whether it ever moves.
    pub is_moving: bool,
    /// Whether it has no end: what is drawn is a part of it.
    pub is_plane: bool,
}

/// Where a shape stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapePose {
    /// m.
    pub place: [f32; 3],
    /// Unit quaternion: x, y, z, w.
    pub rotation: [f32; 4],
}

/// A surface embedded in the particles of a body.
#[derive(Clone, Debug)]
struct PlacedSurface {
    particles: Range<usize>,
    embedding: Arc<Embedding>,
}

impl Drawing {
    /// What is to be drawn of a simulation. It stays true while the simulation runs, and goes on with
    /// other settings; a scene with other bodies or shapes needs another drawing.
    #[must_use]
    pub fn of(simulation: &Simulation) -> Self {
        let model = simulation.model();
        let mut drawing = Self {
            particles: model.body_of.len(),
            points: model.body_of.len(),
            bodies: Vec::with_capacity(model.bodies.len()),
            triangles: Vec::new(),
            shapes: shapes(simulation),
            surfaces: Vec::new(),
            edges: Edges::of(simulation),
        };
        for index in 0..model.bodies.len() {
            drawing.add_body(model, index);
        }
        drawing
    }

    fn add_body(&mut self, model: &Model, index: usize) {
        let body = &model.bodies[index];
        let (points, corners) = match &body.surface {
            Some(surface) => {
                let (particles, embedding) = (body.particles.clone(), Arc::clone(surface));
                self.surfaces.push(PlacedSurface { particles, embedding });
                let first = self.points;
                self.points += surface.len();
                (first..self.points, surface.triangles())
            }
            None => (body.particles.clone(), &body.mesh.triangles[..]),
        };
        let (first, first_triangle) = (points.start as u32, self.triangles.len());
        self.triangles.extend(corners.iter().map(|corners| corners.map(|corner| corner + first)));
        self.bodies.push(DrawnBody {
            name: body.name.clone(),
            in_scene: body.in_scene,
            particles: body.particles.clone(),
            points,
            triangles: first_triangle..self.triangles.len(),
        });
    }

    /// Puts the places of all points into `places`, which keeps its memory from one call to the next.
    pub fn place(&self, simulation: &Simulation, places: &mut Vec<[f32; 3]>) {
        places.clear();
        places.reserve(self.points);
        let positions = &simulation.state().positions;
        for body in &simulation.model().bodies {
            let own = body.numbering.by_vertex(&positions[body.particles.clone()]);
            places.extend(own.map(|[x, y, z, _]| [x, y, z]));
        }
        for PlacedSurface { particles, embedding } in &self.surfaces {
            for vertex in 0..embedding.len() {
                let at = |corner: u32| Vec3::from(places[particles.start + corner as usize]);
                let place = embedding.vertex(vertex, at);
                places.push(place.to_array());
            }
        }
    }

    /// Places of all points in the bodies' shapes at rest, each body around its own origin: creases
    /// are those of the shape that a body has, not of the one that it is pressed into.
    #[must_use]
    pub fn rest(&self, simulation: &Simulation) -> Vec<[f32; 3]> {
        let bodies = &simulation.model().bodies;
        let particles = bodies.iter().flat_map(|body| &body.mesh.positions);
        let mut rest: Vec<[f32; 3]> = particles.map(Vec3::to_array).collect();
        for PlacedSurface { particles, embedding } in &self.surfaces {
            for vertex in 0..embedding.len() {
                let at = |corner: u32| Vec3::from(rest[particles.start + corner as usize]);
                let place = embedding.vertex(vertex, at);
                rest.push(place.to_array());
            }
        }
        rest
    }

    /// How each point follows from the positions in the order of memory: a sum of four of them, with
    /// these weights.
    pub fn sources(&self, simulation: &Simulation) -> Vec<([u32; 4], [f32; 4])> {
        let model = simulation.model();
        let mut memory = Vec::with_capacity(self.particles);
        for body in &model.bodies {
            let vertices = 0..body.particles.len() as u32;
            let start = body.particles.start as u32;
            memory.extend(vertices.map(|vertex| start + body.numbering.particle(vertex)));
        }
        let alone = |&particle: &u32| ([particle; 4], [1.0, 0.0, 0.0, 0.0]);
        let mut sources: Vec<_> = memory.iter().map(alone).collect();
        for PlacedSurface { particles, embedding } in &self.surfaces {
            for vertex in 0..embedding.len() {
                let (corners, weights) = embedding.weights(vertex);
                let own = corners.map(|corner| memory[particles.start + corner as usize]);
                sources.push((own, weights));
            }
        }
        sources
    }

    /// Where the shapes stand now.
    pub fn poses<'a>(
        &self,
        simulation: &'a Simulation,
    ) -> impl ExactSizeIterator<Item = ShapePose> + 'a {
        let time = simulation.time();
        simulation.model().shapes.iter().map(move |shape| {
            let (rotation, place) = shape.motion.frame(time);
            ShapePose { place: place.to_array(), rotation: rotation.to_array() }
        })
    }

    /// The box around all points and all shapes but planes, now. A scene with neither has a box of
    /// size 0 at the origin.
    #[must_use]
    pub fn bounds(&self, simulation: &Simulation) -> Bounds {
        let mut places = Vec::new();
        self.place(simulation, &mut places);
        let mut corners: Vec<Vec3> = places.into_iter().map(Vec3::from).collect();
        for (shape, pose) in self.shapes.iter().zip(self.poses(simulation)) {
            if !shape.is_plane {
                let rotation = Quat::from_array(pose.rotation);
                let place = |&vertex: &Vec3| rotation * vertex + Vec3::from(pose.place);
                corners.extend(shape.mesh.positions.iter().map(place));
            }
        }
        Bounds::of(&corners).unwrap_or(Bounds { min: Vec3::ZERO, max: Vec3::ZERO })
    }
}

/// All shapes; those that are not to be seen have no triangles.
fn shapes(simulation: &Simulation) -> Vec<DrawnShape> {
    let scene = simulation.scene();
    let given = scene.file.shapes.iter().zip(&scene.shape_meshes);
    let shapes = simulation.model().shapes.iter().zip(given);
    let drawn = shapes.map(|(shape, (file, mesh))| {
        let (_, origin) = shape.motion.frame(0.0);
        let mesh = match mesh {
            _ if !file.visible => Mesh::default(),
            Some(mesh) => {
                let (positions, triangles) = (mesh.positions.clone(), mesh.triangles.clone());
                Mesh { positions, triangles, ..Mesh::default() }
            }
            None => tessellate::tessellate(&shape.form, reach(simulation, origin)),
        };
        DrawnShape {
            name: shape.name.clone(),
            mesh,
            is_moving: shape.motion.is_moving(),
            is_plane: file.visible && matches!(shape.form, Form::Plane),
        }
    });
    drawn.collect()
}

/// How far a plane is drawn: beyond everything that starts in the scene, with some room around it.
fn reach(simulation: &Simulation, origin: Vec3) -> f32 {
    let away = |[x, y, z, _]: [f32; 4]| Vec3::new(x, y, z).distance(origin);
    let farthest = simulation.positions().into_iter().map(away).fold(0.0, f32::max);
    let reach = 2.0 * (farthest + simulation.model().size);
    // A scene without bodies still shows its floor.
    if reach > 0.0 { reach } else { 1.0 }
}

#[cfg(test)]
mod tests;
