//! From pools of constraints to groups with a checked schedule: the only place where the engine
//! meets the partitioner.

use std::ops::Range;

use taut_partition::clusters::{Clusters, Room, Stop, Subdivision, mean_points};
use taut_partition::grid::GridSplit;
use taut_partition::stats::{self, Costs};
use taut_partition::{Elements, PartitionError, Schedule, cliques, coloring, phantoms};

use super::elements::{Pool, Pools};
use crate::constraint::{Copies, Form, Group, Kind, Lines, Response, Softness};
use crate::scene::file::{ColoringOrder, Partition, PartitionMethod, PhantomMasses, Solver};

/// Constraints of a cluster where the scene does not say: with 16 bytes a particle and 20 a
/// constraint, what a worker touches stays in its second-level cache.
const CLUSTER_SIZE: u32 = 2048;

/// Particles of a cluster where the scene does not say: 16 KiB, which is half of a first-level cache and
/// what the workgroups of every graphics card have room for. Pieces with no more of them are not cut.
const CLUSTER_PARTICLES: usize = 1024;

/// Particles of a tile of phantoms where the scene does not say: with their copies and constraints they stay in
/// a second-level cache.
const TILE_PARTICLES: usize = 4096;

/// Phantoms come in tiles where a second-level cache is too small for so many particles with their copies and
/// constraints. Edges compute little for what they read: for them tiles do not pay while a third-level cache
/// holds the particles, among which constraints stream by, color after color, but not the constraints.
const BEYOND_SECOND_LEVEL: usize = 1 << 15;
const EDGES_STREAM: Range<usize> = 1 << 16..1 << 20;

/// What `auto` predicts a sweep for: a device that runs so many blocks at a time, and whose dispatch or
/// barrier takes as long as so many elements. Not this machine: a schedule depends on the scene alone.
const PREDICTED_WORKERS: usize = 16;
const PREDICTED_COSTS: Costs = Costs { element: 1.0, barrier: 1000.0 };

/// SIMD lanes that batches inside clusters are made for.
const LANES: usize = 16;

/// A schedule, and what a partitioner changed to get it.
#[derive(Clone, Debug)]
pub struct Partitioned {
    /// Who runs when.
    pub schedule: Schedule,
    /// The bodies of the elements, element after element, with copies in place of some.
    pub bodies: Vec<u32>,
    /// The original of each copy; copies have ids from the number of bodies on.
    pub owners: Vec<u32>,
    /// Where the split bodies of each tile end, if there are tiles: see [`phantoms::Split::tile_ends`].
    pub tile_ends: Vec<u32>,
}

impl From<phantoms::Split> for Partitioned {
    fn from(split: phantoms::Split) -> Self {
        let phantoms::Split { schedule, bodies, owners, tile_ends, .. } = split;
        Self { schedule, bodies, owners, tile_ends }
    }
}

impl Partitioned {
    /// A schedule that needs no copies.
    fn unsplit(schedule: Schedule, bodies: Vec<u32>) -> Self {
        Self { schedule, bodies, owners: Vec::new(), tile_ends: Vec::new() }
    }
}

/// Partitions elements as a scene asks for. `positions` has a place for every body.
///
/// # Errors
/// Positions that are not finite: a bug of the caller, since scenes are validated.
pub fn partition(
    elements: &Elements<'_>,
    positions: &[[f32; 3]],
    settings: &Partition,
) -> Result<Partitioned, PartitionError> {
    partition_bundles(elements, 1, positions, settings)
}

