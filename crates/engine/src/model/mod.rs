//! A scene turned into numbers: particles, constraints with their schedules, shapes.
//!
//! [`Model::build`] is the only way from a scene to something that can be simulated. What changes
//! while it runs is in [`State`]; everything here stays as it is.

mod build;
mod contacts;
mod elements;
mod geodesic;
mod numbering;
mod patches;
mod pieces;
mod schedules;

use std::ops::Range;
use std::sync::Arc;

use thiserror::Error;

use crate::collide::{Form, Motion};
use crate::constraint::{Balloon, Group, Kind};
use crate::mesh::{Embedding, Mesh, MeshError};
use crate::scene::{Part, Scene, SceneErrors};
use crate::state::State;

pub use contacts::ParticleContacts;
pub use numbering::Numbering;
pub use patches::{FAN, PATCH, Patches};
pub use pieces::Pieces;
pub use schedules::{Partitioned, coloring_options, partition};

/// Everything that a simulation needs and does not change.
#[derive(Clone, Debug)]
pub struct Model {
    /// The bodies, each copy of a repeated one for itself.
    pub bodies: Vec<Body>,
    /// The body of every particle. As long as there are particles of bodies; the state's arrays go
    /// on with the kinematic particles of `targets` and with room for the copies of one group.
    pub body_of: Vec<u32>,
    /// Triangles of all bodies, by particle.
    pub triangles: Vec<[u32; 3]>,
    /// Constraints by kind, in the order of a sweep.
    pub groups: Vec<Group>,
    /// Closed surfaces under pressure.
    pub balloons: Vec<Balloon>,
    /// Static and moving shapes.
    pub shapes: Vec<Shape>,
    /// Kinematic particles that others are attached to: the shape each one follows and its place
    /// in the shape's frame, or nothing if it stays where it is.
    pub targets: Vec<Option<(usize, [f32; 3])>>,
    /// Particles that schedules take for fixed: pinned and kinematic ones.
    pub fixed: Vec<u32>,
    /// Moving air, if there is any.
    pub wind: Option<Wind>,
    /// Chebyshev acceleration: the share of the error that a sweep is taken to leave.
    pub chebyshev: Option<f32>,
    /// Size of what moves: the diagonal of its box at the start or of a body's at rest, m.
    pub size: f32,
    /// The highest speed that the scene gives to a body or a shape, m/s.
    pub speed: f32,
    /// Contacts between particles, if there are any.
    pub particle_contacts: Option<ParticleContacts>,
    /// The pieces that it consists of, if nothing connects them.
    pub pieces: Option<Pieces>,
}

/// One body, or one copy of a repeated one.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name in the scene; copies have a number after it.
    pub name: String,
    /// Which of the scene's bodies it is (a copy of).
    pub in_scene: usize,
    /// Its particles.
    pub particles: Range<usize>,
    /// Its triangles in the model's list.
    pub triangles: Range<usize>,
    /// Distance that contacts keep from shapes, m.
    pub thickness: f32,
    /// Rate at which velocities decay, 1/s.
    pub damping: f32,
    /// Drag coefficient in the wind.
    pub drag: f32,
    /// The mesh it was made from.
    pub mesh: Arc<Mesh>,
    /// A finer surface that follows it, drawn instead of its triangles.
    pub surface: Option<Arc<Embedding>>,
    /// Which particle is which vertex of the mesh.
    pub numbering: Arc<Numbering>,
}

/// Something to collide with.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Name in the scene.
    pub name: String,
    /// Its form.
    pub form: Form,
    /// Coulomb's coefficient of friction.
    pub friction: f32,
    /// How it moves.
    pub motion: Motion,
}

/// Moving air, and which triangles each particle feels it through.
#[derive(Clone, Debug)]
pub struct Wind {
    /// kg/m³.
    pub density: f32,
    /// Mean velocity, m/s.
    velocity: [f32; 3],
    gust: f32,
    gust_period: f32,
    /// Particle `p` has the triangles `incident[offsets[p]..offsets[p + 1]]`.
    offsets: Vec<u32>,
    incident: Vec<u32>,
}

impl Wind {
    /// The triangles of a particle.
    #[inline]
    pub fn triangles_of(&self, particle: usize) -> &[u32] {
        &self.incident[self.offsets[particle] as usize..self.offsets[particle + 1] as usize]
    }

    /// Where the triangles of each particle begin in this same list, one more entry, and then the
    /// triangles.
    pub fn incidence(&self) -> Vec<u32> {
        let first = self.offsets.len() as u32;
        let starts = self.offsets.iter().map(|offset| first + offset);
        starts.chain(self.incident.iter().copied()).collect()
    }

    /// Velocity of the air at a time: three sines whose periods have no common multiple, so that
    /// gusts do not repeat and yet are the same in every run.
    pub fn velocity_at(&self, time: f64) -> [f32; 3] {
        let phase = time * std::f64::consts::TAU / f64::from(self.gust_period);
        let swing = (phase.sin() + (phase * 2.236).sin() + (phase * 5.385).sin()) / 3.0;
        let factor = 1.0 + f64::from(self.gust) * swing;
        self.velocity.map(|v| (f64::from(v) * factor) as f32)
    }
}

