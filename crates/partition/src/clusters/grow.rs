//! Bottom-up clusters (paper B, section 4: 'by combining adjacent elements into groups'), over
//! adjacency instead of space.
//!
//! A cluster grows breadth-first from a seed until it is full; the next seed is the element that
//! has waited longest at the border of what is taken, which keeps the untaken rest in one piece.
//! Pockets that are closed in nevertheless become small clusters, which are merged with their
//! smallest neighbors.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use super::{ClusterGraph, Clusters, Stop, movable_bodies};
use crate::{Elements, Incidence, InputError};

const NONE: u32 = u32::MAX;

pub(super) fn grow(elements: &Elements<'_>, stop: Stop) -> Result<Clusters, InputError> {
    let stop = match stop.checked()? {
        Stop::Subsets(subsets) => Stop::Subsets(subsets.min(elements.len())),
        size => size,
    };
    let size = match stop {
        // Rounded down, so that there are at least as many clusters as asked for.
        Stop::Subsets(subsets) => elements.len() / subsets.max(1),
        Stop::Size(size) => size,
    };
    let mut growth = Growth::new(elements, size);
    growth.run();
    let clusters = Clusters::from_numbers(&growth.cluster_of, growth.clusters as usize);
    let bodies: Vec<Vec<u32>> =
        (0..clusters.len()).map(|cluster| movable_bodies(elements, clusters.of(cluster))).collect();
    let graph = ClusterGraph::new(elements.body_count(), bodies.len(), |cluster| &bodies[cluster]);
    let merged = Merge::new(&clusters, &graph).run(stop);
    let merged_of: Vec<u32> =
        growth.cluster_of.iter().map(|&cluster| merged[cluster as usize]).collect();
    Ok(Clusters::from_numbers(&merged_of, clusters.len()))
}

struct Growth<'a> {
    elements: &'a Elements<'a>,
    incidence: Incidence,
    size: usize,
    cluster_of: Vec<u32>,
    clusters: u32,
    /// The cluster for which a body has been expanded last: once for each is enough, which
    /// keeps bodies of high valence cheap.
    expanded: Vec<u32>,
    /// Elements at the border of what is taken, in the order of discovery.
    border: VecDeque<u32>,
}

impl<'a> Growth<'a> {
    fn new(elements: &'a Elements<'a>, size: usize) -> Self {
        Self {
            elements,
            incidence: Incidence::new(elements),
            size,
            cluster_of: vec![NONE; elements.len()],
            clusters: 0,
            expanded: vec![NONE; elements.body_count()],
            border: VecDeque::new(),
        }
    }

    fn run(&mut self) {
        for element in 0..self.elements.len() as u32 {
            self.border.push_back(element);
            while let Some(seed) = self.border.pop_front() {
                if self.cluster_of[seed as usize] == NONE {
                    self.grow_from(seed);
                }
            }
        }
    }

    fn grow_from(&mut self, seed: u32) {
        let cluster = self.clusters;
        self.clusters += 1;
        let mut queue = VecDeque::from([seed]);
        let mut taken = 0;
        while taken < self.size {
            let Some(element) = queue.pop_front() else { break };
            if self.cluster_of[element as usize] == NONE {
                self.cluster_of[element as usize] = cluster;
                taken += 1;
                self.discover(element, cluster, &mut queue);
            }
        }
        self.border.extend(queue);
    }

    fn discover(&mut self, element: u32, cluster: u32, queue: &mut VecDeque<u32>) {
        for body in self.elements.movable_of(element as usize) {
            if std::mem::replace(&mut self.expanded[body as usize], cluster) != cluster {
                let others = self.incidence.of(body).iter().copied();
                queue.extend(others.filter(|&other| self.cluster_of[other as usize] == NONE));
            }
        }
    }
}

/// Merges small clusters into neighbors.
struct Merge {
    sizes: Vec<usize>,
    neighbors: Vec<BTreeSet<u32>>,
    /// The cluster that a cluster has been merged into, or itself.
    into: Vec<u32>,
    /// Clusters by size, the smallest first; entries may be stale.
    smallest: BinaryHeap<Reverse<(usize, u32)>>,
}

impl Merge {
    fn new(clusters: &Clusters, graph: &ClusterGraph) -> Self {
        let sizes: Vec<usize> =
            (0..clusters.len()).map(|cluster| clusters.of(cluster).len()).collect();
        let neighbors = (0..clusters.len())
            .map(|cluster| graph.neighbors(cluster).iter().copied().collect())
            .collect();
        let smallest = sizes.iter().zip(0..).map(|(&size, cluster)| Reverse((size, cluster)));
        Self {
            smallest: smallest.collect(),
            neighbors,
            into: (0..clusters.len() as u32).collect(),
            sizes,
        }
    }

    /// Merges until the stop holds and returns the cluster that each is now part of.
    fn run(mut self, stop: Stop) -> Vec<u32> {
        let mut count = self.sizes.len();
        while let Some(cluster) = self.pop_smallest() {
            if matches!(stop, Stop::Subsets(subsets) if count <= subsets) {
                break;
            }
            let Some(partner) = self.partner(cluster) else { break };
            let size = self.sizes[cluster as usize] + self.sizes[partner as usize];
            if matches!(stop, Stop::Size(limit) if size > limit) {
                // It stays as it is; a larger one may still find room elsewhere.
                continue;
            }
            self.merge(cluster, partner);
            count -= 1;
        }
        self.roots()
    }

    fn pop_smallest(&mut self) -> Option<u32> {
        while let Some(Reverse((size, cluster))) = self.smallest.pop() {
            if self.is_current(size, cluster) {
                return Some(cluster);
            }
        }
        None
    }

    fn is_current(&self, size: usize, cluster: u32) -> bool {
        self.into[cluster as usize] == cluster && self.sizes[cluster as usize] == size
    }

    /// The smallest neighbor, or the smallest other cluster where there is no neighbor.
    fn partner(&mut self, cluster: u32) -> Option<u32> {
        let neighbors = self.neighbors[cluster as usize].iter().copied();
        let neighbor = neighbors.min_by_key(|&other| (self.sizes[other as usize], other));
        neighbor.or_else(|| {
            let other = self.pop_smallest()?;
            self.smallest.push(Reverse((self.sizes[other as usize], other)));
            Some(other)
        })
    }

    fn merge(&mut self, cluster: u32, partner: u32) {
        for other in std::mem::take(&mut self.neighbors[cluster as usize]) {
            self.neighbors[other as usize].remove(&cluster);
            if other != partner {
                self.neighbors[other as usize].insert(partner);
                self.neighbors[partner as usize].insert(other);
            }
        }
        self.into[cluster as usize] = partner;
        self.sizes[partner as usize] += self.sizes[cluster as usize];
        self.smallest.push(Reverse((self.sizes[partner as usize], partner)));
    }

    fn roots(mut self) -> Vec<u32> {
        for cluster in 0..self.into.len() {
            let mut root = cluster as u32;
            while self.into[root as usize] != root {
                root = self.into[root as usize];
            }
            self.into[cluster] = root;
        }
        self.into
    }
}
