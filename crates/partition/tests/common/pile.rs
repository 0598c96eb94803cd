//! A pile of boxes on a static ground, as in paper D's scene (12k bodies, 180k contacts).

#![allow(unreachable_pub, reason = "shared by tests and the benchmark")]

/// Contacts between bodies of about unit size.
#[derive(Clone, Debug, Default)]
pub struct Pile {
    /// The two bodies of each contact point.
    pub contacts: Vec<[u32; 2]>,
    /// Where each contact point is.
    pub points: Vec<[f32; 3]>,
    /// The largest distance between two contact points of a body.
    pub extents: Vec<f32>,
    /// The ground, which is the last body.
    pub fixed: Vec<bool>,
}

/// `side`³ boxes in a loose order: four contact points to each neighbor along the axes and to
/// seven in eight of the diagonal neighbors, and to the ground. Body numbers have nothing to do
/// with places, as after a collapse; contacts go by body number, as a broad phase lists them.
pub fn pile(side: u32, step: u64) -> Pile {
    let count = side * side * side;
    let place_of = shuffled(count);
    let mut body_at = vec![0; count as usize];
    for (body, &place) in place_of.iter().enumerate() {
        body_at[place as usize] = body as u32;
    }
    let mut pile = Pile::default();
    for (body, &place) in place_of.iter().enumerate() {
        let at = [place % side, place / side % side, place / side / side];
        let diagonal = !noise(u64::from(place) ^ step << 32).is_multiple_of(8);
        for (neighbor, wanted) in
            [([1, 0, 0], true), ([0, 1, 0], true), ([0, 0, 1], true), ([1, 1, 0], diagonal)]
        {
            let to = [0, 1, 2].map(|axis| at[axis] + neighbor[axis]);
            if wanted && to.iter().all(|&x| x < side) {
                let other = body_at[((to[2] * side + to[1]) * side + to[0]) as usize];
                pile.touch(body as u32, other, at, neighbor, step);
            }
        }
        if at[1] == 0 {
            pile.touch(body as u32, count, at, [0, 0, 0], step);
        }
    }
    pile.extents = vec![2.0; count as usize];
    pile.extents.push(f32::INFINITY);
    pile.fixed = vec![false; count as usize];
    pile.fixed.push(true);
    pile
}

impl Pile {
    /// Four contact points between a body and its neighbor, inside the body's box of width 1.
    fn touch(&mut self, body: u32, other: u32, at: [u32; 3], neighbor: [u32; 3], step: u64) {
        for corner in 0..4 {
            let seed = (self.contacts.len() * 4 + corner) as u64 ^ step << 40;
            let point = [0, 1, 2].map(|axis| {
                let jitter = (noise(seed * 3 + axis as u64) % 1000) as f32 / 1000.0 - 0.5;
                at[axis] as f32 + 0.5 * neighbor[axis] as f32 + 0.5 * jitter
            });
            self.contacts.push([body, other]);
            self.points.push(point);
        }
    }
}

fn shuffled(count: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by_key(|&place| noise(u64::from(place)));
    order
}

/// Cheap reproducible noise.
fn noise(number: u64) -> u64 {
    let mut hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def0;
    hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}
