//! Saving colors after the greedy coloring, by ejection: the elements of the last color are
//! forced into the others, each into the color where it ejects the fewest elements; those wait in
//! turn. This is the move of PartialCol (Blöchliger & Zufferey 2008) on a queue. Instead of a
//! tabu list, which a queue of thousands makes pointless, every now and then an element ejects
//! one more than it must, which frees those that eject each other in circles. The work is bounded
//! by a number of moves, never by a clock.

use std::collections::VecDeque;

use crate::Elements;

/// The table of holders has a column per color; beyond this many it would not fit any more, and
/// a color in so many is not worth saving.
const MOST_COLORS: usize = 256;
/// An attempt whose queue has not shrunk by a quarter after this many moves, and so many per
/// element that waited at first, is given up: where it does succeed it shrinks by a third and
/// more.
const PATIENCE: (usize, usize) = (1024, 4);
/// Every so many moves an element may eject one more than it must. More often, the queue grows
/// faster than it shrinks; less often, single elements stay caught for long.
const WALK: usize = 32;

const NOBODY: u32 = u32::MAX;

/// Recolors elements until no color can be saved within `moves` moves, or `enough` is reached.
/// Returns the number of colors.
pub(crate) fn save_colors(
    elements: &Elements<'_>,
    colors: &mut [u32],
    color_count: usize,
    enough: usize,
    moves: usize,
) -> usize {
    let enough = enough.max(1);
    if moves == 0 || color_count <= enough || color_count > MOST_COLORS {
        return color_count;
    }
    let mut ejection = Ejection::new(elements, colors, color_count - 1);
    let mut color_count = color_count;
    while color_count > enough && ejection.save_last(color_count - 1, moves) {
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
    /// Where the rows of the bodies of the element at hand start.
    rows: Vec<usize>,
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
        let (rows, waiting, changes) = (Vec::new(), VecDeque::new(), Vec::new());
        Self { elements: *elements, colors, holders, columns, rows, waiting, changes, moves: 0 }
    }

    /// Tries to empty color `last` into the ones before it. Leaves the coloring as it was if
    /// that fails; then this is not to be called again.
    fn save_last(&mut self, last: usize, moves: usize) -> bool {
        self.changes.clear();
        let in_last = |&(_, &color): &(usize, &u32)| color as usize == last;
        let members = self.colors.iter().enumerate().filter(in_last);
        self.waiting.extend(members.map(|(element, _)| element as u32));
        let at_first = self.waiting.len();
        let patience = PATIENCE.0 + PATIENCE.1 * at_first;
        for number in 0..moves {
            if number == patience && 4 * self.waiting.len() > 3 * at_first {
                break;
            }
            let Some(element) = self.waiting.pop_front() else { break };
            let color = self.cheapest_color(element, last);
            self.place(element, color);
        }
        let saved = self.waiting.is_empty();
        if !saved {
            for &(element, color) in self.changes.iter().rev() {
                self.colors[element as usize] = color;
            }
        }
        saved
    }

    /// The color below `limit` where an element would eject the fewest others; ties are broken
    /// by a hash of the move, which keeps the search from running in circles.
    fn cheapest_color(&mut self, element: u32, limit: usize) -> usize {
        self.moves += 1;
        let at_least = if self.moves.is_multiple_of(WALK) { 2 } else { 1 };
        let rows = &mut self.rows;
        rows.clear();
        let bodies = self.elements.movable_of(element as usize);
        rows.extend(bodies.map(|body| body as usize * self.columns));
        let mut best = (usize::MAX, u32::MAX, 0);
        for color in 0..limit {
            let ejected = match count_holders(&self.holders, &self.rows, color) {
                0 => return color,
                ejected => ejected.max(at_least),
            };
            let hash = (self.moves * MOST_COLORS + color) as u32;
            let hash = hash.wrapping_mul(0x9e37_79b9) >> 4;
            best = best.min((ejected, hash, color));
        }
        best.2
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
        self.waiting.push_back(element);
    }
}

/// How many distinct elements hold a color at the bodies with these rows.
#[inline]
fn count_holders(holders: &[u32], rows: &[usize], color: usize) -> usize {
    let mut count = 0;
    for (place, row) in rows.iter().enumerate() {
        let holder = holders[row + color];
        let known = || rows[..place].iter().any(|row| holders[row + color] == holder);
        count += usize::from(holder != NOBODY && !known());
    }
    count
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
        assert_eq!(save_colors(&elements, &mut colors, 3, 2, 100), 2);
        assert!((0..6).all(|edge| colors[edge] != colors[(edge + 1) % 6] && colors[edge] < 2));
    }

    #[test]
    fn an_odd_cycle_stays_as_it_was() {
        let elements = Elements::uniform(&CYCLE[..4], 5).unwrap();
        let cycle = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]];
        let odd = Elements::uniform(&cycle, 5).unwrap();
        let mut colors = [0, 1, 0, 1, 2];
        assert_eq!(save_colors(&odd, &mut colors, 3, 2, 1000), 3);
        assert_eq!(colors, [0, 1, 0, 1, 2]);
        // A path has nothing to save, and no effort saves nothing.
        let mut colors = [0, 1, 0, 2];
        assert_eq!(save_colors(&elements, &mut colors, 3, 2, 0), 3);
    }
}
