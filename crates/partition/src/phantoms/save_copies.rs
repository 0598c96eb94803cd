//! Saving copies after the assignment: elements move to other colors as long as that needs fewer
//! copies.
//!
//! A body needs as many copies of itself as its most frequent color has elements there, and at
//! least ⌈valence / q̂⌉. Where it needs more, an element of a most frequent color looks for the
//! color that lowers, in this order, the number of copies, the number of most frequent colors of
//! such bodies (once there is one left, the next move saves a copy) and the imbalance.

use crate::Elements;
use crate::incidence::valences;

/// Sweeps over all elements; later ones find little.
const SWEEPS: usize = 4;
/// The table has an entry per body and color. Up to so many entries per body id in the elements
/// it is worth its memory.
const MOST_ENTRIES_PER_BODY_ID: usize = 32;

/// Changes colors so that fewer copies are needed; never more.
pub(super) fn save_copies(elements: &Elements<'_>, colors: &mut [u32], color_count: usize) {
    let entries = elements.body_count().saturating_mul(color_count);
    if entries > MOST_ENTRIES_PER_BODY_ID * elements.bodies().len() {
        return;
    }
    let mut table = Table::new(elements, colors, color_count);
    for _ in 0..SWEEPS {
        let mut moved = false;
        for (element, color) in colors.iter_mut().enumerate() {
            if table.is_in_excess(element, *color as usize) {
                let better = table.better_color(element, *color as usize);
                moved |= better != *color as usize;
                table.shift(element, *color as usize, better);
                *color = better as u32;
            }
        }
        if !moved {
            break;
        }
    }
}

struct Table<'a> {
    elements: Elements<'a>,
    color_count: usize,
    /// Elements of a color at a body: `counts[body * color_count + color]`.
    counts: Vec<u32>,
    bodies: Vec<Body>,
    /// Elements of each color.
    loads: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Body {
    /// The count of the most frequent color: the copies it needs, itself included.
    most: u32,
    /// How many colors have that count.
    tops: u32,
    /// ⌈valence / q̂⌉: fewer copies cannot do.
    least: u32,
}

impl<'a> Table<'a> {
    fn new(elements: &Elements<'a>, colors: &[u32], color_count: usize) -> Self {
        let mut counts = vec![0; elements.body_count() * color_count];
        let mut loads = vec![0; color_count];
        for (element, &color) in colors.iter().enumerate() {
            loads[color as usize] += 1;
            for body in elements.movable_of(element) {
                counts[body as usize * color_count + color as usize] += 1;
            }
        }
        let least = |valence: u32| valence.div_ceil(color_count as u32);
        let body = |(counts, valence)| Body { least: least(valence), ..top(counts) };
        let bodies = counts.chunks(color_count).zip(valences(elements)).map(body).collect();
        Self { elements: *elements, color_count, counts, bodies, loads }
    }

    fn count(&self, body: u32, color: usize) -> u32 {
        self.counts[body as usize * self.color_count + color]
    }

    /// Whether one of the element's bodies needs too many copies because of its color.
    fn is_in_excess(&self, element: usize, color: usize) -> bool {
        self.elements.movable_of(element).any(|body| {
            let Body { most, least, .. } = self.bodies[body as usize];
            most > least && self.count(body, color) == most
        })
    }

    /// The best color for an element of this color; the same if no other is better.
    fn better_color(&self, element: usize, color: usize) -> usize {
        let stay = (0, 0, self.loads[color], color);
        let change = |other| {
            let (copies, tops) = self.change(element, color, other);
            (copies, tops, self.loads[other] + 1, other)
        };
        (0..self.color_count).filter(|&other| other != color).map(change).fold(stay, Ord::min).3
    }

    /// How the number of copies and of most frequent colors changes when an element changes its
    /// color.
    fn change(&self, element: usize, from: usize, to: usize) -> (i32, i32) {
        let mut change = (0, 0);
        for body in self.elements.movable_of(element) {
            let Body { most, tops, least } = self.bodies[body as usize];
            let leaves_top = self.count(body, from) == most;
            let after = self.count(body, to) + 1;
            if after > most {
                change.0 += 1;
            } else if leaves_top && tops == 1 && after < most {
                change.0 -= 1;
            } else if most > least {
                change.1 += i32::from(after == most) - i32::from(leaves_top);
            }
        }
        change
    }

    fn shift(&mut self, element: usize, from: usize, to: usize) {
        if from == to {
            return;
        }
        self.loads[from] -= 1;
        self.loads[to] += 1;
        for body in self.elements.movable_of(element) {
            let counts = &mut self.counts[body as usize * self.color_count..][..self.color_count];
            counts[from] -= 1;
            counts[to] += 1;
            let body = &mut self.bodies[body as usize];
            *body = Body { least: body.least, ..top(counts) };
        }
    }
}

/// The most frequent color's count, and how many colors have it.
fn top(counts: &[u32]) -> Body {
    let most = counts.iter().copied().max().unwrap_or(0);
    let tops = counts.iter().filter(|&&count| count == most).count() as u32;
    Body { most, tops, least: 0 }
}

#[cfg(test)]
mod tests {
    //! Contract: the copies never become more, and a plain mistake is put right.

    use super::*;

    #[test]
    fn a_color_used_twice_moves_to_a_free_one() {
        let star = [[0, 1], [0, 2], [0, 3]];
        let elements = Elements::uniform(&star, 4).unwrap();
        let mut colors = [0, 0, 1];
        save_copies(&elements, &mut colors, 3);
        colors.sort_unstable();
        assert_eq!(colors, [0, 1, 2]);
    }

    #[test]
    fn an_odd_cycle_keeps_its_copy() {
        let triangle = [[0, 1], [1, 2], [2, 0]];
        let elements = Elements::uniform(&triangle, 3).unwrap();
        let mut colors = [0, 1, 0];
        save_copies(&elements, &mut colors, 2);
        let doubled = (0..3).filter(|&edge| colors[edge] == colors[(edge + 1) % 3]).count();
        assert_eq!(doubled, 1);
    }
}
