//! Coloring while elements come and go: contacts that are found anew each step, cloth that tears,
//! seams that are sewn.
//!
//! [`DynamicColoring`] keeps a valid coloring at all times. An added element takes the first
//! color its bodies leave free; where there is none, one neighbor that stands in the way of a
//! color moves out of it if it can; only then is a color opened. That costs time in proportion to
//! the change (and to the valence of the bodies concerned), not to the number of elements, and
//! depends on nothing but the sequence of changes. Quality drifts as changes pile up:
//! [`DynamicColoring::wants_rebuild`] says when a fresh coloring is likely to pay.
//!
//! ```
//! use taut_partition::{Elements, change::DynamicColoring, coloring};
//!
//! let edges = Elements::uniform(&[[0, 1], [1, 2], [2, 3]], 5)?;
//! let mut coloring = DynamicColoring::new(&edges, &coloring::Options::default());
//! assert_eq!(coloring.color_count(), 2);
//!
//! coloring.swap_remove(0)?; // the last edge is now number 0
//! let sewn = coloring.add(&[1, 3])?;
//! assert_eq!(coloring.bodies_of(sewn), Some(&[1, 3][..]));
//! assert_eq!(coloring.color_count(), 3); // a triangle
//! assert_eq!(coloring.schedule(512).len(), 3);
//! # Ok::<(), taut_partition::InputError>(())
//! ```

mod classes;
mod links;
mod quality;

use crate::coloring::{self, ColorSets, Coloring};
use crate::elements::check_bodies;
use crate::{Elements, InputError, Parts, Schedule};
use classes::Classes;
use links::Links;
pub use quality::Quality;
use quality::Valences;

/// A coloring of elements that change.
///
/// Elements are numbered from 0 without gaps, so that the caller's own list of them can be
/// indexed with the numbers in a schedule: removing one gives its number to the last, exactly as
/// [`Vec::swap_remove`] does.
#[derive(Clone, Debug)]
pub struct DynamicColoring {
    links: Links,
    fixed: Vec<bool>,
    /// The color of each element.
    colors: Vec<u32>,
    classes: Classes,
    /// The colors in use at each body that is not fixed.
    used: ColorSets,
    valences: Valences,
    /// What the coloring was like when it was fresh.
    fresh: Quality,
    /// Per color: how many neighbors of the element at hand have it, and one of them.
    blockers: Vec<Blocker>,
}

/// Colors that are tried before a new one is opened.
const CANDIDATES: usize = 32;

/// The color of an element that waits for one.
const UNCOLORED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct Blocker {
    count: u32,
    element: u32,
}

impl DynamicColoring {
    /// Colors the elements afresh.
    pub fn new(elements: &Elements<'_>, options: &coloring::Options) -> Self {
        let fixed = (0..elements.body_count() as u32).map(|body| elements.is_fixed(body));
        let mut coloring = Self {
            links: Links::new(elements),
            fixed: fixed.collect(),
            colors: Vec::new(),
            classes: Classes::default(),
            used: ColorSets::default(),
            valences: Valences::new(elements),
            fresh: Quality::default(),
            blockers: Vec::new(),
        };
        coloring.adopt(coloring::color(elements, options));
        coloring
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.colors.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.colors.is_empty()
    }

    /// The number of bodies.
    pub fn body_count(&self) -> usize {
        self.fixed.len()
    }

    /// The bodies of an element, if there is one of this number.
    pub fn bodies_of(&self, element: u32) -> Option<&[u32]> {
        ((element as usize) < self.len()).then(|| self.links.of(element))
    }

    /// The color of an element, if there is one of this number. Colors may have gaps.
    pub fn color_of(&self, element: u32) -> Option<u32> {
        self.colors.get(element as usize).copied()
    }

    /// The number of colors in use.
    pub fn color_count(&self) -> usize {
        self.classes.in_use()
    }

    /// Adds bodies; returns the number of the first. They are not fixed.
    pub fn add_bodies(&mut self, count: usize) -> u32 {
        let first = self.fixed.len() as u32;
        self.fixed.resize(self.fixed.len() + count, false);
        self.links.add_bodies(count);
        self.valences.add_bodies(count);
        (0..count).for_each(|_| self.used.push_body());
        first
    }

