//! The three nouns: a schedule is a list of *phases*, each a list of *blocks*, each a list of
//! *batches* of elements.
//!
//! - Phases run one after another, with a barrier between two of them.
//! - The blocks of a phase run at the same time, each by one worker: no two share a body.
//! - The batches of a block run one after another; the elements of a batch share no body,
//!   so they map to SIMD lanes or GPU threads.
//!
//! A [`Schedule`] exists only if it passed the conflict check in [`Schedule::new`], and it keeps
//! its own copy of the elements' bodies in the order of execution. Code that writes bodies in
//! parallel without locks needs nothing else to be sound: take the ids from the schedule, write
//! no fixed body, wait between phases.

use std::ops::Range;

use rayon::prelude::*;

use crate::check::Check;
use crate::{Elements, ScheduleError};

/// A proposed order of execution, not checked yet. Each list of offsets starts with 0 and has
/// one entry more than there are parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The elements in the order of execution.
    pub order: Vec<u32>,
    /// Batch `i` holds the elements `order[batches[i]..batches[i + 1]]`.
    pub batches: Vec<u32>,
    /// Block `i` holds the batches `blocks[i]..blocks[i + 1]`.
    pub blocks: Vec<u32>,
    /// Phase `i` holds the blocks `phases[i]..phases[i + 1]`.
    pub phases: Vec<u32>,
}

impl Parts {
    /// Empties all lists, keeping their memory.
    pub fn clear(&mut self) {
        self.order.clear();
        for offsets in [&mut self.batches, &mut self.blocks, &mut self.phases] {
            offsets.clear();
            offsets.push(0);
        }
    }

    /// Ends the current batch at the current end of `order`.
    pub fn end_batch(&mut self) {
        self.batches.push(self.order.len() as u32);
    }

    /// Ends the current block at the last batch.
    pub fn end_block(&mut self) {
        self.blocks.push(self.batches.len() as u32 - 1);
    }

    /// Ends the current phase at the last block.
    pub fn end_phase(&mut self) {
        self.phases.push(self.blocks.len() as u32 - 1);
    }
}

/// A checked order of execution: every element once, no conflict inside a phase or a batch.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    parts: Parts,
    /// Bodies of the elements in the order of execution.
    bodies: Vec<u32>,
    /// Where each scheduled element's bodies start; empty when all have `arity` bodies.
    starts: Vec<u32>,
    arity: usize,
    body_count: usize,
    fixed: Vec<bool>,
    has_columns: bool,
    check: Check,
}

/// Where an element has its turn. All three are counted through the whole schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The phase.
    pub phase: u32,
    /// The block.
    pub block: u32,
    /// The batch.
    pub batch: u32,
}

impl Schedule {
    /// Checks a proposed order of execution and takes a copy of the bodies in that order.
    pub fn new(elements: &Elements<'_>, parts: Parts) -> Result<Self, ScheduleError> {
        let mut schedule = Self { parts, ..Self::default() };
        schedule.adopt(elements)?;
        Ok(schedule)
    }

    /// Replaces this schedule by another, reusing its memory. `propose` fills the (cleared) parts.
    ///
    /// After an error the schedule is empty.
    pub fn replace(
        &mut self,
        elements: &Elements<'_>,
        propose: impl FnOnce(&mut Parts),
    ) -> Result<(), ScheduleError> {
        self.parts.clear();
        propose(&mut self.parts);
        self.adopt(elements).inspect_err(|_| {
            self.parts.clear();
            self.bodies.clear();
            self.starts.clear();
        })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.parts.order.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.parts.order.is_empty()
    }

    /// Gives back the memory that only a replacement of the schedule would need.
    pub fn shrink_to_fit(&mut self) {
        self.check = Check::default();
        let Parts { order, batches, blocks, phases } = &mut self.parts;
        for list in [order, batches, blocks, phases, &mut self.bodies, &mut self.starts] {
            list.shrink_to_fit();
        }
        self.fixed.shrink_to_fit();
    }

    /// The number of bodies of the problem this schedule was made for.
    pub fn body_count(&self) -> usize {
        self.body_count
    }

    /// Whether the schedule was made for a problem in which this body is never written.
    #[inline]
    pub fn is_fixed(&self, body: u32) -> bool {
        self.fixed.get(body as usize).is_some_and(|&fixed| fixed)
    }

    /// The elements in the order of execution.
    pub fn order(&self) -> &[u32] {
        &self.parts.order
    }

    /// All parts, for those who want to store or compare them.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The number of phases.
    pub fn phase_count(&self) -> usize {
        self.parts.phases.len().saturating_sub(1)
    }

