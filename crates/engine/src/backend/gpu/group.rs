//! The constraints of a group as kernels read them; see `constraint/project.wgsl` for the three ways
//! through a schedule.

use std::collections::BTreeMap;

use crate::constraint::{Copies, Group, Response};

/// Marks the first use of a copy in a sweep.
const FIRST_USE: u32 = 1 << 31;

/// A group's lists.
pub(super) struct Lists {
    /// Which kernel goes through them.
    pub(super) way: Way,
    pub(super) elements: Vec<u32>,
    pub(super) particles: Vec<u32>,
    pub(super) blocks: Vec<u32>,
}

/// A way through a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// An element per invocation, a dispatch per phase.
    Phases,
    /// The same with copies of particles.
    Split,
    /// A block per workgroup, with room for so many particles in its memory.
    Blocks(u32),
    /// A block per workgroup, whose particles stay where they are: there are too many.
    LargeBlocks,
}

impl Way {
    /// Ids that share a word: places in the list of a block are small.
    pub(super) fn ids_per_word(self) -> usize {
        if matches!(self, Self::Blocks(_)) { 2 } else { 1 }
    }
}

impl Lists {
    /// The lists of a group, on a device whose workgroups have room for so many particles.
    pub(super) fn of(group: &Group, room: usize) -> Self {
        let (particles, blocks) = (Vec::new(), Vec::new());
        let mut own = Self { way: Way::Phases, elements: Vec::new(), particles, blocks };
        let mut ids = all_ids(group);
        let schedule = &group.schedule;
        if !group.copies.is_empty() {
            own.split(&group.copies, &mut ids);
        } else if schedule.batch_count() > schedule.block_count() {
            own.cut_into_blocks(group, room, &mut ids);
        }
        own.elements =
            elements(group, &ids, own.way.ids_per_word(), group.response == Response::Force);
        own
    }

    /// Copies stand for particles, which themselves take no part.
    fn split(&mut self, copies: &Copies, ids: &mut [u32]) {
        self.way = Way::Split;
        let extra: BTreeMap<u32, u32> =
            (0..copies.len()).map(|index| (copies.ends[index].0, start(copies, index))).collect();
        for index in 0..copies.len() {
            let (particle, end) = copies.ends[index];
            let count = end as usize - copies.start(index) + 1;
            self.particles.extend(std::iter::repeat_n(particle, count));
            let factor = copies.factors[index].to_bits();
            self.blocks.extend(std::iter::repeat_n(factor, count));
        }
        let mut is_used = vec![false; self.particles.len()];
        for id in ids {
            *id = match extra.get(id) {
                Some(&extra) => extra,
                None if *id < copies.first => continue,
                None => copy_id(copies, *id),
            };
            let used = &mut is_used[(*id - copies.first) as usize];
            *id |= if *used { 0 } else { FIRST_USE };
            *used = true;
        }
    }

    /// Each block has a list of its particles, and ids are places in it.
    fn cut_into_blocks(&mut self, group: &Group, room: usize, ids: &mut Vec<u32>) {
        let schedule = &group.schedule;
        let arity = group.form().arity();
        let first_batch = 4 * schedule.block_count();
        let (mut most, mut local_ids) = (0, Vec::with_capacity(ids.len()));
        for block in 0..schedule.block_count() {
            let places = schedule.block(block);
            let global = &ids[arity * places.start..arity * places.end];
            let mut own = global.to_vec();
            own.sort_unstable();
            own.dedup();
            let place = |id: &u32| own.binary_search(id).unwrap_or_default() as u32;
            local_ids.extend(global.iter().map(place));
            let batches = schedule.batches(block);
            self.blocks.extend([
                self.particles.len() as u32,
                own.len() as u32,
                (first_batch + batches.start) as u32,
                batches.len() as u32,
            ]);
            most = most.max(own.len());
            self.particles.extend(own);
        }
        self.blocks.extend(&schedule.parts().batches);
        if most > room.min(usize::from(u16::MAX)) {
            self.way = Way::LargeBlocks;
        } else {
            self.way = Way::Blocks(most.next_multiple_of(64) as u32);
            *ids = local_ids;
        }
    }
}

/// Where the copies of a particle of the list begin on the device, where each has one more.
fn start(copies: &Copies, index: usize) -> u32 {
    (copies.start(index) + index) as u32
}

/// The id on the device of a copy.
fn copy_id(copies: &Copies, id: u32) -> u32 {
    let index = copies.ends.partition_point(|&(_, end)| end <= id) as u32;
    id + index + 1
}

/// The particles that have copies, and where the copies of each end on the device.
pub(super) fn split_particles(copies: &Copies) -> Vec<u32> {
    let ends = copies.ends.iter().enumerate();
    ends.flat_map(|(index, &(particle, end))| [particle, end + index as u32 + 1]).collect()
}

/// How long the list of particles is on the device.
pub(super) fn particle_count(groups: &[Group], at_home: usize) -> usize {
    let needed = |group: &Group| {
        let copies = &group.copies;
        if copies.is_empty() {
            return 0;
        }
        copies.first as usize + copies.count() + copies.len()
    };
    groups.iter().map(needed).fold(at_home, usize::max)
}

fn all_ids(group: &Group) -> Vec<u32> {
    let places = 0..group.schedule.len();
    places.flat_map(|place| group.schedule.bodies_at(place)).copied().collect()
}

/// The elements of a group as `constraint/element.wgsl` reads them, with the given ids, so many in a
/// word.
pub(super) fn elements(group: &Group, ids: &[u32], ids_per_word: usize, damped: bool) -> Vec<u32> {
    let dampings = damped.then_some(&group.damping);
    let lists: Vec<&Vec<f32>> =
        group.constants.iter().chain(&group.softness).chain(dampings).collect();
    let arity = group.form().arity();
    let words = (arity.div_ceil(ids_per_word) + lists.len()).next_multiple_of(4);
    let mut elements = Vec::with_capacity(words * group.schedule.len());
    for (place, corners) in ids.chunks_exact(arity).enumerate() {
        elements.extend(corners.chunks(ids_per_word).map(pack));
        elements.extend(lists.iter().map(|list| list[place].to_bits()));
        elements.resize(words * (place + 1), 0);
    }
    elements
}

/// A number, or two 16-bit numbers, in a word.
fn pack(ids: &[u32]) -> u32 {
    ids[0] | ids.get(1).copied().unwrap_or_default() << 16
}
