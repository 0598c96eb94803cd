//! The search for partners: which patches are near those below a node, and which of their members are near each
//! other.

use std::ops::Range;

use super::{Children, across, first_bits};
use crate::math::{Lane, Work};
use crate::model::{FAN, PATCH, ParticleContacts};
use crate::solver::stage::vector;
use crate::state::{Access, ContactView, MOST_PARTNERS, Storage, View};

/// How many nodes are looked at together.
const ROOM: usize = 128;

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
        let mut near = Near { nodes: [0; _], children: [0; _], count: 0 };
        let mut dropped = 0;
        for node in self.nodes.clone() {
            dropped += self.look_around::<L>(node, &mut near);
            if self.is_everywhere() {
                self.keep_places::<L>(node);
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
    fn keep_places<L: Lane>(&self, node: usize) {
        let memory = &self.view.contacts;
        let patches = self.contacts.patches.below(node);
        for number in 0..PATCH {
            let mut kept = [[0.0; FAN]; 3];
            for first in (0..patches.len()).step_by(L::WIDTH) {
                let now = across::<L, S>(self.contacts, &patches, first, number, self.view);
                for axis in 0..3 {
                    now[axis].store(&mut kept[axis][first..first + L::WIDTH]);
                }
            }
            for axis in 0..3 {
                memory.kept.set((3 * node + axis) * PATCH + number, kept[axis]);
            }
        }
    }

    /// Goes down the tree to all patches that are near those below a node, and has these look for partners there.
    #[inline(always)]
    fn look_around<L: Lane>(&self, node: usize, near: &mut Near) -> usize {
        let (memory, patches) = (&self.view.contacts, &self.contacts.patches);
        let own = Children::of(node, &memory.boxes);
        let around = self.within_reach(own.around());
        let lowest = patches.lowest().end;
        let mut waiting = [0; WAITING];
        waiting[0] = patches.node_count() - 1;
        let mut left = 1;
        let (mut all_look, mut goes_on) = (self.is_everywhere(), false);
        let mut dropped = 0;
        while left > 0 {
            left -= 1;
            let other = waiting[left];
            let mut bits = Children::of(other, &memory.boxes).meeting::<L>(&around);
            if other < lowest {
                near.add(other, bits);
                if near.count == ROOM {
                    // Too many to find out who need not look.
                    all_look = true;
                    dropped += self.look::<L>(node, &own, near, all_look, goes_on);
                    goes_on = true;
                }
                continue;
            }
            let first = patches.first_child(other);
            while bits != 0 {
                waiting[left] = first + bits.trailing_zeros() as usize;
                left += 1;
                bits &= bits - 1;
            }
        }
        dropped + self.look::<L>(node, &own, near, all_look, goes_on)
    }

    /// The patches below a node that have to look for partners among those that are near. Others keep theirs.
    /// Returns how many had no room in a list.
    #[inline(always)]
    fn look<L: Lane>(
        &self,
        node: usize,
        own: &Children,
        near: &mut Near,
        all_look: bool,
        goes_on: bool,
    ) -> usize {
        let memory = &self.view.contacts;
        let ways = Children::of(node, &memory.patch_ways);
        let own_patches = self.contacts.patches.below(node);
        let mut fresh = memory.fresh.get(node);
        if self.is_everywhere() && !goes_on {
            fresh = 0;
        } else if all_look {
            fresh |= first_bits(own_patches.len());
        }
        memory.fresh.set(node, fresh);
        let mut dropped = 0;
        for (child, patch) in own_patches.enumerate() {
            let around = self.within_reach(own.one(child));
            if !all_look && fresh >> child & 1 == 0 {
                if !self.have_moved::<L>(patch, &around, &ways.one(child), near) {
                    continue;
                }
                self.look_again(patch);
            }
            if !goes_on {
                for place in patch * PATCH..(patch + 1) * PATCH {
                    memory.counts.set(place, [0; 2]);
                }
            }
            for (other, children) in near.all() {
                let boxes = Children::of(other, &memory.boxes);
                let mut bits = boxes.meeting::<L>(&around) & children;
                while bits != 0 {
                    let child = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let patches = [patch, other * FAN + child];
                    if self.may_touch(patches) {
                        let other_around = self.within_reach(boxes.one(child));
                        dropped += self.pair::<L>(patches, [&around, &other_around]);
                    }
                }
            }
        }
        near.count = 0;
        dropped
    }

    /// Whether a patch that is near one has made another way since partners were looked for everywhere.
    #[inline(always)]
    fn have_moved<L: Lane>(
        &self,
        patch: usize,
        around: &[f32; 6],
        way: &[f32; 6],
        near: &Near,
    ) -> bool {
        let memory = &self.view.contacts;
        for (other, children) in near.all() {
            let ways = Children::of(other, &memory.patch_ways);
            let mut bits = ways.apart::<L>(way, 2.0 * self.contacts.stale()) & children;
            if bits != 0 {
                bits &= Children::of(other, &memory.boxes).meeting::<L>(around);
            }
            while bits != 0 {
                let child = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.may_touch([patch, other * FAN + child]) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether members of two patches can touch each other.
    #[inline(always)]
    fn may_touch(&self, [own, other]: [usize; 2]) -> bool {
        let all = &self.contacts.patches.all;
        all[own].touches_own_body || all[own].body != all[other].body
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
        let (one, largest) = (L::splat(1.0), L::splat(reach * reach));
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
                let mut bits = L::bits(square.less(largest)) & (candidates >> first);
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

    /// A patch looks for partners in the next substep, too.
    #[inline(always)]
    fn look_again(&self, patch: usize) {
        let fresh = &self.view.contacts.fresh;
        fresh.set(patch / FAN, fresh.get(patch / FAN) | 1 << (patch % FAN));
    }

    /// Adds to the partners of a place those at some others, for which there are bits.
    #[inline(always)]
    fn add(&self, place: usize, first: usize, mut bits: u32) -> usize {
        let memory = &self.view.contacts;
        let mut found = memory.counts.get(place)[0] as usize;
        let mut dropped = 0;
        while bits != 0 {
            let other = first + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if found == MOST_PARTNERS {
                found = self.keep_close(place);
            }
            if found < MOST_PARTNERS {
                let partner = self.contacts.patches.slots[other];
                memory.partners.set(place * MOST_PARTNERS + found, partner);
                found += 1;
            } else {
                dropped += 1;
            }
        }
        memory.counts.set(place, [found as u32, 0]);
        dropped
    }

    /// Makes room in a full list: who is not close now may be left out, if the next substep looks again.
    /// Returns how many stay.
    #[cold]
    fn keep_close(&self, place: usize) -> usize {
        let (memory, positions) = (&self.view.contacts, &self.view.positions);
        self.look_again(place / PATCH);
        let own = vector(positions.get(self.contacts.patches.slots[place] as usize));
        let close = self.contacts.close();
        let mut kept = 0;
        for number in 0..MOST_PARTNERS {
            let partner = memory.partners.get(place * MOST_PARTNERS + number);
            let way = own - vector(positions.get(partner as usize));
            if way.length_squared() < close * close {
                memory.partners.set(place * MOST_PARTNERS + kept, partner);
                kept += 1;
            }
        }
        kept
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
    Children([x, y, z, x, y, z]).meeting::<L>(around)
}

/// Patches that are near those below a node: other nodes, and bits of their children.
struct Near {
    nodes: [usize; ROOM],
    children: [u32; ROOM],
    count: usize,
}

impl Near {
    #[inline(always)]
    fn add(&mut self, node: usize, children: u32) {
        if children != 0 {
            (self.nodes[self.count], self.children[self.count]) = (node, children);
            self.count += 1;
        }
    }

    /// The nodes and the bits.
    #[inline(always)]
    fn all(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        (0..self.count).map(|place| (self.nodes[place], self.children[place]))
    }
}
