//! Balloon [Müller, Heidelberger, Hennix & Ratcliff 2007, section 4.4.2]: C = V − p V₀, with V the
//! volume that a closed surface encloses, V₀ that of its rest shape and p its pressure.
//!
//! V = Σ (x₁ × x₂) · x₃ / 6 over all triangles, ∇ᵢC = Σ xⱼ × xₖ / 6 over the triangles (i, j, k) of
//! particle i, and Σ xᵢ · ∇ᵢC = 3 V. One constraint moves every particle of the surface, so it has no
//! place in a schedule. It takes two stages:
//!
//! - measure: the gradient of every particle, and for every chunk of particles its part of V and of
//!   Σ wᵢ|∇ᵢC|²;
//! - inflate: the parts are added up, in the order of the chunks, and every particle moves.
//!
//! Chunks do not depend on the number of workers, so neither do the bits. Every chunk keeps a
//! multiplier λ of its own, all of them equal: so nobody reads what another worker writes.

use std::ops::Range;

use super::{Residual, Response};
use crate::math::Vec3;
use crate::state::{Access, State, Storage, View};

/// The name of balloons in scene files, on the command line and in results.
pub const BALLOON: &str = "balloon";

/// Particles of a chunk: some microseconds of work.
const CHUNK: usize = 256;

/// A closed surface that keeps its volume.
#[derive(Clone, Debug)]
pub struct Balloon {
    /// The particles of its body.
    pub(super) particles: Range<usize>,
    /// Particle `p` of the body has the edges `opposite[offsets[p]..offsets[p + 1]]` across from it.
    pub(super) offsets: Vec<u32>,
    pub(super) opposite: Vec<[u32; 2]>,
    /// p V₀, m³.
    pub(super) volume: f32,
    /// How it answers: not by forces.
    pub(super) response: Response,
    /// k or α.
    pub(super) softness: f32,
    /// Where its part of the state's scratch memory starts: a gradient per particle, then a sum per
    /// chunk.
    pub(super) first_scratch: usize,
    /// Where its multipliers start (compliance only), one per chunk.
    pub(super) first_multiplier: usize,
}

impl Balloon {
    /// A balloon of the triangles of a body, whose particles are `particles`, with the volume that
    /// it shall have.
    pub fn new(
        particles: Range<usize>,
        triangles: &[[u32; 3]],
        volume: f32,
        response: Response,
        softness: f32,
    ) -> Self {
        let mut offsets = vec![0; particles.len() + 1];
        for corner in triangles.as_flattened() {
            offsets[*corner as usize - particles.start + 1] += 1;
        }
        for particle in 0..particles.len() {
            offsets[particle + 1] += offsets[particle];
        }
        let mut next: Vec<u32> = offsets.clone();
        let mut opposite = vec![[0; 2]; 3 * triangles.len()];
        for &[a, b, c] in triangles {
            for (corner, edge) in [(a, [b, c]), (b, [c, a]), (c, [a, b])] {
                let place = &mut next[corner as usize - particles.start];
                opposite[*place as usize] = edge;
                *place += 1;
            }
        }
        Self {
            particles,
            offsets,
            opposite,
            volume,
            response,
            softness,
            first_scratch: 0,
            first_multiplier: 0,
        }
    }

    /// Gives it its parts of the state's scratch memory and multipliers, which start at these
    /// places.
    pub fn place(&mut self, first_scratch: usize, first_multiplier: usize) {
        self.first_scratch = first_scratch;
        self.first_multiplier = first_multiplier;
    }

    /// How much scratch memory it needs.
    pub fn scratch(&self) -> usize {
        self.particles.len() + self.chunk_count()
    }

    /// How many multipliers it keeps: one per chunk, if it has a compliance.
    pub fn multipliers(&self) -> usize {
        if self.response == Response::Compliance { self.chunk_count() } else { 0 }
    }

    /// The number of chunks.
    pub fn chunk_count(&self) -> usize {
        self.particles.len().div_ceil(CHUNK)
    }

