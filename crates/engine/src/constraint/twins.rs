//! The constraints in WGSL. Each kind's file stands beside its Rust, with the same names and the same
//! order of operations; tests hold the two together.

use std::ops::Range;

use super::balloon::Balloon;
use super::{Group, Kind, Response};

impl Kind {
    /// `evaluate` and `mobility` of the kind, and what they need, and elements with so many ids in a
    /// word: everything but the kernels that call them.
    pub(crate) fn wgsl(self, constants: usize, ids_per_word: usize, damped: bool) -> String {
        let twin = match self {
            Kind::Bend => concat!(include_str!("../math/angle.wgsl"), include_str!("bend.wgsl")),
            Kind::Volume => include_str!("volume.wgsl"),
            Kind::NeoHookean => include_str!("neo_hookean.wgsl"),
            Kind::Strain => include_str!("strain.wgsl"),
            Kind::LongRange => include_str!("long_range.wgsl"),
            Kind::BendDistance | Kind::Stretch | Kind::Attachment => {
                include_str!("distance.wgsl")
            }
        };
        let (arity, rows) = (self.arity(), self.rows());
        let dampings = usize::from(damped);
        format!(
            "const N = {arity}u;\nconst M = {rows}u;\nconst K = {constants}u;\n\
             const IDS_PER_WORD = {ids_per_word}u;\nconst DAMPINGS = {dampings}u;\n{}\n{twin}\n{}\n{}",
            include_str!("row.wgsl"),
            include_str!("block.wgsl"),
            include_str!("element.wgsl"),
        )
    }

    /// `solve` of the kind, which `project.wgsl` calls.
    pub(crate) fn solve_wgsl(self) -> &'static str {
        match self {
            Kind::BendDistance | Kind::Stretch | Kind::Attachment => include_str!("along.wgsl"),
            Kind::Bend | Kind::Volume | Kind::NeoHookean | Kind::Strain | Kind::LongRange => {
                include_str!("by_rows.wgsl")
            }
        }
    }
}

/// What `balloon.wgsl` knows of a balloon.
impl Balloon {
    pub(crate) fn particles(&self) -> Range<usize> {
        self.particles.clone()
    }

    pub(crate) fn first_scratch(&self) -> usize {
        self.first_scratch
    }

    pub(crate) fn first_multiplier(&self) -> usize {
        self.first_multiplier
    }

    pub(crate) fn is_compliant(&self) -> bool {
        self.response == Response::Compliance
    }

    pub(crate) fn target_volume(&self) -> f32 {
        self.volume
    }

    pub(crate) fn softness(&self) -> f32 {
        self.softness
    }

    /// Where the edges of each particle begin in this same list, one more entry, and the edges.
    pub(crate) fn edge_words(&self) -> Vec<u32> {
        let first = self.offsets.len() as u32;
        let starts = self.offsets.iter().map(|offset| first + 2 * offset);
        starts.chain(self.opposite.iter().flatten().copied()).collect()
    }
}

impl Group {
    /// The particles of all elements in schedule order, none of them a copy.
    pub(crate) fn original_ids(&self) -> Vec<u32> {
        let places = 0..self.schedule.len();
        let ids = places.flat_map(|place| self.schedule.bodies_at(place));
        ids.map(|&id| self.copies.original(id)).collect()
    }
}
