//! Halos: what each rank owns, what it computes, and what it exchanges with whom.

use super::Ranks;
use crate::Elements;

/// Who computes an element whose movable bodies belong to several ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// One rank, which then sends what it has done to the bodies of others back to their owners,
    /// along the same lists the other way round (paper E computes interactions between blocks
    /// once). It is the rank that owns most of the element's movable bodies, and among equals
    /// the one with the fewest elements so far.
    #[default]
    Once,
    /// Every rank that owns one of its movable bodies: more arithmetic, but nothing to send back.
    EveryOwner,
}

/// The side of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halo {
    /// The bodies of this rank, in ascending order.
    pub owned: Vec<u32>,
    /// Elements computed here that need nothing from other ranks, in ascending order: there is
    /// time for them while messages are under way.
    pub inner: Vec<u32>,
    /// Elements computed here that need movable bodies of other ranks, in ascending order.
    pub border: Vec<u32>,
    /// Movable bodies of other ranks that `border` needs, by rank.
    pub receives: Vec<Exchange>,
    /// Own bodies that other ranks need, by rank.
    pub sends: Vec<Exchange>,
    /// Fixed bodies of other ranks that are needed here: they never change, so it is enough to
    /// copy them once.
    pub fixed: Vec<u32>,
}

/// Bodies that go from their owner to another rank. The sender's list and the receiver's are
/// the same, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The other rank.
    pub rank: u32,
    /// The bodies.
    pub bodies: Vec<u32>,
}

impl Halo {
    /// All bodies that this rank holds, in an order to store them in: its own, then what it
    /// receives, message by message (so that a message can be received in place), then the fixed
    /// ones.
    pub fn local_bodies(&self) -> Vec<u32> {
        let received = self.receives.iter().flat_map(|exchange| &exchange.bodies);
        self.owned.iter().chain(received).chain(&self.fixed).copied().collect()
    }
}

pub(super) fn halos(ranks: &Ranks, elements: &Elements<'_>, sharing: Sharing) -> Vec<Halo> {
    let mut halos = vec![Halo::default(); ranks.count];
    for (body, &rank) in ranks.of_body.iter().enumerate() {
        halos[rank as usize].owned.push(body as u32);
    }
    let mut ghosts = vec![Vec::new(); ranks.count];
    for element in 0..elements.len() {
        for rank in computing_ranks(ranks, elements, element, sharing, &halos) {
            add_element(ranks, elements, element, &mut halos[rank], &mut ghosts[rank], rank);
        }
    }
    for (rank, ghosts) in ghosts.into_iter().enumerate() {
        exchange(ranks, rank, ghosts, &mut halos);
        halos[rank].fixed.sort_unstable();
        halos[rank].fixed.dedup();
    }
    halos
}

/// The ranks that compute an element.
fn computing_ranks(
    ranks: &Ranks,
    elements: &Elements<'_>,
    element: usize,
    sharing: Sharing,
    halos: &[Halo],
) -> Vec<usize> {
    let mut owners: Vec<usize> =
        elements.movable_of(element).map(|body| ranks.of_body[body as usize] as usize).collect();
    if owners.is_empty() {
        // Nobody's bodies move: any rank will do, best one that has the bodies.
        let first = elements.of(element).first();
        return vec![first.map_or(0, |&body| ranks.of_body[body as usize] as usize)];
    }
    owners.sort_unstable();
    if sharing == Sharing::Once {
        let load = |rank: usize| halos[rank].inner.len() + halos[rank].border.len();
        let groups = owners.chunk_by(|a, b| a == b);
        let best = groups.min_by_key(|group| (usize::MAX - group.len(), load(group[0]), group[0]));
        owners = best.map_or(Vec::new(), |group| vec![group[0]]);
    }
    owners.dedup();
    owners
}

/// Adds an element to a rank, and the movable bodies that it needs from others to its ghosts.
fn add_element(
    ranks: &Ranks,
    elements: &Elements<'_>,
    element: usize,
    halo: &mut Halo,
    ghosts: &mut Vec<u32>,
    rank: usize,
) {
    let before = ghosts.len();
    for &body in elements.of(element) {
        if ranks.of_body[body as usize] as usize != rank {
            let list = if elements.is_fixed(body) { &mut halo.fixed } else { &mut *ghosts };
            list.push(body);
        }
    }
    let list = if ghosts.len() > before { &mut halo.border } else { &mut halo.inner };
    list.push(element as u32);
}

/// Sorts the ghosts of a rank by owner and enters them on both sides.
fn exchange(ranks: &Ranks, rank: usize, mut ghosts: Vec<u32>, halos: &mut [Halo]) {
    let owner = |body: u32| ranks.of_body[body as usize];
    ghosts.sort_unstable_by_key(|&body| (owner(body), body));
    ghosts.dedup();
    for bodies in ghosts.chunk_by(|&a, &b| owner(a) == owner(b)) {
        let sender = owner(bodies[0]);
        let bodies = bodies.to_vec();
        let send = Exchange { rank: rank as u32, bodies: bodies.clone() };
        halos[sender as usize].sends.push(send);
        halos[rank].receives.push(Exchange { rank: sender, bodies });
    }
}
