//! Ranks: bodies divided among processes that share no memory, for distributed runs (paper E
//! divides a cloth into blocks of particles), with the lists of what they have to tell each other.
//!
//! | division | needs | good for |
//! |---|---|---|
//! | [`Ranks::by_bisection`] | positions | anything: even, compact, fast |
//! | [`Ranks::by_curve`] | positions | bodies that move: dividing anew changes little |
//! | [`Ranks::by_graph`] | elements | the fewest exchanged bodies; meshes that fold over themselves |
//! | [`Ranks::new`] | the caller's own division | contiguous blocks, as in paper E |
//!
//! ```
//! use taut_partition::Elements;
//! use taut_partition::ranks::{Ranks, Sharing};
//!
//! // A rope of 9 edges on two ranks.
//! let rope: Vec<[u32; 2]> = (0..9).map(|i| [i, i + 1]).collect();
//! let edges = Elements::uniform(&rope, 10)?;
//! let positions: Vec<[f32; 3]> = (0..10).map(|i| [i as f32, 0.0, 0.0]).collect();
//!
//! let ranks = Ranks::by_bisection(&positions, 2)?;
//! assert_eq!(ranks.quality(&edges)?.edge_cut, 1);
//! let halos = ranks.halos(&edges, Sharing::EveryOwner)?;
//! assert_eq!(halos[0].owned, [0, 1, 2, 3, 4]);
//! assert_eq!(halos[0].receives[0].bodies, [5]);
//! assert_eq!(halos[1].sends[0].bodies, [5]);
//! # Ok::<(), taut_partition::InputError>(())
//! ```

mod bisect;
mod coarsen;
mod curve;
mod graph;
mod halo;

use crate::clusters::{Clusters, Stop, Subdivision};
use crate::{Elements, InputError};
pub use curve::{Curve, curve_order};
pub use halo::{Exchange, Halo, Sharing};

/// The rank of every body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranks {
    of_body: Vec<u32>,
    count: usize,
}

/// How good a division is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankQuality {
    /// Elements whose movable bodies belong to several ranks.
    pub edge_cut: usize,
    /// The most bodies of a rank over their mean: 1 is best.
    pub imbalance: f64,
}

impl Ranks {
    /// A division made elsewhere: the rank of each body, all below `count`.
    pub fn new(of_body: Vec<u32>, count: usize) -> Result<Self, InputError> {
        check_ranks(count)?;
        if let Some(&rank) = of_body.iter().find(|&&rank| rank as usize >= count) {
            return Err(InputError::BadOption {
                option: "the rank of a body",
                range: "below the number of ranks",
                given: rank.to_string(),
            });
        }
        Ok(Self { of_body, count })
    }

    /// Recursive coordinate bisection (Berger & Bokhari 1987): halves along the longest axis,
    /// then halves of these. The numbers of bodies differ by one at most.
    pub fn by_bisection(points: &[[f32; 3]], count: usize) -> Result<Self, InputError> {
        check_ranks(count)?;
        let parts = Clusters::by_subdivision(points, &Subdivision::new(Stop::Subsets(count)))?;
        let mut of_body = vec![0; points.len()];
        for rank in 0..parts.len() {
            for &body in parts.of(rank) {
                of_body[body as usize] = rank as u32;
            }
        }
        Ok(Self { of_body, count })
    }

    /// Equal pieces of a space-filling curve through the points. The numbers of bodies differ by
    /// one at most.
    pub fn by_curve(points: &[[f32; 3]], curve: Curve, count: usize) -> Result<Self, InputError> {
        check_ranks(count)?;
        let order = curve_order(points, curve)?;
        let mut of_body = vec![0; points.len()];
        for (place, &body) in order.iter().enumerate() {
            of_body[body as usize] = (place * count / order.len()) as u32;
        }
        Ok(Self { of_body, count })
    }

    /// A multilevel graph partitioner in the style of METIS (Karypis & Kumar 1998): recursive
    /// bisection of the graph whose nodes are movable bodies and whose edges join bodies of an
    /// element; coarsened by heavy-edge matching, bisected by greedy growing, refined by the
    /// method of Fiduccia and Mattheyses on every level.
    ///
    /// No rank gets more than about `1 + tolerance` times the mean number of bodies (0.03 is a
    /// good choice). Fixed bodies, which nobody sends around, go where most of their elements are.
    pub fn by_graph(
        elements: &Elements<'_>,
        count: usize,
        tolerance: f64,
    ) -> Result<Self, InputError> {
        check_ranks(count)?;
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(InputError::BadOption {
                option: "the tolerance of imbalance",
                range: "finite and not negative",
                given: tolerance.to_string(),
            });
        }
        Ok(Self { of_body: graph::partition(elements, count, tolerance), count })
    }

    /// The number of ranks. Some are without bodies if there are fewer bodies than ranks.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rank of each body.
    pub fn of_bodies(&self) -> &[u32] {
        &self.of_body
    }

    /// Edge cut and imbalance.
    pub fn quality(&self, elements: &Elements<'_>) -> Result<RankQuality, InputError> {
        self.check_count(elements)?;
        let is_cut = |&element: &usize| {
            let mut ranks = elements.movable_of(element).map(|body| self.of_body[body as usize]);
            ranks.next().is_some_and(|first| ranks.any(|rank| rank != first))
        };
        let mut bodies = vec![0_usize; self.count];
        for &rank in &self.of_body {
            bodies[rank as usize] += 1;
        }
        let most = bodies.iter().copied().max().unwrap_or(0);
        let mean = self.of_body.len() as f64 / self.count as f64;
        Ok(RankQuality {
            edge_cut: (0..elements.len()).filter(is_cut).count(),
            imbalance: if mean > 0.0 { most as f64 / mean } else { 1.0 },
        })
    }

    /// What each rank owns, computes and exchanges.
    pub fn halos(
        &self,
        elements: &Elements<'_>,
        sharing: Sharing,
    ) -> Result<Vec<Halo>, InputError> {
        self.check_count(elements)?;
        Ok(halo::halos(self, elements, sharing))
    }

    fn check_count(&self, elements: &Elements<'_>) -> Result<(), InputError> {
        if self.of_body.len() == elements.body_count() {
            return Ok(());
        }
        Err(InputError::WrongCount {
            what: "ranks",
            given: self.of_body.len(),
            of: "bodies",
            expected: elements.body_count(),
        })
    }
}

fn check_ranks(count: usize) -> Result<(), InputError> {
    if (1..u32::MAX as usize).contains(&count) {
        return Ok(());
    }
    let (option, range) = ("the number of ranks", "at least 1 and a 32-bit number");
    Err(InputError::BadOption { option, range, given: count.to_string() })
}
