//! Hands in a running simulation: particles that are pulled towards a place, or held there.
//!
//! Before each step a grabbed particle gets a velocity towards its target: that of a critically
//! damped spring,
//!
//! ```text
//! v ← (v + h ω² (target − x)) / (1 + ω h)²
//! ```
//!
//! (implicit, so no h is too long), or, for a firm grip, the one that ends there. For as long as the
//! step lasts it also weighs much more, so that the constraints around it follow it rather than pull
//! it back. Its inverse mass is never 0: schedules have been made for particles that move, and
//! kernels divide by sums of inverse masses. After the step it has its own mass again, to the bit.

use thiserror::Error;

use super::{Settings, Simulation};
use crate::math::Vec3;
use crate::model::Model;
use crate::scene::MAX_COORDINATE;
use crate::state::State;

/// ω of a soft grip, 1/s: most of the way in a tenth of a second.
const RATE: f32 = 25.0;

/// What is left of the inverse mass of a particle that is pulled, or held.
const SOFT_SHARE: f32 = 1e-3;
const FIRM_SHARE: f32 = 1e-6;

/// A particle that somebody has hold of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grab {
    /// The particle, in the scene's order.
    pub particle: usize,
    /// Where it is to go, m.
    pub target: [f32; 3],
    /// Whether it is held there, rather than pulled.
    pub is_firm: bool,
}

/// Why a particle cannot be grabbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum GrabError {
    /// There are not so many.
    #[error("there is no particle {particle}; the scene has {particles}, counted from 0")]
    NoSuchParticle {
        /// The one that was asked for.
        particle: usize,
        /// How many there are.
        particles: usize,
    },
    /// The scene holds it already.
    #[error("particle {particle} is pinned by the scene and cannot be moved")]
    Pinned {
        /// The one that was asked for.
        particle: usize,
    },
    /// Not a place.
    #[error("the target must be finite and at most {MAX_COORDINATE} m from the origin")]
    NoPlace,
}

/// All grabbed particles, and what they weigh when nobody grabs them.
#[derive(Debug, Default)]
pub(super) struct Grabs {
    grabs: Vec<Grab>,
    /// While a step lasts: particles in the order of memory, and their inverse masses.
    masses: Vec<(usize, f32)>,
    /// While a step lasts: group, place among its split particles, inverse masses of these.
    copies: Vec<(usize, usize, [f32; 2])>,
}

impl Simulation {
    /// Pulls a particle softly towards a place, from now on until [`Simulation::release`]. Pulling it
    /// again moves the place. Particles are counted in the scene's order.
    ///
    /// # Errors
    /// If there is no such particle or place, or the scene has pinned the particle.
    pub fn pull(&mut self, particle: usize, target: [f32; 3]) -> Result<(), GrabError> {
        self.grab(Grab { particle, target, is_firm: false })
    }

    /// Holds a particle at a place, from now on until [`Simulation::release`].
    ///
    /// # Errors
    /// As for [`Simulation::pull`].
    pub fn hold(&mut self, particle: usize, target: [f32; 3]) -> Result<(), GrabError> {
        self.grab(Grab { particle, target, is_firm: true })
    }

    /// Lets go of a particle; nothing happens if nobody has hold of it.
    pub fn release(&mut self, particle: usize) {
        self.grabs.grabs.retain(|grab| grab.particle != particle);
    }

    /// The particles that are pulled or held, in ascending order.
    pub fn grabs(&self) -> &[Grab] {
        &self.grabs.grabs
    }

    fn grab(&mut self, grab: Grab) -> Result<(), GrabError> {
        let (particle, particles) = (grab.particle, self.model.body_of.len());
        if particle >= particles {
            return Err(GrabError::NoSuchParticle { particle, particles });
        }
        if !grab.target.iter().all(|x| x.abs() <= MAX_COORDINATE) {
            return Err(GrabError::NoPlace);
        }
        if self.state().positions[stored(&self.model, particle)][3] == 0.0 {
            return Err(GrabError::Pinned { particle });
        }
        // Sorted, so that results do not depend on who grabbed first.
        let grabs = &mut self.grabs.grabs;
        match grabs.binary_search_by_key(&particle, |grab| grab.particle) {
            Ok(place) => grabs[place] = grab,
            Err(place) => grabs.insert(place, grab),
        }
        Ok(())
    }
}

