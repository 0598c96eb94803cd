//! Values to color points by.

use glam::Vec3;

use super::Drawing;
use crate::math;
use crate::mesh::Topology;
use crate::model::Body;
use crate::simulation::Simulation;

/// What points can be colored by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The largest change in length of an edge at the particle, as a share of its rest length.
    Strain,
    /// Speed, m/s.
    Speed,
    /// 1 where a particle touches a shape or another particle, else 0.
    Contact,
}

impl Field {
    /// The value that the last color of its scale stands for, unless somebody says otherwise: it does
    /// not change from picture to picture.
    #[must_use]
    pub fn usual_scale(self, simulation: &Simulation) -> f32 {
        match self {
            Self::Strain => 0.1,
            // Half of the speed of a fall as deep as the scene's bodies are large.
            Self::Speed => {
                let gravity = Vec3::from(simulation.settings().gravity).length().max(1.0);
                (2.0 * gravity * simulation.model().size).sqrt() / 2.0
            }
            Self::Contact => 1.0,
        }
    }
}

/// Contacts leave particles at the thickness of their body, up to rounding and the pull of
/// constraints that are solved later: within this share of the scene's size they still touch.
const NEAR: f32 = 1e-4;

/// The edges of all bodies, over particles in the scene's order, with their rest lengths.
#[derive(Clone, Debug, Default)]
pub(super) struct Edges {
    ends: Vec<[u32; 2]>,
    lengths: Vec<f32>,
}

impl Edges {
    pub(super) fn of(simulation: &Simulation) -> Self {
        let mut edges = Self::default();
        for body in &simulation.model().bodies {
            let scale = simulation.scene().file.bodies[body.in_scene].transform.scale;
            edges.add(body, scale);
        }
        edges
    }

    fn add(&mut self, body: &Body, scale: f32) {
        // The model was built from the same mesh, so it has a topology.
        let Ok(topology) = Topology::new(&body.mesh) else { return };
        let first = body.particles.start as u32;
        for ends in topology.edges {
            let [a, b] = ends.map(|end| body.mesh.positions[end as usize]);
            let length = scale * a.distance(b);
            if length > 0.0 {
                self.ends.push(ends.map(|end| end + first));
                self.lengths.push(length);
            }
        }
    }
}

impl Drawing {
    /// Puts the value of a field at each point into `values`, which keeps its memory from one call to
    /// the next. `places` are those that [`Drawing::place`] gives for the same state. A vertex of an
    /// embedded surface has the value of the particle that it follows most.
    ///
    /// # Panics
    /// If there are fewer places than points.
    pub fn field(
        &self,
        simulation: &Simulation,
        field: Field,
        places: &[[f32; 3]],
        values: &mut Vec<f32>,
    ) {
        values.clear();
        values.reserve(self.points);
        match field {
            Field::Strain => self.strain(places, values),
            Field::Speed => speed(simulation, values),
            Field::Contact => contact(simulation, places, values),
        }
        for super::PlacedSurface { particles, embedding } in &self.surfaces {
            for vertex in 0..embedding.len() {
                values.push(values[particles.start + embedding.nearest_corner(vertex) as usize]);
            }
        }
    }

    fn strain(&self, places: &[[f32; 3]], values: &mut Vec<f32>) {
        values.resize(self.particles, 0.0);
        for (ends, &rest) in self.edges.ends.iter().zip(&self.edges.lengths) {
            let [a, b] = ends.map(|end| Vec3::from(places[end as usize]));
            let strain = (a.distance(b) / rest - 1.0).abs();
            for end in *ends {
                let value = &mut values[end as usize];
                *value = value.max(strain);
            }
        }
    }
}

fn speed(simulation: &Simulation, values: &mut Vec<f32>) {
    let velocities = &simulation.state().velocities;
    for body in &simulation.model().bodies {
        let own = body.numbering.by_vertex(&velocities[body.particles.clone()]);
        values.extend(own.map(|[x, y, z, _]| Vec3::new(x, y, z).length()));
    }
}

fn contact(simulation: &Simulation, places: &[[f32; 3]], values: &mut Vec<f32>) {
    let model = simulation.model();
    let near = NEAR * model.size;
    let touching = &simulation.state().contacts.touching;
    let obstacles = simulation.obstacles();
    for body in &model.bodies {
        for (vertex, place) in (0_u32..).zip(&places[body.particles.clone()]) {
            let particle = body.particles.start + body.numbering.particle(vertex) as usize;
            let place = math::Vec3::<f32>::splat(*place);
            let reach = body.thickness + near;
            let touches = touching.get(particle).is_some_and(|&count| count > 0.0)
                || obstacles.iter().any(|obstacle| obstacle.distance(place) <= reach);
            values.push(f32::from(touches));
        }
    }
}
