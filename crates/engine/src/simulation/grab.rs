//! Particles of a running simulation that somebody grabs. How they are pulled is in `solver/hand.rs`.

use thiserror::Error;

use super::{Settings, Simulation};
use crate::model::Model;
use crate::scene::MAX_COORDINATE;
use crate::solver::{Hand, Hands};
use crate::state::State;

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

/// All grabbed particles.
#[derive(Debug, Default)]
pub(super) struct Grabs {
    grabs: Vec<Grab>,
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
        // Masses are at home, wherever places are.
        if self.moving.get_mut().state.positions[stored(&self.model, particle)][3] == 0.0 {
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
    /// Lets go of everything.
    pub(super) fn clear(&mut self) {
        self.grabs.clear();
    }

    /// Lets go of particles that cannot move in a model, because another scene pins them.
    pub(super) fn keep_movable(&mut self, model: &Model, state: &State) {
        self.grabs.retain(|grab| state.positions[stored(model, grab.particle)][3] != 0.0);
    }

    /// The hands of a step; nothing if there are none.
    pub(super) fn hands(&self, model: &Model, state: &State, settings: &Settings) -> Option<Hands> {
        let Settings { dt, substeps, gravity, integrate, .. } = *settings;
        let mut hands = Hands::none(dt, substeps, model.size, integrate.then_some(gravity));
        hands.all.extend(self.grabs.iter().map(|grab| {
            let particle = stored(model, grab.particle);
            let inverse_mass = state.positions[particle][3];
            Hand { particle, target: grab.target, is_firm: grab.is_firm, inverse_mass }
        }));
        (!hands.all.is_empty()).then_some(hands)
    }
}

/// Turns grabbed particles towards their targets and makes them heavy, where the state is at home.
pub(super) fn begin(hands: &Hands, model: &mut Model, state: &mut State) {
    for hand in &hands.all {
        let particle = hand.particle;
        hands.grab(hand, &mut state.positions[particle], &mut state.velocities[particle]);
        weigh_copies(model, particle, hand.heavy());
    }
}

/// Gives every particle its own mass again.
pub(super) fn end(hands: &Hands, model: &mut Model, state: &mut State) {
    for hand in &hands.all {
        state.positions[hand.particle][3] = hand.inverse_mass;
        weigh_copies(model, hand.particle, hand.inverse_mass);
    }
}

/// Those who take part in sweeps for a particle weigh as it does.
fn weigh_copies(model: &mut Model, particle: usize, inverse_mass: f32) {
    for group in &mut model.groups {
        let copies = &mut group.copies;
        let found = copies.ends.iter().position(|&(split, _)| split as usize == particle);
        if let Some(place) = found {
            copies.inverse_masses[place] = inverse_mass;
        }
    }
}

/// Where a particle of the scene stands in memory.
fn stored(model: &Model, particle: usize) -> usize {
    let body = model.bodies.partition_point(|body| body.particles.end <= particle);
    let body = &model.bodies[body];
    let vertex = (particle - body.particles.start) as u32;
    body.particles.start + body.numbering.particle(vertex) as usize
}

#[cfg(test)]
mod tests {
    //! Contract: while a step lasts, all that stand for a grabbed particle weigh as it does.

    use std::path::Path;

    use super::*;
    use crate::scene::Scene;

    #[test]
    fn copies_weigh_what_their_particle_does() {
        for solver in ["phantom", "jacobi", "hybrid"] {
            let text = format!(
                "solver = \"{solver}\"\n[[bodies]]\nname = \"cloth\"\n\
                 mesh.grid = {{ particles = [6, 6], size = [1, 1] }}\n\
                 elements.stretch = {{ stiffness = 1 }}\nelements.bend = {{ stiffness = 1 }}\n"
            );
            let scene = Scene::parse("test", &text, Path::new("."), &[]).unwrap();
            let (mut model, mut state) = Model::build(&scene).unwrap();
            let mut grabs = Grabs::default();
            grabs.grabs.push(Grab { particle: 14, target: [0.0; 3], is_firm: true });
            let settings = Settings::of(&scene);
            let hands = grabs.hands(&model, &state, &settings).unwrap();
            let particle = stored(&model, 14);
            let masses = |model: &Model, state: &State| -> Vec<f32> {
                let copies = model.groups.iter().flat_map(|group| {
                    let copies = &group.copies;
                    let own = copies.ends.iter().zip(&copies.inverse_masses);
                    own.filter(|((split, _), _)| *split as usize == particle).map(|(_, mass)| *mass)
                });
                copies.chain([state.positions[particle][3]]).collect()
            };
            let before = masses(&model, &state);
            assert!(before.len() > 1, "{solver}: it is split");
            begin(&hands, &mut model, &mut state);
            let heavy = hands.all[0].heavy();
            assert!(heavy > 0.0 && heavy < before[0]);
            assert!(masses(&model, &state).iter().all(|&mass| mass == heavy), "{solver}");
            end(&hands, &mut model, &mut state);
            assert_eq!(masses(&model, &state), before, "{solver}");
        }
    }
}
