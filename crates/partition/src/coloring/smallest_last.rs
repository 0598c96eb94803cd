//! Smallest-last order (Matula & Beck 1983, paper A Algorithm 1): remove again and again an
//! element of smallest degree; color in the reverse order of removal. Each element then meets at
//! most as many colored neighbors as it had left when it was removed, so greedy coloring needs
//! at most 1 + the largest of these smallest degrees.

use crate::{Elements, Incidence};

/// Elements that share a body with more than this many others do not count them: a body of
/// valence v costs v² / 2 steps here, and the elements of such a hub all lose a neighbor at the
/// same time, so their order among themselves does not suffer.
const HUB_VALENCE: u32 = 1024;

/// The smallest-last order: color the elements in this order.
pub(crate) fn smallest_last(elements: &Elements<'_>, incidence: Incidence) -> Vec<u32> {
    let mut removal = Removal::new(elements, incidence);
    let mut order = Vec::with_capacity(elements.len());
    while let Some(element) = removal.next() {
        order.push(element);
    }
    order.reverse();
    order
}

/// The state of the removal: what is left of the incidence lists and of the degrees.
struct Removal<'a> {
    elements: Elements<'a>,
    /// Body `b` has the remaining elements `lists[starts[b]..ends[b]]`.
    lists: Vec<u32>,
    starts: Vec<u32>,
    ends: Vec<u32>,
    nodes: Vec<Node>,
    queue: BucketQueue,
}

/// An element that waits for its removal.
#[derive(Clone, Copy)]
struct Node {
    /// Distinct neighbors left; `REMOVED` once it is gone.
    degree: u32,
    /// The last element that met this one, so that two elements with several bodies in common
    /// count as one pair.
    met: u32,
}

const REMOVED: u32 = u32::MAX;

impl<'a> Removal<'a> {
    fn new(elements: &Elements<'a>, incidence: Incidence) -> Self {
        let starts = incidence.offsets().to_vec();
        let mut ends = starts[1..].to_vec();
        for (end, &start) in ends.iter_mut().zip(&starts) {
            if *end - start > HUB_VALENCE {
                *end = start;
            }
        }
        let lists = incidence.into_elements();
        let nodes = vec![Node { degree: 0, met: u32::MAX }; elements.len()];
        let queue = BucketQueue::default();
        let mut removal = Self { elements: *elements, lists, starts, ends, nodes, queue };
        removal.count_degrees();
        removal
    }

    fn count_degrees(&mut self) {
        for element in 0..self.nodes.len() as u32 {
            let mut degree = 0;
            for body in self.elements.movable_of(element as usize) {
                let range = self.starts[body as usize] as usize..self.ends[body as usize] as usize;
                for &other in &self.lists[range] {
                    let met = &mut self.nodes[other as usize].met;
                    degree += u32::from(*met != element);
                    *met = element;
                }
            }
            // The element met itself unless all of its bodies are fixed or hubs.
            self.nodes[element as usize].degree = degree.saturating_sub(1);
        }
        for node in &mut self.nodes {
            node.met = u32::MAX;
        }
    }

    /// Removes an element of smallest degree.
    fn next(&mut self) -> Option<u32> {
        let element = self.queue.pop(&self.nodes)?;
        self.nodes[element as usize].degree = REMOVED;
        for body in self.elements.movable_of(element as usize) {
            self.remove_from(body as usize, element);
        }
        self.queue.compact_if_stale(&self.nodes);
        Some(element)
    }

    /// Takes an element off a body's list and tells the others there.
    fn remove_from(&mut self, body: usize, element: u32) {
        let list = &mut self.lists[self.starts[body] as usize..self.ends[body] as usize];
        let mut place = None;
        for (index, &other) in list.iter().enumerate() {
            if other == element {
                place = Some(index);
                continue;
            }
            let node = &mut self.nodes[other as usize];
            if node.met != element {
                node.met = element;
                node.degree -= 1;
                self.queue.push(other, node.degree);
            }
        }
        if let (Some(place), Some(last)) = (place, list.len().checked_sub(1)) {
            list.swap(place, last);
            self.ends[body] -= 1;
        }
    }
}