    /// The number of blocks of all phases.
    pub fn block_count(&self) -> usize {
        self.parts.blocks.len().saturating_sub(1)
    }

    /// The number of batches of all blocks.
    pub fn batch_count(&self) -> usize {
        self.parts.batches.len().saturating_sub(1)
    }

    /// The blocks of a phase.
    #[inline]
    pub fn blocks(&self, phase: usize) -> Range<usize> {
        span(&self.parts.phases, phase)
    }

    /// The batches of a block.
    #[inline]
    pub fn batches(&self, block: usize) -> Range<usize> {
        span(&self.parts.blocks, block)
    }

    /// The places in the order of execution that a batch takes up.
    #[inline]
    pub fn batch(&self, batch: usize) -> Range<usize> {
        span(&self.parts.batches, batch)
    }

    /// The places in the order of execution that a block takes up.
    #[inline]
    pub fn block(&self, block: usize) -> Range<usize> {
        let batches = self.batches(block);
        self.parts.batches[batches.start] as usize..self.parts.batches[batches.end] as usize
    }

    /// The places in the order of execution that a phase takes up.
    #[inline]
    pub fn phase(&self, phase: usize) -> Range<usize> {
        let blocks = self.blocks(phase);
        let batches = self.parts.blocks[blocks.start]..self.parts.blocks[blocks.end];
        let ends = &self.parts.batches;
        ends[batches.start as usize] as usize..ends[batches.end as usize] as usize
    }

    /// The bodies of the element at a place in the order of execution.
    #[inline]
    pub fn bodies_at(&self, place: usize) -> &[u32] {
        if self.starts.is_empty() {
            &self.bodies[place * self.arity..(place + 1) * self.arity]
        } else {
            &self.bodies[self.starts[place] as usize..self.starts[place + 1] as usize]
        }
    }

    /// The bodies of all elements in the order of execution, if every element has `N` of them
    /// (or there are no elements).
    #[inline]
    pub fn bodies<const N: usize>(&self) -> Option<&[[u32; N]]> {
        let uniform = self.starts.is_empty() && (self.arity == N || self.is_empty());
        uniform.then(|| self.bodies.as_chunks().0)
    }

    /// Looks whether the first blocks of all phases are a *column*, all the second ones another, and so on:
    /// whether there are as many in each phase, and blocks of different columns share no body but fixed
    /// ones. Then columns can run at the same time, each through all phases, with the same results.
    pub fn find_columns(&mut self) -> bool {
        let count = |phase: usize| self.blocks(phase).len();
        let same = (1..self.phase_count()).all(|phase| count(phase) == count(0));
        self.has_columns = same && self.columns_are_apart();
        self.has_columns
    }

    /// Whether [`Schedule::find_columns`] has found columns.
    #[inline]
    pub fn has_columns(&self) -> bool {
        self.has_columns
    }

    fn columns_are_apart(&self) -> bool {
        let mut column_of = vec![u32::MAX; self.body_count];
        let columns = (0..self.phase_count()).flat_map(|phase| self.blocks(phase).zip(0_u32..));
        for (block, column) in columns {
            for &body in self.bodies_in(self.block(block)) {
                let known = &mut column_of[body as usize];
                if self.is_fixed(body) || *known == column {
                    continue;
                }
                if *known != u32::MAX {
                    return false;
                }
                *known = column;
            }
        }
        true
    }

    /// Where each element has its turn, in the order of the elements.
    pub fn placements(&self) -> Vec<Placement> {
        let mut placements = vec![Placement::default(); self.len()];
        for phase in 0..self.phase_count() {
            for block in self.blocks(phase) {
                for batch in self.batches(block) {
                    let [phase, block, batch] = [phase, block, batch].map(|part| part as u32);
                    for &element in &self.order()[self.batch(batch as usize)] {
                        placements[element as usize] = Placement { phase, block, batch };
                    }
                }
            }
        }
        placements
    }

    fn adopt(&mut self, elements: &Elements<'_>) -> Result<(), ScheduleError> {
        let Self { parts, bodies, starts, arity, body_count, fixed, has_columns, check } = self;
        *has_columns = false;
        check.offsets(parts)?;
        check.once(parts, elements.len())?;
        *arity = elements.arity().unwrap_or(0);
        *body_count = elements.body_count();
        fixed.clear();
        if elements.has_fixed() {
            fixed.extend((0..elements.body_count() as u32).map(|body| elements.is_fixed(body)));
        }
        bodies.resize(elements.bodies().len(), 0);
        starts.clear();
        gather_bodies(elements, &parts.order, |body| body, bodies, starts);
        // The check reads the copy: what was checked is what is handed out.
        self.check_conflicts()
    }

