//! Pieces that nothing connects: each can go through all sweeps of a substep before the next one does.

use std::ops::Range;

use super::Model;
use crate::constraint::{Group, Response};

/// A particle that is in no block.
const NO_BLOCK: u32 = u32::MAX;

/// Where the blocks of all groups that are swept over are the same, and no two of them share anything that
/// moves: neither constraints nor contacts with other particles. Shapes move single particles.
#[derive(Clone, Debug)]
pub struct Pieces {
    /// The groups that are swept over.
    pub groups: Range<usize>,
    /// Where the ranges of each block begin, and one more entry.
    starts: Vec<u32>,
    ranges: Vec<Range<u32>>,
}

impl Pieces {
    /// The pieces of a model, if it consists of them. Movable particles in no block would be forgotten.
    pub(super) fn of(model: &Model) -> Option<Self> {
        let is_swept = |group: &Group| group.response != Response::Force;
        let first = model.groups.iter().position(is_swept)?;
        let end = model.groups.iter().rposition(is_swept)? + 1;
        let is_connected = model.chebyshev.is_some()
            || !model.balloons.is_empty()
            || model.particle_contacts.is_some()
            || !model.groups[first + 1..end].iter().all(|group| group.goes_along);
        if is_connected || !model.groups[first].has_separate_blocks() {
            return None;
        }
        Self::gather(first..end, &model.groups[first], model.body_of.len())
    }

    fn gather(groups: Range<usize>, group: &Group, particles: usize) -> Option<Self> {
        let schedule = &group.schedule;
        let mut block_of = vec![NO_BLOCK; schedule.body_count()];
        for block in 0..schedule.block_count() {
            for place in schedule.block(block) {
                for &id in schedule.bodies_at(place).iter().filter(|&&id| !schedule.is_fixed(id)) {
                    block_of[id as usize] = block as u32;
                }
            }
        }
        let mut runs: Vec<(u32, Range<u32>)> = Vec::new();
        for particle in (0..particles as u32).filter(|&particle| !schedule.is_fixed(particle)) {
            let block = block_of[particle as usize];
            match runs.last_mut() {
                _ if block == NO_BLOCK => return None,
                Some((last, run)) if *last == block && run.end == particle => run.end += 1,
                _ => runs.push((block, particle..particle + 1)),
            }
        }
        runs.sort_by_key(|&(block, _)| block);
        let before = |block: usize| runs.partition_point(|&(own, _)| (own as usize) < block) as u32;
        let starts = (0..=schedule.block_count()).map(before).collect();
        let ranges = runs.into_iter().map(|(_, run)| run).collect();
        Some(Self { groups, starts, ranges })
    }

    /// The movable particles of a block: few ranges, because particles are numbered along a curve.
    #[inline(always)]
    pub fn particles(&self, block: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let own = self.starts[block] as usize..self.starts[block + 1] as usize;
        self.ranges[own].iter().map(|range| range.start as usize..range.end as usize)
    }
}

#[cfg(test)]
mod tests {
    //! Contract: there are pieces only where nothing connects them, and each movable particle is in one.

    use std::path::Path;

    use super::*;
    use crate::scene::Scene;

    const BLOCKS: &str = r#"
        [[bodies]]
        name = "block"
        kind = "soft"
        mesh.block = { size = [1, 1, 1], cells = [2, 2, 2] }
        repeat = { count = [2, 1, 1], spacing = [9, 0, 0] }
        pins = [{ group = "top" }]
        elements.stretch = { compliance = 1e-6 }
        elements.volume = { stiffness = 0.9 }
        [[shapes]]
        name = "floor"
        geometry.plane = {}
    "#;

    fn model(settings: &str) -> Model {
        let text = format!("partition = {{ method = \"cluster\", subsets = 2 }}\n{settings}");
        let scene = Scene::parse("test", &text, Path::new("."), &[]).unwrap();
        Model::build(&scene).unwrap().0
    }

    #[test]
    fn every_movable_particle_is_in_one_piece() {
        let model = model(BLOCKS);
        let pieces = model.pieces.as_ref().unwrap();
        assert_eq!(pieces.groups, 0..2);
        let mut found: Vec<usize> =
            (0..2).flat_map(|block| pieces.particles(block)).flatten().collect();
        found.sort_unstable();
        let movable = |id: &usize| !model.fixed.contains(&(*id as u32));
        assert_eq!(found, (0..54).filter(movable).collect::<Vec<_>>());
        for block in 0..2 {
            let bodies = pieces.particles(block).flatten().map(|particle| model.body_of[particle]);
            let bodies: Vec<u32> = bodies.collect();
            assert!(bodies.iter().all(|body| *body == bodies[0]), "a piece is one body here");
        }
    }

    #[test]
    fn what_is_connected_is_no_piece() {
        let loose =
            "[[bodies]]\nname = \"loose\"\nmesh.grid = { particles = [3, 3], size = [1, 1] }\n";
        let balloon = "[[bodies]]\nname = \"balloon\"\nmesh.sphere = { radius = 0.3, subdivisions = 3 }\n\
                       elements.balloon = { compliance = 1e-3 }\n";
        let pulled = "[[attachments]]\nbody = \"block\"\nparticles.group = \"bottom\"\nto.place = {}\n\
                      compliance = 0\n";
        for connected in [
            format!("chebyshev = 0.9\n{BLOCKS}"),
            format!("particle-contacts.radius = 0.1\n{BLOCKS}"),
            format!("{BLOCKS}{loose}"),
            format!("{BLOCKS}{balloon}"),
            format!("{BLOCKS}{pulled}"),
            BLOCKS
                .replace("cells = [2, 2, 2]", "cells = [40, 2, 2]")
                .replace("[2, 1, 1]", "[1, 1, 1]"),
        ] {
            assert!(model(&connected).pieces.is_none(), "{connected}");
        }
        let scene = Scene::parse("test", BLOCKS, Path::new("."), &[]).unwrap();
        assert!(Model::build(&scene).unwrap().0.pieces.is_none(), "colors");
    }
}
