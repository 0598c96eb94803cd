//! Fewer colors: the clusters of a color are dissolved into their neighbors.
//!
//! Cells in space that are cut one after the other meet with so many others that coloring them takes six
//! or seven colors, and where a few elements are long, no coloring of those cells has fewer. But elements
//! may change cells. Those of the smallest color are handed out one after the other, from the rim inward:
//! an element joins a cluster that it touches, if no other cluster of that cluster's color touches it. One
//! that cannot join any waits, and if nobody can, it joins the cluster where it ejects the fewest elements,
//! which wait in turn. The work is bounded by a number of moves, never by a clock.

use std::collections::{BTreeSet, VecDeque};

use super::graph::ClusterGraph;
use super::{Clusters, Room};
use crate::{Elements, Incidence, InputError};

/// Cells that meet four at a corner, as those of a foam do, take four colors at least; fewer would not be
/// worth the ragged borders.
const ENOUGH: usize = 4;

/// Moves to spend on a color: so many, and so many for each of its elements. Where it succeeds at all, it
/// hardly takes more than one for each.
const PATIENCE: (usize, usize) = (1024, 4);

/// Among clusters that can take an element, those that are fuller by such a part of their room come later.
const FULLNESS: usize = 8;

const NOBODY: u32 = u32::MAX;

/// The clusters with as few colors as this finds, and those colors; nothing if it saves none.
pub(super) fn dissolve(
    elements: &Elements<'_>,
    clusters: &Clusters,
    graph: &ClusterGraph,
    room: Room,
) -> Result<Option<Clusters>, InputError> {
    let (colors, color_count) = graph.smallest_last()?;
    if color_count <= ENOUGH {
        return Ok(None);
    }
    let mut best = None;
    let mut handing = Handing::new(elements, clusters, colors, color_count, room);
    while handing.color_count > ENOUGH && handing.save_color() {
        best = Some((handing.cluster_of.clone(), handing.colors.clone()));
    }
    Ok(best.map(|(cluster_of, colors)| {
        let left: BTreeSet<u32> = cluster_of.iter().copied().collect();
        let colors: Vec<u32> = left.into_iter().map(|cluster| colors[cluster as usize]).collect();
        // Ejections may have emptied a color.
        let in_use: BTreeSet<u32> = colors.iter().copied().collect();
        let number = |color: &u32| in_use.range(..color).count() as u32;
        let colors = colors.iter().map(number).collect();
        Clusters { colors, ..Clusters::from_numbers(&cluster_of, clusters.len()) }
    }))
}

/// Elements on their way from one cluster to another.
struct Handing<'a> {
    elements: Elements<'a>,
    incidence: Incidence,
    room: Room,
    cluster_of: Vec<u32>,
    /// Of each cluster: its color, its elements, its movable bodies.
    colors: Vec<u32>,
    sizes: Vec<usize>,
    bodies: Vec<usize>,
    color_count: usize,
    /// The cluster of a color at a body: `holders[body * color_count + color]`.
    holders: Vec<u32>,
    waiting: VecDeque<u32>,
}

/// A cluster that an element may join, and why it should; the least is the best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    ejected: usize,
    fullness: usize,
    new_bodies: usize,
    cluster: u32,
}