/// One stack of elements per degree, for the degrees that matter soon.
///
/// An element whose degree falls is pushed again and its old entry left behind, to be skipped:
/// cheaper than unlinking it, since a push touches no other element. Elements with more
/// neighbors than there are buckets are not entered at all until the others are gone, which saves most of the pushes of
/// elements that start with many more neighbors than they are removed with.
#[derive(Default)]
struct BucketQueue {
    buckets: Vec<Vec<u32>>,
    /// No bucket below this one has an entry that is not stale.
    lowest: usize,
    entries: usize,
}

impl BucketQueue {
    #[inline]
    fn push(&mut self, element: u32, degree: u32) {
        if let Some(bucket) = self.buckets.get_mut(degree as usize) {
            bucket.push(element);
            self.lowest = self.lowest.min(degree as usize);
            self.entries += 1;
        }
    }

    fn pop(&mut self, nodes: &[Node]) -> Option<u32> {
        loop {
            while let Some(bucket) = self.buckets.get_mut(self.lowest) {
                while let Some(element) = bucket.pop() {
                    self.entries -= 1;
                    if nodes[element as usize].degree as usize == self.lowest {
                        return Some(element);
                    }
                }
                self.lowest += 1;
            }
            self.raise_limit(nodes)?;
        }
    }

    /// Enters the elements of the next degrees; `None` if there are no elements left. The range
    /// grows with the degree, so that this happens a few dozen times at most.
    fn raise_limit(&mut self, nodes: &[Node]) -> Option<()> {
        let left = nodes.iter().map(|node| node.degree).filter(|&degree| degree != REMOVED);
        let smallest = left.min()? as usize;
        let entered = self.buckets.len() as u32;
        let limit = smallest + (smallest / 4).max(16);
        self.buckets.resize_with(limit, Vec::new);
        // Pushed from the back, so that equal degrees come off in natural order.
        for (element, node) in nodes.iter().enumerate().rev() {
            if node.degree >= entered {
                self.push(element as u32, node.degree);
            }
        }
        self.lowest = smallest;
        Some(())
    }

    /// Bounds the memory of stale entries; the cost is spread over the pushes that made them.
    fn compact_if_stale(&mut self, nodes: &[Node]) {
        if self.entries > 4 * nodes.len() + 1024 {
            for (degree, bucket) in self.buckets.iter_mut().enumerate() {
                bucket.retain(|&element| nodes[element as usize].degree as usize == degree);
            }
            self.entries = self.buckets.iter().map(Vec::len).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: every element once, and each removed when its degree was smallest.

    use super::*;

    fn order(elements: &Elements<'_>) -> Vec<u32> {
        smallest_last(elements, Incidence::new(elements))
    }

    #[test]
    fn the_ends_of_a_path_go_first() {
        let path = [[0, 1], [1, 2], [2, 3], [3, 4]];
        let order = order(&Elements::uniform(&path, 5).unwrap());
        assert_eq!(order.len(), 4);
        assert_eq!(order[3], 0);
    }

    #[test]
    fn elements_sharing_two_bodies_are_one_neighbor() {
        // Two triangles on one edge, and a third that touches one corner of each: all have
        // degree 2, while counting shared bodies would give 3, 3 and 2.
        let triangles = [[0, 1, 2], [1, 2, 3], [0, 3, 4]];
        let order = order(&Elements::uniform(&triangles, 5).unwrap());
        assert_eq!(order, [2, 1, 0]);
    }

    #[test]
    fn hubs_and_fixed_bodies_are_no_obstacle() {
        let star: Vec<[u32; 2]> = (1..3000).map(|leaf| [0, leaf]).collect();
        let mut sorted = order(&Elements::uniform(&star, 3000).unwrap());
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..2999));
        let fixed = vec![true; 3000];
        let elements = Elements::uniform(&star, 3000).unwrap().with_fixed(&fixed).unwrap();
        assert_eq!(order(&elements).len(), 2999);
    }
}
