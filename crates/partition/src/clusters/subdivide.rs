//! Recursive subdivision by position (paper B, section 4): the box of the elements' points is cut
//! at its center or at the median, and the parts are cut again until there are enough of them
//! or they are small enough.
//!
//! A wanted number of clusters is handed down as a quota: a part gets clusters in proportion to
//! its elements. With the median the cut is placed so that the quotas come out even, which gives
//! clusters of equal size for any number, not only for powers of two. The result depends on
//! points and indices alone, so it is the same for any number of threads.

use rayon::prelude::*;

use super::{Clusters, Stop};
use crate::InputError;

/// Where to cut a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cut {
    /// At the center of the bounding box, as in the paper: fast and regular, but uneven where
    /// the elements are.
    Center,
    /// So that both sides get elements in proportion to their clusters: balanced.
    #[default]
    Median,
}

/// Along which axes to cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axes {
    /// The longest axis of the bounding box first.
    #[default]
    Longest,
    /// x, y, z in turn, leaving out those along which the box has no extent.
    InTurn,
}

/// Into how many parts one step divides a box.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ways {
    /// Along one axis.
    #[default]
    Two,
    /// Along two axes.
    Four,
    /// Along three axes.
    Eight,
}

/// How to subdivide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subdivision {
    /// Where to cut.
    pub cut: Cut,
    /// Along which axes.
    pub axes: Axes,
    /// Into how many parts at once.
    pub ways: Ways,
    /// When to stop.
    pub stop: Stop,
}

impl Subdivision {
    /// Cuts at the median of the longest axis, in two.
    pub fn new(stop: Stop) -> Self {
        Self { cut: Cut::default(), axes: Axes::default(), ways: Ways::default(), stop }
    }
}

/// An element on its way to a cluster. The point travels with it, so that every cut reads
/// memory in order.
#[derive(Clone, Copy)]
struct Item {
    point: [f32; 3],
    element: u32,
}

/// Below this, cutting a part is not worth a task of its own.
const PARALLEL_ITEMS: usize = 8192;

pub(super) fn subdivide(
    points: &[[f32; 3]],
    subdivision: &Subdivision,
) -> Result<Clusters, InputError> {
    let stop = subdivision.stop.checked()?;
    if points.len() >= u32::MAX as usize {
        return Err(InputError::TooMany { limit: u32::MAX as usize });
    }
    if let Some(index) = points.iter().position(|point| !point.iter().all(|x| x.is_finite())) {
        return Err(InputError::NotFinite { what: "point", index });
    }
    let mut items: Vec<Item> = points
        .par_iter()
        .enumerate()
        .map(|(element, &point)| Item { point, element: element as u32 })
        .collect();
    let goal = Goal::new(stop, subdivision.cut, items.len());
    let sizes = Divider { subdivision }.divide(&mut items, goal, 0);
    let elements = items.par_iter().map(|item| item.element).collect();
    Ok(Clusters::from_sizes(elements, &sizes))
}

/// What a part still has to become.
#[derive(Clone, Copy)]
enum Goal {
    /// So many clusters.
    Count(usize),
    /// Clusters of at most this size.
    Size(usize),
}

impl Goal {
    fn new(stop: Stop, cut: Cut, items: usize) -> Self {
        match (stop, cut) {
            (Stop::Subsets(subsets), _) => Goal::Count(subsets.min(items)),
            // The fewest clusters that keep to the size, and those balanced.
            (Stop::Size(size), Cut::Median) => Goal::Count(items.div_ceil(size)),
            (Stop::Size(size), Cut::Center) => Goal::Size(size),
        }
    }

    fn is_met(self, items: usize) -> bool {
        match self {
            Goal::Count(count) => count <= 1,
            Goal::Size(size) => items <= size,
        }
    }

    /// The goals of the two sides of a cut after `left` of `items`.
    fn sides(self, left: usize, items: usize) -> (Goal, Goal) {
        match self {
            Goal::Count(count) => {
                let share = (count * left + items / 2) / items;
                let share = share.clamp(1, count - 1);
                (Goal::Count(share), Goal::Count(count - share))
            }
            Goal::Size(_) => (self, self),
        }
    }

    /// How many of `items` the median puts on the left.
    fn median(self, items: usize) -> usize {
        match self {
            Goal::Count(count) => items * (count / 2) / count,
            Goal::Size(_) => items / 2,
        }
    }
}

struct Divider<'a> {
    subdivision: &'a Subdivision,
}