/// The same for elements that are bundles of up to so many constraints.
fn partition_bundles(
    elements: &Elements<'_>,
    members: usize,
    positions: &[[f32; 3]],
    settings: &Partition,
) -> Result<Partitioned, PartitionError> {
    let schedule = match settings.method {
        PartitionMethod::Coloring => {
            coloring::schedule(elements, &coloring_options(settings.order))
        }
        PartitionMethod::Phantom => {
            let tile_bodies = tile_bodies(elements, settings);
            let colors = colors(elements, settings);
            // Constraints of two particles are distances, which do not mind who comes first.
            let pairs_in_rows = true;
            let options =
                phantoms::Options { tile_bodies, pairs_in_rows, ..phantoms::Options::new(colors) };
            return Ok(phantoms::split(elements, &options)?.into());
        }
        PartitionMethod::Cluster => {
            clusters(elements, members, positions, settings)?.schedule(elements, LANES)?
        }
        PartitionMethod::Grid => {
            let points = mean_points(elements, positions)?;
            let extents = extents(elements, &points);
            let mut split = GridSplit::default();
            split.split(elements, &points, &extents)?;
            split.schedule().clone()
        }
        PartitionMethod::Auto => {
            let by = |method| Partition { method, ..settings.clone() };
            let colors = partition(elements, positions, &by(PartitionMethod::Coloring))?;
            let clusters = partition(elements, positions, &by(PartitionMethod::Cluster))?;
            let time = |one: &Partitioned| {
                stats::predict(&one.schedule, PREDICTED_WORKERS, &PREDICTED_COSTS).parallel
            };
            return Ok(if time(&clusters) < time(&colors) { clusters } else { colors });
        }
    };
    Ok(Partitioned::unsplit(schedule, elements.bodies().to_vec()))
}

/// Clusters of elements that are bundles of up to so many constraints.
fn clusters(
    elements: &Elements<'_>,
    members: usize,
    positions: &[[f32; 3]],
    settings: &Partition,
) -> Result<Clusters, PartitionError> {
    let points = mean_points(elements, positions)?;
    let subdivide = |stop| Clusters::by_subdivision(&points, &Subdivision::new(stop));
    let elements_of = |constraints: u32| (constraints as usize).div_ceil(members);
    if let Some(subsets) = settings.subsets {
        return Ok(subdivide(Stop::Subsets(subsets as usize))?);
    }
    if let Some(size) = settings.subset_size {
        return Ok(subdivide(Stop::Size(elements_of(size)))?);
    }
    let pieces = Clusters::by_pieces(elements, CLUSTER_PARTICLES);
    // Fewer would not keep many workers busy.
    if let Some(pieces) = pieces.filter(|pieces| pieces.len() >= 4 * PREDICTED_WORKERS) {
        return Ok(pieces);
    }
    let room = Room { elements: elements_of(CLUSTER_SIZE * 3 / 2), bodies: CLUSTER_PARTICLES };
    Ok(subdivide(Stop::Size(elements_of(CLUSTER_SIZE)))?.with_fewer_colors(elements, room)?)
}

/// The partitioner's options for a coloring order.
pub fn coloring_options(order: ColoringOrder) -> coloring::Options {
    let order = match order {
        ColoringOrder::SmallestLast => coloring::Order::SmallestLast,
        ColoringOrder::Natural => coloring::Order::Natural,
        ColoringOrder::LargestFirst => coloring::Order::LargestFirst,
        ColoringOrder::Balanced => coloring::Order::Balanced,
        ColoringOrder::Parallel => coloring::Order::Parallel,
    };
    coloring::Options { order, ..Default::default() }
}

/// q̂: as asked for, else half of the clique number (paper A, section 6).
fn colors(elements: &Elements<'_>, settings: &Partition) -> usize {
    let default = || cliques::clique_number(elements).default_colors();
    settings.colors.map_or_else(default, |colors| colors as usize)
}

/// Bodies of a tile of phantoms, if there are tiles: as many as have the constraints that the scene asks for.
fn tile_bodies(elements: &Elements<'_>, settings: &Partition) -> Option<usize> {
    if let Some(size) = settings.subset_size {
        let bodies = elements.body_count() * size as usize / elements.len().max(1);
        return Some(bodies.max(1));
    }
    let bodies = elements.body_count();
    let are_edges = elements.arity() == Some(2);
    let stream = are_edges && EDGES_STREAM.contains(&bodies);
    (bodies >= BEYOND_SECOND_LEVEL && !stream).then_some(TILE_PARTICLES)
}

