//! Which particles are close to each other: boxes around patches of members, a tree of boxes above them, and a
//! list of partners for each member. What comes out does not depend on the number of workers.
//!
//! 1. *ways*: which ways members have made since partners were last looked for everywhere. If all have made nearly
//!    the same, partners are still the same, and the other passes are left out (as molecular dynamics does, which
//!    compares with no way at all; Verlet 1967);
//! 2. *boxes*: where members are now, and the boxes around patches and around their ways;
//! 3. *tree*: the boxes around those;
//! 4. *search*: patches whose boxes are within reach, and their members compared with each other. A patch whose way
//!    is nearly that of all patches near it keeps its partners; one that has looked for them looks again in each
//!    substep, until many do or nobody need, when all look together once more;
//! 5. *normals*: which way is out, for those that found partners.
//!
//! Patches are parts of a mesh, so they stay together however it moves, and nothing needs to be sorted: a member
//! is compared with few others, sixteen at a time, which lie in memory as registers want them. (Molecular dynamics
//! compares clusters of atoms for that reason; Páll and Hess 2013, 'A flexible algorithm for calculating pair
//! interactions on SIMD architectures'.) Devices sort members into the cells of a grid instead (`detect.wgsl`):
//! they have threads enough to look around for each member by itself.
#![allow(
    clippy::needless_range_loop,
    reason = "loops over axes and columns are unrolled; iterators end up as calls"
)]

mod search;

use std::ops::Range;

use super::run::{Share, Team};
use super::stage::{vector, with_fourth};
use crate::math::{Lane, Vec3, Work};
use crate::model::{FAN, PATCH, ParticleContacts};
use crate::state::{Access, ContactView, Storage, View};
use search::Search;

/// A pass of detection: all workers meet after each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectPass {
    /// How far members have moved.
    Ways,
    /// Where members and patches are; on a device, how many members each cell has.
    Boxes,
    /// Boxes around boxes; on a device, members by cell.
    Tree,
    /// Partners.
    Search,
    /// Normals of soft bodies where there are partners.
    Normals,
}

impl DetectPass {
    /// All passes in their order.
    pub const ALL: [Self; 5] = [Self::Ways, Self::Boxes, Self::Tree, Self::Search, Self::Normals];
}

/// Does a worker's share of a pass; returns how many partners had no room in a list.
pub(super) fn detect<S: Storage, T: Team>(
    pass: DetectPass,
    contacts: &ParticleContacts,
    view: &View<S>,
    team: &T,
) -> usize {
    let share = team.share();
    let nodes = contacts.patches.lowest();
    match pass {
        DetectPass::Ways => {
            team.compute(Ways { contacts, nodes: share.of(nodes.len()), view });
        }
        _ if !is_due(contacts, &view.contacts) => {}
        DetectPass::Boxes => {
            team.compute(Boxes { contacts, nodes: share.of(nodes.len()), view });
        }
        DetectPass::Tree => tree(contacts, &view.contacts, share),
        DetectPass::Search => {
            let mut dropped = 0;
            team.deal(nodes.len(), |nodes| {
                dropped += team.compute(Search { contacts, nodes, view });
            });
            return dropped;
        }
        DetectPass::Normals => normals(contacts, view, share),
    }
    0
}

/// The members with a number of the patches below a node, from one on, sorted by component. Where there are no more
/// patches, the last one's again.
#[inline(always)]
fn across<L: Lane, S: Storage>(
    contacts: &ParticleContacts,
    patches: &Range<usize>,
    first: usize,
    number: usize,
    view: &View<S>,
) -> [L; 4] {
    let slots = &contacts.patches.slots;
    L::from_quadruples(|lane| {
        let patch = (patches.start + first + lane).min(patches.end - 1);
        view.positions.get(slots[patch * PATCH + number] as usize)
    })
}

/// The ways that the members below some nodes have made.
struct Ways<'a, S: Storage> {
    contacts: &'a ParticleContacts,
    nodes: Range<usize>,
    view: &'a View<S>,
}

impl<S: Storage> Work for Ways<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        for node in self.nodes.clone() {
            let (memory, ways) = (&self.view.contacts, self.ways::<L>(node));
            memory.ways.set(node, ways);
            memory.looked.set(node, memory.fresh.get(node));
        }
    }
}

