//! Phantoms: as few colors as you like (paper A, section 4).
//!
//! A body that many elements share forces as many colors. Copies of it (*phantoms*) take over
//! some of its elements, so that any number of colors q̂ ≥ 2 suffices; after each iteration the
//! copies of a body are merged into their mean. Two ways to find the copies:
//!
//! - [`split`], color-driven: every body starts with the ⌈valence / q̂⌉ copies it needs in any
//!   case; elements in smallest-last order get the color that needs the fewest more, then the
//!   least loaded; then elements move as long as that saves copies. It always ends in exactly q̂
//!   colors.
//! - [`split_by_cliques`], the paper's Algorithm 2, for comparison on small problems: it splits
//!   maximal cliques, which bounds their size but not the number of colors.
//!
//! ```
//! use taut_partition::{Elements, phantoms};
//!
//! // Five edges at body 0 need five colors, or three copies of it and two colors.
//! let star = Elements::uniform(&[[0, 1], [0, 2], [0, 3], [0, 4], [0, 5]], 6)?;
//! let split = phantoms::split(&star, &phantoms::Options::new(2))?;
//! assert_eq!(split.schedule.phase_count(), 2);
//! assert_eq!(split.owners, [0, 0]); // bodies 6 and 7 are copies of body 0
//! assert_eq!(split.lower_bound, 2);
//! let groups: Vec<_> = split.groups().collect();
//! assert_eq!((groups[0].body, groups[0].copies.clone()), (0, 6..8));
//! # Ok::<(), taut_partition::InputError>(())
//! ```

mod assign;
mod paper;
mod save_copies;
mod spread;

use std::ops::Range;

use crate::coloring::{self, Coloring, DEFAULT_BLOCK_SIZE};
use crate::incidence::valences;
use crate::{Elements, Incidence, InputError, PartitionError, Schedule};
use assign::{Assignment, assign};

/// What a caller may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of colors q̂, at least 2. A good choice is half of the clique number:
    /// [`crate::cliques::CliqueNumber::default_colors`].
    pub colors: usize,
    /// Elements of a block; see [`coloring::Options::block_size`].
    pub block_size: usize,
}

impl Options {
    /// The usual options for q̂ colors.
    pub fn new(colors: usize) -> Self {
        Self { colors, block_size: DEFAULT_BLOCK_SIZE }
    }
}

/// A problem after splitting.
#[derive(Clone, Debug)]
pub struct Split {
    /// The bodies of the elements in their original layout, with copies in place of some. Copies
    /// have ids from the number of bodies on.
    pub bodies: Vec<u32>,
    /// The original body of each copy. The copies of a body have consecutive ids; bodies with few copies
    /// come first, those with as many in rising order, so that the same can be done to many in a row.
    pub owners: Vec<u32>,
    /// The checked schedule of the split problem; its bodies include the copies.
    pub schedule: Schedule,
    /// The color (phase) of each element.
    pub colors: Vec<u32>,
    /// No splitting into as many colors has fewer copies: Σ (⌈valence / q̂⌉ − 1).
    pub lower_bound: usize,
    body_count: usize,
}

/// A body and its copies, to be merged into their mean. With `k` copies and the body itself each
/// should have `k + 1` times the body's inverse mass: then the mean moves as the body would and
/// momentum is kept (mass splitting, Tonge et al. 2012).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The original body, itself one of those to be merged.
    pub body: u32,
    /// The ids of its copies.
    pub copies: Range<u32>,
}

impl Split {
    /// The number of new copies.
    pub fn copy_count(&self) -> usize {
        self.owners.len()
    }

    /// The number of bodies before splitting: the id of the first copy.
    pub fn body_count(&self) -> usize {
        self.body_count
    }

    /// One group for each body that has copies, in the order of the copies. They share nothing, so all merges can
    /// run at the same time.
    pub fn groups(&self) -> impl Iterator<Item = Group> + '_ {
        let mut first = self.body_count as u32;
        self.owners.chunk_by(|a, b| a == b).map(move |owners| {
            let copies = first..first + owners.len() as u32;
            first = copies.end;
            Group { body: owners[0], copies }
        })
    }

    fn new(elements: &Elements<'_>, assignment: Assignment, options: &Options) -> Self {
        let Assignment { colors, mut bodies, owners } = assignment;
        let owners = renumber(&mut bodies, &owners, elements.body_count());
        let body_count = elements.body_count() + owners.len();
        let fixed = fixed_with_copies(elements, owners.len());
        let coloring = Coloring::from_colors(colors, 0);
        let schedule = elements
            .with_bodies(&bodies, body_count, &fixed)
            .map_err(PartitionError::from)
            .and_then(|split| Ok(coloring.schedule(&split, options.block_size)?))
            .expect("elements of a color take different copies");
        let lower_bound = lower_bound_of_copies(elements, options.colors);
        let (colors, body_count) = (coloring.colors, elements.body_count());
        Self { bodies, owners, schedule, colors, lower_bound, body_count }
    }
}

