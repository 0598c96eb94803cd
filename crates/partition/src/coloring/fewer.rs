//! Saving colors after the greedy coloring, by ejection: the elements of the last color are
//! forced into the others, each into the color where it ejects the fewest elements; those wait in
//! turn. This is the move of PartialCol (Blöchliger & Zufferey 2008) on a queue, with the
//! shortest of tabu lists: an element does not eject others from the color it was ejected from
//! last. The work is bounded by a number of moves, never by a clock.

use std::collections::VecDeque;

use crate::Elements;

/// The table of holders has a column per color; beyond this many it would not fit any more, and
/// a color in so many is not worth saving.
const MOST_COLORS: usize = 256;
/// Moves per element of the last color in one attempt to save it, per unit of effort. The
/// attempts that succeed on tetrahedral grids take about 6.
const MOVES_PER_WAITING: usize = 8;
const SPARE_MOVES: usize = 64;
/// Moves in one attempt are at most one for so many elements, per unit of effort.
const ELEMENTS_PER_MOVE: usize = 32;

const NOBODY: u32 = u32::MAX;
const NEVER: u16 = u16::MAX;

/// Recolors elements until no color can be saved within the effort, or `lower_bound` is reached.
/// Returns the number of colors.
pub(crate) fn save_colors(
    elements: &Elements<'_>,
    colors: &mut [u32],
    color_count: usize,
    lower_bound: usize,
    effort: usize,
) -> usize {
    if effort == 0 || color_count <= lower_bound.max(1) || color_count > MOST_COLORS {
        return color_count;
    }
    let mut ejection = Ejection::new(elements, colors, color_count - 1);
    let mut color_count = color_count;
    while color_count > lower_bound && ejection.save_last(color_count - 1, effort) {
        color_count -= 1;
    }
    color_count
}

struct Ejection<'a> {
    elements: Elements<'a>,
    colors: &'a mut [u32],
    /// The element that has a color at a body: `holders[body * columns + color]`.
    holders: Vec<u32>,
    columns: usize,
    /// The color each element was last ejected from.
    left: Vec<u16>,
    waiting: VecDeque<u32>,
    /// What an attempt has changed: the element and its color before.
    changes: Vec<(u32, u32)>,
    moves: usize,
}

impl<'a> Ejection<'a> {
    fn new(elements: &Elements<'a>, colors: &'a mut [u32], columns: usize) -> Self {
        let mut holders = vec![NOBODY; elements.body_count() * columns];
        for (element, &color) in colors.iter().enumerate() {
            if (color as usize) < columns {
                for body in elements.movable_of(element) {
                    holders[body as usize * columns + color as usize] = element as u32;
                }
            }
        }
        let left = vec![NEVER; elements.len()];
        let (waiting, changes) = (VecDeque::new(), Vec::new());
        Self { elements: *elements, colors, holders, columns, left, waiting, changes, moves: 0 }
    }

    /// Tries to empty color `last` into the ones before it. Leaves the coloring as it was if
    /// that fails; then this is not to be called again.
    fn save_last(&mut self, last: usize, effort: usize) -> bool {
        self.changes.clear();
        self.waiting.clear();
        let in_last = |&(_, &color): &(usize, &u32)| color as usize == last;
        self.waiting
            .extend(self.colors.iter().enumerate().filter(in_last).map(|(index, _)| index as u32));
        let moves = MOVES_PER_WAITING * self.waiting.len();
        let moves = SPARE_MOVES + moves.min(self.colors.len() / ELEMENTS_PER_MOVE);
        for _ in 0..effort.saturating_mul(moves) {
            let Some(element) = self.waiting.pop_front() else {
                return true;
            };
            let color = self.cheapest_color(element, last);
            self.place(element, color);
        }
        if !self.waiting.is_empty() {
            for &(element, color) in self.changes.iter().rev() {
                self.colors[element as usize] = color;
            }
        }
        self.waiting.is_empty()
    }

    /// The color below `limit` where an element would eject the fewest others; ties are broken
    /// by a hash of the move, which keeps the search from running in circles.
    fn cheapest_color(&mut self, element: u32, limit: usize) -> usize {
        self.moves += 1;
        let mut best = (usize::MAX, u32::MAX, 0);
        for color in 0..limit {
            let ejected = self.count_holders(element, color);
            if ejected > 0 && self.left[element as usize] == color as u16 && limit > 1 {
                continue;
            }
            let hash = (self.moves * MOST_COLORS + color) as u32;
            let hash = hash.wrapping_mul(0x9e37_79b9) >> 4;
            best = best.min((ejected, hash, color));
        }
        best.2
    }

    /// How many distinct elements hold a color at the bodies of an element.
    fn count_holders(&self, element: u32, color: usize) -> usize {
        let holder = |body: u32| self.holders[body as usize * self.columns + color];
        let bodies = self.elements.movable_of(element as usize);
        let new = |&(place, body): &(usize, u32)| {
            let holder_here = holder(body);
            holder_here != NOBODY
                && bodies.clone().take(place).all(|earlier| holder(earlier) != holder_here)
        };
        bodies.clone().enumerate().filter(new).count()
    }

    /// Gives an element a color and sends those who hold it at its bodies into the queue.
    fn place(&mut self, element: u32, color: usize) {
        for body in self.elements.movable_of(element as usize) {
            let holder = self.holders[body as usize * self.columns + color];
            if holder != NOBODY {
                self.eject(holder, color);
            }
            self.holders[body as usize * self.columns + color] = element;
        }
        self.changes.push((element, self.colors[element as usize]));
        self.colors[element as usize] = color as u32;
    }

    fn eject(&mut self, element: u32, color: usize) {
        for body in self.elements.movable_of(element as usize) {
            self.holders[body as usize * self.columns + color] = NOBODY;
        }
        self.left[element as usize] = color as u16;
        self.waiting.push_back(element);
    }
}

#[cfg(test)]
mod tests {
    //! Contract: fewer colors or the same coloring, never a conflict.

    use super::*;

    /// A cycle of six edges in three colors, where two do.
    const CYCLE: [[u32; 2]; 6] = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]];

    #[test]
    fn a_color_too_many_is_saved() {
        let elements = Elements::uniform(&CYCLE, 6).unwrap();
        let mut colors = [0, 1, 0, 2, 0, 1];
        assert_eq!(save_colors(&elements, &mut colors, 3, 2, 1), 2);
        assert!((0..6).all(|edge| colors[edge] != colors[(edge + 1) % 6] && colors[edge] < 2));
    }

    #[test]
    fn an_odd_cycle_stays_as_it_was() {
        let elements = Elements::uniform(&CYCLE[..4], 5).unwrap();
        let cycle = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]];
        let odd = Elements::uniform(&cycle, 5).unwrap();
        let mut colors = [0, 1, 0, 1, 2];
        assert_eq!(save_colors(&odd, &mut colors, 3, 2, 10), 3);
        assert_eq!(colors, [0, 1, 0, 1, 2]);
        // A path has nothing to save, and no effort saves nothing.
        let mut colors = [0, 1, 0, 2];
        assert_eq!(save_colors(&elements, &mut colors, 3, 2, 0), 3);
    }
}
