//! Coarsening by heavy-edge matching (Karypis & Kumar 1998): each node is merged with the
//! unmatched neighbor that it shares the heaviest edge with.

use super::graph::{Edge, Graph};

const UNMATCHED: u32 = u32::MAX;

/// A smaller graph, and the node of it that each node has become part of.
pub(super) struct Coarse {
    pub(super) graph: Graph,
    pub(super) node_of: Vec<u32>,
}

/// Merges pairs of nodes whose weights together are at most `heaviest`.
pub(super) fn coarsen(graph: &Graph, heaviest: u64) -> Coarse {
    let partner = heavy_edge_matching(graph, heaviest);
    let mut node_of = vec![UNMATCHED; graph.len()];
    let mut members = Vec::new();
    for node in 0..graph.len() {
        if node_of[node] == UNMATCHED {
            let other = partner[node] as usize;
            node_of[node] = members.len() as u32;
            node_of[other] = members.len() as u32;
            members.push((node, other));
        }
    }
    let both = |&(node, other): &(usize, usize)| {
        let second = (node != other).then_some(other);
        std::iter::once(node).chain(second)
    };
    let weights =
        members.iter().map(|pair| both(pair).map(|node| graph.weight(node) as u32).sum()).collect();
    let rows = members.iter().enumerate().map(|(coarse, pair)| {
        let edges = both(pair).flat_map(|node| graph.edges(node));
        let edges = edges.map(|edge| Edge { to: node_of[edge.to as usize], ..*edge });
        edges.filter(|edge| edge.to as usize != coarse).collect()
    });
    let graph = Graph::new(rows, weights);
    Coarse { graph, node_of }
}

/// The partner of each node, or itself.
fn heavy_edge_matching(graph: &Graph, heaviest: u64) -> Vec<u32> {
    let mut partner = vec![UNMATCHED; graph.len()];
    for node in scattered(graph.len()) {
        if partner[node as usize] == UNMATCHED {
            let fits = |edge: &&Edge| {
                let weight = graph.weight(node as usize) + graph.weight(edge.to as usize);
                partner[edge.to as usize] == UNMATCHED && weight <= heaviest
            };
            let free = graph.edges(node as usize).iter().filter(fits);
            // Among equally heavy edges the lighter neighbor, which keeps weights even.
            let best = free.max_by_key(|edge| {
                (edge.weight, u64::MAX - graph.weight(edge.to as usize), u32::MAX - edge.to)
            });
            let other = best.map_or(node, |edge| edge.to);
            partner[node as usize] = other;
            partner[other as usize] = node;
        }
    }
    partner
}

/// The nodes in an order that has nothing to do with the mesh, but is always the same: matching
/// in the mesh's own order would merge along its rows and make long thin nodes.
pub(super) fn scattered(count: usize) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..count as u32).collect();
    nodes.sort_by_key(|&node| {
        node.wrapping_mul(0x9e37_79b9).rotate_left(15).wrapping_mul(0x85eb_ca6b)
    });
    nodes
}
