//! Color-driven splitting: every element gets the color that needs the fewest copies beyond those
//! that its bodies need in any case.

use super::pairs;
use super::save_copies::save_copies;
use crate::Elements;
use crate::coloring::ColorSets;
use crate::incidence::valences;

/// What the assignment decides.
pub(super) struct Assignment {
    /// The color of each element.
    pub(super) colors: Vec<u32>,
    /// The copy that stands for each body of each element, in the layout of the elements.
    pub(super) bodies: Vec<u32>,
    /// The body each copy stands for, from copy `body_count` on, in the order of their making.
    pub(super) owners: Vec<u32>,
    /// For each element of two bodies, whether the second should come first; empty: none.
    pub(super) turned: Vec<bool>,
}

/// Assigns the elements in this order to `color_count` colors, then moves some to save copies. Elements of two
/// bodies that may change places are [turned](pairs::turned).
pub(super) fn assign(
    elements: &Elements<'_>,
    order: &[u32],
    color_count: usize,
    in_rows: bool,
) -> Assignment {
    let mut colors = choose_colors(elements, order, color_count);
    save_copies(elements, &mut colors, color_count);
    let is_turned = in_rows && elements.arity() == Some(2);
    let turned = if is_turned { pairs::turned(elements, &colors) } else { Vec::new() };
    let (bodies, owners) = take_copies(elements, &colors, color_count, &turned);
    Assignment { colors, bodies, owners, turned }
}

/// Assigns all elements to one color.
pub(super) fn separate(elements: &Elements<'_>) -> Assignment {
    let colors = vec![0; elements.len()];
    let (bodies, owners) = take_copies(elements, &colors, 1, &[]);
    Assignment { colors, bodies, owners, turned: Vec::new() }
}

fn choose_colors(elements: &Elements<'_>, order: &[u32], color_count: usize) -> Vec<u32> {
    let mut copies = Copies::new(elements.body_count(), color_count);
    copies.make_unavoidable(&valences(elements));
    let mut chooser = Chooser::new(color_count);
    let mut colors = vec![0; elements.len()];
    for &element in order {
        let bodies = elements.movable_of(element as usize);
        let color = chooser.choose(&copies, bodies.clone());
        colors[element as usize] = color;
        for body in bodies {
            copies.take(body, color);
        }
    }
    colors
}

/// The copies that elements of these colors take, in natural order, and the owners of the copies. Where
/// elements are turned, the bodies that they leave come before all others, and so get those themselves.
fn take_copies(
    elements: &Elements<'_>,
    colors: &[u32],
    color_count: usize,
    turned: &[bool],
) -> (Vec<u32>, Vec<u32>) {
    let mut copies = Copies::new(elements.body_count(), color_count);
    let mut bodies = elements.bodies().to_vec();
    let mut take = |element: usize, place: usize| {
        if !elements.is_fixed(bodies[place]) {
            bodies[place] = copies.take(bodies[place], colors[element]);
        }
    };
    if turned.is_empty() {
        for element in 0..elements.len() {
            elements.range_of(element).for_each(|place| take(element, place));
        }
    } else {
        for is_left in [true, false] {
            for (element, &is_turned) in turned.iter().enumerate() {
                take(element, 2 * element + usize::from(is_turned == is_left));
            }
        }
    }
    (bodies, copies.owners)
}

/// The copies of every body: a chain that starts with the body itself.
///
/// An element takes the first copy that lacks its color, so the copies that have a color are
/// always the first ones of the chain, and a color that the *last* copy has is used by all.
struct Copies {
    body_count: usize,
    color_count: usize,
    used: ColorSets,
    /// How many colors each copy has.
    loads: Vec<u32>,
    /// The next copy of the same body, or `NONE`.
    next: Vec<u32>,
    /// Per body: the last copy, and the first that does not have all colors yet.
    last: Vec<u32>,
    open: Vec<u32>,
    owners: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Copies {
    fn new(body_count: usize, color_count: usize) -> Self {
        Self {
            body_count,
            color_count,
            used: ColorSets::new(body_count, color_count),
            loads: vec![0; body_count],
            next: vec![NONE; body_count],
            last: (0..body_count as u32).collect(),
            open: (0..body_count as u32).collect(),
            owners: Vec::new(),
        }
    }

    /// Makes the copies that a body needs however its elements are colored, so that no color
    /// looks dearer than another for needing one of them first.
    fn make_unavoidable(&mut self, valences: &[u32]) {
        for (body, &valence) in valences.iter().enumerate() {
            let copies = (valence as usize).div_ceil(self.color_count);
            (1..copies).for_each(|_| self.extend(body as u32));
        }
    }

    /// The colors `64 · index` to `64 · index + 63` that need a new copy of a body.
    #[inline]
    fn exhausted(&self, body: u32, index: usize) -> u64 {
        self.used.word(self.last[body as usize], index)
    }

    /// The first copy of a body that lacks a color, made if there is none; it has it from now on.
    fn take(&mut self, body: u32, color: u32) -> u32 {
        let mut copy = self.open[body as usize];
        while self.used.contains(copy, color) {
            if self.next[copy as usize] == NONE {
                self.extend(body);
            }
            copy = self.next[copy as usize];
        }
        self.used.insert(copy, color);
        self.loads[copy as usize] += 1;
        let full = self.loads[copy as usize] as usize == self.color_count;
        if full && self.open[body as usize] == copy && self.next[copy as usize] != NONE {
            self.open[body as usize] = self.next[copy as usize];
        }
        copy
    }

    fn extend(&mut self, body: u32) {
        let copy = (self.body_count + self.owners.len()) as u32;
        self.owners.push(body);
        self.used.push_body();
        self.loads.push(0);
        self.next.push(NONE);
        let last = &mut self.last[body as usize];
        self.next[*last as usize] = copy;
        *last = copy;
    }
}

/// Chooses colors and keeps their loads.
struct Chooser {
    loads: Vec<u32>,
    /// Copies each color would need to have made, for the element at hand.
    costs: Vec<u32>,
}

impl Chooser {
    fn new(color_count: usize) -> Self {
        Self { loads: vec![0; color_count], costs: vec![0; color_count] }
    }

    /// The color that needs the fewest more copies, of these the least loaded, then the first.
    fn choose(&mut self, copies: &Copies, bodies: impl Iterator<Item = u32> + Clone) -> u32 {
        self.costs.fill(0);
        for body in bodies {
            for (index, costs) in self.costs.chunks_mut(64).enumerate() {
                let mut exhausted = copies.exhausted(body, index);
                while exhausted != 0 {
                    costs[exhausted.trailing_zeros() as usize] += 1;
                    exhausted &= exhausted - 1;
                }
            }
        }
        let ranked = self.costs.iter().zip(&self.loads).zip(0..);
        let least = ranked.min_by_key(|&((cost, load), color)| (cost, load, color));
        let color = least.map_or(0, |(_, color)| color);
        self.loads[color as usize] += 1;
        color
    }
}
