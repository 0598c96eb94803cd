//! The largest star, triangle or two-of-a-face family, without the constraint graph.
//!
//! The elements with at least two of the bodies a, b, c number
//! n(ab) + n(bc) + n(ca) − 2 n(abc), where n(…) counts the elements with all of these bodies: one
//! with all three is in all three pairs and must count once.

use super::CliqueNumber;
use crate::{Elements, Incidence};

/// Elements with more bodies are left out of the pairs, which are quadratic in their number.
const MOST_BODIES: usize = 16;

pub(super) fn clique_number(elements: &Elements<'_>) -> CliqueNumber {
    let incidence = Incidence::new(elements);
    let star = incidence.max_valence().max(usize::from(!elements.is_empty()));
    let most = (0..elements.len()).map(|element| elements.movable_of(element).count()).max();
    let skeleton = Skeleton::new(elements);
    let size = skeleton.largest_face(elements, &incidence, star);
    CliqueNumber { size, exact: most.unwrap_or(0) <= 2 }
}

/// The pairs of bodies that occur together in an element, with the number of such elements.
struct Skeleton {
    /// Body `a` has the partners `pairs[offsets[a]..offsets[a + 1]]`, all larger, rising.
    offsets: Vec<u32>,
    pairs: Vec<Pair>,
}

#[derive(Clone, Copy)]
struct Pair {
    partner: u32,
    elements: u32,
}

impl Skeleton {
    fn new(elements: &Elements<'_>) -> Self {
        let keys = sorted_pairs(elements);
        let mut offsets = vec![0; elements.body_count() + 1];
        let mut pairs = Vec::new();
        for same in keys.chunk_by(|a, b| a == b) {
            let (body, partner) = ((same[0] >> 32) as usize, same[0] as u32);
            pairs.push(Pair { partner, elements: same.len() as u32 });
            offsets[body + 1] = pairs.len() as u32;
        }
        for body in 1..offsets.len() {
            // A body without larger partners ends where the one before it ends.
            offsets[body] = offsets[body].max(offsets[body - 1]);
        }
        Self { offsets, pairs }
    }

    fn of(&self, body: u32) -> &[Pair] {
        let body = body as usize;
        &self.pairs[self.offsets[body] as usize..self.offsets[body + 1] as usize]
    }

    /// The largest family of elements with two of three bodies, if it is larger than `best`.
    fn largest_face(&self, elements: &Elements<'_>, incidence: &Incidence, best: usize) -> usize {
        let mut best = best;
        for a in 0..elements.body_count() as u32 {
            for (place, ab) in self.of(a).iter().enumerate() {
                for (ac, bc) in common(&self.of(a)[place + 1..], self.of(ab.partner)) {
                    let pairs = (ab.elements + ac.elements + bc.elements) as usize;
                    // Counting the elements with all three is the dear part, and seldom needed.
                    if pairs > best {
                        let all = count_all(elements, incidence, [a, ab.partner, ac.partner]);
                        best = best.max(pairs - 2 * all);
                    }
                }
            }
        }
        best
    }
}

fn sorted_pairs(elements: &Elements<'_>) -> Vec<u64> {
    let mut keys = Vec::new();
    for element in 0..elements.len() {
        let bodies = elements.movable_of(element);
        if elements.of(element).len() > MOST_BODIES {
            continue;
        }
        for (place, first) in bodies.clone().enumerate() {
            for second in bodies.clone().skip(place + 1) {
                keys.push(u64::from(first.min(second)) << 32 | u64::from(first.max(second)));
            }
        }
    }
    keys.sort_unstable();
    keys
}

/// The partners that two rising lists have in common.
fn common<'a>(first: &'a [Pair], second: &'a [Pair]) -> impl Iterator<Item = (Pair, Pair)> + 'a {
    let mut rest = second;
    first.iter().filter_map(move |&pair| {
        let smaller = rest.iter().take_while(|other| other.partner < pair.partner).count();
        rest = &rest[smaller..];
        let other = rest.first().copied()?;
        (other.partner == pair.partner).then_some((pair, other))
    })
}

/// How many elements have all three bodies.
fn count_all(elements: &Elements<'_>, incidence: &Incidence, bodies: [u32; 3]) -> usize {
    let [a, b, c] = bodies;
    let has_others = |element: &&u32| {
        let of_element = elements.of(**element as usize);
        of_element.len() <= MOST_BODIES && of_element.contains(&b) && of_element.contains(&c)
    };
    incidence.of(a).iter().filter(has_others).count()
}