impl<S: Storage> Ways<'_, S> {
    /// The box around the ways of the members below a node. Those of its patches are kept.
    #[inline(always)]
    fn ways<L: Lane>(&self, node: usize) -> [[f32; 3]; 2] {
        let memory = &self.view.contacts;
        let patches = self.contacts.patches.below(node);
        let mut children = Children::NONE;
        // Not a number as soon as a way is none: comparing would lose it.
        let mut odd = L::splat(0.0);
        for first in (0..patches.len()).step_by(L::WIDTH) {
            let mut around = Around::<L>::nothing();
            for number in 0..PATCH {
                let now = across::<L, S>(self.contacts, &patches, first, number, self.view);
                let mut way = [L::splat(0.0); 3];
                for axis in 0..3 {
                    let before = memory.kept.get((3 * node + axis) * PATCH + number);
                    way[axis] = now[axis] - L::load(&before[first..first + L::WIDTH]);
                    odd = odd + way[axis] * L::splat(0.0);
                }
                around.add(&way);
            }
            around.store(&mut children, first, patches.len());
        }
        children.set(node, &memory.patch_ways);
        for lane in 0..L::WIDTH {
            if odd.lane(lane).is_nan() {
                return ALL_WAYS;
            }
        }
        let [x, y, z, high_x, high_y, high_z] = children.around();
        [[x, y, z], [high_x, high_y, high_z]]
    }
}

/// Boxes around points, one in each lane.
struct Around<L> {
    low: [L; 3],
    high: [L; 3],
}

impl<L: Lane> Around<L> {
    #[inline(always)]
    fn nothing() -> Self {
        Self { low: [L::splat(f32::INFINITY); 3], high: [L::splat(f32::NEG_INFINITY); 3] }
    }

    #[inline(always)]
    fn add(&mut self, points: &[L; 3]) {
        for axis in 0..3 {
            self.low[axis] = self.low[axis].min(points[axis]);
            self.high[axis] = self.high[axis].max(points[axis]);
        }
    }

    /// Stores them as the boxes of a node's children from one on, as many as there are.
    #[inline(always)]
    fn store(&self, children: &mut Children, first: usize, count: usize) {
        let lanes = first..count.min(first + L::WIDTH);
        for axis in 0..3 {
            self.low[axis].store(&mut children.0[axis][lanes.clone()]);
            self.high[axis].store(&mut children.0[3 + axis][lanes.clone()]);
        }
    }
}

/// The box around nothing.
const NO_WAYS: [[f32; 3]; 2] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

/// The box around everything.
const ALL_WAYS: [[f32; 3]; 2] = [[f32::NEG_INFINITY; 3], [f32::INFINITY; 3]];

/// The box around two boxes.
fn around_both(
    [low, high]: [[f32; 3]; 2],
    [other_low, other_high]: [[f32; 3]; 2],
) -> [[f32; 3]; 2] {
    let axes = [0, 1, 2];
    [
        axes.map(|axis| low[axis].min(other_low[axis])),
        axes.map(|axis| high[axis].max(other_high[axis])),
    ]
}

/// Whether partners must be looked for, by somebody at least. All passes of a substep find the same answer, because
/// only the first one writes what it is found from.
fn is_due<S: Storage>(contacts: &ParticleContacts, memory: &ContactView<S>) -> bool {
    looked(contacts, memory) > 0 || have_moved(contacts, memory)
}

/// How many patches have looked for partners since all did: they must go on.
fn looked<S: Storage>(contacts: &ParticleContacts, memory: &ContactView<S>) -> usize {
    contacts.patches.lowest().map(|node| memory.looked.get(node).count_ones() as usize).sum()
}

/// Whether a member has moved far, seen from the middle of all ways.
fn have_moved<S: Storage>(contacts: &ParticleContacts, memory: &ContactView<S>) -> bool {
    let nodes = contacts.patches.lowest().map(|node| memory.ways.get(node));
    let [low, high] = nodes.fold(NO_WAYS, around_both);
    let half = [0, 1, 2].map(|axis| (f64::from(high[axis]) - f64::from(low[axis])) / 2.0);
    let stale = f64::from(contacts.stale());
    let square: f64 = half.iter().map(|half| half * half).sum();
    square > stale * stale
}

/// Where the members below some nodes are, and the boxes around their patches.
struct Boxes<'a, S: Storage> {
    contacts: &'a ParticleContacts,
    nodes: Range<usize>,
    view: &'a View<S>,
}

