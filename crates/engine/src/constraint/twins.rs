//! The constraints in WGSL. Each kind's file stands beside its Rust, with the same names and the same
//! order of operations; tests hold the two together.

use std::fmt::Write as _;
use std::ops::Range;

use super::balloon::Balloon;
use super::{Form, Group, Kind, Response};

/// What an element takes along in memory, besides its constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packing {
    /// Ids of particles that share a word.
    pub(crate) ids_per_word: usize,
    /// Whether it has stiffness or compliance of its own.
    pub(crate) is_soft: bool,
    /// Whether it has damping.
    pub(crate) is_damped: bool,
}

impl Packing {
    /// An element for those who only measure it.
    pub(crate) const BARE: Self = Self { ids_per_word: 1, is_soft: false, is_damped: false };
    /// A spring.
    pub(crate) const SPRING: Self = Self { ids_per_word: 1, is_soft: true, is_damped: true };
}

impl Form {
    /// `evaluate` and `mobility` of the elements, and what they need, and how elements lie in memory:
    /// everything but the kernels that call them.
    pub(crate) fn wgsl(self, constants: usize, packing: Packing) -> String {
        let (arity, rows) = (self.arity(), self.rows());
        let Packing { ids_per_word, is_soft, is_damped } = packing;
        let (softnesses, dampings) = (rows * usize::from(is_soft), usize::from(is_damped));
        let kind = self.kind.wgsl();
        let twin = if self.is_bundled { self.evaluate_wgsl() } else { self.kind.single_wgsl() };
        format!(
            "const N = {arity}u;\nconst M = {rows}u;\nconst K = {constants}u;\n\
             const A = {}u;\n\
             const IDS_PER_WORD = {ids_per_word}u;\nconst SOFTNESSES = {softnesses}u;\n\
             const DAMPINGS = {dampings}u;\n{}\n{kind}\n{twin}\n{}\n{}",
            self.kind.arity(),
            include_str!("row.wgsl"),
            include_str!("block.wgsl"),
            include_str!("element.wgsl"),
        )
    }

    /// `solve` of the elements, which `project.wgsl` calls.
    pub(crate) fn solve_wgsl(self) -> String {
        match self.kind {
            _ if self.is_bundled => self.turns_wgsl(),
            Kind::BendDistance | Kind::Stretch | Kind::Attachment => {
                include_str!("along.wgsl").to_owned()
            }
            Kind::Bend | Kind::Volume | Kind::NeoHookean | Kind::Strain | Kind::LongRange => {
                include_str!("by_rows.wgsl").to_owned()
            }
        }
    }

    /// `evaluate` of a bundle: one member after another.
    fn evaluate_wgsl(self) -> String {
        let mut evaluate = String::new();
        for (row, corners) in self.all_corners() {
            let x = list("vec3f", corners, |corner| format!("(*x)[{corner}]"));
            let _ = writeln!(
                evaluate,
                "    let member_{row} = member_at({x}, (*constants)[{row}]);\n    \
                 rows[{row}].value = error_of(member_{row}, (*constants)[{row}]);"
            );
            for (place, corner) in corners.iter().enumerate() {
                let _ = writeln!(
                    evaluate,
                    "    rows[{row}].gradients[{corner}] = \
                     member_{row}.gradients[{place}] * (1.0 / max(member_{row}.scale, TINY));"
                );
            }
        }
        format!(
            "{}\nfn evaluate(x: ptr<function, Corners>, constants: ptr<function, Constants>) -> Rows {{\n    \
             var rows: Rows;\n{evaluate}    return rows;\n}}\n",
            include_str!("in_turn.wgsl"),
        )
    }

    /// `solve` of a bundle: one member after another.
    fn turns_wgsl(self) -> String {
        let mut turns = String::new();
        for (row, corners) in self.all_corners() {
            let x = list("vec3f", corners, |corner| format!("(*x)[{corner}]"));
            let w = list("f32", corners, |corner| format!("(*w)[{corner}]"));
            let _ = writeln!(
                turns,
                "    let rest_{row} = element.constants[{row}];\n    \
                 let member_{row} = member_at({x}, rest_{row});\n    \
                 let own_{row} = sweep.first_multiplier + {row}u * sweep.elements + place;\n    \
                 let share_{row} = \
                 share_of(member_{row}, {w}, rest_{row}, element.softness[{row}], own_{row});"
            );
            for (place, corner) in corners.iter().enumerate() {
                let _ = writeln!(
                    turns,
                    "    (*x)[{corner}] -= \
                     member_{row}.gradients[{place}] * (share_{row} * (*w)[{corner}]);"
                );
            }
        }
        format!(
            "{}\n/// Solves the bundle at a place of the schedule.\n\
             fn solve(place: u32, element: Element, x: ptr<function, Corners>, \
             w: ptr<function, array<f32, N>>) {{\n{turns}}}\n",
            include_str!("turns.wgsl"),
        )
    }

    /// The members of a bundle with their corners.
    fn all_corners(self) -> impl Iterator<Item = (usize, &'static [usize])> {
        (0..self.rows()).filter_map(move |row| Some((row, self.corners(row)?)))
    }
}

/// A list of something about some corners.
fn list(kind: &str, corners: &[usize], item: impl Fn(&usize) -> String) -> String {
    let items: Vec<String> = corners.iter().map(item).collect();
    format!("array<{kind}, A>({})", items.join(", "))
}

impl Kind {
    /// `evaluate` and `mobility` of the kind, or `member_at` and `member_mobility`.
    fn wgsl(self) -> &'static str {
        match self {
            Kind::Bend => concat!(include_str!("../math/angle.wgsl"), include_str!("bend.wgsl")),
            Kind::Volume => concat!(include_str!("member.wgsl"), include_str!("volume.wgsl")),
            Kind::NeoHookean => include_str!("neo_hookean.wgsl"),
            Kind::Strain => include_str!("strain.wgsl"),
            Kind::LongRange => include_str!("long_range.wgsl"),
            Kind::BendDistance | Kind::Stretch | Kind::Attachment => {
                concat!(include_str!("member.wgsl"), include_str!("distance.wgsl"))
            }
        }
    }

    /// What makes `evaluate` and `mobility` of a member.
    fn single_wgsl(self) -> String {
        match self {
            Kind::Volume | Kind::BendDistance | Kind::Stretch | Kind::Attachment => {
                include_str!("single.wgsl").to_owned()
            }
            Kind::Bend | Kind::NeoHookean | Kind::Strain | Kind::LongRange => String::new(),
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
