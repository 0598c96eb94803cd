//! The cluster graph (paper B, section 3.4): which clusters share a movable body, and its
//! coloring.

use rayon::prelude::*;

use crate::coloring::{self, Order};
use crate::{Elements, InputError};

/// Which clusters share a movable body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterGraph {
    /// Cluster `i` is adjacent to `neighbors[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    neighbors: Vec<u32>,
}

impl ClusterGraph {
    /// From the movable bodies of each cluster (each once).
    pub(super) fn new<'a>(
        body_count: usize,
        clusters: usize,
        bodies: impl Fn(usize) -> &'a [u32] + Sync,
    ) -> Self {
        let (starts, clusters_of_body) = transpose(body_count, clusters, &bodies);
        let adjacent = |cluster: usize| {
            let mut adjacent = Vec::new();
            for &body in bodies(cluster) {
                let span = starts[body as usize] as usize..starts[body as usize + 1] as usize;
                let others = clusters_of_body[span].iter();
                adjacent.extend(others.copied().filter(|&other| other as usize != cluster));
            }
            adjacent.sort_unstable();
            adjacent.dedup();
            adjacent
        };
        let lists: Vec<Vec<u32>> = (0..clusters).into_par_iter().map(adjacent).collect();
        let mut offsets = vec![0];
        for list in &lists {
            offsets.push(offsets[offsets.len() - 1] + list.len() as u32);
        }
        Self { offsets, neighbors: lists.concat() }
    }

    /// The number of clusters.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no cluster.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The clusters that share a movable body with this one, in ascending order.
    pub fn neighbors(&self, cluster: usize) -> &[u32] {
        &self.neighbors[self.offsets[cluster] as usize..self.offsets[cluster + 1] as usize]
    }

    /// Colors the clusters smallest-last (Matula & Beck, as in paper B), then evens out the
    /// colors' loads, where `loads` holds one number per cluster (its elements, say). Returns
    /// the color of each cluster and the number of colors.
    pub fn balanced_colors(&self, loads: &[usize]) -> Result<(Vec<u32>, usize), InputError> {
        if loads.len() != self.len() {
            return Err(InputError::WrongCount {
                what: "loads",
                given: loads.len(),
                of: "clusters",
                expected: self.len(),
            });
        }
        Ok(self.balanced(self.smallest_last()?.0, loads))
    }

    /// Evens out the loads of colors, each of which is in use.
    pub(super) fn balanced(&self, mut colors: Vec<u32>, loads: &[usize]) -> (Vec<u32>, usize) {
        let count = colors.iter().max().map_or(0, |&last| last as usize + 1);
        self.balance(&mut colors, count, loads);
        (colors, count)
    }

    /// A graph's edges are the bodies of its nodes: two nodes conflict when they share an edge.
    /// Each edge joins two nodes, so the degrees that smallest-last goes by are exact.
    pub(super) fn smallest_last(&self) -> Result<(Vec<u32>, usize), InputError> {
        let mut edges = vec![0; self.neighbors.len()];
        let mut next = self.offsets.clone();
        let mut edge = 0;
        for cluster in 0..self.len() {
            for &other in self.neighbors(cluster).iter().filter(|&&other| other as usize > cluster)
            {
                for end in [cluster, other as usize] {
                    edges[next[end] as usize] = edge;
                    next[end] += 1;
                }
                edge += 1;
            }
        }
        let nodes = Elements::ragged(&self.offsets, &edges, edge as usize)?;
        let order = Order::SmallestLast;
        let coloring = coloring::color(&nodes, &coloring::Options { order, ..Default::default() });
        Ok((coloring.colors, coloring.color_count))
    }

    /// First fit fills the first colors and leaves the last ones nearly empty, which are then
    /// phases with too few blocks for the workers. Moves clusters to the least loaded color that
    /// none of their neighbors has, as long as that lowers the higher of the two loads.
    fn balance(&self, colors: &mut [u32], count: usize, loads: &[usize]) {
        let mut color_loads = vec![0; count];
        for (&color, &load) in colors.iter().zip(loads) {
            color_loads[color as usize] += load;
        }
        // Each pass of moves lowers the sum of squared loads; a few passes get nearly all of it.
        for _ in 0..BALANCE_PASSES {
            let mut moved = false;
            for cluster in 0..self.len() {
                let (color, load) = (colors[cluster] as usize, loads[cluster]);
                let target = self.least_loaded(cluster, colors, &color_loads);
                if color_loads[target] + load < color_loads[color] {
                    color_loads[color] -= load;
                    color_loads[target] += load;
                    colors[cluster] = target as u32;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
    }

    /// The least loaded color that no neighbor has; its own is always one of them.
    fn least_loaded(&self, cluster: usize, colors: &[u32], loads: &[usize]) -> usize {
        let mut free = vec![true; loads.len()];
        for &other in self.neighbors(cluster) {
            free[colors[other as usize] as usize] = false;
        }
        let candidates = (0..loads.len()).filter(|&color| free[color]);
        candidates.min_by_key(|&color| loads[color]).unwrap_or(colors[cluster] as usize)
    }
}

const BALANCE_PASSES: usize = 8;

/// For each body the clusters it belongs to (compressed rows: starts and lists), but nothing for
/// bodies of one cluster only, which are nearly all of them.
fn transpose<'a>(
    body_count: usize,
    clusters: usize,
    bodies: &impl Fn(usize) -> &'a [u32],
) -> (Vec<u32>, Vec<u32>) {
    let mut counts = vec![0_u32; body_count];
    for cluster in 0..clusters {
        for &body in bodies(cluster) {
            counts[body as usize] += 1;
        }
    }
    let mut starts = Vec::with_capacity(body_count + 1);
    let mut end = 0;
    for &count in &counts {
        end += if count > 1 { count } else { 0 };
        starts.push(end);
    }
    starts.push(end);
    // Filling from the back turns each list's end into its start.
    let mut lists = vec![0; end as usize];
    for cluster in (0..clusters).rev() {
        for &body in bodies(cluster).iter().filter(|&&body| counts[body as usize] > 1) {
            starts[body as usize] -= 1;
            lists[starts[body as usize] as usize] = cluster as u32;
        }
    }
    (starts, lists)
}
