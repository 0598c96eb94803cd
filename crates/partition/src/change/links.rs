//! The elements and, per body, a list of those that have it, which both can change at any time.

use crate::Elements;

const NONE: u32 = u32::MAX;

/// Elements and doubly linked lists of their slots, one list per body.
///
/// A slot is a place for one body of one element: element `e` has the slots `e · stride` to
/// `e · stride + lengths[e] − 1`. Links live beside the slots, so that adding and removing an
/// element touches nothing but its own slots and their neighbors in the lists.
#[derive(Clone, Debug)]
pub(super) struct Links {
    /// Slots per element: as many as the element with the most bodies needs.
    stride: usize,
    lengths: Vec<u32>,
    /// The body in each slot.
    bodies: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    /// The first slot of each body.
    heads: Vec<u32>,
    /// How many elements have fewer bodies than slots.
    short: usize,
}

impl Links {
    pub(super) fn new(elements: &Elements<'_>) -> Self {
        let longest = (0..elements.len()).map(|element| elements.of(element).len()).max();
        let mut links = Self {
            stride: elements.arity().or(longest).unwrap_or(0),
            lengths: Vec::new(),
            bodies: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            heads: vec![NONE; elements.body_count()],
            short: 0,
        };
        for element in 0..elements.len() {
            links.push(elements.of(element));
        }
        links
    }

    /// The bodies of an element.
    #[inline]
    pub(super) fn of(&self, element: u32) -> &[u32] {
        let start = element as usize * self.stride;
        &self.bodies[start..start + self.lengths[element as usize] as usize]
    }

    /// The elements that have a body, those added last first.
    pub(super) fn elements_at(&self, body: u32) -> impl Iterator<Item = u32> + '_ {
        let slot = |slot: u32| (slot != NONE).then_some(slot);
        let first = slot(self.heads[body as usize]);
        std::iter::successors(first, move |&at| slot(self.next[at as usize]))
            .map(|slot| slot / self.stride as u32)
    }

    pub(super) fn add_bodies(&mut self, count: usize) {
        self.heads.resize(self.heads.len() + count, NONE);
    }

    /// Adds an element at the end.
    pub(super) fn push(&mut self, bodies: &[u32]) {
        if bodies.len() > self.stride {
            self.widen(bodies.len());
        }
        let element = self.lengths.len();
        self.lengths.push(bodies.len() as u32);
        self.short += usize::from(bodies.len() < self.stride);
        let end = (element + 1) * self.stride;
        self.bodies.extend_from_slice(bodies);
        self.bodies.resize(end, NONE);
        self.next.resize(end, NONE);
        self.previous.resize(end, NONE);
        for slot in element * self.stride..element * self.stride + bodies.len() {
            self.link(slot as u32);
        }
    }

    /// Removes an element; the last one takes its place.
    pub(super) fn swap_remove(&mut self, element: u32) {
        let last = self.lengths.len() as u32 - 1;
        self.unlink_all(element);
        if element != last {
            self.unlink_all(last);
            let from = last as usize * self.stride;
            self.bodies.copy_within(from..from + self.stride, element as usize * self.stride);
        }
        self.short -= usize::from((self.lengths[element as usize] as usize) < self.stride);
        self.lengths.swap_remove(element as usize);
        let end = last as usize * self.stride;
        for slots in [&mut self.bodies, &mut self.next, &mut self.previous] {
            slots.truncate(end);
        }
        if element != last {
            let start = element as usize * self.stride;
            for slot in start..start + self.lengths[element as usize] as usize {
                self.link(slot as u32);
            }
        }
    }

    /// Shows the elements to a function that takes them by number.
    pub(super) fn with_elements<R>(
        &self,
        fixed: &[bool],
        show: impl FnOnce(&Elements<'_>) -> R,
    ) -> R {
        if self.short == 0 && self.stride > 0 {
            return show(&Elements::uniform_trusted(self.stride, &self.bodies, fixed));
        }
        let mut offsets = vec![0];
        let mut bodies = Vec::new();
        for element in 0..self.lengths.len() as u32 {
            bodies.extend_from_slice(self.of(element));
            offsets.push(bodies.len() as u32);
        }
        show(&Elements::ragged_trusted(&offsets, &bodies, fixed))
    }

    fn link(&mut self, slot: u32) {
        let head = &mut self.heads[self.bodies[slot as usize] as usize];
        if *head != NONE {
            self.previous[*head as usize] = slot;
        }
        self.next[slot as usize] = *head;
        self.previous[slot as usize] = NONE;
        *head = slot;
    }

    fn unlink_all(&mut self, element: u32) {
        let start = element as usize * self.stride;
        for slot in start..start + self.lengths[element as usize] as usize {
            let (previous, next) = (self.previous[slot], self.next[slot]);
            match previous {
                NONE => self.heads[self.bodies[slot] as usize] = next,
                _ => self.next[previous as usize] = next,
            }
            if next != NONE {
                self.previous[next as usize] = previous;
            }
        }
    }

    /// Makes room for elements with more bodies. All slots get new places, so all lists are made
    /// anew; this happens once per larger kind of element.
    fn widen(&mut self, stride: usize) {
        let lists: Vec<Vec<u32>> =
            (0..self.lengths.len() as u32).map(|element| self.of(element).to_vec()).collect();
        *self = Self {
            stride,
            lengths: Vec::new(),
            bodies: Vec::new(),
            next: Vec::new(),
            previous: Vec::new(),
            heads: vec![NONE; self.heads.len()],
            short: 0,
        };
        for list in &lists {
            self.push(list);
        }
    }
}