impl Divider<'_> {
    /// Reorders the items by cluster and returns the clusters' sizes.
    fn divide(&self, items: &mut [Item], goal: Goal, turn: usize) -> Vec<usize> {
        if goal.is_met(items.len()) {
            // No items, no cluster: clusters are never empty.
            return if items.is_empty() { Vec::new() } else { vec![items.len()] };
        }
        let bounds = Bounds::of(items);
        let axes = self.axes(&bounds, turn);
        if axes.is_empty() {
            // All points are equal: only the order of the elements is left to go by.
            let left = goal.median(items.len());
            items.select_nth_unstable_by_key(left, |item| item.element);
            return self.both(items, left, goal, &|side, goal| self.divide(side, goal, turn));
        }
        self.cut_along(&axes, &bounds, items, goal, turn + axes.len())
    }

    /// Cuts along the first axis, then each side along the next ones.
    fn cut_along(
        &self,
        axes: &[usize],
        bounds: &Bounds,
        items: &mut [Item],
        goal: Goal,
        turn: usize,
    ) -> Vec<usize> {
        let Some((&axis, others)) = axes.split_first() else {
            return self.divide(items, goal, turn);
        };
        if goal.is_met(items.len()) {
            return self.divide(items, goal, turn);
        }
        let left = match self.subdivision.cut {
            Cut::Center => split_at_center(items, axis, bounds),
            Cut::Median => split_at_median(items, axis, goal.median(items.len())),
        };
        let next = |side: &mut [Item], goal| self.cut_along(others, bounds, side, goal, turn);
        if left == 0 || left == items.len() {
            return next(items, goal);
        }
        self.both(items, left, goal, &next)
    }

    fn both(
        &self,
        items: &mut [Item],
        left: usize,
        goal: Goal,
        next: &(impl Fn(&mut [Item], Goal) -> Vec<usize> + Sync),
    ) -> Vec<usize> {
        let count = items.len();
        let (left_goal, right_goal) = goal.sides(left, count);
        let (left, right) = items.split_at_mut(left);
        let (mut sizes, more) = if count < PARALLEL_ITEMS {
            (next(left, left_goal), next(right, right_goal))
        } else {
            rayon::join(|| next(left, left_goal), || next(right, right_goal))
        };
        sizes.extend(more);
        sizes
    }

    /// The axes of the next step: those along which the box has an extent, in the order of the
    /// option, as many as the ways ask for.
    fn axes(&self, bounds: &Bounds, turn: usize) -> Vec<usize> {
        let mut axes = [0, 1, 2];
        match self.subdivision.axes {
            Axes::Longest => axes.sort_by(|&a, &b| bounds.extent(b).total_cmp(&bounds.extent(a))),
            Axes::InTurn => axes.rotate_left(turn % 3),
        }
        let count = match self.subdivision.ways {
            Ways::Two => 1,
            Ways::Four => 2,
            Ways::Eight => 3,
        };
        axes.into_iter().filter(|&axis| bounds.is_open(axis)).take(count).collect()
    }
}

/// Puts the items below the center of the box on the left; both sides get at least one if these
/// are the bounds of these very items.
fn split_at_center(items: &mut [Item], axis: usize, bounds: &Bounds) -> usize {
    let (low, center) = (bounds.low[axis], bounds.center(axis));
    // Where two neighboring floats leave no room between them, the center rounds to the low end.
    partition(items, |item| item.point[axis] < center || item.point[axis] <= low)
}

/// Puts the `left` smallest on the left. Ties go by element, so that the result is unique.
fn split_at_median(items: &mut [Item], axis: usize, left: usize) -> usize {
    items.select_nth_unstable_by_key(left, |item| {
        u64::from(rank(item.point[axis])) << 32 | u64::from(item.element)
    });
    left
}

/// An integer that is larger when the number is (as in `f32::total_cmp`): one comparison of
/// integers instead of two comparisons with a branch between them.
fn rank(number: f32) -> u32 {
    let bits = number.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// Moves the items that belong left to the front and returns their number.
fn partition(items: &mut [Item], belongs_left: impl Fn(&Item) -> bool) -> usize {
    let mut left = 0;
    for place in 0..items.len() {
        if belongs_left(&items[place]) {
            items.swap(left, place);
            left += 1;
        }
    }
    left
}

struct Bounds {
    low: [f32; 3],
    high: [f32; 3],
}

impl Bounds {
    fn of(items: &[Item]) -> Self {
        let mut bounds = Self { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] };
        for item in items {
            for axis in 0..3 {
                bounds.low[axis] = bounds.low[axis].min(item.point[axis]);
                bounds.high[axis] = bounds.high[axis].max(item.point[axis]);
            }
        }
        bounds
    }

    fn is_open(&self, axis: usize) -> bool {
        self.low[axis] < self.high[axis]
    }

    /// Halved before the difference: the difference of two finite numbers may not be finite.
    fn extent(&self, axis: usize) -> f32 {
        self.high[axis] * 0.5 - self.low[axis] * 0.5
    }

    fn center(&self, axis: usize) -> f32 {
        self.low[axis] * 0.5 + self.high[axis] * 0.5
    }
}
