//! Memory of the contacts between particles. All of it is made with the model, as large as it can
//! ever need to be, so that no step allocates.

use super::{Open, Storage};
use crate::math::MAX_WIDTH;

/// Most partners that a particle keeps. Spheres of one size have at most 12 neighbors that touch; those
/// within the margin make it more, and where a mesh is much finer than contacts, many more.
pub const MOST_PARTNERS: usize = 64;

/// In place of the body that is alone in a cell, where its particles do not touch each other: there
/// is nobody.
pub const NO_BODY: u32 = u32::MAX;

/// As [`NO_BODY`]: there are particles that may touch each other.
pub const SEVERAL_BODIES: u32 = u32::MAX - 1;

/// Ranges of cells that one worker sorts by itself.
pub const BUCKETS: usize = 256;

/// What detection found in this substep, and what it needs to find it. Empty in scenes without
/// contacts between particles.
///
/// *Members* are the particles that can touch others. A *place* is a member's rank in the order of
/// the grid's cells.
#[derive(Clone, Debug, Default)]
pub struct ContactState {
    /// For each chunk of places the sums of x, y, z, x², y² and z² of some of its particles, and how many
    /// these are.
    pub moments: Vec<[f64; 7]>,
    /// For each chunk of places the box around the ways that its particles have made since partners
    /// were last looked for: the lowest x, y and z, and the highest.
    pub ways: Vec<[[f32; 3]; 2]>,
    /// Cell of each member.
    pub cells: Vec<u32>,
    /// For each chunk, how many of its members each bucket has.
    pub histograms: Vec<u32>,
    /// Where each bucket ends among the places.
    pub bucket_ends: Vec<u32>,
    /// Cell and particle of the members, sorted by bucket.
    pub scattered: Vec<[u32; 2]>,
    /// Where each cell ends among the places, and which body is [alone](NO_BODY) in it.
    pub ends: Vec<[u32; 2]>,
    /// The particle at each place; at first the members in any order.
    pub particles: Vec<u32>,
    /// Where that particle was when partners were last looked for, and its inverse mass; not a number
    /// before that. A few more entries follow, so that lanes can be filled from any place on.
    pub positions: Vec<[f32; 4]>,
    /// Its place in the rest shape, as [`ParticleContacts::rest`](crate::model::ParticleContacts::rest)
    /// has it; a few more entries follow here, too.
    pub rests: Vec<[f32; 4]>,
    /// How many partners the particle at each place has.
    pub counts: Vec<u32>,
    /// The partners' particles, [`MOST_PARTNERS`] for each place.
    pub partners: Vec<u32>,
    /// Direction out of a soft body at each particle that has partners, else zero or old; by particle,
    /// not by place.
    pub normals: Vec<[f32; 4]>,
    /// How many partners each particle touches; by particle, not by place.
    pub touching: Vec<f32>,
    /// How far the particle at each place is to be moved.
    pub corrections: Vec<[f32; 4]>,
}

/// How large the memory of contacts is.
#[derive(Clone, Copy, Debug)]
pub struct ContactSizes<'a> {
    /// Particles of all kinds.
    pub particles: usize,
    /// Those that can touch others.
    pub members: &'a [u32],
    /// Parts that members are counted in.
    pub chunks: usize,
    /// Cells of the grid.
    pub cells: usize,
}

impl ContactState {
    /// Memory for so many particles and cells.
    pub fn new(sizes: ContactSizes<'_>) -> Self {
        let ContactSizes { particles, members, chunks, cells } = sizes;
        let places = members.len();
        Self {
            moments: vec![[0.0; 7]; chunks],
            ways: vec![[[0.0; 3]; 2]; chunks],
            cells: vec![0; places],
            histograms: vec![0; chunks * BUCKETS],
            bucket_ends: vec![0; BUCKETS],
            scattered: vec![[0; 2]; places],
            ends: vec![[0; 2]; cells],
            particles: members.to_vec(),
            positions: vec![[f32::NAN; 4]; places + MAX_WIDTH],
            rests: vec![[0.0; 4]; places + MAX_WIDTH],
            counts: vec![0; places],
            partners: vec![0; places * MOST_PARTNERS],
            normals: vec![[0.0; 4]; particles],
            touching: vec![0.0; particles],
            corrections: vec![[0.0; 4]; places],
        }
    }
}

/// The memory of contacts as the kernels see it.
pub struct ContactView<S: Storage> {
    /// See [`ContactState::moments`].
    pub moments: S::Of<[f64; 7]>,
    /// See [`ContactState::ways`].
    pub ways: S::Of<[[f32; 3]; 2]>,
    /// See [`ContactState::cells`].
    pub cells: S::Of<u32>,
    /// See [`ContactState::histograms`].
    pub histograms: S::Of<u32>,
    /// See [`ContactState::bucket_ends`].
    pub bucket_ends: S::Of<u32>,
    /// See [`ContactState::scattered`].
    pub scattered: S::Of<[u32; 2]>,
    /// See [`ContactState::ends`].
    pub ends: S::Of<[u32; 2]>,
    /// See [`ContactState::particles`].
    pub particles: S::Of<u32>,
    /// See [`ContactState::positions`].
    pub positions: S::Of<[f32; 4]>,
    /// See [`ContactState::rests`].
    pub rests: S::Of<[f32; 4]>,
    /// See [`ContactState::counts`].
    pub counts: S::Of<u32>,
    /// See [`ContactState::partners`].
    pub partners: S::Of<u32>,
    /// See [`ContactState::normals`].
    pub normals: S::Of<[f32; 4]>,
    /// See [`ContactState::touching`].
    pub touching: S::Of<f32>,
    /// See [`ContactState::corrections`].
    pub corrections: S::Of<[f32; 4]>,
}

impl ContactState {
    /// The memory, opened to kernels.
    pub(super) fn view<'a, S: Storage>(&'a mut self, opener: &impl Open<'a, S>) -> ContactView<S> {
        ContactView {
            moments: opener.open(&mut self.moments),
            ways: opener.open(&mut self.ways),
            cells: opener.open(&mut self.cells),
            histograms: opener.open(&mut self.histograms),
            bucket_ends: opener.open(&mut self.bucket_ends),
            scattered: opener.open(&mut self.scattered),
            ends: opener.open(&mut self.ends),
            particles: opener.open(&mut self.particles),
            positions: opener.open(&mut self.positions),
            rests: opener.open(&mut self.rests),
            counts: opener.open(&mut self.counts),
            partners: opener.open(&mut self.partners),
            normals: opener.open(&mut self.normals),
            touching: opener.open(&mut self.touching),
            corrections: opener.open(&mut self.corrections),
        }
    }
}
