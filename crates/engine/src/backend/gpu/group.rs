//! The constraints of a group as kernels read them; see `constraint/sweep.wgsl` for the four ways
//! through a schedule.

use std::collections::BTreeMap;

use crate::constraint::{Copies, Group, Packing, Response};

/// Marks the first use of a copy in a sweep.
const FIRST_USE: u32 = 1 << 31;

/// A group's lists.
pub(super) struct Lists {
    /// Which kernel goes through them.
    pub(super) way: Way,
    pub(super) elements: Vec<u32>,
    pub(super) particles: Vec<u32>,
    pub(super) blocks: Vec<u32>,
    /// Whether the particles of each block follow each other.
    pub(super) are_in_rows: bool,
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

/// Particles of a block whose places in its list need ten bits, so that three share a word: then a bundle
/// fits into four words.
const FEW_PARTICLES: u32 = 1 << 10;

impl Way {
    /// How the elements of a group lie in memory.
    pub(super) fn packing(self, group: &Group) -> Packing {
        if group.response == Response::Force {
            return Packing::SPRING;
        }
        let ids_per_word = match self {
            Self::Blocks(room) if room <= FEW_PARTICLES => 3,
            Self::Blocks(_) => 2,
            Self::Phases | Self::Split | Self::LargeBlocks => 1,
        };
        Packing { ids_per_word, is_soft: group.softness.shared().is_none(), is_damped: false }
    }
}

impl Lists {
    /// The lists of a group, on a device whose workgroups have room for so many particles.
    pub(super) fn of(group: &Group, room: usize) -> Self {
        let mut own = Self {
            way: Way::Phases,
            elements: Vec::new(),
            particles: Vec::new(),
            blocks: Vec::new(),
            are_in_rows: true,
        };
        let mut ids = all_ids(group);
        let schedule = &group.schedule;
        if !group.copies.is_empty() {
            own.split(&group.copies, &mut ids);
        } else if schedule.batch_count() > schedule.block_count() {
            own.cut_into_blocks(group, room, &mut ids);
        }
        own.elements = elements(group, &ids, own.way.packing(group));
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
                (self.particles.len() / 4) as u32,
                own.len() as u32,
                (first_batch + batches.start) as u32,
                batches.len() as u32,
            ]);
            most = most.max(own.len());
            // Lists are read four at a time. What fills the last four up is read, but not written.
            let last = own.last().copied().unwrap_or_default();
            let first = own.first().copied().unwrap_or_default();
            self.are_in_rows &= own.is_empty() || (last - first) as usize + 1 == own.len();
            self.particles.extend(own);
            self.particles.resize(self.particles.len().next_multiple_of(4), last);
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

/// The elements of a group as `constraint/element.wgsl` reads them, with the given ids.
pub(super) fn elements(group: &Group, ids: &[u32], packing: Packing) -> Vec<u32> {
    let Packing { ids_per_word, is_soft, is_damped } = packing;
    let (arity, rows) = (group.form().arity(), group.form().rows());
    let softnesses = if is_soft { rows } else { 0 };
    let numbers = group.constants.len() + softnesses + usize::from(is_damped);
    let words = (arity.div_ceil(ids_per_word) + numbers).next_multiple_of(4);
    let mut elements = Vec::with_capacity(words * group.schedule.len());
    for (place, corners) in ids.chunks_exact(arity).enumerate() {
        elements.extend(corners.chunks(ids_per_word).map(|ids| pack(ids, ids_per_word)));
        let constants = group.constants.iter().map(|list| list[place]);
        let softness = (0..softnesses).map(|row| group.softness.at(row, place));
        let damping = is_damped.then(|| group.damping[place]);
        elements.extend(constants.chain(softness).chain(damping).map(f32::to_bits));
        elements.resize(words * (place + 1), 0);
    }
    elements
}

/// Some of the ids that share a word, the first in the lowest bits.
fn pack(ids: &[u32], ids_per_word: usize) -> u32 {
    let bits = 32 / ids_per_word;
    ids.iter().enumerate().fold(0, |word, (place, id)| word | id << (bits * place))
}