    fn check_conflicts(&mut self) -> Result<(), ScheduleError> {
        let mut check = std::mem::take(&mut self.check);
        let result = check.conflicts(self);
        self.check = check;
        result
    }

    /// The bodies of the elements at some places in the order of execution, one after another.
    #[inline]
    pub(crate) fn bodies_in(&self, places: Range<usize>) -> &[u32] {
        if self.starts.is_empty() {
            &self.bodies[places.start * self.arity..places.end * self.arity]
        } else {
            &self.bodies[self.starts[places.start] as usize..self.starts[places.end] as usize]
        }
    }
}

/// Elements that one task copies.
const CHUNK: usize = 1 << 13;

/// Copies the bodies of all elements in the given order, each as `map` would have it. `starts`
/// gets offsets if the elements have different numbers of bodies.
pub(crate) fn gather_bodies(
    elements: &Elements<'_>,
    order: &[u32],
    map: impl Fn(u32) -> u32 + Sync,
    bodies: &mut [u32],
    starts: &mut Vec<u32>,
) {
    match elements.arity() {
        // A length that is known to the compiler makes a copy of a few words fast.
        Some(1) => gather_uniform::<1>(elements.bodies(), order, map, bodies),
        Some(2) => gather_uniform::<2>(elements.bodies(), order, map, bodies),
        Some(3) => gather_uniform::<3>(elements.bodies(), order, map, bodies),
        Some(4) => gather_uniform::<4>(elements.bodies(), order, map, bodies),
        arity => {
            let mut end = 0;
            for &element in order {
                if arity.is_none() {
                    starts.push(end as u32);
                }
                for &body in elements.of(element as usize) {
                    bodies[end] = map(body);
                    end += 1;
                }
            }
            if arity.is_none() {
                starts.push(end as u32);
            }
        }
    }
}

fn gather_uniform<const N: usize>(
    elements: &[u32],
    order: &[u32],
    map: impl Fn(u32) -> u32 + Sync,
    bodies: &mut [u32],
) {
    let (elements, _) = elements.as_chunks::<N>();
    let (bodies, _) = bodies.as_chunks_mut::<N>();
    bodies.par_chunks_mut(CHUNK).zip(order.par_chunks(CHUNK)).for_each(|(bodies, order)| {
        for (bodies, &element) in bodies.iter_mut().zip(order) {
            *bodies = elements[element as usize].map(&map);
        }
    });
}

#[inline]
fn span(offsets: &[u32], part: usize) -> Range<usize> {
    offsets[part] as usize..offsets[part + 1] as usize
}

#[cfg(test)]
mod tests {
    //! Contract: a schedule with a missing, repeated or conflicting element cannot be made.

    use super::*;
    use crate::Place;

    /// Parts from nested lists: phases of blocks of batches of elements.
    fn parts(phases: &[&[&[&[u32]]]]) -> Parts {
        let mut parts = Parts::default();
        parts.clear();
        for blocks in phases {
            for batches in *blocks {
                for batch in *batches {
                    parts.order.extend_from_slice(batch);
                    parts.end_batch();
                }
                parts.end_block();
            }
            parts.end_phase();
        }
        parts
    }

    /// A path 0–1–2–3 of three edges.
    const PATH: [[u32; 2]; 3] = [[0, 1], [1, 2], [2, 3]];

    #[test]
    fn accepts_a_valid_coloring_and_a_valid_clustering() {
        let elements = Elements::uniform(&PATH, 4).unwrap();
        let colored = Schedule::new(&elements, parts(&[&[&[&[0, 2]]], &[&[&[1]]]])).unwrap();
        assert_eq!(colored.bodies::<2>().unwrap(), [[0, 1], [2, 3], [1, 2]]);
        assert_eq!((colored.phase_count(), colored.phase(1)), (2, 2..3));
        let clustered = Schedule::new(&elements, parts(&[&[&[&[0], &[1], &[2]]]])).unwrap();
        assert_eq!((clustered.batch_count(), clustered.block(0)), (3, 0..3));
    }

    #[test]
    fn every_element_knows_its_turn() {
        let elements = Elements::uniform(&PATH, 4).unwrap();
        let schedule = Schedule::new(&elements, parts(&[&[&[&[2]], &[&[0]]], &[&[&[1]]]])).unwrap();
        let turns: Vec<[u32; 3]> = schedule
            .placements()
            .iter()
            .map(|&Placement { phase, block, batch }| [phase, block, batch])
            .collect();
        assert_eq!(turns, [[0, 1, 1], [1, 2, 2], [0, 0, 0]]);
    }