impl<'a> Handing<'a> {
    fn new(
        elements: &Elements<'a>,
        clusters: &Clusters,
        colors: Vec<u32>,
        color_count: usize,
        room: Room,
    ) -> Self {
        let mut cluster_of = vec![NOBODY; elements.len()];
        for cluster in 0..clusters.len() {
            for &element in clusters.of(cluster) {
                cluster_of[element as usize] = cluster as u32;
            }
        }
        Self {
            elements: *elements,
            incidence: Incidence::new(elements),
            room,
            cluster_of,
            sizes: (0..clusters.len()).map(|cluster| clusters.of(cluster).len()).collect(),
            bodies: Vec::new(),
            colors,
            color_count,
            holders: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    /// Hands out the elements of the color that has the fewest. If that fails, what is left is of no use.
    fn save_color(&mut self) -> bool {
        self.put_smallest_last();
        self.find_holders();
        let last = self.color_count as u32 - 1;
        for element in 0..self.elements.len() as u32 {
            if self.color_of(self.cluster_of[element as usize]) == last {
                self.take_out(element);
                self.waiting.push_back(element);
            }
        }
        let mut moves = PATIENCE.0 + PATIENCE.1 * self.waiting.len();
        // How many have been looked at since the last one that found a place.
        let mut in_vain = 0;
        while let Some(element) = self.waiting.pop_front() {
            let all_in_vain = in_vain > self.waiting.len();
            match self.best_place(element) {
                _ if moves == 0 => return false,
                Some(place) if place.ejected == 0 || all_in_vain => {
                    self.join(element, place.cluster);
                    in_vain = 0;
                }
                None if all_in_vain => return false,
                _ => {
                    self.waiting.push_back(element);
                    in_vain += 1;
                }
            }
            moves -= 1;
        }
        self.color_count -= 1;
        true
    }

    fn color_of(&self, cluster: u32) -> u32 {
        self.colors[cluster as usize]
    }

    /// Exchanges two colors, so that the last one has the fewest elements.
    fn put_smallest_last(&mut self) {
        let mut loads = vec![0; self.color_count];
        for (&color, &size) in self.colors.iter().zip(&self.sizes) {
            // Dissolved clusters keep their color, which is none any more.
            if size > 0 {
                loads[color as usize] += size;
            }
        }
        let last = self.color_count as u32 - 1;
        let smallest = (0..=last).min_by_key(|&color| loads[color as usize]).unwrap_or(last);
        for color in &mut self.colors {
            if *color == smallest || *color == last {
                *color = smallest + last - *color;
            }
        }
    }

    fn find_holders(&mut self) {
        self.holders.clear();
        self.holders.resize(self.elements.body_count() * self.color_count, NOBODY);
        self.bodies = vec![0; self.colors.len()];
        for element in 0..self.elements.len() {
            self.hold(element as u32, self.cluster_of[element]);
        }
    }

    fn holder(&mut self, body: u32, color: u32) -> &mut u32 {
        &mut self.holders[body as usize * self.color_count + color as usize]
    }

    /// A cluster gets hold of an element's bodies.
    fn hold(&mut self, element: u32, cluster: u32) {
        let color = self.color_of(cluster);
        for body in self.elements.movable_of(element as usize) {
            let holder = self.holder(body, color);
            if *holder == NOBODY {
                *holder = cluster;
                self.bodies[cluster as usize] += 1;
            }
        }
    }

    /// Takes an element out of its cluster, which keeps the bodies that other elements of it have.
    fn take_out(&mut self, element: u32) {
        let cluster = std::mem::replace(&mut self.cluster_of[element as usize], NOBODY);
        let color = self.color_of(cluster);
        self.sizes[cluster as usize] -= 1;
        for body in self.elements.movable_of(element as usize) {
            if self.elements_at(body, cluster).next().is_none()
                && *self.holder(body, color) == cluster
            {
                *self.holder(body, color) = NOBODY;
                self.bodies[cluster as usize] -= 1;
            }
        }
    }

    /// The elements of a cluster at a body.
    fn elements_at(&self, body: u32, cluster: u32) -> impl Iterator<Item = u32> {
        let at = self.incidence.of(body).iter().copied();
        at.filter(move |&element| self.cluster_of[element as usize] == cluster)
    }

    /// Where an element fits best, of the clusters that it touches and that have room.
    fn best_place(&self, element: u32) -> Option<Place> {
        let bodies = self.elements.movable_of(element as usize);
        let lists = bodies.map(|body| {
            let start = body as usize * self.color_count;
            &self.holders[start..start + self.color_count - 1]
        });
        let near = lists.flatten().copied().filter(|&cluster| cluster != NOBODY);
        near.filter_map(|cluster| self.place(element, cluster)).min()
    }

    fn place(&self, element: u32, cluster: u32) -> Option<Place> {
        let color = self.color_of(cluster);
        let (mut ejected, mut new_bodies) = (0, 0);
        for body in self.elements.movable_of(element as usize) {
            let holder = self.holders[body as usize * self.color_count + color as usize];
            if holder != cluster {
                new_bodies += 1;
                ejected += self.elements_at(body, holder).filter(|_| holder != NOBODY).count();
            }
        }
        let (size, held) = (self.sizes[cluster as usize], self.bodies[cluster as usize]);
        let has_room = size < self.room.elements && held + new_bodies <= self.room.bodies;
        let fullness = size * FULLNESS / self.room.elements.max(1);
        has_room.then_some(Place { ejected, fullness, new_bodies, cluster })
    }

    /// Puts an element into a cluster, and those that are in the way among the waiting ones.
    fn join(&mut self, element: u32, cluster: u32) {
        let color = self.color_of(cluster);
        let bodies = self.elements.movable_of(element as usize);
        for body in bodies {
            let holder = *self.holder(body, color);
            if holder != cluster && holder != NOBODY {
                let in_the_way: Vec<u32> = self.elements_at(body, holder).collect();
                for other in in_the_way {
                    self.take_out(other);
                    self.waiting.push_back(other);
                }
            }
        }
        self.cluster_of[element as usize] = cluster;
        self.sizes[cluster as usize] += 1;
        self.hold(element, cluster);
    }
}