impl<S: Storage> Work for Boxes<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let Self { contacts, nodes, view } = self;
        let memory = &view.contacts;
        for node in nodes {
            let patches = contacts.patches.below(node);
            let mut children = Children::NONE;
            for first in (0..patches.len()).step_by(L::WIDTH) {
                let mut around = Around::<L>::nothing();
                for number in 0..PATCH {
                    let [x, y, z, _] = across(contacts, &patches, first, number, view);
                    around.add(&[x, y, z]);
                }
                around.store(&mut children, first, patches.len());
            }
            children.set(node, &memory.boxes);
            for patch in patches {
                let slots = &contacts.patches.slots[patch * PATCH..];
                let mut places = [[0.0; PATCH]; 4];
                for first in (0..PATCH).step_by(L::WIDTH) {
                    let now =
                        L::from_quadruples(|lane| view.positions.get(slots[first + lane] as usize));
                    for column in 0..4 {
                        now[column].store(&mut places[column][first..first + L::WIDTH]);
                    }
                }
                for column in 0..4 {
                    memory.places.set(4 * patch + column, places[column]);
                }
            }
        }
    }
}

/// The smallest of some numbers.
#[inline(always)]
fn lowest(numbers: &[f32; FAN]) -> f32 {
    let mut lowest = f32::INFINITY;
    for &number in numbers {
        lowest = if number < lowest { number } else { lowest };
    }
    lowest
}

/// The largest of some numbers.
#[inline(always)]
fn highest(numbers: &[f32; FAN]) -> f32 {
    let mut highest = f32::NEG_INFINITY;
    for &number in numbers {
        highest = if number > highest { number } else { highest };
    }
    highest
}

/// The boxes of a node's children: lowest x, y and z, highest x, y and z.
#[derive(Clone, Copy)]
struct Children([[f32; FAN]; 6]);

impl Children {
    const NONE: Self = {
        let (low, high) = ([f32::INFINITY; FAN], [f32::NEG_INFINITY; FAN]);
        Self([low, low, low, high, high, high])
    };

    #[inline(always)]
    fn of<A: Access<[f32; FAN]>>(node: usize, boxes: &A) -> Self {
        let mut children = Self::NONE;
        for column in 0..6 {
            children.0[column] = boxes.get(6 * node + column);
        }
        children
    }

    #[inline(always)]
    fn set<A: Access<[f32; FAN]>>(self, node: usize, boxes: &A) {
        for column in 0..6 {
            boxes.set(6 * node + column, self.0[column]);
        }
    }

    /// The box around all.
    #[inline(always)]
    fn around(&self) -> [f32; 6] {
        let [a, b, c, d, e, f] = &self.0;
        [lowest(a), lowest(b), lowest(c), highest(d), highest(e), highest(f)]
    }

    /// The box of one.
    #[inline(always)]
    fn one(&self, child: usize) -> [f32; 6] {
        let mut one = [0.0; 6];
        for column in 0..6 {
            one[column] = self.0[column][child];
        }
        one
    }

    /// A bit for each child whose box has something in common with another.
    #[inline(always)]
    fn meeting<L: Lane>(&self, other: &[f32; 6]) -> u32 {
        let mut found = 0;
        for first in (0..FAN).step_by(L::WIDTH) {
            let mut bits = first_bits(L::WIDTH);
            for axis in 0..3 {
                let low = L::load(&self.0[axis][first..first + L::WIDTH]);
                let high = L::load(&self.0[3 + axis][first..first + L::WIDTH]);
                bits &= L::bits(low.less(L::splat(other[3 + axis])));
                bits &= L::bits(L::splat(other[axis]).less(high));
            }
            found |= bits << first;
        }
        found
    }

    /// A bit for each child for which the box around its own and another has a diagonal that is longer.
    #[inline(always)]
    fn apart<L: Lane>(&self, other: &[f32; 6], diagonal: f32) -> u32 {
        let mut found = 0;
        for first in (0..FAN).step_by(L::WIDTH) {
            let mut square = L::splat(0.0);
            for axis in 0..3 {
                let low = L::load(&self.0[axis][first..first + L::WIDTH]);
                let high = L::load(&self.0[3 + axis][first..first + L::WIDTH]);
                let side = high.max(L::splat(other[3 + axis])) - low.min(L::splat(other[axis]));
                square = square + side * side;
            }
            let is_longer = L::splat(diagonal * diagonal).less(square);
            found |= (L::bits(is_longer) & first_bits(L::WIDTH)) << first;
        }
        found
    }
}

/// So many bits.
#[inline(always)]
fn first_bits(count: usize) -> u32 {
    (1 << count) - 1
}

/// Of so many patches one may look for partners by itself before all do.
const FRESH: usize = 4;

