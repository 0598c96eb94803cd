//! Clusters: independent sets of sets (Hutter, Knuth & Kuijper 2014, 'Mesh partitioning for
//! parallel garment simulation').
//!
//! The elements are cut into clusters of some hundreds or thousands, small enough for a cache.
//! Two clusters are adjacent when they share a movable body; the cluster graph is colored, and
//! the clusters of a color run at the same time. Inside a cluster the elements are colored again,
//! so that a worker can use its SIMD lanes: phase = color of the cluster graph, block = cluster,
//! batch = color inside the cluster.
//!
//! ```
//! use taut_partition::Elements;
//! use taut_partition::clusters::{Clusters, Stop, Subdivision, mean_points};
//!
//! // A rope of 1000 edges, cut into 8 clusters.
//! let positions: Vec<[f32; 3]> = (0..1001).map(|i| [i as f32, 0.0, 0.0]).collect();
//! let rope: Vec<[u32; 2]> = (0..1000).map(|i| [i, i + 1]).collect();
//! let edges = Elements::uniform(&rope, 1001)?;
//!
//! let points = mean_points(&edges, &positions)?;
//! let clusters = Clusters::by_subdivision(&points, &Subdivision::new(Stop::Subsets(8)))?;
//! let schedule = clusters.schedule(&edges, 1)?;
//! assert_eq!((schedule.phase_count(), schedule.block_count()), (2, 8));
//! # Ok::<(), taut_partition::PartitionError>(())
//! ```

mod batches;
mod chains;
mod dissolve;
mod graph;
mod grow;
mod lanes;
mod pieces;
mod subdivide;

use rayon::prelude::*;

use crate::{Elements, InputError, PartitionError, Parts, Schedule};
use batches::{ColoredCluster, Workspace};
pub use graph::ClusterGraph;
pub use lanes::{LaneLayout, PADDING};
pub use subdivide::{Axes, Cut, Subdivision, Ways};

/// When to stop making clusters smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// At this number of clusters (fewer only if there are fewer elements).
    Subsets(usize),
    /// When no cluster has more elements than this.
    Size(usize),
}

impl Stop {
    fn checked(self) -> Result<Self, InputError> {
        let (option, given) = match self {
            Stop::Subsets(subsets) => ("the number of subsets", subsets),
            Stop::Size(size) => ("the size of a subset", size),
        };
        at_least_one(option, given)?;
        Ok(self)
    }
}

fn at_least_one(option: &'static str, given: usize) -> Result<(), InputError> {
    if given == 0 {
        return Err(InputError::BadOption { option, range: "at least 1", given: "0".into() });
    }
    Ok(())
}

/// Runs of clusters per thread: more than one, so that a slow one does not hold up the rest.
const RUNS_PER_THREAD: usize = 4;

/// A division of elements into clusters, none of them empty, and the elements of each in
/// ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clusters {
    elements: Vec<u32>,
    /// Cluster `i` holds `elements[offsets[i]..offsets[i + 1]]`.
    offsets: Vec<u32>,
    /// The color of each cluster, if they were made to have few; else empty.
    colors: Vec<u32>,
}

/// How much a cluster may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// At most so many elements.
    pub elements: usize,
    /// At most so many movable bodies.
    pub bodies: usize,
}

impl Clusters {
    /// Recursive subdivision by position (paper B, section 4): one point per element.
    pub fn by_subdivision(
        points: &[[f32; 3]],
        subdivision: &Subdivision,
    ) -> Result<Self, InputError> {
        subdivide::subdivide(points, subdivision)
    }

    /// Growth over adjacency: clusters gather elements that share bodies, wherever they lie.
    ///
    /// For meshes that fold over themselves, where points that are close in space can be far
    /// apart in the mesh, and for meshes without positions. [`Stop::Subsets`] is met exactly;
    /// sizes vary more than those of [`Cut::Median`].
    pub fn by_growth(elements: &Elements<'_>, stop: Stop) -> Result<Self, InputError> {
        grow::grow(elements, stop)
    }

    /// Pieces, which are elements connected by movable bodies, as they are: no two clusters share a
    /// movable body, so that all of them run at the same time. None if a piece has more than
    /// `most_bodies` movable bodies. Small pieces that follow each other share a cluster that has no more of
    /// them: elements of several kinds that connect the same bodies have the same clusters.
    ///
    /// ```
    /// use taut_partition::Elements;
    /// use taut_partition::clusters::Clusters;
    ///
    /// // Three ropes, each of two edges.
    /// let ropes = [[0, 1], [1, 2], [3, 4], [4, 5], [6, 7], [7, 8]];
    /// let elements = Elements::uniform(&ropes, 9)?;
    /// let clusters = Clusters::by_pieces(&elements, 5).unwrap();
    /// assert_eq!((clusters.of(0), clusters.of(1)), (&[0, 1][..], &[2, 3][..]));
    /// assert!(Clusters::by_pieces(&elements, 2).is_none());
    /// # Ok::<(), taut_partition::InputError>(())
    /// ```
    pub fn by_pieces(elements: &Elements<'_>, most_bodies: usize) -> Option<Self> {
        pieces::gather(elements, most_bodies)
    }

