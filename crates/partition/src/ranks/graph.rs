//! The graph of bodies, and its division among ranks by recursive bisection.
//!
//! A crate for this was considered. coupe has had one release (0.1, May 2022), brings nalgebra,
//! sprs and a profiler's API along, and leaves the multilevel scheme to its user; METIS itself
//! is a C library. What is needed here is three short files without any dependency.

use std::collections::BTreeMap;

use super::bisect::bisect;
use crate::Elements;

/// Elements of more bodies join them in a chain instead of all with all.
const LARGEST_CLIQUE: usize = 8;

/// An undirected graph with weights, in compressed rows.
pub(super) struct Graph {
    offsets: Vec<u32>,
    edges: Vec<Edge>,
    weights: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: u32,
    pub(super) weight: u32,
}

impl Graph {
    /// From edges by node (both directions, possibly several between two nodes) and the weights
    /// of nodes.
    pub(super) fn new(rows: impl Iterator<Item = Vec<Edge>>, weights: Vec<u32>) -> Self {
        let mut graph = Self { offsets: vec![0], edges: Vec::new(), weights };
        for mut row in rows {
            row.sort_unstable_by_key(|edge| edge.to);
            for edges in row.chunk_by(|a, b| a.to == b.to) {
                let weight = edges.iter().map(|edge| edge.weight).sum();
                graph.edges.push(Edge { to: edges[0].to, weight });
            }
            graph.offsets.push(graph.edges.len() as u32);
        }
        graph
    }

    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn edges(&self, node: usize) -> &[Edge] {
        &self.edges[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }

    pub(super) fn weight(&self, node: usize) -> u64 {
        u64::from(self.weights[node])
    }

    pub(super) fn total_weight(&self) -> u64 {
        self.weights.iter().map(|&weight| u64::from(weight)).sum()
    }

    pub(super) fn largest_weight(&self) -> u64 {
        u64::from(self.weights.iter().copied().max().unwrap_or(0))
    }

    /// The part of the graph on one side, and its nodes' numbers here.
    fn side(&self, sides: &[bool], side: bool) -> (Self, Vec<u32>) {
        let nodes: Vec<u32> =
            (0..self.len() as u32).filter(|&node| sides[node as usize] == side).collect();
        let mut number = vec![0; self.len()];
        for (new, &node) in nodes.iter().enumerate() {
            number[node as usize] = new as u32;
        }
        let weights = nodes.iter().map(|&node| self.weights[node as usize]).collect();
        let inside = |edge: &&Edge| sides[edge.to as usize] == side;
        let rows = nodes.iter().map(|&node| {
            let edges = self.edges(node as usize).iter().filter(inside);
            edges.map(|edge| Edge { to: number[edge.to as usize], ..*edge }).collect()
        });
        (Self::new(rows, weights), nodes)
    }
}

/// The rank of every body.
pub(super) fn partition(elements: &Elements<'_>, ranks: usize, tolerance: f64) -> Vec<u32> {
    let nodes: Vec<u32> =
        (0..elements.body_count() as u32).filter(|&body| !elements.is_fixed(body)).collect();
    let graph = body_graph(elements, &nodes);
    // The imbalances of nested bisections multiply.
    let levels = ranks.next_power_of_two().trailing_zeros().max(1);
    let per_level = (1.0 + tolerance).powf(1.0 / f64::from(levels)) - 1.0;
    let rank_of_node = divide(&graph, ranks, per_level);
    let mut of_body = vec![0; elements.body_count()];
    for (&body, rank) in nodes.iter().zip(rank_of_node) {
        of_body[body as usize] = rank;
    }
    place_fixed(elements, &mut of_body);
    of_body
}

fn body_graph(elements: &Elements<'_>, nodes: &[u32]) -> Graph {
    let mut node_of = vec![0; elements.body_count()];
    for (node, &body) in nodes.iter().enumerate() {
        node_of[body as usize] = node as u32;
    }
    let mut rows = vec![Vec::new(); nodes.len()];
    for element in 0..elements.len() {
        let members: Vec<u32> =
            elements.movable_of(element).map(|body| node_of[body as usize]).collect();
        for (at, &node) in members.iter().enumerate() {
            let rest = members.len() - at - 1;
            let others = if members.len() > LARGEST_CLIQUE { rest.min(1) } else { rest };
            for &other in &members[at + 1..=at + others] {
                rows[node as usize].push(Edge { to: other, weight: 1 });
                rows[other as usize].push(Edge { to: node, weight: 1 });
            }
        }
    }
    Graph::new(rows.into_iter(), vec![1; nodes.len()])
}

/// The rank of every node, from 0, by bisection of the ranks.
fn divide(graph: &Graph, ranks: usize, tolerance: f64) -> Vec<u32> {
    if ranks == 1 || graph.len() == 0 {
        return vec![0; graph.len()];
    }
    let left_ranks = ranks / 2;
    let share = left_ranks as f64 / ranks as f64;
    let sides = bisect(graph, share, tolerance);
    let divide_side = |side: bool, ranks: usize| {
        let (part, nodes) = graph.side(&sides, side);
        (divide(&part, ranks, tolerance), nodes)
    };
    let (left, right) =
        rayon::join(|| divide_side(false, left_ranks), || divide_side(true, ranks - left_ranks));
    let mut rank_of = vec![0; graph.len()];
    for ((part, nodes), first_rank) in [(left, 0), (right, left_ranks as u32)] {
        for (rank, node) in part.into_iter().zip(nodes) {
            rank_of[node as usize] = first_rank + rank;
        }
    }
    rank_of
}

/// Puts fixed bodies where most of their elements' movable bodies are.
fn place_fixed(elements: &Elements<'_>, of_body: &mut [u32]) {
    if !elements.has_fixed() {
        return;
    }
    let mut votes: Vec<BTreeMap<u32, usize>> = vec![BTreeMap::new(); elements.body_count()];
    for element in 0..elements.len() {
        for &body in elements.of(element).iter().filter(|&&body| elements.is_fixed(body)) {
            for movable in elements.movable_of(element) {
                *votes[body as usize].entry(of_body[movable as usize]).or_default() += 1;
            }
        }
    }
    for (rank, votes) in of_body.iter_mut().zip(votes) {
        let best = votes.into_iter().max_by_key(|&(rank, votes)| (votes, u32::MAX - rank));
        *rank = best.map_or(*rank, |(rank, _)| rank);
    }
}
