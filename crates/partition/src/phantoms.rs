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
//!   With [`Options::tile_bodies`] each copy takes part in one tile of the problem only, at the price of
//!   a few more copies where tiles meet: then tiles need not wait for each other between colors.
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
mod pairs;
mod paper;
mod save_copies;
mod spread;
mod tiles;

use std::ops::Range;

use crate::coloring::{self, Coloring, DEFAULT_BLOCK_SIZE};
use crate::incidence::valences;
use crate::{Elements, Incidence, InputError, PartitionError, Parts, Schedule};
use assign::{Assignment, assign};
use tiles::Tiles;

/// What a caller may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of colors q̂, at least 2. A good choice is half of the clique number:
    /// [`crate::cliques::CliqueNumber::default_colors`].
    pub colors: usize,
    /// Elements of a block; see [`coloring::Options::block_size`].
    pub block_size: usize,
    /// Bodies of a tile, about; none: there are no tiles. Tiles are made of bodies that follow each other
    /// by number, so neighbors should have numbers close by: see [`crate::ranks::curve_order`]. The blocks
    /// of each color are the tiles, and the schedule has [columns](Schedule::has_columns).
    pub tile_bodies: Option<usize>,
    /// Whether the schedule may have the two bodies of an element the other way round. If so, the first bodies
    /// of the elements of a block ascend, and most follow each other without a gap: a body takes part itself
    /// in the element of each color that it comes first in, its copies in others. Elements with more bodies
    /// are left as they are.
    pub pairs_in_rows: bool,
}

impl Options {
    /// The usual options for q̂ colors.
    pub fn new(colors: usize) -> Self {
        Self { colors, block_size: DEFAULT_BLOCK_SIZE, tile_bodies: None, pairs_in_rows: false }
    }
}

/// A problem after splitting.
#[derive(Clone, Debug)]
pub struct Split {
    /// The bodies of the elements in their original layout, with copies in place of some. Copies
    /// have ids from the number of bodies on.
    pub bodies: Vec<u32>,
    /// The original body of each copy. The copies of a body have consecutive ids; bodies of the first tile
    /// come first, those of several tiles last; among these, bodies with few copies come first and those with
    /// as many in rising order, so that the same can be done to many in a row.
    pub owners: Vec<u32>,
    /// Where among the [`groups`](Split::groups) those of each tile end: of bodies that take part in
    /// elements of this tile only. The groups after the last are of bodies of several tiles. Empty where
    /// there are no tiles.
    pub tile_ends: Vec<u32>,
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
        Self::with_tiles(elements, assignment, options, None)
    }

    fn with_tiles(
        elements: &Elements<'_>,
        assignment: Assignment,
        options: &Options,
        tiles: Option<&Tiles>,
    ) -> Self {
        let Assignment { colors, mut bodies, owners, turned } = assignment;
        let tile_of = tiles.map(|tiles| tiles.of_bodies(elements));
        let rank = |owner: u32| match &tile_of {
            Some(tile_of) => tile_of[owner as usize].unwrap_or(u32::MAX),
            None => 0,
        };
        let owners = renumber(&mut bodies, &owners, elements.body_count(), rank);
        let mut tile_ends = vec![0; tiles.map_or(0, |tiles| tiles.count)];
        for own in owners.chunk_by(|a, b| a == b) {
            if let Some(groups) = tile_ends.get_mut(rank(own[0]) as usize) {
                *groups += 1;
            }
        }
        (1..tile_ends.len()).for_each(|tile| tile_ends[tile] += tile_ends[tile - 1]);
        let body_count = elements.body_count() + owners.len();
        let fixed = fixed_with_copies(elements, owners.len());
        let coloring = Coloring::from_colors(colors, 0);
        let mut parts = match tiles {
            Some(tiles) => tiled(&coloring, tiles),
            None => coloring.parts(options.block_size),
        };
        let mut as_solved = bodies.clone();
        turn(&mut as_solved, &mut parts, &turned, tiles.is_some());
        let split = elements.with_bodies(&as_solved, body_count, &fixed);
        let schedule = split.map_err(PartitionError::from).and_then(|split| {
            let mut schedule = Schedule::new(&split, parts)?;
            if tiles.is_some() {
                schedule.find_columns();
            }
            Ok(schedule)
        });
        let schedule = schedule.expect("elements of a color take different copies");
        let lower_bound = lower_bound_of_copies(elements, options.colors);
        let (colors, body_count) = (coloring.colors, elements.body_count());
        Self { bodies, owners, tile_ends, schedule, colors, lower_bound, body_count }
    }
}

