//! The search for partners: which patches are near those below a node, and which of their members are near each
//! other.

use std::ops::Range;

use super::{Children, meeting};
use crate::math::{Lane, Work};
use crate::model::{FAN, PATCH, ParticleContacts};
use crate::state::{Access, ContactView, MOST_PARTNERS, Storage, View};

/// How many patches are lined up at a time.
const ROOM: usize = 256;

/// Most nodes that wait to be looked at: less than a fan for each level of the tree.
const WAITING: usize = 8 * FAN;

/// The search for the partners of the members below some nodes.
pub(super) struct Search<'a, S: Storage> {
    pub(super) contacts: &'a ParticleContacts,
    pub(super) nodes: Range<usize>,
    pub(super) view: &'a View<S>,
}

impl<S: Storage> Work for Search<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lane>(self) -> usize {
        let mut near =
            Near { boxes: [[0.0; _]; 6], ways: [[0.0; _]; 6], patches: [0; _], count: 0 };
        let mut dropped = 0;
        for node in self.nodes.clone() {
            dropped += self.look_around::<L>(node, &mut near);
            if self.is_everywhere() {
                self.keep_places(node);
            }
        }
        dropped
    }
}

impl<S: Storage> Search<'_, S> {
    #[inline(always)]
    fn is_everywhere(&self) -> bool {
        self.view.contacts.everywhere.get(0) != 0
    }

    /// From now on ways are measured from where the members below a node are.
    #[inline(always)]
    fn keep_places(&self, node: usize) {
        let memory = &self.view.contacts;
        for patch in self.contacts.patches.below(node) {
            for axis in 0..3 {
                memory.kept.set(3 * patch + axis, memory.places.get(4 * patch + axis));
            }
        }
        memory.fresh.set(node, 0);
    }

    /// Goes down the tree to all patches that are near those below a node.
    #[inline(always)]
    fn look_around<L: Lane>(&self, node: usize, near: &mut Near) -> usize {
        let (memory, patches) = (&self.view.contacts, &self.contacts.patches);
        let own = Children::of(node, &memory.boxes);
        let around = self.within_reach(own.around());
        let lowest = patches.lowest().end;
        let mut waiting = [0; WAITING];
        waiting[0] = patches.node_count() - 1;
        let mut left = 1;
        // Bits of the patches that look for partners, once that is known.
        let mut looking = self.is_everywhere().then(|| self.begin(node, u32::MAX));
        let mut dropped = 0;
        while left > 0 {
            left -= 1;
            let other = waiting[left];
            let children = Children::of(other, &memory.boxes);
            let first = patches.first_child(other);
            let mut bits = children.meeting::<L>(&around);
            if bits != 0 && other < lowest {
                let ways = Children::of(other, &memory.patch_ways);
                while bits != 0 {
                    let child = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    near.add(first + child, children.one(child), ways.one(child));
                }
            }
            while bits != 0 {
                waiting[left] = first + bits.trailing_zeros() as usize;
                left += 1;
                bits &= bits - 1;
            }
            if near.count >= ROOM {
                // Too many to find out who need not look.
                let all = looking.unwrap_or_else(|| self.begin(node, u32::MAX));
                looking = Some(all);
                dropped += self.compare::<L>(node, &own, all, near);
            }
        }
        let looking =
            looking.unwrap_or_else(|| self.begin(node, self.moved::<L>(node, &own, near)));
        dropped + self.compare::<L>(node, &own, looking, near)
    }

    /// A box that has all in it that are close to something in another.
    #[inline(always)]
    fn within_reach(&self, mut around: [f32; 6]) -> [f32; 6] {
        // More, for what is lost by rounding.
        let reach = 1.001 * self.contacts.reach();
        for axis in 0..3 {
            around[axis] -= reach + f32::EPSILON * around[axis].abs();
            around[3 + axis] += reach + f32::EPSILON * around[3 + axis].abs();
        }
        around
    }

    /// Bits of the patches below a node to which some patch that is near has moved, or from which.
    #[inline(always)]
    fn moved<L: Lane>(&self, node: usize, own: &Children, near: &Near) -> u32 {
        let ways = Children::of(node, &self.view.contacts.patch_ways);
        let mut moved = 0;
        for (child, patch) in self.contacts.patches.below(node).enumerate() {
            let around = self.within_reach(own.one(child));
            let way = ways.one(child);
            for first in (0..near.count).step_by(FAN) {
                let mut bits = near.meeting::<L>(first, &around);
                if bits != 0 {
                    bits &= near.moving_apart::<L>(first, &way, 2.0 * self.contacts.stale());
                }
                while bits != 0 {
                    let other = near.patches[first + bits.trailing_zeros() as usize];
                    bits &= bits - 1;
                    moved |= u32::from(self.may_touch(patch, other)) << child;
                }
            }
        }
        moved
    }

    /// Patches below a node that look for partners in this substep: some, and those that have done so before. They
    /// have no partners then.
    #[inline(always)]
    fn begin(&self, node: usize, moved: u32) -> u32 {
        let memory = &self.view.contacts;
        let patches = self.contacts.patches.below(node);
        let looking = (memory.fresh.get(node) | moved) & first_bits(patches.len());
        memory.fresh.set(node, looking);
        for (child, patch) in patches.enumerate() {
            if looking >> child & 1 != 0 {
                for place in patch * PATCH..(patch + 1) * PATCH {
                    memory.counts.set(place, 0);
                }
            }
        }
        looking
    }

    /// Whether members of two patches can touch each other.
    #[inline(always)]
    fn may_touch(&self, own: usize, other: usize) -> bool {
        let all = &self.contacts.patches.all;
        all[own].touches_own_body || all[own].body != all[other].body
    }

    /// Compares the members of some patches below a node with those of the patches that are near; none are then.
    #[inline(always)]
    fn compare<L: Lane>(
        &self,
        node: usize,
        own: &Children,
        looking: u32,
        near: &mut Near,
    ) -> usize {
        let mut dropped = 0;
        for (child, patch) in self.contacts.patches.below(node).enumerate() {
            if looking >> child & 1 == 0 {
                continue;
            }
            let around = self.within_reach(own.one(child));
            for first in (0..near.count).step_by(FAN) {
                let mut bits = near.meeting::<L>(first, &around);
                while bits != 0 {
                    let other = first + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    if self.may_touch(patch, near.patches[other]) {
                        let other_around = self.within_reach(near.one(other));
                        let patches = [patch, near.patches[other]];
                        dropped += self.pair::<L>(patches, [&around, &other_around]);
                    }
                }
            }
        }
        near.count = 0;
        dropped
    }

    /// Adds those members of a patch to the partners of those of another that are close enough. Around each is a box
    /// that has all in it that are. Returns how many had no room in a list.
    #[inline(always)]
    fn pair<L: Lane>(
        &self,
        [own, other]: [usize; 2],
        [around, other_around]: [&[f32; 6]; 2],
    ) -> usize {
        let all = &self.contacts.patches.all;
        let (patch, other_patch) = (&all[own], &all[other]);
        let is_own_body = patch.body == other_patch.body;
        let memory = &self.view.contacts;
        let other_places = places(other, memory);
        let candidates = inside::<L>(&other_places, around) & first_bits(other_patch.count);
        if candidates == 0 {
            return 0;
        }
        let own_places = places(own, memory);
        let mut members = inside::<L>(&own_places, other_around) & first_bits(patch.count);
        let reach = self.contacts.reach();
        let (one, reach_squared) = (L::splat(1.0), L::splat(reach * reach));
        let mut dropped = 0;
        while members != 0 {
            let member = members.trailing_zeros() as usize;
            members &= members - 1;
            // Fixed particles need no partners of their own: nothing moves them.
            if own_places[3][member] == 0.0 {
                continue;
            }
            for first in (0..PATCH).step_by(L::WIDTH) {
                let mut square = L::splat(0.0);
                for axis in 0..3 {
                    let other = L::load(&other_places[axis][first..first + L::WIDTH]);
                    let way = L::splat(own_places[axis][member]) - other;
                    square = square + way * way;
                }
                let mut bits = L::bits(square.less(reach_squared)) & (candidates >> first);
                if bits != 0 && is_own_body {
                    let mut square = L::splat(0.0);
                    for axis in 0..3 {
                        let other = L::load(&other_patch.rest[axis][first..first + L::WIDTH]);
                        let way = L::splat(patch.rest[axis][member]) - other;
                        square = square + way * way;
                    }
                    bits &= !L::bits(square.less(one));
                }
                if bits != 0 {
                    dropped += self.add(own * PATCH + member, other * PATCH + first, bits);
                }
            }
        }
        dropped
    }

    /// Adds to the partners of a place those at some others, for which there are bits.
    #[inline(always)]
    fn add(&self, place: usize, first: usize, mut bits: u32) -> usize {
        let memory = &self.view.contacts;
        let mut found = memory.counts.get(place) as usize;
        let mut dropped = 0;
        while bits != 0 {
            let other = first + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if found < MOST_PARTNERS {
                let partner = self.contacts.patches.slots[other];
                memory.partners.set(place * MOST_PARTNERS + found, partner);
                found += 1;
            } else {
                dropped += 1;
            }
        }
        memory.counts.set(place, found as u32);
        dropped
    }
}

