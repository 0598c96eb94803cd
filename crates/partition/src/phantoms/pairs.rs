//! Elements of two bodies: which of the two comes first.
//!
//! The elements of a color are the edges of a graph. Walked along as trails, nearly every body has as many
//! edges that leave it as edges that arrive (Euler), so with two copies one edge leaves each body and one
//! arrives in every color. The first one that leaves takes the body itself, the others take copies: then, in
//! the order of the bodies that they leave, the first bodies of the elements follow each other in memory.

use crate::{Elements, Incidence};

/// For each element of two bodies, whether its second body is the one that it leaves.
pub(super) fn turned(elements: &Elements<'_>, colors: &[u32]) -> Vec<bool> {
    let mut trails = Trails::new(elements, colors);
    // A trail that begins where an odd number of edges meets ends at another such body; what is left then
    // is closed.
    for is_open in [true, false] {
        for body in 0..elements.body_count() as u32 {
            for start in trails.colors_at(body) {
                let left = trails.left[start];
                if if is_open { left % 2 == 1 } else { left > 0 } {
                    trails.walk(body, start);
                }
            }
        }
    }
    trails.turned
}

/// Who walks.
struct Trails<'a> {
    elements: Elements<'a>,
    colors: &'a [u32],
    /// Where each body's elements begin in the list of all.
    offsets: Vec<u32>,
    /// The elements of each body, sorted by color.
    lists: Vec<u32>,
    /// At the place in the list where a color of a body begins: how many of its elements are left.
    left: Vec<u32>,
    /// At the same place: where to look for the next one.
    next: Vec<u32>,
    walked: Vec<bool>,
    turned: Vec<bool>,
}

impl<'a> Trails<'a> {
    fn new(elements: &Elements<'a>, colors: &'a [u32]) -> Self {
        let incidence = Incidence::new(elements);
        let offsets = incidence.offsets().to_vec();
        let mut lists = incidence.into_elements();
        for body in offsets.windows(2) {
            let own = &mut lists[body[0] as usize..body[1] as usize];
            own.sort_by_key(|&element| colors[element as usize]);
        }
        let mut trails = Self {
            elements: *elements,
            colors,
            left: vec![0; lists.len()],
            next: (0..lists.len() as u32).collect(),
            walked: vec![false; elements.len()],
            turned: vec![false; elements.len()],
            offsets,
            lists,
        };
        for body in 0..elements.body_count() as u32 {
            for start in trails.colors_at(body) {
                let end = trails.end_of_color(body, start);
                trails.left[start] = (end - start) as u32;
            }
        }
        trails
    }

    fn list_of(&self, body: u32) -> std::ops::Range<usize> {
        self.offsets[body as usize] as usize..self.offsets[body as usize + 1] as usize
    }

    fn color(&self, place: usize) -> u32 {
        self.colors[self.lists[place] as usize]
    }

    fn end_of_color(&self, body: u32, start: usize) -> usize {
        let own = start..self.list_of(body).end;
        let color = self.color(start);
        own.start + self.lists[own].partition_point(|&e| self.colors[e as usize] == color)
    }

    /// Where the colors of a body begin in the list.
    fn colors_at(&self, body: u32) -> Vec<usize> {
        let own = self.list_of(body);
        let begins =
            |&place: &usize| place == own.start || self.color(place) != self.color(place - 1);
        own.clone().filter(begins).collect()
    }

    /// Follows elements of one color from a body on, to where none is left.
    fn walk(&mut self, mut body: u32, mut start: usize) {
        while self.left[start] > 0 {
            let mut place = self.next[start] as usize;
            while self.walked[self.lists[place] as usize] {
                place += 1;
            }
            self.next[start] = place as u32 + 1;
            self.left[start] -= 1;
            let element = self.lists[place];
            self.walked[element as usize] = true;
            let ends = self.elements.of(element as usize);
            let is_second = ends[0] != body;
            self.turned[element as usize] = is_second;
            let other = ends[usize::from(!is_second)];
            // A fixed body has no copies: it does not matter what goes on there.
            if self.elements.is_fixed(other) {
                return;
            }
            let color = self.colors[element as usize];
            let own = self.list_of(other);
            let before =
                self.lists[own.clone()].partition_point(|&e| self.colors[e as usize] < color);
            (body, start) = (other, own.start + before);
            self.left[start] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: as many elements of a color leave a body as arrive, but for one.

    use super::*;

    #[test]
    fn trails_leave_as_often_as_they_arrive() {
        // Two triangles that share a corner, a path, and an edge to a fixed body, in two colors.
        let edges =
            [[0, 1], [2, 1], [0, 2], [2, 3], [4, 3], [2, 4], [5, 6], [7, 6], [8, 7], [3, 9]];
        let mut fixed = [false; 10];
        fixed[9] = true;
        let elements = Elements::uniform(&edges, 10).unwrap().with_fixed(&fixed).unwrap();
        for colors in [[0; 10], [0, 1, 0, 1, 0, 0, 1, 1, 1, 0]] {
            let turned = turned(&elements, &colors);
            for color in 0..2 {
                let mut balance = [0_i32; 10];
                for (edge, &[a, b]) in edges.iter().enumerate().filter(|(e, _)| colors[*e] == color)
                {
                    let sign = if turned[edge] { -1 } else { 1 };
                    balance[a as usize] += sign;
                    balance[b as usize] -= sign;
                }
                assert!(balance[..9].iter().all(|balance| balance.abs() <= 1), "{balance:?}");
            }
        }
    }

    #[test]
    fn a_hub_takes_no_longer_than_its_edges() {
        let edges: Vec<[u32; 2]> = (1..200_001).map(|body| [body, 0]).collect();
        let elements = Elements::uniform(&edges, 200_001).unwrap();
        let leaving = turned(&elements, &vec![0; edges.len()]).iter().filter(|&&it| it).count();
        assert_eq!(leaving, 100_000);
    }
}
