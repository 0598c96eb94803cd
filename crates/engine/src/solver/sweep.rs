//! Sweeps: all constraints of some groups are solved, once or as often as the substep asks for.

use std::ops::Range;

use super::phantom::{self, CopyPass};
use super::run::Team;
use super::stage::{Substep, contact_range, each_phase};
use crate::constraint::{Ahead, Group};
use crate::math::{Lane, Work};
use crate::model::{Model, Pieces};
use crate::state::{Storage, View};

/// Solves every constraint of some groups with the same blocks once: phase after phase, each worker its
/// own blocks; or tile after tile, each worker its own tiles through all phases.
pub(super) fn sweep<S: Storage, T: Team>(
    groups: &[Group],
    substep: &Substep,
    first: bool,
    copies: [Option<CopyPass>; 2],
    view: &View<S>,
    team: &T,
) {
    let solve = |blocks: Range<usize>, step: usize, ahead: Option<Ahead<'_>>| {
        let sweeps = Sweeps { groups, blocks, step, count: 1, first, between: None, ahead };
        team.compute(SweepBlocks { sweeps, substep, view });
    };
    let group = &groups[0];
    if !group.schedule.has_columns() {
        return each_phase(group, team, |blocks| solve(blocks, 1, None));
    }
    let tiles = group.schedule.blocks(0).len();
    let solve_tile = |tile: usize| {
        let copy = |pass: Option<CopyPass>| {
            if let Some(pass) = pass {
                phantom::copy_some(&group.copies, group.copies.of_tile(tile), pass, view, team);
            }
        };
        copy(copies[0]);
        let next = Some(tile + 1).filter(|&next| next < tiles && group.has_far_tiles());
        let ahead = next.map(|next| Ahead::tile(&group.copies, next));
        // The tile's blocks of all phases.
        solve(tile..group.schedule.block_count(), tiles, ahead);
        copy(copies[1]);
    };
    team.deal(tiles, |own| own.for_each(solve_tile));
}

/// Takes each piece through all sweeps of the substep and its contacts with shapes after each, each worker
/// its own pieces; returns how many of their particles were inside a shape after the last sweep.
///
/// A piece meets nothing that others move, so it need not wait for them. What it needs is read from memory
/// once and stays in the nearest caches for all sweeps.
pub(super) fn pieces<S: Storage, T: Team>(
    model: &Model,
    substep: &Substep,
    iterations: u32,
    view: &View<S>,
    team: &T,
) -> usize {
    let Some(pieces) = &model.pieces else { return 0 };
    let groups = &model.groups[pieces.groups.clone()];
    let between = Some((model, pieces));
    let mut contacts = 0;
    team.deal(groups[0].schedule.block_count(), |blocks| {
        let (step, count, first, ahead) = (1, iterations, true, None);
        let sweeps = Sweeps { groups, blocks, step, count, first, between, ahead };
        contacts += team.compute(SweepBlocks { sweeps, substep, view });
    });
    contacts
}

/// Sweeps over some blocks of a phase, or of a column: every so many.
struct Sweeps<'a> {
    groups: &'a [Group],
    blocks: Range<usize>,
    step: usize,
    /// How many.
    count: u32,
    /// Whether the first of them is the first of the substep.
    first: bool,
    /// Whose contacts with shapes come after each sweep.
    between: Option<(&'a Model, &'a Pieces)>,
    /// What is fetched meanwhile, if the blocks are a column: what the next one needs.
    ahead: Option<Ahead<'a>>,
}

struct SweepBlocks<'a, S: Storage> {
    sweeps: Sweeps<'a>,
    substep: &'a Substep,
    view: &'a View<S>,
}

impl<S: Storage> Work for SweepBlocks<'_, S> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lane>(self) -> usize {
        let Self { sweeps, substep, view } = self;
        let Sweeps { groups, blocks, step, count, first, between, ahead } = sweeps;
        let inverse = 1.0 / (substep.step * substep.step);
        // What comes after these blocks is most often this worker's, too.
        let last = groups[0].schedule.block_count();
        let mut contacts = 0;
        for block in blocks.step_by(step) {
            let mut own_contacts = 0;
            for sweep in 0..count {
                for (index, group) in groups.iter().enumerate() {
                    let is_last = sweep + 1 == count && index + 1 == groups.len();
                    let after = Some(block + step).filter(|&next| is_last && next < last);
                    let ahead = match ahead {
                        Some(tile) => Some(tile.part(block / step, group.schedule.phase_count())),
                        None => after.and_then(|next| Ahead::block(group, next)),
                    };
                    group.solve_block::<L, S>(block, ahead, inverse, first && sweep == 0, view);
                }
                own_contacts = 0;
                if let Some((model, pieces)) = between {
                    for particles in pieces.particles(block) {
                        own_contacts += contact_range::<L, S>(model, substep, view, particles);
                    }
                }
            }
            contacts += own_contacts;
        }
        contacts
    }
}