impl Grabs {
    /// Whether nothing is grabbed.
    pub(super) fn is_empty(&self) -> bool {
        self.grabs.is_empty()
    }

    /// Lets go of everything.
    pub(super) fn clear(&mut self) {
        self.grabs.clear();
    }

    /// Lets go of particles that cannot move in a model, because another scene pins them.
    pub(super) fn keep_movable(&mut self, model: &Model, state: &State) {
        self.grabs.retain(|grab| state.positions[stored(model, grab.particle)][3] != 0.0);
    }

    /// Turns grabbed particles towards their targets and makes them heavy.
    pub(super) fn begin(&mut self, model: &mut Model, state: &mut State, settings: &Settings) {
        for grab in &self.grabs {
            let particle = stored(model, grab.particle);
            turn(grab, particle, model.size, state, settings);
            let share = if grab.is_firm { FIRM_SHARE } else { SOFT_SHARE };
            let mass = &mut state.positions[particle][3];
            self.masses.push((particle, *mass));
            *mass *= share;
            for (number, group) in model.groups.iter_mut().enumerate() {
                let copies = &mut group.copies;
                let mut split = copies.ends.iter();
                let found = split.position(|&(split, _)| split as usize == particle);
                if let Some(place) = found {
                    let masses = copies.inverse_masses.each_mut().map(|list| &mut list[place]);
                    self.copies.push((number, place, masses.each_ref().map(|mass| **mass)));
                    masses.into_iter().for_each(|mass| *mass *= share);
                }
            }
        }
    }

    /// Gives every particle its own mass again.
    pub(super) fn end(&mut self, model: &mut Model, state: &mut State) {
        for (particle, mass) in self.masses.drain(..) {
            state.positions[particle][3] = mass;
        }
        for (group, place, masses) in self.copies.drain(..) {
            let lists = &mut model.groups[group].copies.inverse_masses;
            lists.iter_mut().zip(masses).for_each(|(list, mass)| list[place] = mass);
        }
    }
}

/// Sets the velocity of a grabbed particle; where time does not pass, its place.
fn turn(grab: &Grab, particle: usize, size: f32, state: &mut State, settings: &Settings) {
    let [x, y, z, w] = state.positions[particle];
    let place = Vec3::new(x, y, z);
    let way = Vec3::splat(grab.target) - place;
    let step = settings.dt;
    let gain = RATE * step;
    let [vx, vy, vz, _] = state.velocities[particle];
    let velocity = if grab.is_firm {
        way * (1.0 / step)
    } else {
        let damped = 1.0 / ((1.0 + gain) * (1.0 + gain));
        (Vec3::new(vx, vy, vz) + way * (RATE * gain)) * damped
    };
    // A target across the world is reached in several steps: no faster than one scene a step.
    let ahead = velocity.length() * step;
    let velocity = if ahead > size { velocity * (size / ahead) } else { velocity };
    if settings.integrate {
        // What falling will take away from it, substep after substep.
        let substeps = settings.substeps as f32;
        let fall = Vec3::splat(settings.gravity) * (0.5 * step * (substeps + 1.0) / substeps);
        let Vec3 { x, y, z } = velocity - fall;
        state.velocities[particle] = [x, y, z, 0.0];
    } else {
        let Vec3 { x, y, z } = place + velocity * step;
        state.positions[particle] = [x, y, z, w];
    }
}

/// Where a particle of the scene stands in memory.
fn stored(model: &Model, particle: usize) -> usize {
    let body = model.bodies.partition_point(|body| body.particles.end <= particle);
    let body = &model.bodies[body];
    let vertex = (particle - body.particles.start) as u32;
    body.particles.start + body.numbering.particle(vertex) as usize
}