/// Boxes around boxes: so few that one worker makes them all. It also decides whether all patches look for partners.
fn tree<S: Storage>(contacts: &ParticleContacts, memory: &ContactView<S>, share: Share) {
    if share.worker != 0 {
        return;
    }
    let many = looked(contacts, memory) * FRESH > contacts.patches.all.len();
    // Where nobody need look, one look of all spares the next ones, but of patches that have too many partners.
    let were_all = memory.everywhere.get(0) != 0;
    let everywhere = many || !(have_moved(contacts, memory) || were_all);
    memory.everywhere.set(0, u32::from(everywhere));
    for (node, below) in contacts.patches.higher() {
        let mut children = Children::NONE;
        for (child, below) in below.enumerate() {
            let around = Children::of(below, &memory.boxes).around();
            for column in 0..6 {
                children.0[column][child] = around[column];
            }
        }
        children.set(node, &memory.boxes);
    }
}

/// Directions out of soft bodies: means of the normals of the triangles around, by their areas.
fn normals<S: Storage>(contacts: &ParticleContacts, view: &View<S>, share: Share) {
    for place in share.of(contacts.patches.slots.len()) {
        if view.contacts.counts.get(place)[0] == 0 {
            continue;
        }
        let particle = contacts.patches.slots[place] as usize;
        let triangles = contacts.solid_triangles.around(particle);
        if triangles.is_empty() {
            continue;
        }
        let mut sum = Vec3::<f32>::zero();
        for triangle in triangles {
            let [a, b, c] = triangle.map(|corner| vector(view.positions.get(corner as usize)));
            sum = sum + (b - a).cross(c - a);
        }
        let normal = sum * (1.0 / sum.length().max(f32::MIN_POSITIVE));
        view.contacts.normals.set(particle, with_fourth(normal, 0.0));
    }
}

#[cfg(test)]
mod tests {
    //! Contract: each member's list has every particle within reach, but those of its own body that
    //! are near it in the rest shape; once each, however the grid wraps around.

    use std::path::Path;

    use super::*;
    use crate::model::Model;
    use crate::scene::Scene;
    use crate::solver::{Alone, Job, Program, Stage, Substep, run};
    use crate::state::{MOST_PARTNERS, State};

    /// Two bodies of loose particles that overlap, far from the origin, and one that is lost.
    const SCENE: &str = r#"
        particle-contacts.radius = 0.1
        [[bodies]]
        name = "self-colliding"
        mesh.grid = { particles = [12, 12], size = [2, 2] }
        deform = [0.4, 1, 0.4]
        transform.position = [-300, 0, 20]
        [[bodies]]
        name = "block"
        kind = "soft"
        mesh.block = { size = [1, 1, 1], cells = [6, 6, 6] }
        transform.position = [-300, 0, 20]
        repeat = { count = [1, 3, 1], spacing = [0, 0.6, 0], jitter = 0.2 }
        self-collision = false
        pins = [{ indices = [0, 1, 2, 3] }]
        [[bodies]]
        name = "lost"
        mesh.grid = { particles = [2, 2], size = [1, 1] }
        transform.position = [100000, 0, 0]
    "#;

    fn detected() -> (Model, State) {
        let scene = Scene::parse("test", SCENE, Path::new("."), &[]).unwrap();
        let (model, mut state) = Model::build(&scene).unwrap();
        detect_again(&model, &mut state);
        (model, state)
    }

    fn detect_again(model: &Model, state: &mut State) {
        let program = Program { stages: DetectPass::ALL.map(Stage::Detect).to_vec() };
        let job = Job { model, program: &program, substeps: &[Substep::default()] };
        run(job, &state.cells(), &mut Alone);
    }

    /// The particles within a distance of one, by comparing with all.
    fn near(contacts: &ParticleContacts, state: &State, particle: u32, distance: f32) -> Vec<u32> {
        let difference = |a: [f32; 4], b: [f32; 4]| [0, 1, 2, 3].map(|axis| a[axis] - b[axis]);
        let square = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>();
        let is_near = |&other: &u32| {
            let (a, b) = (particle as usize, other as usize);
            let way = difference(state.positions[a], state.positions[b]);
            let rest = difference(contacts.rest[a], contacts.rest[b]);
            square(&way[..3]) < distance * distance && square(&rest) >= 1.0
        };
        contacts.members.iter().copied().filter(is_near).collect()
    }

