//! Tetrahedra around edges.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Bundles, NO_MEMBER};
use crate::{Elements, Incidence};

/// No tetrahedron.
const NONE: u32 = u32::MAX;

/// The triangles of a tetrahedron, each after the body that it does not have, so that all four orders
/// are even permutations of the tetrahedron's own.
const SIDES: [[usize; 4]; 4] = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 0, 1, 3], [3, 0, 2, 1]];

/// The corners of a tetrahedron: those of an edge, then the two others, as even permutations.
const EDGES: [[usize; 4]; 6] =
    [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]];

/// Puts tetrahedra together that follow each other around an edge: bodies p, q, a, b, c and d with the
/// tetrahedra pqab, pqbc, pqcd and pqda, in these orders up to even permutations, so that all keep their
/// orientation. All four are there where just four surround an edge; else there are three at most, and
/// bodies of neighbors stand in for those that are missing.
///
/// Those with the fewest neighbors left choose first, and take from others as few as they can, so that
/// hardly any stays alone.
///
/// Returns nothing if some tetrahedron finds too few bodies around it.
///
/// # Panics
/// If elements do not have four bodies each.
///
/// ```
/// use taut_partition::{Elements, bundles};
///
/// let around = [[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 5], [0, 1, 5, 2]];
/// let bundles = bundles::tetrahedra_around_edges(&Elements::uniform(&around, 6)?).unwrap();
/// assert_eq!(bundles.bodies, [0, 1, 5, 2, 3, 4]);
/// assert_eq!(bundles.members, [3, 0, 1, 2]);
/// # Ok::<(), taut_partition::InputError>(())
/// ```
pub fn tetrahedra_around_edges(tetrahedra: &Elements<'_>) -> Option<Bundles> {
    assert!(tetrahedra.is_empty() || tetrahedra.arity() == Some(4), "tetrahedra have four bodies");
    let mut search = Search {
        tetrahedra,
        neighbors: neighbors(tetrahedra),
        is_free: vec![true; tetrahedra.len()],
    };
    let mut fans = Vec::new();
    let need = |search: &Search<'_>, own: u32| Reverse((search.free_around(own), own));
    let mut queue: BinaryHeap<_> =
        (0..tetrahedra.len() as u32).map(|own| need(&search, own)).collect();
    while let Some(Reverse((_, own))) = queue.pop() {
        // It may have lost neighbors since it was put here: then it stands further to the front, too.
        if !search.is_free[own as usize] {
            continue;
        }
        let fan = search.best(own);
        fan.members().for_each(|member| search.is_free[member as usize] = false);
        for neighbor in fan.members().flat_map(|member| search.neighbors[member as usize]) {
            if neighbor != NONE && search.is_free[neighbor as usize] {
                queue.push(need(&search, neighbor));
            }
        }
        fans.push(fan);
    }
    // Those that lack the same stand together: lanes side by side do the same work.
    fans.sort_by_key(|fan| Reverse(fan.len()));
    let incidence = Incidence::new(tetrahedra);
    let mut bundles = Bundles::default();
    for fan in fans {
        bundles.bodies.extend(fan.bodies(tetrahedra, &incidence)?);
        bundles.members.extend(fan.members);
    }
    Some(bundles)
}

/// Tetrahedra one after another around an edge.
#[derive(Clone, Copy)]
struct Fan {
    /// The edge, and the bodies around it, the second and the third of them of the second member.
    edge: [u32; 2],
    around: [u32; 4],
    /// The tetrahedra between the bodies around, or [`NO_MEMBER`].
    members: [u32; 4],
}

