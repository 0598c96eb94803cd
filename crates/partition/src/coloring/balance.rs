//! Evening out the sizes of colors without adding one: elements of colors above the mean move to
//! the least loaded color their bodies leave free. What saturated bodies hold in place is left to
//! [`exchange`].

use super::exchange::exchange;
use super::sets::ColorSets;
use crate::Elements;

/// Colors looked at per element, so that thousands of tiny colors cost no more than a few.
const CANDIDATES: usize = 32;
/// Moves after which the colors are ranked by their load again.
const MOVES_PER_RANKING: usize = 256;
/// Sweeps over all elements; what can move moves in the first two or three.
const SWEEPS: usize = 4;

/// Recolors elements so that the colors have similar sizes.
pub(crate) fn balance(elements: &Elements<'_>, colors: &mut [u32], color_count: usize) {
    if color_count < 2 {
        return;
    }
    let mut balance = Balance::new(elements, colors, color_count);
    for _ in 0..SWEEPS {
        if balance.sweep(colors) == 0 {
            break;
        }
    }
    exchange(elements, colors, color_count);
}

struct Balance<'a> {
    elements: Elements<'a>,
    sets: ColorSets,
    loads: Vec<usize>,
    /// The colors with the least load, least first.
    candidates: Vec<u32>,
    mean: usize,
    moves: usize,
}

impl<'a> Balance<'a> {
    fn new(elements: &Elements<'a>, colors: &[u32], color_count: usize) -> Self {
        let mut sets = ColorSets::new(elements.body_count(), color_count);
        let mut loads = vec![0; color_count];
        for (element, &color) in colors.iter().enumerate() {
            loads[color as usize] += 1;
            elements.movable_of(element).for_each(|body| sets.insert(body, color));
        }
        let mean = colors.len() / color_count;
        let mut balance =
            Self { elements: *elements, sets, loads, candidates: Vec::new(), mean, moves: 0 };
        balance.rank();
        balance
    }

    fn rank(&mut self) {
        self.candidates.clear();
        self.candidates.extend(0..self.loads.len() as u32);
        let load = |&color: &u32| (self.loads[color as usize], color);
        if self.candidates.len() > CANDIDATES {
            self.candidates.select_nth_unstable_by_key(CANDIDATES, load);
            self.candidates.truncate(CANDIDATES);
        }
        self.candidates.sort_unstable_by_key(load);
    }

    /// One sweep over the elements; returns how many moved.
    fn sweep(&mut self, colors: &mut [u32]) -> usize {
        let before = self.moves;
        for (element, color) in colors.iter_mut().enumerate() {
            if self.loads[*color as usize] > self.mean
                && let Some(target) = self.target(element, *color)
            {
                self.shift(element, *color, target);
                *color = target;
            }
        }
        self.moves - before
    }

    /// The least loaded color that the element's bodies leave free and that stays smaller than
    /// its own.
    fn target(&self, element: usize, color: u32) -> Option<u32> {
        let own = self.loads[color as usize];
        self.candidates.iter().copied().find(|&candidate| {
            let mut bodies = self.elements.movable_of(element);
            self.loads[candidate as usize] + 1 < own
                && bodies.all(|body| !self.sets.contains(body, candidate))
        })
    }

    fn shift(&mut self, element: usize, from: u32, to: u32) {
        for body in self.elements.movable_of(element) {
            self.sets.remove(body, from);
            self.sets.insert(body, to);
        }
        self.loads[from as usize] -= 1;
        self.loads[to as usize] += 1;
        self.moves += 1;
        if self.moves.is_multiple_of(MOVES_PER_RANKING) {
            self.rank();
        }
    }
}