    /// The same elements in clusters that take fewer colors, if there are such: the clusters of a color are
    /// dissolved into their neighbors, which grow to no more than `room`. Four colors are enough.
    ///
    /// ```
    /// use taut_partition::Elements;
    /// use taut_partition::clusters::{Clusters, Room, Stop, Subdivision, mean_points};
    ///
    /// // Points of a grid in space, each with an edge to all 26 around it.
    /// let points: Vec<[f32; 3]> =
    ///     (0..1000).map(|i| [(i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32]).collect();
    /// let near = |a: usize, b: usize| (0..3).all(|axis| (points[a][axis] - points[b][axis]).abs() < 1.5);
    /// let pairs = (0..1000).flat_map(|a| (0..a).map(move |b| (a, b)));
    /// let edges: Vec<[u32; 2]> =
    ///     pairs.filter(|&(a, b)| near(a, b)).map(|(a, b)| [a as u32, b as u32]).collect();
    /// let edges = Elements::uniform(&edges, 1000)?;
    ///
    /// let subdivision = Subdivision::new(Stop::Size(500));
    /// let clusters = Clusters::by_subdivision(&mean_points(&edges, &points)?, &subdivision)?;
    /// let fewer = clusters.clone().with_fewer_colors(&edges, Room { elements: 750, bodies: 500 })?;
    /// let colors = |clusters: &Clusters| clusters.schedule(&edges, 1).unwrap().phase_count();
    /// assert!(colors(&fewer) < colors(&clusters));
    /// # Ok::<(), taut_partition::PartitionError>(())
    /// ```
    pub fn with_fewer_colors(
        self,
        elements: &Elements<'_>,
        room: Room,
    ) -> Result<Self, InputError> {
        let graph = self.graph(elements)?;
        let fewer = dissolve::dissolve(elements, &self, &graph, room)?;
        Ok(fewer.unwrap_or(self))
    }

    /// From the number of the cluster of each element; numbers without elements are left out.
    fn from_numbers(cluster_of: &[u32], count: usize) -> Self {
        let mut next = vec![0; count + 1];
        for &cluster in cluster_of {
            next[cluster as usize + 1] += 1;
        }
        let sizes: Vec<usize> = next.iter().copied().filter(|&size| size > 0).collect();
        for cluster in 0..count {
            next[cluster + 1] += next[cluster];
        }
        let mut elements = vec![0; cluster_of.len()];
        for (element, &cluster) in cluster_of.iter().enumerate() {
            elements[next[cluster as usize]] = element as u32;
            next[cluster as usize] += 1;
        }
        Self::from_sizes(elements, &sizes)
    }