    /// The particles of a chunk.
    fn chunk(&self, chunk: usize) -> Range<usize> {
        let start = self.particles.start + chunk * CHUNK;
        start..(start + CHUNK).min(self.particles.end)
    }

    /// Places are measured from the first particle: from the origin, a small balloon far away would
    /// cancel out.
    fn gradient(&self, particle: usize, place: impl Fn(usize) -> Vec3<f32>) -> Vec3<f32> {
        let own = particle - self.particles.start;
        let edges = self.offsets[own] as usize..self.offsets[own + 1] as usize;
        let mut sum = Vec3::<f32>::zero();
        for &[a, b] in &self.opposite[edges] {
            sum = sum + place(a as usize).cross(place(b as usize));
        }
        sum * (1.0 / 6.0)
    }

    /// First stage, for one chunk.
    pub fn measure<S: Storage>(&self, chunk: usize, view: &View<S>) {
        let base = vector(view.positions.get(self.particles.start));
        let place = |particle: usize| vector(view.positions.get(particle)) - base;
        let (mut volume, mut movable) = (0.0, 0.0);
        for particle in self.chunk(chunk) {
            let gradient = self.gradient(particle, place);
            volume += place(particle).dot(gradient) * (1.0 / 3.0);
            movable += view.positions.get(particle)[3] * gradient.length_squared();
            let Vec3 { x, y, z } = gradient;
            view.scratch.set(self.first_scratch + particle - self.particles.start, [x, y, z, 0.0]);
        }
        let sums = self.first_scratch + self.particles.len();
        view.scratch.set(sums + chunk, [volume, movable, 0.0, 0.0]);
    }

    /// Second stage, for some chunks.
    pub fn inflate<S: Storage>(
        &self,
        chunks: Range<usize>,
        inverse_step_squared: f32,
        first: bool,
        view: &View<S>,
    ) {
        let sums = self.first_scratch + self.particles.len();
        let (mut volume, mut movable) = (0.0, 0.0);
        for chunk in 0..self.chunk_count() {
            let [v, m, _, _] = view.scratch.get(sums + chunk);
            volume += v;
            movable += m;
        }
        for chunk in chunks {
            let change = self.change(volume, movable, inverse_step_squared, chunk, first, view);
            for particle in self.chunk(chunk) {
                let [x, y, z, w] = view.positions.get(particle);
                if w != 0.0 {
                    let own = self.first_scratch + particle - self.particles.start;
                    let moved = Vec3::new(x, y, z) + vector(view.scratch.get(own)) * (w * change);
                    view.positions.set(particle, [moved.x, moved.y, moved.z, w]);
                }
            }
        }
    }

    /// Δλ; the sum of Δλ is kept for each chunk where compliance asks for it.
    fn change<S: Storage>(
        &self,
        volume: f32,
        movable: f32,
        inverse_step_squared: f32,
        chunk: usize,
        first: bool,
        view: &View<S>,
    ) -> f32 {
        let error = volume - self.volume;
        if movable <= 0.0 {
            return 0.0;
        }
        if self.response != Response::Compliance {
            return -self.softness * error / movable;
        }
        let compliance = self.softness * inverse_step_squared;
        let place = self.first_multiplier + chunk;
        let total = if first { 0.0 } else { view.multipliers.get(place) };
        let change = (-error - compliance * total) / (movable + compliance);
        view.multipliers.set(place, total + change);
        change
    }

    /// Volume that it encloses, m³.
    pub fn enclosed(&self, state: &State) -> f64 {
        let [x, y, z, _] = state.positions[self.particles.start].map(f64::from);
        let base = glam::DVec3::new(x, y, z);
        let place = |particle: usize| {
            let [x, y, z, _] = state.positions[particle].map(f64::from);
            glam::DVec3::new(x, y, z) - base
        };
        let mut volume = 0.0;
        for (own, particle) in self.particles.clone().enumerate() {
            let edges = self.offsets[own] as usize..self.offsets[own + 1] as usize;
            for &[a, b] in &self.opposite[edges] {
                volume += place(a as usize).cross(place(b as usize)).dot(place(particle));
            }
        }
        // Every triangle has been counted at each of its corners.
        volume / 18.0
    }

