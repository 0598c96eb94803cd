//! Which particles are close to each other: a grid, members sorted by cell, and a list of partners
//! for each. What comes out does not depend on the number of workers.
//!
//! 1. *moments*: which ways the members of a chunk have made, and how far they spread, which decides
//!    the shape of the grid. If all have made nearly the same way since partners were last looked for,
//!    these are still the same, and the other passes are left out (as molecular dynamics does, which
//!    compares with no way at all; Verlet 1967);
//! 2. *count*: the cell of each member, and how many of a chunk are in each bucket of cells;
//! 3. *scatter*: members go to their bucket, chunk after chunk;
//! 4. *sort*: each bucket by cell (so this is a radix sort by the highest digit first, whose second
//!    digit is as long as it takes, and everything a worker does there stays in its cache);
//! 5. *search*: each member looks through the cells around its own;
//! 6. *normals*: which way is out, for those that found partners.

mod search;

use std::ops::Range;

use super::run::{Share, Team};
use super::stage::{vector, with_fourth};
use crate::collide::Grid;
use crate::math::{Lane, Vec3, Work};
use crate::model::ParticleContacts;
use crate::state::{Access, BUCKETS, ContactView, NO_BODY, SEVERAL_BODIES, Storage, View};
use search::Search;

/// A pass of detection: all workers meet after each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectPass {
    /// How far members spread.
    Moments,
    /// Cells, and how many members each bucket has.
    Count,
    /// Members by bucket.
    Scatter,
    /// Members by cell.
    Sort,
    /// Partners.
    Search,
    /// Normals of soft bodies where there are partners.
    Normals,
}

impl DetectPass {
    /// All passes in their order.
    pub const ALL: [Self; 6] =
        [Self::Moments, Self::Count, Self::Scatter, Self::Sort, Self::Search, Self::Normals];
}

/// Does a worker's share of a pass; returns how many partners had no room in a list.
pub(super) fn detect<S: Storage, T: Team>(
    pass: DetectPass,
    contacts: &ParticleContacts,
    view: &View<S>,
    team: &T,
) -> usize {
    let share = team.share();
    match pass {
        DetectPass::Moments => {
            team.compute(Moments { contacts, chunks: share.of(contacts.chunks()), view });
        }
        _ if !is_due(contacts, &view.contacts) => {}
        DetectPass::Count => count(contacts, view, share),
        DetectPass::Scatter => scatter(contacts, &view.contacts, share),
        DetectPass::Sort => sort(contacts, view, share),
        DetectPass::Search => {
            let grid = grid(contacts, &view.contacts);
            let places = share.of(contacts.members.len());
            return team.compute(Search { contacts, grid, places, view });
        }
        DetectPass::Normals => normals(contacts, view, share),
    }
    0
}

/// The members of a chunk.
fn chunk_of(contacts: &ParticleContacts, chunk: usize) -> Range<usize> {
    Share { worker: chunk, workers: contacts.chunks() }.of(contacts.members.len())
}

/// The way that some members have made, and how far they spread.
struct Moments<'a, S: Storage> {
    contacts: &'a ParticleContacts,
    chunks: Range<usize>,
    view: &'a View<S>,
}

impl<S: Storage> Work for Moments<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lane>(self) {
        let memory = &self.view.contacts;
        for chunk in self.chunks.clone() {
            let places = chunk_of(self.contacts, chunk);
            memory.moments.set(chunk, self.sums(places.clone()));
            memory.ways.set(chunk, self.ways::<L>(places));
        }
    }
}

impl<S: Storage> Moments<'_, S> {
    /// Sums over a sample: the shape of a grid need not be exact.
    #[inline(always)]
    fn sums(&self, places: Range<usize>) -> [f64; 7] {
        let mut sums = [0.0; 7];
        for place in places.step_by(SAMPLE) {
            let particle = self.view.contacts.particles.get(place) as usize;
            let [x, y, z, _] = self.view.positions.get(particle).map(f64::from);
            for (sum, value) in sums.iter_mut().zip([x, y, z, x * x, y * y, z * z, 1.0]) {
                *sum += value;
            }
        }
        sums
    }

    /// The box around the ways of the particles at some places.
    #[inline(always)]
    fn ways<L: Lane>(&self, places: Range<usize>) -> [[f32; 3]; 2] {
        let memory = &self.view.contacts;
        let last = places.end.saturating_sub(1);
        let (mut low, mut high) = ([L::splat(f32::INFINITY); 3], [L::splat(f32::NEG_INFINITY); 3]);
        // Not a number as soon as a way is none: comparing would lose it.
        let mut odd = L::splat(0.0);
        for first in places.step_by(L::WIDTH) {
            let now = L::from_quadruples(|lane| {
                let particle = memory.particles.get((first + lane).min(last));
                self.view.positions.get(particle as usize)
            });
            let before = L::from_quadruples(|lane| memory.positions.get((first + lane).min(last)));
            for axis in 0..3 {
                let way = now[axis] - before[axis];
                low[axis] = low[axis].min(way);
                high[axis] = high[axis].max(way);
                odd = odd + way * L::splat(0.0);
            }
        }
        let mut all = NO_WAYS;
        for lane in 0..L::WIDTH {
            if odd.lane(lane).is_nan() {
                return ALL_WAYS;
            }
            for axis in 0..3 {
                all[0][axis] = all[0][axis].min(low[axis].lane(lane));
                all[1][axis] = all[1][axis].max(high[axis].lane(lane));
            }
        }
        all
    }
}