/// For each body, how far apart the points of two of its elements can be: the diagonal of their box.
fn extents(elements: &Elements<'_>, points: &[[f32; 3]]) -> Vec<f32> {
    let mut boxes = vec![[[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]]; elements.body_count()];
    for (element, point) in points.iter().enumerate() {
        for &body in elements.of(element) {
            let [low, high] = &mut boxes[body as usize];
            for axis in 0..3 {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
    }
    let diagonal = |[low, high]: &[[f32; 3]; 2]| {
        let squares = (0..3).map(|axis| (high[axis] - low[axis]).max(0.0).powi(2));
        squares.sum::<f32>().sqrt()
    };
    boxes.iter().map(diagonal).collect()
}

/// What of a scene decides how constraints are solved.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) solver: Solver,
    pub(super) relaxation: f32,
    pub(super) partition: &'a Partition,
}

/// Schedules every pool and lays its constants out in the order of execution.
pub(super) fn schedule(
    pools: Pools,
    particles: &[[f32; 4]],
    fixed: &[bool],
    settings: Settings<'_>,
) -> Vec<Group> {
    let positions: Vec<[f32; 3]> = particles.iter().map(|&[x, y, z, _]| [x, y, z]).collect();
    let mut first_multiplier = 0;
    let mut groups = Vec::new();
    for ((kind, response), pool) in pools {
        let scheduler =
            Scheduler { kind, response, particles, positions: &positions, fixed, settings };
        for mut group in scheduler.groups(&pool) {
            group.first_multiplier = first_multiplier;
            let last = groups.last();
            group.goes_along = last.is_some_and(|last| have_the_same_blocks(last, &group));
            first_multiplier += group.multipliers();
            groups.push(group);
        }
    }
    groups
}

/// Whether all blocks of two groups can run at the same time, and each block of one has the particles of
/// a block of the other, in the same order: clusters that are pieces.
fn have_the_same_blocks(one: &Group, other: &Group) -> bool {
    if !one.has_separate_blocks() || !other.has_separate_blocks() {
        return false;
    }
    // A block of each particle. Those of fixed ones may have several: then there are no pieces here.
    let blocks = |group: &Group| {
        let mut blocks = vec![usize::MAX; group.schedule.body_count()];
        for block in 0..group.schedule.block_count() {
            for place in group.schedule.block(block) {
                for &id in group.schedule.bodies_at(place) {
                    let own = &mut blocks[id as usize];
                    if *own != usize::MAX && *own != block {
                        return None;
                    }
                    *own = block;
                }
            }
        }
        Some(blocks)
    };
    blocks(one).is_some_and(|one| blocks(other) == Some(one))
}

/// Makes groups of the constraints of one kind and response.
struct Scheduler<'a> {
    kind: Kind,
    response: Response,
    particles: &'a [[f32; 4]],
    positions: &'a [[f32; 3]],
    fixed: &'a [bool],
    settings: Settings<'a>,
}

