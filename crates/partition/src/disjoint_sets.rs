//! Sets of numbers that are united pair by pair (union–find).

/// A forest in which every root is the lowest member of its set.
pub struct DisjointSets {
    parents: Vec<u32>,
}

impl DisjointSets {
    /// Each number below `count` in a set of its own.
    pub fn new(count: usize) -> Self {
        Self { parents: (0..count as u32).collect() }
    }

    /// The lowest member of a number's set. Halves the path to it on the way.
    pub fn lowest(&mut self, number: u32) -> u32 {
        let mut at = number as usize;
        while self.parents[at] as usize != at {
            let grandparent = self.parents[self.parents[at] as usize];
            self.parents[at] = grandparent;
            at = grandparent as usize;
        }
        at as u32
    }

    /// Unites the sets of two numbers.
    pub fn unite(&mut self, left: u32, right: u32) {
        let [left, right] = [self.lowest(left), self.lowest(right)];
        self.parents[left.max(right) as usize] = left.min(right);
    }
}