impl Fan {
    fn members(&self) -> impl Iterator<Item = u32> + '_ {
        self.members.iter().copied().filter(|&member| member != NO_MEMBER)
    }

    fn len(&self) -> usize {
        self.members().count()
    }

    /// What the members are worth: the more of them, the better.
    fn gain(&self) -> i32 {
        48 * self.len() as i32
    }

    /// The bodies of the bundle: those that no member has are those of neighbors.
    fn bodies(&self, tetrahedra: &Elements<'_>, incidence: &Incidence) -> Option<[u32; 6]> {
        let [p, q] = self.edge;
        let [a, b, c, d] = self.around;
        let mut bodies = [p, q, a, b, c, d];
        for place in 2..6 {
            if bodies[place] == NONE {
                let around = [p, q, b, c].into_iter().flat_map(|body| incidence.of(body));
                let mut others = around.flat_map(|&element| tetrahedra.of(element as usize));
                bodies[place] = *others.find(|body| !bodies.contains(body))?;
            }
        }
        Some(bodies)
    }
}

/// The way to bundles.
struct Search<'a> {
    tetrahedra: &'a Elements<'a>,
    /// For each side of each tetrahedron the one behind it, or none.
    neighbors: Vec<[u32; 4]>,
    /// Those in no bundle yet.
    is_free: Vec<bool>,
}

impl Search<'_> {
    /// How many neighbors of a tetrahedron are free.
    fn free_around(&self, own: u32) -> usize {
        self.neighbors[own as usize].iter().filter(|&&other| self.free(other).is_some()).count()
    }

    fn free(&self, own: u32) -> Option<u32> {
        (own != NONE && self.is_free[own as usize]).then_some(own)
    }

    /// The best fan that a free tetrahedron can be a member of.
    fn best(&self, own: u32) -> Fan {
        let mut best = (i32::MAX, self.alone(own, EDGES[0]));
        let neighbors = self.neighbors[own as usize].into_iter().filter_map(|one| self.free(one));
        for second in [own].into_iter().chain(neighbors) {
            for corners in EDGES {
                let [.., b, c] = corners;
                let beside = [b, c].map(|corner| self.neighbors[second as usize][corner]);
                if second != own && !beside.contains(&own) {
                    continue;
                }
                for fan in self.fans(second, corners) {
                    // Most need no closer look: not even without any harm would they be better.
                    if fan.members.contains(&own) && -fan.gain() < best.0 {
                        let cost = self.harm(&fan) - fan.gain();
                        best = if cost < best.0 { (cost, fan) } else { best };
                    }
                }
            }
        }
        best.1
    }

    /// A tetrahedron as the second member of a fan around an edge.
    fn alone(&self, own: u32, [p, q, b, c]: [usize; 4]) -> Fan {
        let bodies = self.tetrahedra.of(own as usize);
        Fan {
            edge: [bodies[p], bodies[q]],
            around: [NONE, bodies[b], bodies[c], NONE],
            members: [NO_MEMBER, own, NO_MEMBER, NO_MEMBER],
        }
    }

    /// The fans around an edge of a tetrahedron, with as many members as there are before it and after.
    fn fans(&self, own: u32, corners: [usize; 4]) -> impl Iterator<Item = Fan> + use<> {
        let alone = self.alone(own, corners);
        let [.., b, c] = corners;
        let behind = self.neighbors[own as usize];
        // Behind the side without c is the one before, behind the side without b the one after.
        let step = |side: usize| {
            let member = self.free(behind[side])?;
            let is_new = |body: &&u32| !self.tetrahedra.of(own as usize).contains(body);
            Some((member, *self.tetrahedra.of(member as usize).iter().find(is_new)?))
        };
        let (before, after) = (step(c), step(b));
        let mut fans = [Some(alone), None, None, None];
        if let Some((member, body)) = before {
            let mut fan = alone;
            (fan.members[0], fan.around[0]) = (member, body);
            fans[1] = Some(fan);
        }
        if let Some((member, body)) = after {
            let mut fan = fans[1].unwrap_or(alone);
            (fan.members[2], fan.around[3]) = (member, body);
            // Three all around an edge have too few bodies for this shape.
            if fan.around[0] == body {
                (fan.members[0], fan.around[0]) = (NO_MEMBER, NONE);
            }
            fans[2] = Some(fan);
            fans[3] = self.closed(&fan);
        }
        fans.into_iter().rev().flatten()
    }

    /// A fan of three with the fourth that closes it, if there is one.
    fn closed(&self, fan: &Fan) -> Option<Fan> {
        let [first, _, third, _] = fan.members;
        if first == NO_MEMBER {
            return None;
        }
        let [a, .., d] = fan.around;
        let mut behind = self.neighbors[first as usize].into_iter();
        let closes = |one: &u32| {
            let is_neighbor = self.neighbors[third as usize].contains(one);
            let has = |body: u32| self.tetrahedra.of(*one as usize).contains(&body);
            is_neighbor && [fan.edge[0], fan.edge[1], a, d].into_iter().all(has)
        };
        let fourth = behind.find(|&one| self.free(one).is_some_and(|one| closes(&one)))?;
        Some(Fan { members: [first, fan.members[1], third, fourth], ..*fan })
    }

    /// What a fan does to others: members that they could use well, and neighbors that are left with
    /// nobody, or with one alone.
    fn harm(&self, fan: &Fan) -> i32 {
        let mut harm = 0;
        let mut neighbors = 0;
        for member in fan.members() {
            for other in self.neighbors[member as usize] {
                let Some(other) = self.free(other) else { continue };
                neighbors += 1;
                if !fan.members.contains(&other) {
                    let behind = self.neighbors[other as usize].into_iter();
                    let left = behind
                        .filter(|&one| self.free(one).is_some() && !fan.members.contains(&one));
                    harm += [72, 24, 0, 0, 0][left.count()];
                }
            }
        }
        harm + 12 * neighbors / fan.len() as i32
    }
}