/// Of so many members one is looked at for the shape of the grid.
const SAMPLE: usize = 16;

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

/// Whether a member has moved so far, seen from the middle of all ways, that partners must be looked
/// for again. All passes of a substep find the same answer, because only the first one writes what it
/// is found from.
fn is_due<S: Storage>(contacts: &ParticleContacts, memory: &ContactView<S>) -> bool {
    let chunks = (0..contacts.chunks()).map(|chunk| memory.ways.get(chunk));
    let [low, high] = chunks.fold(NO_WAYS, around_both);
    let half = [0, 1, 2].map(|axis| (f64::from(high[axis]) - f64::from(low[axis])) / 2.0);
    let stale = f64::from(contacts.stale());
    let square: f64 = half.iter().map(|half| half * half).sum();
    square > stale * stale
}

/// The grid for where the members are now. Their spread is measured by the standard deviation,
/// which a few that are lost change little, times √12, which makes it the length of an even row.
fn grid<S: Storage>(contacts: &ParticleContacts, memory: &ContactView<S>) -> Grid {
    let mut sums = [0.0; 7];
    for chunk in 0..contacts.chunks() {
        for (sum, part) in sums.iter_mut().zip(memory.moments.get(chunk)) {
            *sum += part;
        }
    }
    let count = sums[6].max(1.0);
    let spread = [0, 1, 2].map(|axis| {
        let mean = sums[axis] / count;
        (12.0 * (sums[axis + 3] / count - mean * mean).max(0.0)).sqrt()
    });
    Grid::new(contacts.reach(), spread, contacts.cell_bits())
}

/// Cells of a bucket, as a power of two.
fn bucket_bits(contacts: &ParticleContacts) -> u32 {
    contacts.cell_bits() - BUCKETS.trailing_zeros()
}

fn count<S: Storage>(contacts: &ParticleContacts, view: &View<S>, share: Share) {
    let grid = grid(contacts, &view.contacts);
    let bits = bucket_bits(contacts);
    for chunk in share.of(contacts.chunks()) {
        let mut histogram = [0; BUCKETS];
        for member in chunk_of(contacts, chunk) {
            let particle = contacts.members[member] as usize;
            let cell = grid.cell(grid.coordinates(view.positions.get(particle)));
            view.contacts.cells.set(member, cell);
            histogram[(cell >> bits) as usize] += 1;
        }
        view.contacts.histograms.write(chunk * BUCKETS, &histogram);
    }
}

fn scatter<S: Storage>(contacts: &ParticleContacts, memory: &ContactView<S>, share: Share) {
    let bits = bucket_bits(contacts);
    let own = share.of(contacts.chunks());
    let (mut next, ends) = bucket_starts(contacts, memory, own.start);
    for bucket in share.of(BUCKETS) {
        memory.bucket_ends.set(bucket, ends[bucket]);
    }
    for chunk in own {
        for member in chunk_of(contacts, chunk) {
            let cell = memory.cells.get(member);
            let place = &mut next[(cell >> bits) as usize];
            memory.scattered.set(*place as usize, [cell, contacts.members[member]]);
            *place += 1;
        }
    }
}

/// Where a chunk's members go in each bucket, and where the buckets end.
fn bucket_starts<S: Storage>(
    contacts: &ParticleContacts,
    memory: &ContactView<S>,
    chunk: usize,
) -> ([u32; BUCKETS], [u32; BUCKETS]) {
    let (mut before, mut totals) = ([0; BUCKETS], [0; BUCKETS]);
    for other in 0..contacts.chunks() {
        if other == chunk {
            before = totals;
        }
        for (bucket, total) in totals.iter_mut().enumerate() {
            *total += memory.histograms.get(other * BUCKETS + bucket);
        }
    }
    let mut end = 0;
    for (before, total) in before.iter_mut().zip(&mut totals) {
        *before += end;
        end += *total;
        *total = end;
    }
    (before, totals)
}