    /// Adds an element; returns its number, which is the number of elements before.
    pub fn add(&mut self, bodies: &[u32]) -> Result<u32, InputError> {
        let element = self.len() as u32;
        check_bodies(element as usize, bodies, self.body_count())?;
        self.links.push(bodies);
        for &body in bodies.iter().filter(|&&body| !self.fixed[body as usize]) {
            self.valences.raise(body);
        }
        self.colors.push(UNCOLORED);
        let color = self.choose_color(element);
        self.take(element, color);
        Ok(element)
    }

    /// Removes an element and gives its number to the last one.
    pub fn swap_remove(&mut self, element: u32) -> Result<(), InputError> {
        if element as usize >= self.len() {
            return Err(InputError::NoSuchElement { element, elements: self.len() });
        }
        self.leave(element);
        for &body in self.links.of(element) {
            if !self.fixed[body as usize] {
                self.valences.lower(body);
            }
        }
        let last = self.len() as u32 - 1;
        if element != last {
            self.classes.rename(last, self.colors[last as usize], element);
        }
        self.links.swap_remove(element);
        self.colors.swap_remove(element as usize);
        Ok(())
    }

    /// Fixes a body, which frees its elements from each other, or lets it move again, which
    /// recolors those of its elements that now conflict.
    pub fn set_fixed(&mut self, body: u32, fixed: bool) -> Result<(), InputError> {
        let bodies = self.body_count();
        if body as usize >= bodies {
            return Err(InputError::NoSuchBody { body, bodies });
        }
        if self.fixed[body as usize] == fixed {
            return Ok(());
        }
        let elements: Vec<u32> = self.links.elements_at(body).collect();
        if fixed {
            self.fixed[body as usize] = true;
            for element in elements {
                self.used.remove(body, self.colors[element as usize]);
                self.valences.lower(body);
            }
        } else {
            self.let_move(body, &elements);
        }
        Ok(())
    }

    /// Proposes a rebuild if there are a quarter more colors than a fresh coloring would
    /// have, judged by the last one and the highest valence since, or if the largest color has
    /// grown by half, measured in the mean.
    pub fn wants_rebuild(&self) -> bool {
        self.quality().is_much_worse_than(&self.fresh)
    }

    /// How good the coloring is now.
    pub fn quality(&self) -> Quality {
        Quality {
            colors: self.color_count(),
            lower_bound: self.valences.highest().max(usize::from(!self.is_empty())),
            imbalance: self.classes.imbalance(),
        }
    }

    /// Colors all elements afresh. They keep their numbers.
    pub fn rebuild(&mut self, options: &coloring::Options) {
        let coloring =
            self.links.with_elements(&self.fixed, |elements| coloring::color(elements, options));
        self.adopt(coloring);
    }

    /// The schedule: a phase per color, in blocks of `block_size` elements (at least 1).
    pub fn schedule(&self, block_size: usize) -> Schedule {
        let mut schedule = Schedule::default();
        self.update_schedule(&mut schedule, block_size);
        schedule
    }

    /// Replaces a schedule by that of the coloring as it is now, reusing its memory.
    ///
    /// The colors are kept as lists, so nothing is sorted or searched; but the schedule's own
    /// copy of the bodies and its conflict check go over all elements.
    pub fn update_schedule(&self, schedule: &mut Schedule, block_size: usize) {
        let replaced = self.links.with_elements(&self.fixed, |elements| {
            schedule.replace(elements, |parts| self.propose(parts, block_size))
        });
        replaced.expect("a coloring has no conflict inside a color");
    }

    fn propose(&self, parts: &mut Parts, block_size: usize) {
        for class in self.classes.lists().filter(|class| !class.is_empty()) {
            let start = parts.order.len();
            parts.order.extend_from_slice(class);
            coloring::chunk_phase(parts, start, parts.order.len(), block_size.max(1));
        }
    }

