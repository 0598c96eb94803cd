//! Edges in triangles.

use std::collections::VecDeque;

use super::{Bundles, NO_MEMBER};
use crate::Elements;

/// Puts the edges of a graph together in threes: bodies a, b and c with the edges ab, bc and ca. Edges
/// that find no triangle go in twos (ab and bc), and what is left goes alone with some neighbor's body
/// as the third.
///
/// Triangles are taken in waves: next come those on the far side of the neighbors of the last one. In
/// the mesh of a cloth these neighbors have lost an edge and can be taken no more, so that the waves
/// take every other triangle, and no edge is left over.
///
/// Returns nothing if some edge has no neighbor at all.
///
/// # Panics
/// If elements do not have two bodies each.
///
/// ```
/// use taut_partition::{Elements, bundles};
///
/// // Two triangles with an edge in common.
/// let edges = [[0, 1], [1, 2], [2, 0], [1, 3], [3, 2]];
/// let bundles = bundles::triangles(&Elements::uniform(&edges, 4)?).unwrap();
/// assert_eq!(bundles.bodies, [0, 1, 2, 1, 3, 2]);
/// assert_eq!(bundles.members, [0, 1, 2, 3, 4, bundles::NO_MEMBER]);
/// # Ok::<(), taut_partition::InputError>(())
/// ```
pub fn triangles(edges: &Elements<'_>) -> Option<Bundles> {
    assert!(edges.is_empty() || edges.arity() == Some(2), "edges have two bodies");
    let mut search = Search {
        graph: Graph::new(edges),
        is_taken: vec![false; edges.len()],
        next: VecDeque::new(),
        bundles: Bundles::default(),
    };
    for edge in 0..edges.len() {
        search.next.push_back(edge as u32);
        while let Some(edge) = search.next.pop_front() {
            search.take_triangle(edges.of(edge as usize), edge);
        }
    }
    let mut first_free = search.graph.starts.clone();
    for edge in 0..edges.len() {
        if !search.is_taken[edge] {
            search.take_two(edges.of(edge), edge as u32, &mut first_free)?;
        }
    }
    Some(search.bundles)
}

/// The neighbors of every body, with the edges that lead there, in rising order.
struct Graph {
    starts: Vec<u32>,
    links: Vec<(u32, u32)>,
}

impl Graph {
    fn new(edges: &Elements<'_>) -> Self {
        let mut starts = vec![0_u32; edges.body_count() + 2];
        for &body in edges.bodies() {
            starts[body as usize + 2] += 1;
        }
        for body in 2..starts.len() {
            starts[body] += starts[body - 1];
        }
        // Each entry is where the next link of the body before goes; at the end, where its links end.
        let mut links = vec![(0, 0); edges.bodies().len()];
        for (edge, ends) in edges.bodies().chunks_exact(2).enumerate() {
            for (from, to) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                let place = &mut starts[from as usize + 1];
                links[*place as usize] = (to, edge as u32);
                *place += 1;
            }
        }
        starts.pop();
        for ends in starts.windows(2) {
            links[ends[0] as usize..ends[1] as usize].sort_unstable();
        }
        Self { starts, links }
    }

    fn links(&self, body: u32) -> &[(u32, u32)] {
        let body = body as usize;
        &self.links[self.starts[body] as usize..self.starts[body + 1] as usize]
    }

    /// An edge between two bodies.
    fn between(&self, a: u32, b: u32) -> Option<u32> {
        let links = self.links(a);
        let place = links.partition_point(|&(body, _)| body < b);
        links.get(place).filter(|&&(body, _)| body == b).map(|&(_, edge)| edge)
    }

    /// The bodies that make a triangle with an edge, each with its edges to both ends.
    fn triangles(&self, a: u32, b: u32) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let is_swapped = self.links(a).len() > self.links(b).len();
        let (few, many) = if is_swapped { (b, a) } else { (a, b) };
        self.links(few).iter().filter_map(move |&(c, to_few)| {
            let to_many = if c == many { None } else { self.between(c, many) }?;
            Some(if is_swapped { (c, to_many, to_few) } else { (c, to_few, to_many) })
        })
    }
}

struct Search {
    graph: Graph,
    is_taken: Vec<bool>,
    /// Edges to look for a triangle at, the first wave first.
    next: VecDeque<u32>,
    bundles: Bundles,
}

impl Search {
    fn is_free(&self, edge: u32) -> bool {
        !self.is_taken[edge as usize]
    }

    /// Takes the first triangle of an edge that has all its edges.
    fn take_triangle(&mut self, ends: &[u32], edge: u32) {
        let (a, b) = (ends[0], ends[1]);
        let is_free = |edge: u32| self.is_free(edge);
        let all_free = |&(_, to_a, to_b): &(u32, u32, u32)| is_free(to_a) && is_free(to_b);
        let free = if is_free(edge) { self.graph.triangles(a, b).find(all_free) } else { None };
        let Some((c, to_a, to_b)) = free else { return };
        self.take([a, b, c], [edge, to_b, to_a]);
        for (a, b) in [(a, b), (b, c), (c, a)] {
            for (_, to_a, to_b) in self.graph.triangles(a, b) {
                let free = [to_a, to_b].into_iter().filter(|&edge| !self.is_taken[edge as usize]);
                self.next.extend(free);
            }
        }
    }