    /// From elements ordered by cluster and the sizes of the clusters; sorts inside each.
    fn from_sizes(mut elements: Vec<u32>, sizes: &[usize]) -> Self {
        let mut offsets = Vec::with_capacity(sizes.len() + 1);
        offsets.push(0);
        let mut rest = elements.as_mut_slice();
        let mut clusters = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let (cluster, after) = rest.split_at_mut(size);
            clusters.push(cluster);
            rest = after;
            offsets.push(offsets[offsets.len() - 1] + size as u32);
        }
        clusters.par_iter_mut().for_each(|cluster| cluster.sort_unstable());
        Self { elements, offsets, colors: Vec::new() }
    }

    /// The number of clusters.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no cluster, which means that there was no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements of a cluster, in ascending order.
    pub fn of(&self, cluster: usize) -> &[u32] {
        &self.elements[self.offsets[cluster] as usize..self.offsets[cluster + 1] as usize]
    }

    /// Which clusters share a movable body.
    ///
    /// ```
    /// use taut_partition::Elements;
    /// use taut_partition::clusters::{Clusters, Stop};
    ///
    /// // A path of four edges in two clusters, which meet at body 2.
    /// let path = Elements::uniform(&[[0, 1], [1, 2], [2, 3], [3, 4]], 5)?;
    /// let clusters = Clusters::by_growth(&path, Stop::Subsets(2))?;
    /// assert_eq!(clusters.graph(&path)?.neighbors(0), [1]);
    /// // If body 2 is fixed, nobody writes it and the clusters are independent.
    /// let fixed = [false, false, true, false, false];
    /// assert!(clusters.graph(&path.with_fixed(&fixed)?)?.neighbors(0).is_empty());
    /// # Ok::<(), taut_partition::InputError>(())
    /// ```
    pub fn graph(&self, elements: &Elements<'_>) -> Result<ClusterGraph, InputError> {
        self.check_count(elements)?;
        let bodies: Vec<Vec<u32>> = (0..self.len())
            .into_par_iter()
            .map(|cluster| movable_bodies(elements, self.of(cluster)))
            .collect();
        Ok(ClusterGraph::new(elements.body_count(), self.len(), |cluster| &bodies[cluster]))
    }

    /// The schedule: phase = color of the cluster graph, block = cluster, batch = color inside.
    ///
    /// The batches of a cluster are balanced. With `lanes` > 1 their sizes are made multiples of
    /// `lanes` as far as conflicts permit, so that [`LaneLayout`] has little to pad.
    pub fn schedule(
        &self,
        elements: &Elements<'_>,
        lanes: usize,
    ) -> Result<Schedule, PartitionError> {
        self.check_count(elements)?;
        at_least_one("the number of lanes", lanes)?;
        let inside = self.color_inside(elements, lanes);
        let bodies = |cluster: usize| inside[cluster].bodies.as_slice();
        let graph = ClusterGraph::new(elements.body_count(), self.len(), bodies);
        let sizes: Vec<usize> = (0..self.len()).map(|cluster| self.of(cluster).len()).collect();
        let (colors, color_count) = if self.colors.is_empty() {
            graph.balanced_colors(&sizes)?
        } else {
            graph.balanced(self.colors.clone(), &sizes)
        };
        Ok(Schedule::new(elements, self.parts(&colors, color_count, &inside))?)
    }

    /// Colors the elements of each cluster. A worker takes a run of clusters, so that it needs
    /// its workspace once.
    fn color_inside(&self, elements: &Elements<'_>, lanes: usize) -> Vec<ColoredCluster> {
        let runs = RUNS_PER_THREAD * rayon::current_num_threads();
        let run_length = self.len().div_ceil(runs).max(1);
        let runs: Vec<Vec<ColoredCluster>> = (0..self.len().div_ceil(run_length))
            .into_par_iter()
            .map(|run| {
                let mut workspace = Workspace::new(elements, lanes);
                let clusters = run * run_length..((run + 1) * run_length).min(self.len());
                clusters.map(|cluster| workspace.color(self.of(cluster))).collect()
            })
            .collect();
        runs.into_iter().flatten().collect()
    }

    fn parts(&self, colors: &[u32], color_count: usize, inside: &[ColoredCluster]) -> Parts {
        let mut clusters_of_color = vec![Vec::new(); color_count];
        for (&color, cluster) in colors.iter().zip(inside) {
            clusters_of_color[color as usize].push(cluster);
        }
        let mut parts = Parts::default();
        parts.clear();
        parts.order.reserve(self.elements.len());
        for clusters in clusters_of_color {
            for cluster in clusters {
                for batch in cluster.batches() {
                    parts.order.extend_from_slice(batch);
                    parts.end_batch();
                }
                parts.end_block();
            }
            parts.end_phase();
        }
        parts
    }

    fn check_count(&self, elements: &Elements<'_>) -> Result<(), InputError> {
        if self.elements.len() != elements.len() {
            return Err(InputError::WrongCount {
                what: "clustered elements",
                given: self.elements.len(),
                of: "elements",
                expected: elements.len(),
            });
        }
        Ok(())
    }
}

/// The movable bodies of some elements, each once, in ascending order.
fn movable_bodies(elements: &Elements<'_>, some: &[u32]) -> Vec<u32> {
    let mut bodies: Vec<u32> =
        some.iter().flat_map(|&element| elements.movable_of(element as usize)).collect();
    bodies.sort_unstable();
    bodies.dedup();
    bodies
}

/// One point per element: the mean of its bodies' points (the origin for an element without
/// bodies).
///
/// ```
/// use taut_partition::{Elements, clusters::mean_points};
///
/// let edges = Elements::uniform(&[[0, 1]], 2)?;
/// assert_eq!(mean_points(&edges, &[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])?, [[1.0, 0.0, 0.0]]);
/// # Ok::<(), taut_partition::InputError>(())
/// ```
pub fn mean_points(
    elements: &Elements<'_>,
    body_points: &[[f32; 3]],
) -> Result<Vec<[f32; 3]>, InputError> {
    if body_points.len() != elements.body_count() {
        return Err(InputError::WrongCount {
            what: "points",
            given: body_points.len(),
            of: "bodies",
            expected: elements.body_count(),
        });
    }
    let mean = |element: usize| {
        let bodies = elements.of(element);
        // Each point is scaled before the sum: the sum of large finite points may not be finite.
        let share = 1.0 / bodies.len().max(1) as f32;
        let mut mean = [0.0; 3];
        for &body in bodies {
            for (sum, coordinate) in mean.iter_mut().zip(body_points[body as usize]) {
                *sum += coordinate * share;
            }
        }
        mean
    };
    Ok((0..elements.len()).into_par_iter().map(mean).collect())
}