/// x, y, z and inverse mass of a patch's members.
#[inline(always)]
fn places<S: Storage>(patch: usize, memory: &ContactView<S>) -> [[f32; PATCH]; 4] {
    let mut places = [[0.0; PATCH]; 4];
    for (column, numbers) in places.iter_mut().enumerate() {
        *numbers = memory.places.get(4 * patch + column);
    }
    places
}

/// A bit for each member of a patch that is in a box.
#[inline(always)]
fn inside<L: Lane>(places: &[[f32; PATCH]; 4], around: &[f32; 6]) -> u32 {
    let [x, y, z, _] = *places;
    meeting::<L, PATCH>(&[x, y, z, x, y, z], PATCH, around)
}

/// So many bits.
#[inline(always)]
fn first_bits(count: usize) -> u32 {
    (1 << count) - 1
}

/// Patches that are near those below a node.
struct Near {
    /// Lowest x, y and z, highest x, y and z.
    boxes: [[f32; ROOM + FAN]; 6],
    /// The same of their ways.
    ways: [[f32; ROOM + FAN]; 6],
    patches: [usize; ROOM + FAN],
    count: usize,
}

impl Near {
    #[inline(always)]
    fn add(&mut self, patch: usize, own: [f32; 6], ways: [f32; 6]) {
        for column in 0..6 {
            self.boxes[column][self.count] = own[column];
            self.ways[column][self.count] = ways[column];
        }
        self.patches[self.count] = patch;
        self.count += 1;
    }