/// A phase per color, a block per tile.
fn tiled(coloring: &Coloring, tiles: &Tiles) -> Parts {
    let colors = coloring.colors.iter().zip(&tiles.of);
    let blocks: Vec<u32> = colors.map(|(color, tile)| color * tiles.count as u32 + tile).collect();
    let (offsets, order) = coloring::group(&blocks, coloring.color_count * tiles.count);
    let numbers = 0..=(coloring.color_count * tiles.count) as u32;
    let phases = numbers.clone().step_by(tiles.count).collect();
    Parts { order, batches: offsets, blocks: numbers.collect(), phases }
}

/// Swaps the bodies of elements that are turned, and sorts the elements of each color, or of each tile of it, by
/// their first bodies. Blocks have one batch each.
fn turn(bodies: &mut [u32], parts: &mut Parts, turned: &[bool], has_tiles: bool) {
    if turned.is_empty() {
        return;
    }
    for (pair, _) in bodies.chunks_exact_mut(2).zip(turned).filter(|(_, turned)| **turned) {
        pair.swap(0, 1);
    }
    let Parts { order, batches, blocks, phases } = parts;
    let ends: Vec<u32> = if has_tiles {
        batches.clone()
    } else {
        phases.iter().map(|&phase| batches[blocks[phase as usize] as usize]).collect()
    };
    for range in ends.windows(2) {
        let own = &mut order[range[0] as usize..range[1] as usize];
        own.sort_by_key(|&element| bodies[2 * element as usize]);
    }
}

/// Splits bodies so that exactly `options.colors` colors do (fewer only if there are fewer
/// elements). Where the elements can be colored with so few anyway, nothing is split.
pub fn split(elements: &Elements<'_>, options: &Options) -> Result<Split, InputError> {
    checked(options)?;
    let incidence = Incidence::new(elements);
    let max_valence = incidence.max_valence();
    let order = coloring::smallest_last(elements, incidence);
    if max_valence <= options.colors
        && let Some(unsplit) = spread::without_copies(elements, &order, options.colors)
    {
        return Ok(Split::new(elements, unsplit, options));
    }
    match options.tile_bodies {
        None => Ok(Split::new(
            elements,
            assign(elements, &order, options.colors, options.pairs_in_rows),
            options,
        )),
        Some(size) => split_tiles(elements, &Tiles::new(elements, size), options),
    }
}

/// Splits bodies of several tiles, one for each of them, then what is left as if there were no tiles.
fn split_tiles(
    elements: &Elements<'_>,
    tiles: &Tiles,
    options: &Options,
) -> Result<Split, InputError> {
    let tiles::Apart { bodies, mut owners } = tiles.apart(elements);
    let body_count = elements.body_count() + owners.len();
    let fixed = fixed_with_copies(elements, owners.len());
    let apart = elements.with_bodies(&bodies, body_count, &fixed)?;
    let order = coloring::smallest_last(&apart, Incidence::new(&apart));
    let mut assignment = assign(&apart, &order, options.colors, options.pairs_in_rows);
    let original = |stand_in: &u32| match (*stand_in as usize).checked_sub(elements.body_count()) {
        Some(new) => owners[new],
        None => *stand_in,
    };
    let of_copies: Vec<u32> = assignment.owners.iter().map(original).collect();
    owners.extend(of_copies);
    assignment.owners = owners;
    Ok(Split::with_tiles(elements, assignment, options, Some(tiles)))
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

/// Gives the copies of each body consecutive ids, those of bodies of low rank first, then those of bodies
/// with few copies; returns the owners in the new order.
fn renumber(
    bodies: &mut [u32],
    owners: &[u32],
    body_count: usize,
    rank: impl Fn(u32) -> u32,
) -> Vec<u32> {
    let mut counts = vec![0_u32; body_count];
    owners.iter().for_each(|&owner| counts[owner as usize] += 1);
    let mut by_owner: Vec<u32> = (0..owners.len() as u32).collect();
    by_owner.sort_by_key(|&copy| {
        let owner = owners[copy as usize];
        (rank(owner), counts[owner as usize], owner)
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
