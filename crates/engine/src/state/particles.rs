//! Particles in memory.

use std::ops::{Deref, DerefMut};

use super::Particle;
use crate::math::{LINE, PARTICLES_IN_LINE};

/// A list of particles that begins where a line of memory does, so that four of them are in a line: what is
/// fetched early is then known by lines, and four that follow each other are loaded from one.
#[derive(Debug, Default)]
pub struct Particles {
    /// The list, and before it what is left of the line in which the allocator has begun.
    room: Vec<Particle>,
    start: usize,
}

impl From<&[Particle]> for Particles {
    fn from(list: &[Particle]) -> Self {
        let mut room: Vec<Particle> = Vec::with_capacity(list.len() + PARTICLES_IN_LINE - 1);
        // An allocator that does not even align to particles cannot be helped; nothing depends on it but time.
        let start =
            Some(room.as_ptr().align_offset(LINE)).filter(|&start| start < PARTICLES_IN_LINE);
        let start = start.unwrap_or(0);
        room.resize(start, [0.0; 4]);
        room.extend_from_slice(list);
        Self { room, start }
    }
}

impl Clone for Particles {
    fn clone(&self) -> Self {
        Self::from(&self[..])
    }
}

impl PartialEq for Particles {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl Deref for Particles {
    type Target = [Particle];

    fn deref(&self) -> &[Particle] {
        &self.room[self.start..]
    }
}

impl DerefMut for Particles {
    fn deref_mut(&mut self) -> &mut [Particle] {
        &mut self.room[self.start..]
    }
}

#[cfg(test)]
mod tests {
    //! Contract: lists are what they are made from, and begin with a line; so do their copies.

    use super::*;

    #[test]
    fn lists_begin_with_a_line() {
        for count in [0, 1, 7, 1000, 100_000] {
            let list: Vec<Particle> = (0..count).map(|number| [number as f32; 4]).collect();
            let mut particles = Particles::from(&list[..]);
            let copy = particles.clone();
            assert_eq!(particles[..], list[..]);
            assert_eq!(particles, copy);
            for one in [&particles, &copy] {
                assert_eq!(one.as_ptr().align_offset(LINE), 0);
            }
            if let Some(last) = particles.last_mut() {
                *last = [-1.0; 4];
                assert_ne!(particles, copy);
            }
        }
    }
}