    /// Takes an edge with another one at either end, or alone. `first_free` says where the links of
    /// each body begin that may still be free.
    fn take_two(&mut self, ends: &[u32], edge: u32, first_free: &mut [u32]) -> Option<()> {
        self.is_taken[edge as usize] = true;
        for (a, b) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            let end = self.graph.starts[b as usize + 1];
            let free = &mut first_free[b as usize];
            let link = |place: u32| self.graph.links[place as usize];
            while *free < end && !self.is_free(link(*free).1) {
                *free += 1;
            }
            if *free < end && link(*free).0 != a {
                let (c, other) = link(*free);
                self.take([a, b, c], [edge, other, NO_MEMBER]);
                return Some(());
            }
        }
        let (a, b) = (ends[0], ends[1]);
        let mut near = self.graph.links(a).iter().chain(self.graph.links(b));
        let &(c, _) = near.find(|&&(body, _)| body != a && body != b)?;
        self.take([a, b, c], [edge, NO_MEMBER, NO_MEMBER]);
        Some(())
    }

    fn take(&mut self, bodies: [u32; 3], members: [u32; 3]) {
        for edge in members.into_iter().filter(|&edge| edge != NO_MEMBER) {
            self.is_taken[edge as usize] = true;
        }
        self.bundles.bodies.extend(bodies);
        self.bundles.members.extend(members);
    }
}

#[cfg(test)]
mod tests {
    //! Contract: every edge is in one bundle, at its place; a bundle's bodies differ; a cloth is covered
    //! by whole triangles.

    use proptest::prelude::*;

    use super::*;

    fn check(edges: &[[u32; 2]], bundles: &Bundles) -> usize {
        let mut seen = vec![false; edges.len()];
        let mut whole = 0;
        for (bodies, members) in bundles.bodies.chunks(3).zip(bundles.members.chunks(3)) {
            assert!(bodies[0] != bodies[1] && bodies[1] != bodies[2] && bodies[2] != bodies[0]);
            for (place, &edge) in members.iter().enumerate().filter(|(_, edge)| **edge != NO_MEMBER)
            {
                assert!(!std::mem::replace(&mut seen[edge as usize], true), "edge {edge} twice");
                let (a, b) = (bodies[place], bodies[(place + 1) % 3]);
                let [c, d] = edges[edge as usize];
                assert_eq!((a.min(b), a.max(b)), (c.min(d), c.max(d)));
            }
            whole += usize::from(!members.contains(&NO_MEMBER));
        }
        assert!(seen.into_iter().all(|seen| seen), "an edge is missing");
        whole
    }

    #[test]
    fn a_cloth_is_covered_by_triangles() {
        let side = 40;
        let at = |x: u32, y: u32| y * side + x;
        let mut edges = Vec::new();
        for y in 0..side {
            for x in 0..side {
                if x + 1 < side {
                    edges.push([at(x, y), at(x + 1, y)]);
                }
                if y + 1 < side {
                    edges.push([at(x, y), at(x, y + 1)]);
                }
                if x + 1 < side && y + 1 < side {
                    edges.push([at(x + 1, y), at(x, y + 1)]);
                }
            }
        }
        // Any order: waves do not depend on it.
        edges.sort_by_key(|[a, b]| (a * 7919 + b * 104_729) % 1009);
        let elements = Elements::uniform(&edges, (side * side) as usize).unwrap();
        let whole = check(&edges, &triangles(&elements).unwrap());
        let most = (side - 1) * (side - 1);
        assert!(whole as u32 * 100 >= most * 97, "{whole} whole triangles of {most}");
    }

    #[test]
    fn a_chain_goes_in_twos_and_an_edge_alone_not_at_all() {
        let chain = [[0, 1], [1, 2], [2, 3]];
        let bundles = triangles(&Elements::uniform(&chain, 4).unwrap()).unwrap();
        assert_eq!(check(&chain, &bundles), 0);
        assert_eq!(bundles.members.len(), 6);
        assert_eq!(triangles(&Elements::uniform(&[[0, 1]], 2).unwrap()), None);
    }

    proptest! {
        #[test]
        fn every_edge_is_in_one_bundle(
            pairs in prop::collection::vec((0_u32..20, 0_u32..20), 0..120),
        ) {
            let edges: Vec<[u32; 2]> =
                pairs.into_iter().filter(|(a, b)| a != b).map(|(a, b)| [a, b]).collect();
            let elements = Elements::uniform(&edges, 20).unwrap();
            if let Some(bundles) = triangles(&elements) {
                check(&edges, &bundles);
            }
        }
    }
}
