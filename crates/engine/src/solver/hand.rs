//! Hands: particles that are pulled towards a place while a step lasts, or held there.
//!
//! Before the step a grabbed particle gets a velocity towards its target: that of a critically damped
//! spring,
//!
//! ```text
//! v ← (v + h ω² (target − x)) / (1 + ω h)²
//! ```
//!
//! (implicit, so no h is too long), or, for a firm grip, the one that ends there. For as long as the
//! step lasts it also weighs much more, so that the constraints around it follow it rather than pull
//! it back. Its inverse mass is never 0: schedules have been made for particles that move, and
//! kernels divide by sums of inverse masses. After the step it has its own mass again, to the bit.

use crate::math::Vec3;

/// ω of a soft grip, 1/s: most of the way in a tenth of a second.
const RATE: f32 = 25.0;

/// What is left of the inverse mass of a particle that is pulled, or held.
const SOFT_SHARE: f32 = 1e-3;
const FIRM_SHARE: f32 = 1e-6;

/// A particle that is grabbed.
#[derive(Clone, Copy, Debug)]
pub struct Hand {
    /// The particle, in the order of memory.
    pub particle: usize,
    /// Where it is to go, m.
    pub target: [f32; 3],
    /// Whether it is held there, rather than pulled.
    pub is_firm: bool,
    /// Its own inverse mass, 1/kg.
    pub inverse_mass: f32,
}

impl Hand {
    /// Its inverse mass while the step lasts.
    #[must_use]
    pub fn heavy(&self) -> f32 {
        self.inverse_mass * if self.is_firm { FIRM_SHARE } else { SOFT_SHARE }
    }
}

/// All hands of a step, and what they have in common.
#[derive(Clone, Debug)]
pub struct Hands {
    /// One for each particle that is grabbed.
    pub all: Vec<Hand>,
    /// Length h of the step, s.
    pub step: f32,
    /// 1/h.
    pub inverse_step: f32,
    /// h ω², 1/s: what a soft grip adds to a velocity for every meter to go.
    pub gain: f32,
    /// 1/(1 + ω h)²: what a soft grip leaves of a velocity.
    pub kept: f32,
    /// The farthest that a particle is pulled in a step, m.
    pub reach: f32,
    /// What falling will take away from a velocity, substep after substep, m/s; nothing if time does not
    /// pass, and places change instead of velocities.
    pub fall: Option<[f32; 3]>,
}

impl Hands {
    /// No hands yet, for a step of some substeps. `gravity` is nothing if time does not pass.
    #[must_use]
    pub fn none(step: f32, substeps: u32, reach: f32, gravity: Option<[f32; 3]>) -> Self {
        let (gain, substeps) = (RATE * step, substeps as f32);
        let fall = gravity.map(|gravity| {
            let fall = Vec3::splat(gravity) * (0.5 * step * (substeps + 1.0) / substeps);
            [fall.x, fall.y, fall.z]
        });
        Self {
            all: Vec::new(),
            step,
            inverse_step: 1.0 / step,
            gain: RATE * gain,
            kept: 1.0 / ((1.0 + gain) * (1.0 + gain)),
            reach,
            fall,
        }
    }

    /// Turns a particle towards its target and makes it heavy: sets its velocity, or, where time does
    /// not pass, its place.
    pub fn grab(&self, hand: &Hand, position: &mut [f32; 4], velocity: &mut [f32; 4]) {
        let place = Vec3::new(position[0], position[1], position[2]);
        let way = Vec3::splat(hand.target) - place;
        let turned = if hand.is_firm {
            way * self.inverse_step
        } else {
            (Vec3::new(velocity[0], velocity[1], velocity[2]) + way * self.gain) * self.kept
        };
        // A target across the world is reached in several steps: no faster than one scene a step.
        let ahead = turned.length() * self.step;
        let turned = if ahead > self.reach { turned * (self.reach / ahead) } else { turned };
        position[3] = hand.heavy();
        if let Some(fall) = self.fall {
            let Vec3 { x, y, z } = turned - Vec3::splat(fall);
            *velocity = [x, y, z, 0.0];
        } else {
            let Vec3 { x, y, z } = place + turned * self.step;
            position[..3].copy_from_slice(&[x, y, z]);
        }
    }
}