/// For each side of each tetrahedron the one behind it, or none. Both see the side in opposite orders:
/// tetrahedra that overlap are no neighbors.
fn neighbors(tetrahedra: &Elements<'_>) -> Vec<[u32; 4]> {
    let mut sides = Vec::with_capacity(4 * tetrahedra.len());
    for own in 0..tetrahedra.len() {
        let bodies = tetrahedra.of(own);
        for (side, corners) in SIDES.iter().enumerate() {
            let mut triangle = [bodies[corners[1]], bodies[corners[2]], bodies[corners[3]]];
            let is_even = sort(&mut triangle);
            sides.push((triangle, is_even, (own * 4 + side) as u32));
        }
    }
    sides.sort_unstable();
    let mut neighbors = vec![[NONE; 4]; tetrahedra.len()];
    for same in sides.chunk_by(|a, b| a.0 == b.0) {
        if let [(_, a_even, a), (_, b_even, b)] = *same
            && a_even != b_even
        {
            neighbors[a as usize / 4][a as usize % 4] = b / 4;
            neighbors[b as usize / 4][b as usize % 4] = a / 4;
        }
    }
    neighbors
}

/// Sorts three numbers; whether that was an even permutation.
fn sort(numbers: &mut [u32; 3]) -> bool {
    let mut is_even = true;
    for (low, high) in [(0, 1), (1, 2), (0, 1)] {
        if numbers[low] > numbers[high] {
            numbers.swap(low, high);
            is_even = !is_even;
        }
    }
    is_even
}

#[cfg(test)]
mod tests {
    //! Contract: every tetrahedron is in one bundle, in an even permutation of its order at its place;
    //! those of a block have three or four members, but for a few.

    use proptest::prelude::*;

    use super::*;

    fn is_even(a: &[u32], b: &[u32]) -> bool {
        let mut places: Vec<usize> =
            a.iter().map(|body| b.iter().position(|other| other == body).unwrap()).collect();
        let mut is_even = true;
        for place in 0..places.len() {
            while places[place] != place {
                let other = places[place];
                places.swap(place, other);
                is_even = !is_even;
            }
        }
        is_even
    }