    /// Error of its volume, relative to the volume that it shall have.
    pub fn residual(&self, state: &State) -> Residual {
        let volume = f64::from(self.volume);
        Residual::of(std::iter::once((self.enclosed(state) - volume) / volume))
    }

    /// Whether a particle is one of its body.
    pub fn has(&self, particle: usize) -> bool {
        self.particles.contains(&particle)
    }
}

fn vector([x, y, z, _]: [f32; 4]) -> Vec3<f32> {
    Vec3::new(x, y, z)
}

#[cfg(test)]
mod tests {
    //! Contract: the gradient is that of the volume, the volume that of the surface, and one
    //! projection leaves momentum and pinned particles alone.

    use super::*;

    /// A box with corners pulled out of place.
    fn surface() -> (Vec<[f32; 4]>, Vec<[u32; 3]>) {
        let mut places = Vec::new();
        for corner in 0..8 {
            let along = |bit: u32| if corner >> bit & 1 == 1 { 1.0 } else { 0.0 };
            let push = 0.05 * f32::from(corner as u8);
            places.push([along(0) + push, along(1) - push, along(2) + 0.5 * push, 2.0]);
        }
        let quads =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        (places, triangles)
    }

    fn state(positions: &[[f32; 4]]) -> State {
        State { positions: positions.into(), scratch: vec![[0.0; 4]; 9], ..State::default() }
    }

    #[test]
    fn gradients_are_those_of_the_volume() {
        let (places, triangles) = surface();
        let balloon = Balloon::new(0..8, &triangles, 1.0, Response::Stiffness, 1.0);
        let place = |particle: usize| vector(places[particle]);
        let volume = |moved: &[[f32; 4]]| balloon.enclosed(&state(moved));
        assert!((volume(&places) - 1.0).abs() < 0.3, "{}", volume(&places));
        for particle in 0..8 {
            let Vec3 { x, y, z } = balloon.gradient(particle, place);
            for (axis, slope) in [x, y, z].into_iter().enumerate() {
                let shifted = |by: f32| {
                    let mut moved = places.clone();
                    moved[particle][axis] += by;
                    volume(&moved)
                };
                let difference = (shifted(0.01) - shifted(-0.01)) / 0.02;
                assert!((difference - f64::from(slope)).abs() < 1e-4, "{difference} {slope}");
            }
        }
    }

    #[test]
    fn one_projection_reaches_the_volume_and_keeps_momentum() {
        let (mut places, triangles) = surface();
        let before = state(&places);
        places[3][3] = 0.5;
        let mut moved = state(&places);
        let target = 1.02
            * Balloon::new(0..8, &triangles, 1.0, Response::Stiffness, 1.0).enclosed(&before)
                as f32;
        let balloon = Balloon::new(0..8, &triangles, target, Response::Stiffness, 1.0);
        let view = moved.cells();
        balloon.measure(0, &view);
        balloon.inflate(0..1, 1.0, true, &view);
        let error = balloon.enclosed(&moved) / f64::from(target) - 1.0;
        assert!(error.abs() < 1e-3, "{error}");
        for axis in 0..3 {
            let moment = |state: &State| {
                let weighed = |(p, q): (&[f32; 4], &[f32; 4])| p[axis] / q[3];
                state.positions.iter().zip(&places).map(weighed).sum::<f32>()
            };
            assert!((moment(&moved) - moment(&before)).abs() < 1e-5);
        }
    }

    #[test]
    fn pinned_particles_stay() {
        let (mut places, triangles) = surface();
        places[5][3] = 0.0;
        let mut moved = state(&places);
        let balloon = Balloon::new(0..8, &triangles, 2.0, Response::Stiffness, 1.0);
        let view = moved.cells();
        balloon.measure(0, &view);
        balloon.inflate(0..1, 1.0, true, &view);
        assert_eq!(moved.positions[5], places[5]);
        assert_ne!(moved.positions[4], places[4]);
    }
}