    #[test]
    fn refuses_conflicts_in_a_batch_and_between_blocks() {
        let elements = Elements::uniform(&PATH, 4).unwrap();
        assert_eq!(
            Schedule::new(&elements, parts(&[&[&[&[0, 1, 2]]]])).unwrap_err(),
            ScheduleError::Conflict { first: 0, second: 1, body: 1, place: Place::Batch(0) }
        );
        assert_eq!(
            Schedule::new(&elements, parts(&[&[&[&[0]]], &[&[&[2]], &[&[1]]]])).unwrap_err(),
            ScheduleError::Conflict { first: 2, second: 1, body: 2, place: Place::Phase(1) }
        );
    }

    #[test]
    fn fixed_bodies_do_not_conflict() {
        let fixed = [false, true, true, false];
        let elements = Elements::uniform(&PATH, 4).unwrap().with_fixed(&fixed).unwrap();
        let schedule = Schedule::new(&elements, parts(&[&[&[&[0, 1]], &[&[2]]]])).unwrap();
        assert!(schedule.is_fixed(1) && !schedule.is_fixed(0));
    }

    #[test]
    fn columns_share_no_body_and_are_forgotten_with_the_schedule() {
        // Two loose triangles.
        let edges = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]];
        let elements = Elements::uniform(&edges, 6).unwrap();
        let columns = parts(&[&[&[&[0]], &[&[3]]], &[&[&[1]], &[&[4]]], &[&[&[2]], &[&[5]]]]);
        let mut schedule = Schedule::new(&elements, columns).unwrap();
        assert!(!schedule.has_columns() && schedule.find_columns() && schedule.has_columns());
        let crossed = parts(&[&[&[&[0]], &[&[3]]], &[&[&[4]], &[&[1]]], &[&[&[2]], &[&[5]]]]);
        schedule.replace(&elements, |parts| parts.clone_from(&crossed)).unwrap();
        assert!(!schedule.has_columns() && !schedule.find_columns());
        let uneven = parts(&[&[&[&[0]], &[&[3]]], &[&[&[1], &[4]]], &[&[&[2]], &[&[5]]]]);
        assert!(!Schedule::new(&elements, uneven).unwrap().find_columns());
        let elements = elements.with_fixed(&[true; 6]).unwrap();
        assert!(Schedule::new(&elements, crossed).unwrap().find_columns());
    }

    #[test]
    fn refuses_missing_repeated_and_unknown_elements() {
        let elements = Elements::uniform(&PATH, 4).unwrap();
        for (phases, element, times) in [
            (parts(&[&[&[&[0, 2]]]]), 1, 0),
            (parts(&[&[&[&[0, 2]]], &[&[&[1, 2]]]]), 2, 2),
            (parts(&[&[&[&[0, 2]]], &[&[&[1, 9]]]]), 9, 1),
        ] {
            assert_eq!(
                Schedule::new(&elements, phases).unwrap_err(),
                ScheduleError::NotOnce { element, times }
            );
        }
    }

    #[test]
    fn refuses_offsets_that_do_not_nest() {
        let elements = Elements::uniform(&PATH, 4).unwrap();
        let good = parts(&[&[&[&[0, 2]]], &[&[&[1]]]]);
        let cut = Parts { phases: vec![0, 1], ..good.clone() };
        assert_eq!(
            Schedule::new(&elements, cut).unwrap_err(),
            ScheduleError::BadOffsets { level: "phases", end: 2 }
        );
        let falling = Parts { batches: vec![0, 3, 2, 3], ..good };
        assert!(Schedule::new(&elements, falling).is_err());
        assert!(Schedule::new(&elements, Parts::default()).is_err());
    }

    #[test]
    fn replacing_reuses_memory_and_empties_on_error() {
        let elements = Elements::uniform(&PATH, 4).unwrap();
        let mut schedule = Schedule::new(&elements, parts(&[&[&[&[0, 2]]], &[&[&[1]]]])).unwrap();
        let error = schedule.replace(&elements, |parts| {
            parts.order.extend([0, 1, 2]);
            parts.end_batch();
            parts.end_block();
            parts.end_phase();
        });
        assert!(error.is_err() && schedule.is_empty());
        assert_eq!(schedule.bodies::<2>(), Some(&[][..]));
    }
}
