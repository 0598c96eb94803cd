//! Memory of the contacts between particles. All of it is made with the model, as large as it can
//! ever need to be, so that no step allocates.

use super::{Open, Storage};
use crate::math::MAX_WIDTH;

/// Most partners that a particle keeps. Spheres of one size have at most 12 neighbors that touch; those
/// within the margin make it more, and where a mesh is much finer than contacts, many more.
pub const MOST_PARTNERS: usize = 64;

/// What detection found in this substep, and what it needs to find it. Empty in scenes without
/// contacts between particles.
///
/// *Members* are the particles that can touch others. They go in *patches* below the nodes of a tree; a *place* is
/// a slot of a patch (see `model/patches.rs`).
#[derive(Clone, Debug, Default)]
pub struct ContactState {
    /// For each of the lowest nodes the box around the ways that its members have made since partners
    /// were last looked for: the lowest x, y and z, and the highest.
    pub ways: Vec<[[f32; 3]; 2]>,
    /// Where the members were when partners were last looked for everywhere: for each of the lowest nodes x, y and
    /// z, of the first members of its patches, of the second ones and so on; not a number before that.
    pub kept: Vec<[f32; MAX_WIDTH]>,
    /// Where they are now: x, y, z and the inverse mass of each patch.
    pub places: Vec<[f32; MAX_WIDTH]>,
    /// Lowest x, y and z, highest x, y and z of the children of each node; nothing is in the box of a child that
    /// is missing.
    pub boxes: Vec<[f32; MAX_WIDTH]>,
    /// The boxes around the ways of the patches below each of the lowest nodes, as in `ways`.
    pub patch_ways: Vec<[f32; MAX_WIDTH]>,
    /// A bit for each patch below each of the lowest nodes: whether it looks for partners in each substep, because it
    /// has since all did, or because lists had no room for all of them.
    pub fresh: Vec<u32>,
    /// The same as it was at the start of the substep.
    pub looked: Vec<u32>,
    /// One number: whether partners are looked for everywhere in this substep.
    pub everywhere: Vec<u32>,
    /// How many partners the particle at each place has, and how many of them are near in this substep.
    pub counts: Vec<[u32; 2]>,
    /// The partners' particles, [`MOST_PARTNERS`] for each place. Those that are near come first, in their order.
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
pub struct ContactSizes {
    /// Particles of all kinds.
    pub particles: usize,
    /// Patches of members.
    pub patches: usize,
    /// Nodes above patches.
    pub lowest_nodes: usize,
    /// All nodes of the tree.
    pub nodes: usize,
}

impl ContactState {
    /// Memory for so many particles and patches.
    pub fn new(sizes: ContactSizes) -> Self {
        let ContactSizes { particles, patches, lowest_nodes, nodes } = sizes;
        let places = patches * MAX_WIDTH;
        let no_box = [f32::INFINITY, f32::NEG_INFINITY].map(|end| [[end; MAX_WIDTH]; 3]);
        Self {
            ways: vec![[[0.0; 3]; 2]; lowest_nodes],
            kept: vec![[f32::NAN; MAX_WIDTH]; 3 * MAX_WIDTH * lowest_nodes],
            places: vec![[0.0; MAX_WIDTH]; 4 * patches],
            boxes: no_box.as_flattened().repeat(nodes),
            patch_ways: no_box.as_flattened().repeat(lowest_nodes),
            fresh: vec![u32::MAX; lowest_nodes],
            looked: vec![0; lowest_nodes],
            everywhere: vec![0],
            counts: vec![[0; 2]; places],
            partners: vec![0; places * MOST_PARTNERS],
            normals: vec![[0.0; 4]; particles],
            touching: vec![0.0; particles],
            corrections: vec![[0.0; 4]; places],
        }
    }
}

/// The memory of contacts as the kernels see it.
pub struct ContactView<S: Storage> {
    /// See [`ContactState::ways`].
    pub ways: S::Of<[[f32; 3]; 2]>,
    /// See [`ContactState::kept`].
    pub kept: S::Of<[f32; MAX_WIDTH]>,
    /// See [`ContactState::places`].
    pub places: S::Of<[f32; MAX_WIDTH]>,
    /// See [`ContactState::boxes`].
    pub boxes: S::Of<[f32; MAX_WIDTH]>,
    /// See [`ContactState::patch_ways`].
    pub patch_ways: S::Of<[f32; MAX_WIDTH]>,
    /// See [`ContactState::fresh`].
    pub fresh: S::Of<u32>,
    /// See [`ContactState::looked`].
    pub looked: S::Of<u32>,
    /// See [`ContactState::everywhere`].
    pub everywhere: S::Of<u32>,
    /// See [`ContactState::counts`].
    pub counts: S::Of<[u32; 2]>,
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
            ways: opener.open(&mut self.ways),
            kept: opener.open(&mut self.kept),
            places: opener.open(&mut self.places),
            boxes: opener.open(&mut self.boxes),
            patch_ways: opener.open(&mut self.patch_ways),
            fresh: opener.open(&mut self.fresh),
            looked: opener.open(&mut self.looked),
            everywhere: opener.open(&mut self.everywhere),
            counts: opener.open(&mut self.counts),
            partners: opener.open(&mut self.partners),
            normals: opener.open(&mut self.normals),
            touching: opener.open(&mut self.touching),
            corrections: opener.open(&mut self.corrections),
        }
    }
}