fn sort<S: Storage>(contacts: &ParticleContacts, view: &View<S>, share: Share) {
    let memory = &view.contacts;
    let bits = bucket_bits(contacts);
    for bucket in share.of(BUCKETS) {
        let cells = bucket << bits..(bucket + 1) << bits;
        let start = if bucket == 0 { 0 } else { memory.bucket_ends.get(bucket - 1) };
        let places = start as usize..memory.bucket_ends.get(bucket) as usize;
        for cell in cells.clone() {
            memory.ends.set(cell, [0, NO_BODY]);
        }
        for place in places.clone() {
            let [cell, particle] = memory.scattered.get(place);
            let [count, alone] = memory.ends.get(cell as usize);
            let alone = together(alone, contacts.untouchable[particle as usize]);
            memory.ends.set(cell as usize, [count + 1, alone]);
        }
        let mut next = start;
        for cell in cells {
            let [count, alone] = memory.ends.get(cell);
            memory.ends.set(cell, [next, alone]);
            next += count;
        }
        // What is a cell's start before its members come is its end after.
        for place in places {
            let [cell, particle] = memory.scattered.get(place);
            let [place, alone] = memory.ends.get(cell as usize);
            memory.ends.set(cell as usize, [place + 1, alone]);
            memory.particles.set(place as usize, particle);
            memory.positions.set(place as usize, view.positions.get(particle as usize));
            memory.rests.set(place as usize, contacts.rest[particle as usize]);
        }
    }
}

/// Which body is alone in two places together.
#[inline(always)]
fn together(first: u32, second: u32) -> u32 {
    match first {
        NO_BODY => second,
        first if first == second || second == NO_BODY => first,
        _ => SEVERAL_BODIES,
    }
}

/// Directions out of soft bodies: means of the normals of the triangles around, by their areas.
fn normals<S: Storage>(contacts: &ParticleContacts, view: &View<S>, share: Share) {
    for place in share.of(contacts.members.len()) {
        let particle = view.contacts.particles.get(place) as usize;
        let triangles = contacts.solid_triangles.around(particle);
        if triangles.is_empty() || view.contacts.counts.get(place) == 0 {
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

    /// The particles near one, by comparing with all.
    fn near(contacts: &ParticleContacts, state: &State, particle: u32) -> Vec<u32> {
        let difference = |a: [f32; 4], b: [f32; 4]| [0, 1, 2, 3].map(|axis| a[axis] - b[axis]);
        let square = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>();
        let is_near = |&other: &u32| {
            let (a, b) = (particle as usize, other as usize);
            let way = difference(state.positions[a], state.positions[b]);
            let rest = difference(contacts.rest[a], contacts.rest[b]);
            let reach = contacts.reach();
            square(&way[..3]) < reach * reach && square(&rest) >= 1.0
        };
        contacts.members.iter().copied().filter(is_near).collect()
    }

    #[test]
    fn lists_have_all_that_are_near_and_may_touch() {
        let (model, state) = detected();
        let contacts = model.particle_contacts.as_ref().unwrap();
        let mut found = 0;
        for place in 0..contacts.members.len() {
            let particle = state.contacts.particles[place];
            let count = state.contacts.counts[place] as usize;
            let first = place * MOST_PARTNERS;
            let mut partners = state.contacts.partners[first..first + count].to_vec();
            partners.sort_unstable();
            let is_fixed = state.positions[particle as usize][3] == 0.0;
            let expected = if is_fixed { Vec::new() } else { near(contacts, &state, particle) };
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

    #[test]
    fn partners_are_looked_for_again_when_one_has_moved_far_from_the_others() {
        let (model, mut state) = detected();
        let stale = model.particle_contacts.as_ref().unwrap().stale();
        let moved = state.contacts.particles[7] as usize;
        let before = state.contacts.positions[7];
        // All together: nobody comes closer to anybody.
        for position in state.positions.iter_mut() {
            position[1] += 40.0 * stale;
        }
        detect_again(&model, &mut state);
        assert_eq!(state.contacts.positions[7], before);
        // One by more than the others: seen from the middle of all ways, half as much.
        state.positions[moved][1] += 1.8 * stale;
        detect_again(&model, &mut state);
        assert_eq!(state.contacts.positions[7], before);
        state.positions[moved][1] += 0.4 * stale;
        detect_again(&model, &mut state);
        let place = state.contacts.particles.iter().position(|&id| id as usize == moved).unwrap();
        assert_eq!(state.contacts.positions[place], state.positions[moved]);
    }

    #[test]
    fn only_surfaces_take_part_and_every_member_has_a_place() {
        let (model, state) = detected();
        let contacts = model.particle_contacts.as_ref().unwrap();
        let mut placed = state.contacts.particles.clone();
        placed.sort_unstable();
        assert_eq!(placed, contacts.members);
        // Of 7³ particles of a block 5³ are inside.
        assert_eq!(placed.len(), 144 + 3 * (343 - 125) + 4);
    }
}
