//! Multilevel bisection of a graph: coarsen, grow one side from a seed, refine on the way back.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::coarsen::{coarsen, scattered};
use super::graph::Graph;

/// Graphs of at most this many nodes are bisected directly.
const COARSEST: usize = 160;
/// Seeds to grow from; the best result counts.
const SEEDS: usize = 8;
/// Passes of refinement on each level, if each brings something.
const PASSES: usize = 8;
/// Moves without improvement before a pass gives up.
const PATIENCE: usize = 128;

/// Which side each node goes to (`true`: right); the left gets about `share` of the weight.
pub(super) fn bisect(graph: &Graph, share: f64, tolerance: f64) -> Vec<bool> {
    let heaviest = 3 * graph.total_weight() / (2 * COARSEST as u64);
    bisect_level(graph, share, tolerance, heaviest)
}

fn bisect_level(graph: &Graph, share: f64, tolerance: f64, heaviest: u64) -> Vec<bool> {
    let limits = limits(graph, share, tolerance);
    if graph.len() > COARSEST {
        let coarse = coarsen(graph, heaviest);
        // Matching fails where a few nodes have nearly all the edges: then do without.
        if coarse.graph.len() * 10 < graph.len() * 9 {
            let sides = bisect_level(&coarse.graph, share, tolerance, heaviest);
            let sides = coarse.node_of.iter().map(|&node| sides[node as usize]).collect();
            let mut bisection = Bisection::new(graph, sides, limits);
            bisection.refine();
            return bisection.sides;
        }
    }
    let grown = scattered(graph.len()).into_iter().take(SEEDS).map(|seed| {
        let sides = grow(graph, seed, share);
        let mut bisection = Bisection::new(graph, sides, limits);
        bisection.refine();
        bisection
    });
    grown.min_by_key(Bisection::cost).map_or(Vec::new(), |best| best.sides)
}

/// The most weight each side may have. On coarse levels a node may be heavier than what the
/// tolerance leaves; finer levels make up for it.
fn limits(graph: &Graph, share: f64, tolerance: f64) -> [u64; 2] {
    let total = graph.total_weight();
    let left = (total as f64 * share).round() as u64;
    [left, total - left].map(|target| {
        let slack = (target as f64 * tolerance) as u64;
        target + if graph.largest_weight() > 1 { slack.max(graph.largest_weight()) } else { slack }
    })
}

/// Greedy graph growing: the left side starts as a seed and takes whatever adds least to the cut.
fn grow(graph: &Graph, seed: u32, share: f64) -> Vec<bool> {
    let target = (graph.total_weight() as f64 * share).round() as u64;
    let mut sides = vec![true; graph.len()];
    let mut connection = vec![0_i64; graph.len()];
    let mut heap = BinaryHeap::from([(0, Reverse(seed))]);
    let mut unreached = 0..graph.len() as u32;
    let mut weight = 0;
    while weight < target {
        // A part without connection to the rest is used up: go on with any node.
        let next = heap.pop().or_else(|| unreached.next().map(|node| (0, Reverse(node))));
        let Some((_, Reverse(node))) = next else { break };
        if !std::mem::replace(&mut sides[node as usize], false) {
            continue;
        }
        weight += graph.weight(node as usize);
        for edge in graph.edges(node as usize) {
            if sides[edge.to as usize] {
                connection[edge.to as usize] += i64::from(edge.weight);
                let outside: i64 =
                    graph.edges(edge.to as usize).iter().map(|edge| i64::from(edge.weight)).sum();
                heap.push((2 * connection[edge.to as usize] - outside, Reverse(edge.to)));
            }
        }
    }
    sides
}

/// Two sides, and what it takes to improve them (Fiduccia & Mattheyses 1982): move the node that
/// lowers the cut most, even if that is below zero, lock it, and in the end go back to the best
/// state that was seen.
struct Bisection<'a> {
    graph: &'a Graph,
    sides: Vec<bool>,
    limits: [u64; 2],
    weights: [u64; 2],
    cut: i64,
    /// By how much moving a node would lower the cut.
    gains: Vec<i64>,
    locked: Vec<bool>,
    /// Candidates of each side; entries may be stale.
    heaps: [BinaryHeap<(i64, Reverse<u32>)>; 2],
}

