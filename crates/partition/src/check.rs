//! The check that every schedule must pass. It is part of every step of a simulation that makes
//! its schedule anew, so it reads memory in order, keeps its tables small and uses all threads.

use std::ops::Range;

use crate::{Parts, Place, Schedule, ScheduleError};

/// Memory of the check, kept so that a schedule can be replaced without allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Check {
    /// A bit per element.
    seen: Vec<u64>,
    /// One table per task.
    tables: Vec<LastWrites>,
}

/// Per body the last batch that wrote it, counted from 1; 0 if none did.
#[derive(Clone, Debug, Default)]
struct LastWrites(Vec<u32>);

/// In place of a batch: a body that is never written.
const FIXED: u32 = u32::MAX;

/// Elements that are worth a task of their own.
const TASK: usize = 1 << 14;

impl Check {
    /// Offsets start with 0, never fall and end where the next level begins.
    pub(crate) fn offsets(&self, parts: &Parts) -> Result<(), ScheduleError> {
        let Parts { order, batches, blocks, phases } = parts;
        let levels = [
            ("batches", batches, order.len()),
            ("blocks", blocks, batches.len().saturating_sub(1)),
            ("phases", phases, blocks.len().saturating_sub(1)),
        ];
        for (level, offsets, end) in levels {
            let rising = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
            let ends = (offsets.first().copied(), offsets.last().map(|&last| last as usize));
            if !rising || ends != (Some(0), Some(end)) {
                return Err(ScheduleError::BadOffsets { level, end });
            }
        }
        Ok(())
    }

    /// Every element occurs exactly once.
    pub(crate) fn once(&mut self, parts: &Parts, elements: usize) -> Result<(), ScheduleError> {
        self.seen.clear();
        self.seen.resize(elements.div_ceil(64), 0);
        for &element in &parts.order {
            let (word, bit) = (element as usize / 64, 1 << (element % 64));
            if element as usize >= elements || self.seen[word] & bit != 0 {
                let times = parts.order.iter().filter(|&&other| other == element).count();
                return Err(ScheduleError::NotOnce { element, times });
            }
            self.seen[word] |= bit;
        }
        if parts.order.len() == elements {
            return Ok(());
        }
        let seen = |element: usize| self.seen[element / 64] >> (element % 64) & 1 == 1;
        let missing = (0..elements).find(|&element| !seen(element)).unwrap_or(0);
        Err(ScheduleError::NotOnce { element: missing as u32, times: 0 })
    }

    /// No body is written by two blocks of a phase or twice in a batch, unless it is fixed.
    pub(crate) fn conflicts(&mut self, schedule: &Schedule) -> Result<(), ScheduleError> {
        let tasks = rayon::current_num_threads().min(schedule.len() / TASK).max(1);
        if self.tables.len() < tasks {
            self.tables.resize_with(tasks, LastWrites::default);
        }
        for table in &mut self.tables[..tasks] {
            // Even one that this schedule has too few phases for: the next one may need it.
            table.0.clear();
            table.0.reserve(schedule.body_count());
        }
        check_phases(schedule, 0..schedule.phase_count(), &mut self.tables[..tasks])
    }
}

/// Phases do not know of each other, so they can be checked at the same time, with a table each.
fn check_phases(
    schedule: &Schedule,
    phases: Range<usize>,
    tables: &mut [LastWrites],
) -> Result<(), ScheduleError> {
    if tables.len() == 1 || phases.len() < 2 {
        tables[0].reset(schedule);
        return phases.into_iter().try_for_each(|phase| tables[0].check_phase(schedule, phase));
    }
    let middle = middle_phase(schedule, &phases);
    let (left, right) = tables.split_at_mut(tables.len() / 2);
    let (first, second) = rayon::join(
        || check_phases(schedule, phases.start..middle, left),
        || check_phases(schedule, middle..phases.end, right),
    );
    first.and(second)
}

/// The phase that leaves about as many elements on both sides, and a phase at least.
fn middle_phase(schedule: &Schedule, phases: &Range<usize>) -> usize {
    let start = schedule.phase(phases.start).start;
    let end = schedule.phase(phases.end - 1).end;
    let before_middle = |&phase: &usize| schedule.phase(phase).end <= start.midpoint(end);
    let middle = phases.start + phases.clone().take_while(before_middle).count();
    middle.clamp(phases.start + 1, phases.end - 1)
}

impl LastWrites {
    fn reset(&mut self, schedule: &Schedule) {
        self.0.resize(schedule.body_count(), 0);
        for (body, last) in self.0.iter_mut().enumerate() {
            if schedule.is_fixed(body as u32) {
                *last = FIXED;
            }
        }
    }

    fn check_phase(&mut self, schedule: &Schedule, phase: usize) -> Result<(), ScheduleError> {
        let blocks = schedule.blocks(phase);
        let first_batch = schedule.parts().blocks[blocks.start];
        for block in blocks {
            let batches = schedule.batches(block);
            // Batches of this phase, but of an earlier block.
            let others = first_batch + 1..=batches.start as u32;
            for batch in batches {
                let this = batch as u32 + 1;
                for (at, &body) in schedule.bodies_in(schedule.batch(batch)).iter().enumerate() {
                    let last = &mut self.0[body as usize];
                    if *last == FIXED {
                        continue;
                    }
                    if *last == this || others.contains(last) {
                        return Err(conflict(schedule, phase, batch, at, *last == this));
                    }
                    *last = this;
                }
            }
        }
        Ok(())
    }
}

/// Finds out who is to blame: the element whose body is the `at`-th of the batch, and the last
/// element before it in the phase that has the same body.
fn conflict(
    schedule: &Schedule,
    phase: usize,
    batch: usize,
    at: usize,
    in_batch: bool,
) -> ScheduleError {
    let places = schedule.batch(batch);
    let body = schedule.bodies_in(places.clone())[at];
    let ends_after = |&place: &usize| schedule.bodies_in(places.start..place + 1).len() > at;
    let second = places.clone().find(ends_after).unwrap_or(places.start);
    let before = schedule.phase(phase).start..second;
    let first = before.rev().find(|&place| schedule.bodies_at(place).contains(&body));
    ScheduleError::Conflict {
        first: schedule.order()[first.unwrap_or(second)],
        second: schedule.order()[second],
        body,
        place: if in_batch { Place::Batch(batch) } else { Place::Phase(phase) },
    }
}
