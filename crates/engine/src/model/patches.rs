//! Patches: members of a body that lie side by side in its rest shape, and so in any other, as many as the widest
//! lanes. They are what detection looks for each other: a box around each, and a tree of boxes around boxes.

use std::ops::Range;

use crate::math::MAX_WIDTH;

/// Most members of a patch.
pub const PATCH: usize = MAX_WIDTH;

/// Most children of a node of the tree: patches, or other nodes.
pub const FAN: usize = MAX_WIDTH;

/// All patches of a scene, and the shape of the tree above them.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    /// The particles of the patches, [`PATCH`] each. In a patch that has fewer, the last one comes again and again.
    pub slots: Vec<u32>,
    /// The patches.
    pub all: Vec<Patch>,
    /// The nodes of each level of the tree: those above patches first, the root last.
    levels: Vec<Range<usize>>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Its body.
    pub body: u32,
    /// Whether it can touch others of its body, or itself.
    pub touches_own_body: bool,
    /// How many members it has.
    pub count: usize,
    /// x, y and z of their places in the rest shape, in units of the distance below which two particles of a body
    /// do not touch.
    pub rest: [[f32; PATCH]; 3],
}

impl Patches {
    /// Adds the members of a body, neighbors in its rest shape one after another, with their places there.
    pub(super) fn add_body(
        &mut self,
        body: u32,
        touches_own_body: bool,
        members: &[(u32, [f32; 3])],
    ) {
        for own in members.chunks(PATCH) {
            let member = |slot: usize| own[slot.min(own.len() - 1)];
            self.slots.extend((0..PATCH).map(|slot| member(slot).0));
            let rest = [0, 1, 2].map(|axis| std::array::from_fn(|slot| member(slot).1[axis]));
            self.all.push(Patch { body, touches_own_body, count: own.len(), rest });
        }
    }

    /// Makes the tree, once all bodies are there.
    pub(super) fn grow_tree(&mut self) {
        let (mut start, mut below) = (0, self.all.len());
        while self.levels.is_empty() || below > 1 {
            let nodes = start..start + below.div_ceil(FAN);
            (start, below) = (nodes.end, nodes.len());
            self.levels.push(nodes);
        }
    }

    /// Nodes of all levels.
    pub fn node_count(&self) -> usize {
        self.levels.last().map_or(0, |level| level.end)
    }

    /// Nodes of the lowest level: their children are patches.
    pub fn lowest(&self) -> Range<usize> {
        self.levels.first().cloned().unwrap_or_default()
    }

    /// Nodes of the other levels, from below, each with its children.
    pub fn higher(&self) -> impl Iterator<Item = (usize, Range<usize>)> + '_ {
        self.levels.windows(2).flat_map(|two| {
            let (below, nodes) = (&two[0], &two[1]);
            nodes.clone().map(|node| {
                let first = below.start + (node - nodes.start) * FAN;
                (node, first..below.end.min(first + FAN))
            })
        })
    }

    /// The first child of a node: a patch if the node is one of the lowest, else a node.
    #[inline(always)]
    pub fn first_child(&self, node: usize) -> usize {
        // There are few levels.
        let mut below = 0;
        for level in &self.levels {
            if level.contains(&node) {
                return below + (node - level.start) * FAN;
            }
            below = level.start;
        }
        unreachable!("there are no other nodes")
    }

    /// The patches below one of the lowest nodes.
    #[inline(always)]
    pub fn below(&self, node: usize) -> Range<usize> {
        node * FAN..self.all.len().min((node + 1) * FAN)
    }
}

#[cfg(test)]
mod tests {
    //! Contract: every member has one slot, and every patch and node but the root one parent.

    use super::*;

    #[test]
    fn all_are_below_the_root() {
        for count in [1, 16, 17, 256, 257, 5000] {
            let mut patches = Patches::default();
            patches.add_body(0, true, &[(7, [0.0; 3]); 3]);
            patches.add_body(1, true, &vec![(8, [0.0; 3]); (count - 1) * PATCH]);
            patches.grow_tree();
            assert_eq!((patches.all.len(), patches.slots.len()), (count, count * PATCH));
            assert_eq!((patches.all[0].count, &patches.slots[..PATCH]), (3, &[7; PATCH][..]));
            let found: Vec<_> = patches.lowest().flat_map(|node| patches.below(node)).collect();
            assert!(found.into_iter().eq(0..count));
            let mut nodes: Vec<_> = patches.higher().flat_map(|(_, children)| children).collect();
            nodes.push(patches.node_count() - 1);
            assert!(nodes.into_iter().eq(0..patches.node_count()));
            for (node, children) in patches.higher() {
                assert_eq!(patches.first_child(node), children.start);
            }
            for node in patches.lowest() {
                assert_eq!(patches.first_child(node), patches.below(node).start);
            }
        }
    }
}