impl<'a> Bisection<'a> {
    fn new(graph: &'a Graph, sides: Vec<bool>, limits: [u64; 2]) -> Self {
        let mut weights = [0; 2];
        let mut cut = 0;
        for node in 0..graph.len() {
            weights[usize::from(sides[node])] += graph.weight(node);
            let crossing =
                graph.edges(node).iter().filter(|edge| sides[edge.to as usize] != sides[node]);
            cut += crossing.map(|edge| i64::from(edge.weight)).sum::<i64>();
        }
        Self {
            limits,
            weights,
            cut: cut / 2,
            gains: vec![0; graph.len()],
            locked: vec![false; graph.len()],
            heaps: Default::default(),
            graph,
            sides,
        }
    }

    /// What to minimize: weight beyond the limits, then the cut.
    fn cost(&self) -> (u64, i64) {
        let beyond = |side: usize| self.weights[side].saturating_sub(self.limits[side]);
        (beyond(0) + beyond(1), self.cut)
    }

    fn refine(&mut self) {
        for _ in 0..PASSES {
            if !self.pass() {
                break;
            }
        }
    }

    /// One pass; returns whether it improved anything.
    fn pass(&mut self) -> bool {
        self.start_pass();
        let (start, mut best) = (self.cost(), self.cost());
        let (mut moves, mut best_moves) = (Vec::new(), 0);
        while moves.len() < best_moves + PATIENCE {
            let Some(node) = self.next_move() else { break };
            self.locked[node as usize] = true;
            self.move_node(node as usize);
            moves.push(node);
            if self.cost() < best {
                (best, best_moves) = (self.cost(), moves.len());
            }
        }
        for &node in moves[best_moves..].iter().rev() {
            self.move_node(node as usize);
        }
        best < start
    }

    fn start_pass(&mut self) {
        self.locked.fill(false);
        self.heaps.iter_mut().for_each(BinaryHeap::clear);
        let too_heavy = [0, 1].map(|side| self.weights[side] > self.limits[side]);
        for node in 0..self.graph.len() {
            let (mut inside, mut outside) = (0, 0);
            for edge in self.graph.edges(node) {
                let same = self.sides[edge.to as usize] == self.sides[node];
                *if same { &mut inside } else { &mut outside } += i64::from(edge.weight);
            }
            self.gains[node] = outside - inside;
            let side = usize::from(self.sides[node]);
            if outside > 0 || too_heavy[side] {
                self.heaps[side].push((self.gains[node], Reverse(node as u32)));
            }
        }
    }

    /// The best node that may move: from the side that is too heavy, if one is; otherwise from
    /// either, if the other side has room.
    fn next_move(&mut self) -> Option<u32> {
        let candidates = [0, 1].map(|side| self.best_of(side));
        let too_heavy = [0, 1].map(|side| self.weights[side] > self.limits[side]);
        let allowed = [0, 1].map(|side| {
            candidates[side].filter(|&(_, Reverse(node))| {
                let room = self.limits[1 - side].saturating_sub(self.weights[1 - side]);
                too_heavy[side] || !too_heavy[1 - side] && self.graph.weight(node as usize) <= room
            })
        });
        let side = usize::from(allowed[1] > allowed[0]);
        let (_, Reverse(node)) = allowed[side]?;
        self.heaps[side].pop();
        Some(node)
    }

    /// The best candidate of a side, after clearing away stale ones.
    fn best_of(&mut self, side: usize) -> Option<(i64, Reverse<u32>)> {
        while let Some(&(gain, Reverse(node))) = self.heaps[side].peek() {
            let node = node as usize;
            let current = gain == self.gains[node] && usize::from(self.sides[node]) == side;
            if current && !self.locked[node] {
                return self.heaps[side].peek().copied();
            }
            self.heaps[side].pop();
        }
        None
    }

    fn move_node(&mut self, node: usize) {
        let from = self.sides[node];
        let weight = self.graph.weight(node);
        self.weights[usize::from(from)] -= weight;
        self.weights[usize::from(!from)] += weight;
        self.sides[node] = !from;
        self.cut -= self.gains[node];
        self.gains[node] = -self.gains[node];
        for edge in self.graph.edges(node) {
            let to = edge.to as usize;
            let joined = self.sides[to] == self.sides[node];
            self.gains[to] += if joined { -2 } else { 2 } * i64::from(edge.weight);
            if !self.locked[to] {
                let side = usize::from(self.sides[to]);
                self.heaps[side].push((self.gains[to], Reverse(edge.to)));
            }
        }
    }
}