/// The constraints of a scene before they are scheduled: what a partitioner gets to see.
#[derive(Clone, Debug)]
pub struct ConstraintLists {
    /// For each group its kind and its particles, constraint after constraint.
    pub lists: Vec<(Kind, Vec<u32>)>,
    /// The place of every particle in the scene's own order.
    pub scene_ids: Vec<u32>,
    /// The number of particles of bodies; kinematic ones come after them.
    pub particles: usize,
    /// Places of all particles at the start.
    pub positions: Vec<[f32; 3]>,
    /// Which of them never move.
    pub fixed: Vec<bool>,
}

impl ConstraintLists {
    /// The constraints of a scene, in the scene's order.
    ///
    /// # Errors
    /// As for [`Model::build`].
    pub fn of(scene: &Scene) -> Result<Self, SceneErrors> {
        build::constraint_lists(scene).map_err(|error| error.located(scene))
    }
}

/// Why a scene cannot be simulated although its file is well formed.
#[derive(Debug, Error)]
enum ModelError {
    /// A particle that weighs nothing.
    #[error(
        "particle {particle} has no mass, because all its triangles or tetrahedra have no size; remove them or weld the mesh"
    )]
    NoMass {
        /// The body.
        body: String,
        /// The particle, in the mesh's order.
        particle: usize,
    },
    /// A constraint that starts from nothing.
    #[error(
        "the {kind} constraint on particles {particles:?} has rest value {value}, which cannot be kept; weld the mesh or remove the degenerate element"
    )]
    DegenerateElement {
        /// The body.
        body: String,
        /// The kind of constraint.
        kind: &'static str,
        /// Its particles, in the mesh's order.
        particles: Vec<u32>,
        /// Its rest value.
        value: f64,
    },
    /// A mesh that cannot be used.
    #[error("{error}")]
    Mesh {
        /// Whose mesh it is.
        part: Part,
        /// The body or shape.
        name: String,
        /// What is wrong.
        error: MeshError,
    },
}

impl ModelError {
    /// The error with its place in the scene's file.
    fn located(self, scene: &Scene) -> SceneErrors {
        let (part, name) = match &self {
            Self::NoMass { body, .. } | Self::DegenerateElement { body, .. } => (Part::Body, body),
            Self::Mesh { part, name, .. } => (*part, name),
        };
        scene.flaw(part, name, self.to_string())
    }
}

impl Model {
    /// Turns a scene into a model and the state it starts from.
    ///
    /// # Errors
    /// A mesh that cannot be simulated although its file is well formed, with the line that names it.
    pub fn build(scene: &Scene) -> Result<(Self, State), SceneErrors> {
        build::build(scene).map_err(|error| error.located(scene))
    }

    /// The state that a scene starts from, for the model that was built from it.
    ///
    /// # Errors
    /// As for [`Model::build`].
    pub fn start(scene: &Scene, model: &Self) -> Result<State, SceneErrors> {
        build::start(scene, model).map_err(|error| error.located(scene))
    }

    /// Values of the bodies' particles, in the scene's order: body after body, vertex after vertex.
    pub fn in_scene_order<T: Copy>(&self, values: &[T]) -> Vec<T> {
        let mut sorted = Vec::with_capacity(self.body_of.len());
        for body in &self.bodies {
            sorted.extend(body.numbering.by_vertex(&values[body.particles.clone()]));
        }
        sorted
    }

    /// The number of a body's particle in the body's own order.
    pub fn vertex(&self, particle: usize) -> usize {
        let body = &self.bodies[self.body_of[particle] as usize];
        body.numbering.vertex((particle - body.particles.start) as u32) as usize
    }

    /// In words, the element most in error around a particle.
    pub(crate) fn worst_element(&self, state: &State, particle: usize) -> String {
        let of_group = |group: &Group| {
            let (error, particles) = group.worst_at(particle, state)?;
            Some((error, group.kind.name(), particles))
        };
        let larger = |a: (f64, _, _), b: (f64, _, _)| if b.0 > a.0 { b } else { a };
        let worst = self.groups.iter().filter_map(of_group).reduce(larger);
        match worst {
            Some((error, kind, particles)) => {
                let names: Vec<String> =
                    particles.iter().map(|&id| self.particle_name(id)).collect();
                let share =
                    if error.is_finite() { format!(", {error:.1e} off") } else { String::new() };
                format!("by its {kind} element on {}{share}", names.join(", "))
            }
            None if self.balloons.iter().any(|balloon| balloon.has(particle)) => {
                "which only its balloon holds".to_owned()
            }
            None => "which no element holds".to_owned(),
        }
    }

    fn particle_name(&self, particle: usize) -> String {
        match self.body_of.get(particle) {
            Some(&body) => {
                format!("{}:{}", self.bodies[body as usize].name, self.vertex(particle))
            }
            None => "a fixed target".to_owned(),
        }
    }

    /// The number of constraints.
    pub fn constraint_count(&self) -> usize {
        let scheduled: usize = self.groups.iter().map(|group| group.count).sum();
        scheduled + self.balloons.len()
    }

    /// The number of copies of particles that phantoms need.
    pub fn copy_count(&self) -> usize {
        self.groups.iter().map(|group| group.copies.count()).sum()
    }
}
