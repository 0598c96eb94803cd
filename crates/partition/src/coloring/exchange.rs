//! Evening out the sizes of colors by exchanging two of them in a part of the problem.
//!
//! The elements of two colors fall into connected components (Kempe chains) in which the two
//! colors can be exchanged without any conflict. Exchanging those with a surplus of the larger
//! color, as far as they fit, evens the pair out; for elements of two bodies this always succeeds
//! up to one element (de Werra 1971), for others as far as the components go. The largest color
//! is paired with the smallest again and again.

use super::group;
use crate::Elements;

/// The work is bounded by this many visits per element.
const VISITS_PER_ELEMENT: usize = 16;

const NOBODY: u32 = u32::MAX;

/// Recolors elements so that the colors have similar sizes.
pub(super) fn exchange(elements: &Elements<'_>, colors: &mut [u32], color_count: usize) {
    let mut exchange = Exchange::new(elements, colors, color_count);
    let mut visits = VISITS_PER_ELEMENT * colors.len();
    // Colors that no smaller color could relieve are left out; the others go on.
    while let Some((large, small)) = exchange.next_pair() {
        let size = exchange.classes[large as usize].len() + exchange.classes[small as usize].len();
        if size > visits {
            break;
        }
        visits -= size;
        exchange.even_out(large, small, colors);
    }
}

struct Exchange<'a> {
    elements: Elements<'a>,
    classes: Vec<Vec<u32>>,
    /// Colors that are still looked at.
    open: Vec<u32>,
    /// Per body, its element of the larger and of the smaller color of the pair at hand.
    holders: Vec<[u32; 2]>,
    /// Elements whose component was visited, for the pair at hand.
    visited: Vec<bool>,
    component: Vec<u32>,
}

impl<'a> Exchange<'a> {
    fn new(elements: &Elements<'a>, colors: &[u32], color_count: usize) -> Self {
        let (offsets, order) = group(colors, color_count);
        let class = |range: &[u32]| order[range[0] as usize..range[1] as usize].to_vec();
        Self {
            elements: *elements,
            classes: offsets.windows(2).map(class).collect(),
            open: (0..color_count as u32).collect(),
            holders: vec![[NOBODY; 2]; elements.body_count()],
            visited: vec![false; elements.len()],
            component: Vec::new(),
        }
    }

    /// The largest and the smallest color, if they differ enough for an exchange.
    fn next_pair(&self) -> Option<(u32, u32)> {
        let size = |&color: &u32| (self.classes[color as usize].len(), color);
        let large = self.open.iter().copied().max_by_key(size)?;
        let small = self.open.iter().copied().min_by_key(size)?;
        (size(&large).0 > size(&small).0 + 1).then_some((large, small))
    }

    /// Exchanges two colors in components with a surplus of the larger one until the two are
    /// even. Where nothing moves, the smaller is as large as this one can make it.
    fn even_out(&mut self, large: u32, small: u32, colors: &mut [u32]) {
        let members = [large, small].map(|color| std::mem::take(&mut self.classes[color as usize]));
        self.hold(&members, true);
        let mut difference = members[0].len() - members[1].len();
        let before = difference;
        for &start in &members[0] {
            if difference < 2 {
                break;
            }
            if self.visited[start as usize] {
                continue;
            }
            let surplus = self.visit_component(start, large, colors);
            // Exchanging moves `surplus` elements from one side to the other.
            if surplus > 0 && 2 * surplus as usize <= difference {
                difference -= 2 * surplus as usize;
                for &element in &self.component {
                    let color = &mut colors[element as usize];
                    *color = large + small - *color;
                }
            }
        }
        self.hold(&members, false);
        for element in members.into_iter().flatten() {
            self.visited[element as usize] = false;
            self.classes[colors[element as usize] as usize].push(element);
        }
        if difference == before {
            self.open.retain(|&color| color != small);
        }
    }

    /// Enters the members of the pair at their bodies, or takes them off again.
    fn hold(&mut self, members: &[Vec<u32>; 2], enter: bool) {
        for (side, members) in members.iter().enumerate() {
            for &element in members {
                for body in self.elements.movable_of(element as usize) {
                    self.holders[body as usize][side] = if enter { element } else { NOBODY };
                }
            }
        }
    }

    /// Collects the component of an element; returns how many more of the larger color than of
    /// the smaller it has.
    fn visit_component(&mut self, start: u32, large: u32, colors: &[u32]) -> i64 {
        self.component.clear();
        self.component.push(start);
        self.visited[start as usize] = true;
        let mut surplus = 0;
        let mut next = 0;
        while let Some(&element) = self.component.get(next) {
            next += 1;
            surplus += if colors[element as usize] == large { 1 } else { -1 };
            for body in self.elements.movable_of(element as usize) {
                for other in self.holders[body as usize] {
                    if other != NOBODY && !self.visited[other as usize] {
                        self.visited[other as usize] = true;
                        self.component.push(other);
                    }
                }
            }
        }
        surplus
    }
}