    #[test]
    fn lists_have_all_that_are_near_and_may_touch() {
        let (model, state) = detected();
        let contacts = model.particle_contacts.as_ref().unwrap();
        let mut found = 0;
        for place in real_places(contacts) {
            let particle = contacts.patches.slots[place];
            let count = state.contacts.counts[place][0] as usize;
            let first = place * MOST_PARTNERS;
            let mut partners = state.contacts.partners[first..first + count].to_vec();
            partners.sort_unstable();
            let is_fixed = state.positions[particle as usize][3] == 0.0;
            let reach = contacts.reach();
            let expected =
                if is_fixed { Vec::new() } else { near(contacts, &state, particle, reach) };
            // A list that is full has some of them.
            if expected.len() <= MOST_PARTNERS {
                assert_eq!(partners, expected, "particle {particle}");
            } else {
                assert_eq!(count, MOST_PARTNERS);
            }
            found += count;
        }
        assert!(found > 1000, "{found} partners");
    }

    /// The places that have a member of their own.
    fn real_places(contacts: &ParticleContacts) -> Vec<usize> {
        let patches = contacts.patches.all.iter().enumerate();
        patches.flat_map(|(patch, own)| (0..own.count).map(move |i| patch * PATCH + i)).collect()
    }

    #[test]
    fn partners_are_looked_for_again_when_one_has_moved_far_from_the_others() {
        let (model, mut state) = detected();
        let stale = model.particle_contacts.as_ref().unwrap().stale();
        let moved = model.particle_contacts.as_ref().unwrap().patches.slots[7] as usize;
        // The height of the eighth member of the first patch.
        let kept = |state: &State| state.contacts.places[1][7];
        let before = kept(&state);
        // All together: nobody comes closer to anybody.
        for position in state.positions.iter_mut() {
            position[1] += 40.0 * stale;
        }
        detect_again(&model, &mut state);
        assert_eq!(kept(&state), before);
        // One by more than the others: seen from the middle of all ways, half as much.
        state.positions[moved][1] += 1.8 * stale;
        detect_again(&model, &mut state);
        assert_eq!(kept(&state), before);
        state.positions[moved][1] += 0.4 * stale;
        detect_again(&model, &mut state);
        assert_eq!(kept(&state), state.positions[moved][1]);
    }

    /// Bodies that pass each other, and one particle that jumps about: whoever may touch is in the lists, whether
    /// all patches have looked for partners since or only some.
    #[test]
    fn whoever_comes_close_is_found_though_few_look() {
        let (model, mut state) = detected();
        let contacts = model.particle_contacts.as_ref().unwrap();
        let stale = contacts.stale();
        let close = contacts.close();
        let (mut by_few, mut found) = (0, 0);
        for round in 0..60_u8 {
            for (number, body) in model.bodies.iter().enumerate() {
                let is_moving = round % 16 < 12;
                let speed = if is_moving { 0.3 * stale * (number as f32 - 2.0) } else { 0.0 };
                for particle in body.particles.clone() {
                    if state.positions[particle][3] != 0.0 {
                        state.positions[particle][0] += speed;
                    }
                }
            }
            state.positions[70][1] += stale * if round % 8 < 4 { 3.0 } else { -3.0 };
            let before = state.contacts.places.clone();
            detect_again(&model, &mut state);
            let is_due = state.contacts.places != before;
            by_few += u32::from(is_due && state.contacts.everywhere[0] == 0);
            for place in real_places(contacts) {
                let particle = contacts.patches.slots[place];
                let count = state.contacts.counts[place][0] as usize;
                let partners = &state.contacts.partners[place * MOST_PARTNERS..][..count];
                if state.positions[particle as usize][3] != 0.0 && count < MOST_PARTNERS {
                    for other in near(contacts, &state, particle, close) {
                        assert!(partners.contains(&other), "{particle} {other} in {round}");
                        found += 1;
                    }
                }
            }
        }
        assert!(by_few > 10 && found > 10_000, "{by_few} {found}");
    }

    #[test]
    fn only_surfaces_take_part_and_every_member_has_a_place() {
        let (model, _) = detected();
        let contacts = model.particle_contacts.as_ref().unwrap();
        let slots = &contacts.patches.slots;
        let mut placed: Vec<u32> =
            real_places(contacts).into_iter().map(|place| slots[place]).collect();
        placed.sort_unstable();
        assert_eq!(placed, contacts.members);
        // Of 7³ particles of a block 5³ are inside.
        assert_eq!(placed.len(), 144 + 3 * (343 - 125) + 4);
    }
}