    /// How many bundles there are.
    fn check(tetrahedra: &[[u32; 4]], bundles: &Bundles) -> usize {
        let mut seen = vec![false; tetrahedra.len()];
        for (bodies, members) in bundles.bodies.chunks(6).zip(bundles.members.chunks(4)) {
            let corners = [[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 5], [0, 1, 5, 2]];
            for (corners, &member) in corners.iter().zip(members) {
                if member == NO_MEMBER {
                    continue;
                }
                assert!(!std::mem::replace(&mut seen[member as usize], true));
                assert!(is_even(
                    &corners.map(|corner| bodies[corner]),
                    &tetrahedra[member as usize]
                ));
            }
            let mut sorted = bodies.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), 6);
        }
        assert!(seen.into_iter().all(|seen| seen));
        bundles.members.len() / 4
    }

    /// Cubes cut into six tetrahedra each, around a diagonal.
    fn block(side: u32) -> Vec<[u32; 4]> {
        let at = |x: u32, y: u32, z: u32| (z * (side + 1) + y) * (side + 1) + x;
        let ways = [[0, 1, 2], [1, 0, 2], [1, 2, 0], [2, 1, 0], [2, 0, 1], [0, 2, 1]];
        let mut tetrahedra = Vec::new();
        for cube in 0..side.pow(3) {
            let corner = [cube % side, cube / side % side, cube / side / side];
            for (index, way) in ways.iter().enumerate() {
                let mut place = corner;
                let mut own = vec![at(place[0], place[1], place[2])];
                for &axis in way {
                    place[axis] += 1;
                    own.push(at(place[0], place[1], place[2]));
                }
                if index % 2 == 1 {
                    own.swap(0, 1);
                }
                tetrahedra.push([own[0], own[1], own[2], own[3]]);
            }
        }
        tetrahedra
    }

    #[test]
    fn bundles_of_a_block_have_three_or_four_members() {
        let tetrahedra = block(8);
        let elements = Elements::uniform(&tetrahedra, 9 * 9 * 9).unwrap();
        let bundles = tetrahedra_around_edges(&elements).unwrap();
        let count = check(&tetrahedra, &bundles);
        assert!(10 * tetrahedra.len() >= 32 * count, "{count} for {}", tetrahedra.len());
        let fans = bundles.members.chunks(4);
        let small = fans.filter(|fan| fan.iter().filter(|&&one| one != NO_MEMBER).count() < 3);
        assert!(small.count() * 50 <= count);
    }

    #[test]
    fn tetrahedra_that_overlap_are_no_neighbors() {
        let all = [[0, 1, 2, 3], [4, 1, 2, 3], [0, 1, 4, 5]];
        let bundles =
            |all: &[[u32; 4]]| tetrahedra_around_edges(&Elements::uniform(all, 6).unwrap());
        assert_eq!(check(&all, &bundles(&all).unwrap()), 3);
        assert_eq!(bundles(&all[..2]), None, "five bodies are too few");
    }

    #[test]
    fn three_around_an_edge_do_not_all_fit() {
        let all = [[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 2], [2, 3, 4, 5]];
        let elements = Elements::uniform(&all, 6).unwrap();
        check(&all, &tetrahedra_around_edges(&elements).unwrap());
    }

    proptest! {
        #[test]
        fn every_tetrahedron_is_in_one_bundle(
            all in prop::collection::vec(prop::array::uniform4(0_u32..9), 0..60),
        ) {
            let is_proper = |own: &[u32; 4]| {
                (0..4).all(|a| (0..a).all(|b| own[a] != own[b]))
            };
            let tetrahedra: Vec<[u32; 4]> = all.into_iter().filter(is_proper).collect();
            let elements = Elements::uniform(&tetrahedra, 9).unwrap();
            if let Some(bundles) = tetrahedra_around_edges(&elements) {
                check(&tetrahedra, &bundles);
            }
        }
    }
}