    #[inline(always)]
    fn one(&self, place: usize) -> [f32; 6] {
        let mut one = [0.0; 6];
        for column in 0..6 {
            one[column] = self.boxes[column][place];
        }
        one
    }

    /// A bit for each of some patches whose boxes have something in common with another.
    #[inline(always)]
    fn meeting<L: Lane>(&self, first: usize, other: &[f32; 6]) -> u32 {
        let mut own = [[0.0; FAN]; 6];
        for column in 0..6 {
            own[column].copy_from_slice(&self.boxes[column][first..first + FAN]);
        }
        meeting::<L, FAN>(&own, FAN, other) & first_bits((self.count - first).min(FAN))
    }

    /// A bit for each of some patches whose ways and others are so different that the box around all of them has a
    /// longer diagonal.
    #[inline(always)]
    fn moving_apart<L: Lane>(&self, first: usize, ways: &[f32; 6], diagonal: f32) -> u32 {
        let mut found = 0;
        for start in (0..FAN).step_by(L::WIDTH) {
            let lanes = first + start..first + start + L::WIDTH;
            let mut square = L::splat(0.0);
            for axis in 0..3 {
                let low = L::load(&self.ways[axis][lanes.clone()]).min(L::splat(ways[axis]));
                let high = L::load(&self.ways[3 + axis][lanes.clone()]);
                let side = high.max(L::splat(ways[3 + axis])) - low;
                square = square + side * side;
            }
            let is_longer = L::splat(diagonal * diagonal).less(square);
            found |= (L::bits(is_longer) & first_bits(L::WIDTH)) << start;
        }
        found
    }
}
