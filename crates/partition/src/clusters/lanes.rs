//! Batches cut into groups of SIMD lanes, the last group of a batch padded.

use std::ops::Range;

use super::at_least_one;
use crate::{InputError, Schedule};

/// A slot of a [`LaneLayout`] without an element.
pub const PADDING: u32 = u32::MAX;

/// A view of a schedule for kernels that run whole groups of lanes.
///
/// A slot names a place in the order of execution ([`Schedule::order`],
/// [`Schedule::bodies_at`]) or is [`PADDING`]. Every batch starts a new group, so the elements
/// of a group never conflict. The schedule itself stays as it is: every element exactly once.
///
/// A kernel gives padded slots something harmless to do: bodies of their own with w = 0, for
/// instance, put in by [`LaneLayout::spread`].
///
/// ```
/// use taut_partition::clusters::{LaneLayout, PADDING};
/// use taut_partition::{Elements, Parts, Schedule};
///
/// let edges = Elements::uniform(&[[0, 1], [2, 3], [4, 5]], 6)?;
/// let one_batch =
///     Parts { order: vec![0, 1, 2], batches: vec![0, 3], blocks: vec![0, 1], phases: vec![0, 1] };
/// let schedule = Schedule::new(&edges, one_batch)?;
///
/// let layout = LaneLayout::new(&schedule, 2)?;
/// assert_eq!(layout.slots(), [0, 1, 2, PADDING]);
/// assert_eq!(layout.utilization(), 0.75);
/// let bodies = schedule.bodies::<2>().unwrap_or_default();
/// assert_eq!(layout.spread(bodies, [6, 7]), [[0, 1], [2, 3], [4, 5], [6, 7]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct LaneLayout {
    lanes: usize,
    elements: usize,
    slots: Vec<u32>,
    /// Batch `i` has the groups `groups[i]..groups[i + 1]`.
    groups: Vec<u32>,
}

impl LaneLayout {
    /// Cuts every batch of a schedule into groups of `lanes` slots.
    pub fn new(schedule: &Schedule, lanes: usize) -> Result<Self, InputError> {
        at_least_one("the number of lanes", lanes)?;
        let mut slots = Vec::with_capacity(schedule.len());
        let mut groups = vec![0];
        for batch in 0..schedule.batch_count() {
            slots.extend(schedule.batch(batch).map(|place| place as u32));
            slots.resize(slots.len().next_multiple_of(lanes), PADDING);
            groups.push((slots.len() / lanes) as u32);
        }
        Ok(Self { lanes, elements: schedule.len(), slots, groups })
    }

    /// Slots in a group.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// All slots, group after group.
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The number of groups of all batches.
    pub fn group_count(&self) -> usize {
        self.slots.len() / self.lanes
    }

    /// The groups of a batch.
    #[inline]
    pub fn groups(&self, batch: usize) -> Range<usize> {
        self.groups[batch] as usize..self.groups[batch + 1] as usize
    }

    /// The slots of a group.
    #[inline]
    pub fn group(&self, group: usize) -> &[u32] {
        &self.slots[group * self.lanes..(group + 1) * self.lanes]
    }

    /// The share of slots that hold an element (1 when there are no slots).
    pub fn utilization(&self) -> f64 {
        if self.slots.is_empty() { 1.0 } else { self.elements as f64 / self.slots.len() as f64 }
    }

    /// Values in the order of execution, spread over the slots; padded slots get `padding`.
    pub fn spread<T: Copy>(&self, values: &[T], padding: T) -> Vec<T> {
        let value = |&slot: &u32| values.get(slot as usize).copied().unwrap_or(padding);
        self.slots.iter().map(value).collect()
    }
}
