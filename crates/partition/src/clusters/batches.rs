//! Colors inside a cluster: its batches, balanced, and rounded to whole groups of lanes.

use super::chains::{Chains, Colored};
use crate::Elements;

/// Colors that one bit mask holds. Clusters that need more (a body with a higher valence) are
/// colored in windows of this many colors.
const WINDOW: usize = u128::BITS as usize;

/// Passes over a cluster to move elements between its batches.
const BALANCE_PASSES: usize = 4;

/// The elements of a cluster by batch, and its movable bodies.
pub(super) struct ColoredCluster {
    elements: Vec<u32>,
    /// Batch `i` holds `elements[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<usize>,
    /// Each once, in the order of their first use.
    pub(super) bodies: Vec<u32>,
}

impl ColoredCluster {
    pub(super) fn batches(&self) -> impl Iterator<Item = &[u32]> {
        self.offsets.windows(2).map(|ends| &self.elements[ends[0]..ends[1]])
    }
}

/// What coloring a cluster needs; made once for many clusters.
pub(super) struct Workspace<'a> {
    elements: &'a Elements<'a>,
    lanes: usize,
    /// Per body its number inside the cluster, valid only if `bodies` has it there: this saves
    /// clearing the list for every cluster.
    local: Vec<u32>,
    bodies: Vec<u32>,
    /// The cluster's elements with their bodies as local numbers (compressed rows).
    starts: Vec<usize>,
    incidences: Vec<u32>,
    /// Colors in use at each local body.
    masks: Vec<u128>,
    colors: Vec<usize>,
    /// Elements of each color.
    sizes: Vec<usize>,
    chains: Chains,
}

impl<'a> Workspace<'a> {
    pub(super) fn new(elements: &'a Elements<'a>, lanes: usize) -> Self {
        Self {
            elements,
            lanes,
            local: vec![0; elements.body_count()],
            bodies: Vec::new(),
            starts: Vec::new(),
            incidences: Vec::new(),
            masks: Vec::new(),
            colors: Vec::new(),
            sizes: Vec::new(),
            chains: Chains::default(),
        }
    }

    /// Colors a cluster by first fit, then balances.
    pub(super) fn color(&mut self, cluster: &[u32]) -> ColoredCluster {
        self.number_bodies(cluster);
        self.first_fit(cluster.len());
        // Past one window the masks of the earlier colors are gone; a cluster with a body of
        // such a valence stays as first fit made it.
        if self.sizes.len() <= WINDOW {
            let wanted = wanted_sizes(&self.sizes, self.lanes);
            self.balance(&wanted);
            let Self { starts, incidences, bodies, colors, sizes, chains, .. } = self;
            let mut colored = Colored { starts, incidences, bodies: bodies.len(), colors, sizes };
            chains.even_out(&mut colored, &wanted);
        }
        self.by_color(cluster)
    }

    fn number_bodies(&mut self, cluster: &[u32]) {
        self.bodies.clear();
        self.incidences.clear();
        self.starts.clear();
        self.starts.push(0);
        for &element in cluster {
            for body in self.elements.movable_of(element as usize) {
                let known = self.local[body as usize];
                let number = if self.bodies.get(known as usize) == Some(&body) {
                    known
                } else {
                    self.bodies.push(body);
                    self.bodies.len() as u32 - 1
                };
                self.local[body as usize] = number;
                self.incidences.push(number);
            }
            self.starts.push(self.incidences.len());
        }
    }

    /// First fit in windows of colors: an element that finds no free color in a window waits
    /// for the next one. The result is that of first fit over all colors at once, without masks
    /// that grow with the highest valence.
    fn first_fit(&mut self, count: usize) {
        self.colors.clear();
        self.colors.resize(count, 0);
        self.sizes.clear();
        let mut waiting: Vec<usize> = (0..count).collect();
        while !waiting.is_empty() {
            let first_color = self.sizes.len();
            self.masks.clear();
            self.masks.resize(self.bodies.len(), 0);
            waiting.retain(|&element| {
                let free = (!self.used(element)).trailing_zeros() as usize;
                if free < WINDOW {
                    self.assign(element, first_color, free);
                }
                free == WINDOW
            });
        }
    }

    /// The colors in use at the bodies of an element.
    fn used(&self, element: usize) -> u128 {
        self.locals(element).iter().fold(0, |used, &body| used | self.masks[body as usize])
    }

    fn locals(&self, element: usize) -> &[u32] {
        &self.incidences[self.starts[element]..self.starts[element + 1]]
    }

    fn assign(&mut self, element: usize, first_color: usize, bit: usize) {
        for at in self.starts[element]..self.starts[element + 1] {
            self.masks[self.incidences[at] as usize] |= 1 << bit;
        }
        let color = first_color + bit;
        self.colors[element] = color;
        if self.sizes.len() <= color {
            self.sizes.resize(color + 1, 0);
        }
        self.sizes[color] += 1;
    }

    /// Moves elements from batches above their wanted size to batches below it.
    fn balance(&mut self, wanted: &[usize]) {
        for _ in 0..BALANCE_PASSES {
            let mut moved = false;
            for element in 0..self.colors.len() {
                let color = self.colors[element];
                if self.sizes[color] > wanted[color]
                    && let Some(target) = self.neediest(self.used(element), wanted)
                {
                    self.recolor(element, target);
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// The free color that lacks the most elements, if any does.
    fn neediest(&self, used: u128, wanted: &[usize]) -> Option<usize> {
        let lacking = |&color: &usize| wanted[color].saturating_sub(self.sizes[color]);
        (0..wanted.len())
            .filter(|color| used & (1 << color) == 0 && lacking(color) > 0)
            .max_by_key(lacking)
    }

    fn recolor(&mut self, element: usize, target: usize) {
        let color = std::mem::replace(&mut self.colors[element], target);
        self.sizes[color] -= 1;
        self.sizes[target] += 1;
        for at in self.starts[element]..self.starts[element + 1] {
            let mask = &mut self.masks[self.incidences[at] as usize];
            *mask = *mask & !(1 << color) | 1 << target;
        }
    }

    /// Counting sort by color; colors that balancing has emptied make no batch.
    fn by_color(&self, cluster: &[u32]) -> ColoredCluster {
        let mut offsets = vec![0];
        let mut next = Vec::with_capacity(self.sizes.len());
        let mut end = 0;
        for &size in &self.sizes {
            next.push(end);
            end += size;
            if size > 0 {
                offsets.push(end);
            }
        }
        let mut elements = vec![0; cluster.len()];
        for (&element, &color) in cluster.iter().zip(&self.colors) {
            elements[next[color]] = element;
            next[color] += 1;
        }
        ColoredCluster { elements, offsets, bodies: self.bodies.clone() }
    }
}

/// The sizes batches should have: whole groups of lanes, spread evenly over the batches, with
/// the larger ones where there is more already.
///
/// With fewer groups than batches each batch may keep one group: it cannot have less than one.
fn wanted_sizes(sizes: &[usize], lanes: usize) -> Vec<usize> {
    let elements: usize = sizes.iter().sum();
    let groups = elements.div_ceil(lanes).max(sizes.len());
    let (each, more) = (groups / sizes.len().max(1), groups % sizes.len().max(1));
    let mut largest_first: Vec<usize> = (0..sizes.len()).collect();
    largest_first.sort_by_key(|&color| std::cmp::Reverse(sizes[color]));
    let mut wanted = vec![each * lanes; sizes.len()];
    for &color in &largest_first[..more] {
        wanted[color] += lanes;
    }
    wanted
}
