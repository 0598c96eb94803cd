//! Cliques of the constraint graph: sets of elements that all conflict with each other (paper A,
//! section 4). No coloring has fewer colors than the largest clique has elements.
//!
//! [`maximal_cliques`] lists them all on small problems. [`clique_number`] is for problems of any
//! size and never builds the graph; it knows what maximal cliques look like:
//!
//! - Elements of one movable body: the *star* of a body, all elements that write it.
//! - Of two: stars, and the *triangles*, all elements between three bodies. There are no others,
//!   so the number is exact.
//! - Of three and more: stars, and the families *two of a face*, all elements with at least two
//!   of three bodies. In meshes these are the largest, but hypergraphs have others (the lines of
//!   the Fano plane are a clique of seven triples in which each body has three), so the number is
//!   a lower bound.
//!
//! ```
//! use taut_partition::{Elements, cliques};
//!
//! // A triangle with a tail: body 0 has three edges, and so has the triangle.
//! let edges = Elements::uniform(&[[0, 1], [1, 2], [2, 0], [0, 3]], 4)?;
//! assert_eq!(cliques::maximal_cliques(&edges)?, [vec![0, 1, 2], vec![0, 2, 3]]);
//! let number = cliques::clique_number(&edges);
//! assert_eq!((number.size, number.exact), (3, true));
//! assert_eq!(number.default_colors(), 2);
//! # Ok::<(), taut_partition::InputError>(())
//! ```

mod bron_kerbosch;
mod families;

use crate::{Elements, InputError};

/// The size of the largest clique that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CliqueNumber {
    /// Its number of elements.
    pub size: usize,
    /// Whether no clique is larger; otherwise this is a lower bound.
    pub exact: bool,
}

impl CliqueNumber {
    /// Paper A's choice of q̂ for phantoms: half of the clique number, at least 2.
    pub fn default_colors(&self) -> usize {
        (self.size / 2).max(2)
    }
}

/// The size of the largest star, triangle or two-of-a-face family.
pub fn clique_number(elements: &Elements<'_>) -> CliqueNumber {
    families::clique_number(elements)
}

/// All maximal cliques, each rising, in rising order, by the algorithm of Bron & Kerbosch 1973
/// with pivots (Tomita et al. 2006) inside a degeneracy order (Eppstein, Löffler & Strash 2010).
///
/// The constraint graph is built for it, and a graph can have exponentially many cliques:
/// problems with more than [`MOST_PAIRS`] conflicting pairs or [`MOST_CLIQUES`] cliques are
/// refused.
pub fn maximal_cliques(elements: &Elements<'_>) -> Result<Vec<Vec<u32>>, InputError> {
    bron_kerbosch::maximal_cliques(elements)
}

/// Conflicting pairs up to which [`maximal_cliques`] builds the graph.
pub const MOST_PAIRS: usize = 2_000_000;

/// Cliques up to which [`maximal_cliques`] lists them.
pub const MOST_CLIQUES: usize = 1_000_000;