    /// Takes over a fresh coloring.
    fn adopt(&mut self, coloring: Coloring) {
        self.colors = coloring.colors;
        self.classes = Classes::new(&self.colors, coloring.color_count);
        self.used = ColorSets::new(self.body_count(), coloring.color_count);
        for element in 0..self.colors.len() as u32 {
            let color = self.colors[element as usize];
            for &body in self.links.of(element) {
                if !self.fixed[body as usize] {
                    self.used.insert(body, color);
                }
            }
        }
        self.fresh = self.quality();
    }

    fn movable<'a>(&'a self, element: u32) -> impl Iterator<Item = u32> + Clone + 'a {
        self.links.of(element).iter().copied().filter(|&body| !self.fixed[body as usize])
    }

    /// The color an element without one should take. May move a neighbor out of the way.
    fn choose_color(&mut self, element: u32) -> u32 {
        let free = self.used.first_free(&self.movable(element));
        if (free as usize) < self.classes.len() {
            return free;
        }
        // A body with more elements than there are colors needs a new one, whoever moves.
        let crowded = |body| self.valences.of(body) > self.classes.len();
        if self.movable(element).any(crowded) {
            return free;
        }
        self.make_room(element).unwrap_or(free)
    }

    /// Looks for a color that a single neighbor has and can leave for another; moves it there.
    fn make_room(&mut self, element: u32) -> Option<u32> {
        self.list_blockers(element);
        let alone = |&color: &u32| self.blockers[color as usize].count == 1;
        let candidates: Vec<u32> =
            (0..self.blockers.len() as u32).filter(alone).take(CANDIDATES).collect();
        for color in candidates {
            let neighbor = self.blockers[color as usize].element;
            if let Some(other) = self.another_color(neighbor, color) {
                self.leave(neighbor);
                self.take(neighbor, other);
                return Some(color);
            }
        }
        None
    }

    /// Finds out which distinct neighbors of an element have each color.
    fn list_blockers(&mut self, element: u32) {
        let mut blockers = std::mem::take(&mut self.blockers);
        blockers.clear();
        blockers.resize(self.classes.len(), Blocker::default());
        for body in self.movable(element) {
            for neighbor in self.links.elements_at(body) {
                // The element itself and others that wait like it have no color.
                let color = self.colors[neighbor as usize] as usize;
                let Some(blocker) = blockers.get_mut(color) else { continue };
                // At most one neighbor per body has a color; it may be the same at two bodies.
                if blocker.count == 0 || blocker.element != neighbor {
                    *blocker = Blocker { count: blocker.count + 1, element: neighbor };
                }
            }
        }
        self.blockers = blockers;
    }

    /// The first color in use but this one that the bodies of an element leave free.
    fn another_color(&self, element: u32, color: u32) -> Option<u32> {
        let free = self.used.first_free(&self.movable(element));
        (free != color && (free as usize) < self.classes.len()).then_some(free)
    }

    /// Gives an element a color.
    fn take(&mut self, element: u32, color: u32) {
        self.classes.insert(element, color);
        self.colors[element as usize] = color;
        let Self { links, fixed, used, .. } = self;
        for &body in links.of(element) {
            if !fixed[body as usize] {
                used.insert(body, color);
            }
        }
    }

    /// Takes an element's color away.
    fn leave(&mut self, element: u32) {
        let color = std::mem::replace(&mut self.colors[element as usize], UNCOLORED);
        self.classes.remove(element, color);
        let Self { links, fixed, used, .. } = self;
        for &body in links.of(element) {
            if !fixed[body as usize] {
                used.remove(body, color);
            }
        }
    }

    /// Enters the elements of a body that was fixed until now. The first of each color keeps it.
    fn let_move(&mut self, body: u32, elements: &[u32]) {
        let mut losers = Vec::new();
        for &element in elements {
            self.valences.raise(body);
            let color = self.colors[element as usize];
            if self.used.contains(body, color) {
                // The body still counts as fixed: its color there belongs to another.
                self.leave(element);
                losers.push(element);
            } else {
                self.used.insert(body, color);
            }
        }
        self.fixed[body as usize] = false;
        for element in losers {
            let color = self.choose_color(element);
            self.take(element, color);
        }
    }
}
