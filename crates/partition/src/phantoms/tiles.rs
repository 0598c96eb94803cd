//! Tiles: bodies that follow each other by number, and the elements among them. A copy that takes part in
//! the elements of one tile only ties no two tiles together, so each tile can go through all colors while
//! its bodies are in a cache.

use std::ops::Range;

use crate::Elements;
use crate::coloring::group;

/// The tile of each element.
pub(super) struct Tiles {
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
}

/// The bodies of the elements when each tile has bodies of its own.
pub(super) struct Apart {
    /// In the layout of the elements; those that are new have ids from the number of bodies on.
    pub(super) bodies: Vec<u32>,
    /// The body that each new one stands for.
    pub(super) owners: Vec<u32>,
}

/// A body that no element uses.
const UNUSED: u32 = u32::MAX;
/// A body that elements of several tiles use.
const SHARED: u32 = u32::MAX - 1;

impl Tiles {
    /// Tiles of about `size` bodies. An element is where its first movable body is.
    pub(super) fn new(elements: &Elements<'_>, size: usize) -> Self {
        let ends = cuts(elements, size.max(1));
        let first = |element| elements.movable_of(element).min();
        let tile = |body: u32| ends.partition_point(|&end| end <= body) as u32;
        let of = (0..elements.len()).map(|element| first(element).map_or(0, tile)).collect();
        Self { of, count: ends.len() }
    }

    /// Gives each tile bodies of its own. The first tile that uses a body has the body itself.
    pub(super) fn apart(&self, elements: &Elements<'_>) -> Apart {
        let mut bodies = elements.bodies().to_vec();
        let mut owners = Vec::new();
        // Of each body: who stands for it in the tile that used it last, and that tile.
        let mut last: Vec<(u32, u32)> =
            (0..elements.body_count() as u32).map(|body| (body, UNUSED)).collect();
        let (_, order) = group(&self.of, self.count);
        for element in order {
            let tile = self.of[element as usize];
            for place in elements.range_of(element as usize) {
                let body = bodies[place];
                if elements.is_fixed(body) {
                    continue;
                }
                let (stand_in, used_in) = &mut last[body as usize];
                if *used_in != tile {
                    if *used_in != UNUSED {
                        *stand_in = (elements.body_count() + owners.len()) as u32;
                        owners.push(body);
                    }
                    *used_in = tile;
                }
                bodies[place] = *stand_in;
            }
        }
        Apart { bodies, owners }
    }

    /// The tile that each body belongs to alone, if it is one.
    pub(super) fn of_bodies(&self, elements: &Elements<'_>) -> Vec<Option<u32>> {
        let mut tiles = vec![UNUSED; elements.body_count()];
        for (element, &tile) in self.of.iter().enumerate() {
            for body in elements.movable_of(element) {
                let known = &mut tiles[body as usize];
                *known = if [UNUSED, tile].contains(known) { tile } else { SHARED };
            }
        }
        tiles.into_iter().map(|tile| (tile < self.count as u32).then_some(tile)).collect()
    }
}

/// Where tiles of about `size` bodies end: where few elements have bodies on both sides, so that loose
/// pieces stay whole.
fn cuts(elements: &Elements<'_>, size: usize) -> Vec<u32> {
    let crossing = crossings(elements);
    let (mut start, mut ends) = (0, Vec::new());
    while start < elements.body_count() {
        let window = start + size - size / 4..start + size + size / 4 + 1;
        let end = best_cut(&crossing, window);
        ends.push(end as u32);
        start = end;
    }
    // One tile even without bodies: elements of fixed ones are somewhere, too.
    if ends.is_empty() {
        ends.push(0);
    }
    ends
}

/// The place in a window that the fewest elements cross, of these the first; the end of all bodies if the
/// window reaches beyond it.
fn best_cut(crossing: &[u32], window: Range<usize>) -> usize {
    let bodies = crossing.len() - 1;
    if window.end > bodies {
        return bodies;
    }
    window.min_by_key(|&place| crossing[place]).unwrap_or(bodies)
}

/// For each place between two bodies, how many elements have movable bodies on both sides.
fn crossings(elements: &Elements<'_>) -> Vec<u32> {
    let mut changes = vec![0_i64; elements.body_count() + 2];
    for element in 0..elements.len() {
        let bodies = elements.movable_of(element);
        if let (Some(first), Some(last)) = (bodies.clone().min(), bodies.max()) {
            changes[first as usize + 1] += 1;
            changes[last as usize + 1] -= 1;
        }
    }
    let mut crossing = 0;
    let sum = |change: &i64| {
        crossing += change;
        crossing as u32
    };
    changes[..=elements.body_count()].iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    //! Contract: tiles end where few elements cross; in every tile a body has one stand-in, and only bodies
    //! of one tile are said to be of it.

    use super::*;

    /// Two loose paths of five and seven bodies.
    fn paths() -> Vec<[u32; 2]> {
        (0..11).filter(|&body| body != 4).map(|body| [body, body + 1]).collect()
    }

    #[test]
    fn tiles_end_between_pieces() {
        let paths = paths();
        let elements = Elements::uniform(&paths, 12).unwrap();
        let tiles = Tiles::new(&elements, 6);
        assert_eq!((tiles.count, &tiles.of), (2, &vec![0, 0, 0, 0, 1, 1, 1, 1, 1, 1]));
        assert!(tiles.apart(&elements).owners.is_empty());
    }

    #[test]
    fn a_body_between_tiles_has_a_stand_in() {
        let path: Vec<[u32; 2]> = (0..7).map(|body| [body, body + 1]).collect();
        let elements = Elements::uniform(&path, 8).unwrap();
        let tiles = Tiles::new(&elements, 4);
        assert_eq!(tiles.count, 2);
        let apart = tiles.apart(&elements);
        let shared = apart.owners[0];
        assert_eq!(apart.owners.len(), 1);
        let uses: Vec<u32> =
            apart.bodies.iter().copied().filter(|&b| b == shared || b == 8).collect();
        assert_eq!(uses, [shared, 8]);
        let alone = tiles.of_bodies(&elements);
        assert!((0..8).all(|body| alone[body].is_none() == (body as u32 == shared)));
    }

    #[test]
    fn fixed_and_unused_bodies_are_nobodys() {
        let fixed = [true, true, false, false];
        let edges = [[0, 1], [1, 2]];
        let elements = Elements::uniform(&edges, 4).unwrap().with_fixed(&fixed).unwrap();
        let tiles = Tiles::new(&elements, 1);
        assert!(tiles.apart(&elements).owners.is_empty());
        let alone = tiles.of_bodies(&elements);
        assert_eq!([alone[0], alone[1], alone[3]], [None; 3]);
        assert!(alone[2].is_some());
    }
}