impl Scheduler<'_> {
    fn groups(&self, pool: &Pool) -> Vec<Group> {
        let elements = self.elements(&pool.particles);
        let partition = self.settings.partition;
        if self.response == Response::Force {
            return vec![self.forces(pool, &elements)];
        }
        match self.settings.solver {
            Solver::GaussSeidel => {
                let single = || self.group(pool, self.partitioned(&elements, partition));
                vec![self.bundled(pool, &elements).unwrap_or_else(single)]
            }
            Solver::Phantom => {
                let phantom = Partition { method: PartitionMethod::Phantom, ..partition.clone() };
                vec![self.group(pool, self.partitioned(&elements, &phantom))]
            }
            Solver::Jacobi => vec![self.separate(pool)],
            Solver::Hybrid => self.hybrid(pool, &elements),
        }
    }

    /// Clusters of bundles, if the scene wants clusters and there are bundles of this kind.
    fn bundled(&self, pool: &Pool, elements: &Elements<'_>) -> Option<Group> {
        let mut partition = self.settings.partition.clone();
        let form = Form { kind: self.kind, is_bundled: partition.bundles.unwrap_or(true) };
        let is_clustered = match partition.method {
            PartitionMethod::Cluster => true,
            PartitionMethod::Auto => {
                let schedule = self.partitioned(elements, &partition).schedule;
                schedule.batch_count() > schedule.block_count()
            }
            _ => false,
        };
        let bundles = if is_clustered { form.bundles(elements) } else { None }?;
        partition.method = PartitionMethod::Cluster;
        let bundled = self.elements_of(form.arity(), &bundles.bodies);
        let pool = pool.bundled(form.rows(), &bundles);
        let partitioned = partition_bundles(&bundled, form.rows(), self.positions, &partition)
            .unwrap_or_else(|error| self.malformed(&error));
        let mut group = self.group(&pool, partitioned);
        group.count = elements.len();
        let bundles = bundles.members.chunks_exact(form.rows()).collect::<Vec<_>>();
        let order = group.schedule.order().iter();
        group.members = order.flat_map(|&bundle| bundles[bundle as usize]).copied().collect();
        Some(group)
    }

    /// Forces change velocities, and copies of particles have none: phantoms are out of the question,
    /// and the solver of the constraints does not matter.
    fn forces(&self, pool: &Pool, elements: &Elements<'_>) -> Group {
        let mut partition = self.settings.partition.clone();
        if partition.method == PartitionMethod::Phantom {
            partition.method = PartitionMethod::Coloring;
        }
        self.group(pool, self.partitioned(elements, &partition))
    }

    fn elements<'p>(&'p self, particles: &'p [u32]) -> Elements<'p> {
        self.elements_of(self.kind.arity(), particles)
    }

    /// Sites come from checked meshes: their particles exist, differ and have finite places.
    fn elements_of<'p>(&'p self, arity: usize, particles: &'p [u32]) -> Elements<'p> {
        Elements::flat(arity, particles, self.fixed.len())
            .and_then(|elements| elements.with_fixed(self.fixed))
            .unwrap_or_else(|error| self.malformed(&error.into()))
    }

    fn partitioned(&self, elements: &Elements<'_>, settings: &Partition) -> Partitioned {
        partition(elements, self.positions, settings).unwrap_or_else(|error| self.malformed(&error))
    }

    fn malformed<T>(&self, error: &PartitionError) -> T {
        panic!("constraints of kind {} are malformed: {error}", self.kind.name())
    }

    /// Averaged Jacobi: every constraint has particles of its own, each with the whole mass, which
    /// are merged into their mean.
    fn separate(&self, pool: &Pool) -> Group {
        let split = phantoms::separate(&self.elements(&pool.particles));
        self.group_with(pool, split.into(), |_| 1.0)
    }

    /// The first q̂ colors as they are, all other constraints by Jacobi (paper A, section 3).
    fn hybrid(&self, pool: &Pool, elements: &Elements<'_>) -> Vec<Group> {
        let partition = self.settings.partition;
        let coloring = coloring::color(elements, &coloring_options(partition.order));
        let first = colors(elements, partition).min(coloring.color_count);
        let is_first = |element: &usize| (coloring.colors[*element] as usize) < first;
        let (colored, rest): (Vec<usize>, Vec<usize>) = (0..elements.len()).partition(is_first);
        let chosen = pool.select(self.kind.arity(), &colored);
        let coloring = coloring::Coloring {
            colors: colored.iter().map(|&element| coloring.colors[element]).collect(),
            color_count: first,
            lower_bound: coloring.lower_bound.min(first),
        };
        let schedule = coloring
            .schedule(&self.elements(&chosen.particles), coloring::DEFAULT_BLOCK_SIZE)
            .unwrap_or_else(|error| self.malformed(&error.into()));
        let bodies = chosen.particles.clone();
        let mut groups = vec![self.group(&chosen, Partitioned::unsplit(schedule, bodies))];
        if !rest.is_empty() {
            groups.push(self.separate(&pool.select(self.kind.arity(), &rest)));
        }
        groups
    }

    /// Phantoms: the mass of a particle is shared out among those who take part for it, or not.
    fn group(&self, pool: &Pool, partitioned: Partitioned) -> Group {
        match self.settings.partition.phantom_masses {
            PhantomMasses::Split => self.group_with(pool, partitioned, |count| count as f32),
            PhantomMasses::Paper => self.group_with(pool, partitioned, |_| 1.0),
        }
    }

    fn group_with(
        &self,
        pool: &Pool,
        partitioned: Partitioned,
        mass_factor: impl Fn(usize) -> f32,
    ) -> Group {
        let Partitioned { mut schedule, owners, tile_ends, .. } = partitioned;
        schedule.shrink_to_fit();
        // Lists are as long as there are elements, or empty.
        let sorted = |values: &Vec<f32>| -> Vec<f32> {
            let order = if values.is_empty() { &[] } else { schedule.order() };
            order.iter().map(|&element| values[element as usize]).collect()
        };
        let in_order = |lists: &[Vec<f32>]| lists.iter().map(sorted).collect();
        let fixed_in = |batch: usize| {
            let mut ids = schedule.batch(batch).flat_map(|place| schedule.bodies_at(place));
            ids.any(|&id| schedule.is_fixed(id))
        };
        // Without copies there are no rows to look for: a particle has one constraint of a color.
        let ascends = |batch: usize| {
            let firsts = schedule.batch(batch).map(|place| schedule.bodies_at(place)[0]);
            !owners.is_empty() && firsts.is_sorted_by(|a, b| a < b)
        };
        Group {
            kind: self.kind,
            ascending: (0..schedule.batch_count()).map(ascends).collect(),
            some_fixed: (0..schedule.batch_count()).map(fixed_in).collect(),
            response: self.response,
            members: Vec::new(),
            count: schedule.len(),
            constants: in_order(&pool.constants),
            softness: Softness::new(in_order(&pool.softness)),
            damping: sorted(&pool.damping),
            relaxation: self.settings.relaxation,
            lines: Lines::of_far(&schedule),
            copies: Copies::new(&owners, tile_ends, self.particles, mass_factor),
            schedule,
            first_multiplier: 0,
            goes_along: false,
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: `auto` takes colors where there are few, clusters where a sweep would have many phases;
    //! bundles have the shapes that kernels take them to have.

    use std::path::Path;

    use super::*;
    use crate::model::Model;

    /// The edges of a lattice with so many particles along each axis, to all neighbors.
    fn lattice(sides: [i32; 3]) -> (Vec<[u32; 2]>, Vec<[f32; 3]>) {
        let number = |[x, y, z]: [i32; 3]| ((z * sides[1] + y) * sides[0] + x) as u32;
        let rows = |y, z| (0..sides[0]).map(move |x| [x, y, z]);
        let sheets = |z| (0..sides[1]).flat_map(move |y| rows(y, z));
        let places: Vec<[i32; 3]> = (0..sides[2]).flat_map(sheets).collect();
        let mut edges = Vec::new();
        for &place in &places {
            for step in 14..27 {
                let steps = [step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1];
                let other = [0, 1, 2].map(|axis| place[axis] + steps[axis]);
                if (0..3).all(|axis| (0..sides[axis]).contains(&other[axis])) {
                    edges.push([number(place), number(other)]);
                }
            }
        }
        (edges, places.into_iter().map(|place| place.map(|x| x as f32)).collect())
    }

    #[test]
    fn a_solid_gets_clusters_and_a_chain_colors() {
        for (sides, is_clustered) in [([20_000, 1, 1], false), ([20, 20, 20], true)] {
            let (edges, positions) = lattice(sides);
            let elements = Elements::uniform(&edges, positions.len()).unwrap();
            let settings = Partition { method: PartitionMethod::Auto, ..Partition::default() };
            let schedule = partition(&elements, &positions, &settings).unwrap().schedule;
            let has_clusters = schedule.batch_count() > schedule.block_count();
            assert_eq!(has_clusters, is_clustered, "{sides:?}");
        }
    }

    #[test]
    fn bundles_rest_where_their_members_rest() {
        let text = r#"
            partition.method = "cluster"
            [[bodies]]
            name = "block"
            kind = "soft"
            mesh.block = { size = [1, 1, 1], cells = [4, 4, 4] }
            elements.stretch = { compliance = 0 }
            elements.volume = { compliance = 0 }
        "#;
        let scene = crate::scene::Scene::parse("test", text, Path::new("."), &[]).unwrap();
        let (model, state) = Model::build(&scene).unwrap();
        for group in &model.groups {
            assert!(group.form().is_bundled, "{:?}", group.kind);
            let residual = group.residual(&state);
            assert!(residual.max < 1e-5, "{:?}: {residual:?}", group.kind);
            assert_eq!(residual.count, group.count);
        }
    }
}