/// Splits bodies so that exactly `options.colors` colors do (fewer only if there are fewer
/// elements). Where the elements can be colored with so few anyway, nothing is split.
pub fn split(elements: &Elements<'_>, options: &Options) -> Result<Split, InputError> {
    checked(options)?;
    let incidence = Incidence::new(elements);
    let max_valence = incidence.max_valence();
    let order = coloring::smallest_last(elements, incidence);
    let unsplit = if max_valence <= options.colors {
        spread::without_copies(elements, &order, options.colors)
    } else {
        None
    };
    let assignment = unsplit.unwrap_or_else(|| assign(elements, &order, options.colors));
    Ok(Split::new(elements, assignment, options))
}

/// Gives every element bodies of its own, so that all of them run in one phase: what is left of
/// phantoms when there is only one color. Merging the copies into their mean, each with the whole
/// mass, is averaged Jacobi.
///
/// ```
/// use taut_partition::{Elements, phantoms};
///
/// let path = Elements::uniform(&[[0, 1], [1, 2], [2, 3]], 4)?;
/// let split = phantoms::separate(&path);
/// assert_eq!(split.schedule.phase_count(), 1);
/// assert_eq!(split.owners, [1, 2]);
/// # Ok::<(), taut_partition::InputError>(())
/// ```
pub fn separate(elements: &Elements<'_>) -> Split {
    Split::new(elements, assign::separate(elements), &Options::new(1))
}

/// Paper A's Algorithm 2: splits the most shared body of every clique with more than
/// `options.colors` elements until there is none, then colors the elements smallest-last, with as
/// many colors as that takes.
///
/// It needs all maximal cliques, so it is for small problems; see [`crate::cliques`].
pub fn split_by_cliques(elements: &Elements<'_>, options: &Options) -> Result<Split, InputError> {
    checked(options)?;
    Ok(Split::new(elements, paper::assign(elements, options.colors)?, options))
}

/// Which bodies of the split problem are fixed; empty if none is. Copies never are.
fn fixed_with_copies(elements: &Elements<'_>, copies: usize) -> Vec<bool> {
    let mut fixed = Vec::new();
    if elements.has_fixed() {
        fixed.extend((0..elements.body_count() as u32).map(|body| elements.is_fixed(body)));
        fixed.resize(fixed.len() + copies, false);
    }
    fixed
}

fn checked(options: &Options) -> Result<(), InputError> {
    if options.colors < 2 {
        let given = options.colors.to_string();
        return Err(InputError::BadOption { option: "colors", range: "at least 2", given });
    }
    Ok(())
}

/// Gives the copies of each body consecutive ids, those of bodies with few copies first; returns the
/// owners in the new order.
fn renumber(bodies: &mut [u32], owners: &[u32], body_count: usize) -> Vec<u32> {
    let mut counts = vec![0_u32; body_count];
    owners.iter().for_each(|&owner| counts[owner as usize] += 1);
    let mut by_owner: Vec<u32> = (0..owners.len() as u32).collect();
    by_owner.sort_by_key(|&copy| {
        let owner = owners[copy as usize];
        (counts[owner as usize], owner)
    });
    let mut renamed = vec![0; owners.len()];
    for (new, &old) in by_owner.iter().enumerate() {
        renamed[old as usize] = (body_count + new) as u32;
    }
    for body in bodies {
        if *body as usize >= body_count {
            *body = renamed[*body as usize - body_count];
        }
    }
    by_owner.into_iter().map(|copy| owners[copy as usize]).collect()
}

fn lower_bound_of_copies(elements: &Elements<'_>, colors: usize) -> usize {
    let copies = |valence: u32| (valence as usize).div_ceil(colors).saturating_sub(1);
    valences(elements).into_iter().map(copies).sum()
}
