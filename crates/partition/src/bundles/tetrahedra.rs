//! Tetrahedra in twos.

use super::{Bundles, NO_MEMBER};
use crate::{Elements, Incidence};

/// No tetrahedron.
const NONE: u32 = u32::MAX;

/// The triangles of a tetrahedron, each after the body that it does not have, so that all four orders
/// are even permutations of the tetrahedron's own.
const SIDES: [[usize; 4]; 4] = [[0, 1, 2, 3], [1, 0, 3, 2], [2, 0, 1, 3], [3, 0, 2, 1]];

/// Puts tetrahedra together in twos: bodies a, b, c, d and e with the tetrahedra abcd and ebdc, in
/// these orders up to even permutations, so that both keep their orientation. A tetrahedron that finds
/// no other goes alone, with some neighbor's body as the fifth.
///
/// Those with the fewest neighbors left choose first, so that few stay alone.
///
/// Returns nothing if some tetrahedron has no neighbor at all.
///
/// # Panics
/// If elements do not have four bodies each.
///
/// ```
/// use taut_partition::{Elements, bundles};
///
/// let tetrahedra = Elements::uniform(&[[0, 1, 2, 3], [4, 1, 3, 2]], 5)?;
/// let bundles = bundles::two_tetrahedra(&tetrahedra).unwrap();
/// assert_eq!(bundles.bodies, [0, 1, 2, 3, 4]);
/// assert_eq!(bundles.members, [0, 1]);
/// # Ok::<(), taut_partition::InputError>(())
/// ```
pub fn two_tetrahedra(tetrahedra: &Elements<'_>) -> Option<Bundles> {
    assert!(tetrahedra.is_empty() || tetrahedra.arity() == Some(4), "tetrahedra have four bodies");
    let neighbors = neighbors(tetrahedra);
    let partners = match_up(&neighbors);
    // Needed only if some tetrahedron stays alone.
    let mut incidence = None;
    let mut bundles = Bundles::default();
    for (own, &partner) in partners.iter().enumerate() {
        let other = own as u32;
        if partner == NONE {
            let incidence = incidence.get_or_insert_with(|| Incidence::new(tetrahedra));
            bundles.bodies.extend(tetrahedra.of(own));
            bundles.bodies.push(near(tetrahedra, incidence, own)?);
            bundles.members.extend([other, NO_MEMBER]);
        } else if other < partner {
            let side = neighbors[own].iter().position(|&neighbor| neighbor == partner)?;
            let bodies = SIDES[side].map(|corner| tetrahedra.of(own)[corner]);
            bundles.bodies.extend(bodies);
            let is_new = |body: &&u32| !bodies.contains(body);
            bundles.bodies.push(*tetrahedra.of(partner as usize).iter().find(is_new)?);
            bundles.members.extend([other, partner]);
        }
    }
    Some(bundles)
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

/// A partner for each tetrahedron, or none. Whoever has a single choice left takes it at once; only
/// when nobody has, the first one in the list chooses.
fn match_up(neighbors: &[[u32; 4]]) -> Vec<u32> {
    let mut partners = vec![NONE; neighbors.len()];
    let mut urgent = Vec::new();
    for first in 0..neighbors.len() {
        urgent.push(first as u32);
        while let Some(own) = urgent.pop() {
            if partners[own as usize] != NONE {
                continue;
            }
            let free = |partners: &[u32], of: u32| {
                let all = neighbors[of as usize].into_iter();
                let is_free = |&one: &u32| one != NONE && partners[one as usize] == NONE;
                all.filter(is_free).collect::<Vec<u32>>()
            };
            // The neediest neighbor: the others find somebody else more easily.
            let choices = free(&partners, own);
            let Some(&partner) = choices.iter().min_by_key(|&&one| free(&partners, one).len())
            else {
                continue;
            };
            partners[own as usize] = partner;
            partners[partner as usize] = own;
            for of in [own, partner] {
                let left = free(&partners, of).into_iter();
                urgent.extend(left.filter(|&one| free(&partners, one).len() == 1));
            }
        }
    }
    partners
}

/// A body of a neighbor of a tetrahedron.
fn near(tetrahedra: &Elements<'_>, incidence: &Incidence, own: usize) -> Option<u32> {
    let bodies = tetrahedra.of(own);
    let around = bodies.iter().flat_map(|&body| incidence.of(body));
    let mut others = around.flat_map(|&element| tetrahedra.of(element as usize));
    others.find(|body| !bodies.contains(body)).copied()
}

#[cfg(test)]
mod tests {
    //! Contract: every tetrahedron is in one bundle, in an even permutation of its order at its place;
    //! of a block of tetrahedra hardly any stays alone.

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

    fn check(tetrahedra: &[[u32; 4]], bundles: &Bundles) -> usize {
        let mut seen = vec![false; tetrahedra.len()];
        let mut alone = 0;
        for (bodies, members) in bundles.bodies.chunks(5).zip(bundles.members.chunks(2)) {
            let corners = [[0, 1, 2, 3], [4, 1, 3, 2]];
            for (corners, &member) in corners.iter().zip(members) {
                if member == NO_MEMBER {
                    alone += 1;
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
            assert_eq!(sorted.len(), 5);
        }
        assert!(seen.into_iter().all(|seen| seen));
        alone
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
    fn hardly_any_tetrahedron_of_a_block_stays_alone() {
        let tetrahedra = block(8);
        let elements = Elements::uniform(&tetrahedra, 9 * 9 * 9).unwrap();
        let alone = check(&tetrahedra, &two_tetrahedra(&elements).unwrap());
        assert!(alone * 50 <= tetrahedra.len(), "{alone} of {}", tetrahedra.len());
    }

    #[test]
    fn tetrahedra_that_overlap_are_no_neighbors() {
        let both = [[0, 1, 2, 3], [4, 1, 2, 3]];
        let elements = Elements::uniform(&both, 5).unwrap();
        assert_eq!(check(&both, &two_tetrahedra(&elements).unwrap()), 2);
        assert_eq!(two_tetrahedra(&Elements::uniform(&both[..1], 4).unwrap()), None);
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
            if let Some(bundles) = two_tetrahedra(&elements) {
                check(&tetrahedra, &bundles);
            }
        }
    }
}
