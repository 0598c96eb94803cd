//! The kernels' sources, put together from the WGSL files that stand beside their Rust twins.

use crate::constraint::{Form, Packing};

/// A WGSL module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Module {
    /// Stages that go through all particles.
    Particles,
    /// Particles that are grabbed.
    Hands,
    /// The air.
    Wind,
    /// Acceleration of sweeps.
    Chebyshev,
    /// Copies into particles.
    Merge,
    /// Contacts with shapes.
    Contact(Obstacles),
    /// Which particles are close to each other.
    Detect,
    /// Contacts between particles.
    Touch,
    /// Closed surfaces under pressure.
    Balloon,
    /// Colors of elements.
    Coloring,
    /// A sweep over a group.
    Sweep(Sweeping),
    /// All sweeps of a substep, with contacts if there are shapes.
    Pieces(Sweeping, Option<Obstacles>, Taker),
    /// Errors of a kind.
    Residual {
        /// What elements are.
        form: Form,
        /// Its number of constants.
        constants: usize,
    },
    /// Springs of a kind.
    Force {
        /// What elements are.
        form: Form,
        /// Its number of constants.
        constants: usize,
    },
}

/// What contacts with shapes are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Obstacles {
    /// How many shapes.
    pub(super) shapes: usize,
    /// A bit for each form that they have.
    pub(super) forms: u32,
    /// Whether some of them move.
    pub(super) some_move: bool,
    /// Whether all bodies have the same thickness.
    pub(super) one_thickness: bool,
}

/// Who takes a piece through all sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taker {
    /// A workgroup, which has its particles in its memory.
    Workgroup,
    /// An invocation.
    Invocation,
}

/// What sweeps are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sweeping {
    /// The elements of a group.
    pub(super) swept: Swept,
    /// Those of the group that goes along, if one does.
    pub(super) along: Option<Swept>,
    /// Particles that the workgroup memory of a block has room for.
    pub(super) block_particles: u32,
    /// Invocations of a workgroup that solves a block.
    pub(super) block_width: u32,
}

/// Elements that are swept over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Swept {
    /// What they are.
    pub(super) form: Form,
    /// Their number of constants.
    pub(super) constants: usize,
    /// How they lie in memory.
    pub(super) packing: Packing,
    /// Whether their softness is a compliance.
    pub(super) is_compliant: bool,
}

/// Where the lists of a group are bound that goes along with another: its elements, its parameters and its
/// blocks.
pub(super) const BINDINGS_ALONG: [(u32, u32); 3] = [(2, 8), (4, 9), (6, 10)];

const SUBSTEP: &str = include_str!("../../solver/substep.wgsl");
const FINDINGS: &str = include_str!("../../solver/findings.wgsl");
const CONTACTS: &str = include_str!("../../collide/contacts.wgsl");
const SHAPE: &str = include_str!("../../collide/shape.wgsl");

impl Module {
    /// The whole source.
    pub(super) fn source(self) -> String {
        match self {
            Self::Particles => {
                [SUBSTEP, FINDINGS, SHAPE, include_str!("../../solver/particles.wgsl")].join("\n")
            }
            Self::Hands => [SUBSTEP, include_str!("../../solver/hand.wgsl")].join("\n"),
            Self::Wind => [SUBSTEP, include_str!("../../solver/wind.wgsl")].join("\n"),
            Self::Chebyshev => [SUBSTEP, include_str!("../../solver/chebyshev.wgsl")].join("\n"),
            Self::Merge => [SUBSTEP, include_str!("../../solver/merge.wgsl")].join("\n"),
            Self::Contact(obstacles) => {
                [SUBSTEP, &obstacles.source(), include_str!("../../solver/contact.wgsl")].join("\n")
            }
            Self::Detect => {
                [SUBSTEP, FINDINGS, CONTACTS, include_str!("../../solver/detect.wgsl")].join("\n")
            }
            Self::Touch => [
                SUBSTEP,
                FINDINGS,
                CONTACTS,
                include_str!("../../collide/pair.wgsl"),
                include_str!("../../solver/touch.wgsl"),
            ]
            .join("\n"),
            Self::Balloon => [SUBSTEP, include_str!("../../constraint/balloon.wgsl")].join("\n"),
            Self::Coloring => include_str!("coloring.wgsl").to_owned(),
            Self::Sweep(sweeping) => {
                let ways = include_str!("../../constraint/sweep.wgsl");
                [SUBSTEP, &sweeping.source(), ways].join("\n")
            }
            Self::Pieces(sweeping, obstacles, taker) => {
                let touch = match obstacles {
                    Some(obstacles) => {
                        obstacles.source() + include_str!("../../solver/touch_shapes.wgsl")
                    }
                    None => include_str!("../../solver/no_shapes.wgsl").to_owned(),
                };
                let pieces = match taker {
                    Taker::Workgroup => include_str!("../../solver/pieces.wgsl"),
                    Taker::Invocation => include_str!("../../solver/pieces_in_lanes.wgsl"),
                };
                [SUBSTEP, &sweeping.source(), &touch, pieces].join("\n")
            }
            Self::Residual { form, constants } => {
                let residual = include_str!("../../constraint/residual.wgsl");
                [&form.wgsl(constants, Packing::BARE), residual].join("\n")
            }
            Self::Force { form, constants } => {
                let force = include_str!("../../constraint/force.wgsl");
                [SUBSTEP, &form.wgsl(constants, Packing::SPRING), force].join("\n")
            }
        }
    }
}

impl Obstacles {
    /// How a particle is moved out of a shape.
    fn source(self) -> String {
        let Self { shapes, forms, some_move, one_thickness } = self;
        [
            &format!(
                "const SHAPES = {shapes}u;\nconst FORMS = {forms}u;\n\
                 const SOME_MOVE = {some_move};\nconst ONE_THICKNESS = {one_thickness};"
            ),
            FINDINGS,
            SHAPE,
            include_str!("../../collide/distance.wgsl"),
            include_str!("../../collide/contact.wgsl"),
        ]
        .join("\n")
    }
}

impl Sweeping {
    /// How the batches of a block are solved.
    fn source(self) -> String {
        let Self { swept, along, block_particles, block_width } = self;
        let sizes = format!(
            "const BLOCK_PARTICLES = {block_particles}u;\nconst BLOCK_WIDTH = {block_width}u;"
        );
        let particles = include_str!("../../constraint/swept.wgsl");
        let more = along.map_or_else(String::new, Swept::source_along);
        let if_along = |call| if along.is_some() { call } else { "" };
        let calls = format!(
            "fn begin_more() {{ {} }}\n\
             fn solve_more_batches(own: u32, lane: u32) {{ {} }}\n\
             fn solve_more_in_turn(own: u32) {{ {} }}",
            if_along("begin_sweep_along();"),
            if_along("solve_batches_along(own, lane);"),
            if_along("solve_in_turn_along(own);"),
        );
        [&sizes, particles, &swept.source(), &more, &calls].join("\n")
    }
}

impl Swept {
    /// How these elements are solved.
    fn source(self) -> String {
        let compliant = format!("const IS_COMPLIANT = {};", self.is_compliant);
        let elements = self.form.wgsl(self.constants, self.packing);
        let project = include_str!("../../constraint/project.wgsl");
        [&elements, &compliant, &self.form.solve_wgsl(), project].join("\n")
    }

    /// The same beside other elements: WGSL has no namespaces, so all names that it declares get an ending.
    fn source_along(self) -> String {
        let source = self.source();
        let names: Vec<&str> = source.lines().filter_map(declared).collect();
        let mut along = String::with_capacity(2 * source.len());
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        for line in source.lines() {
            let code = line.split("//").next().unwrap_or_default();
            for token in code.split_inclusive(|letter| !is_part(letter)) {
                let word = token.trim_end_matches(|letter| !is_part(letter));
                along.push_str(word);
                along.push_str(if names.contains(&word) { "_along" } else { "" });
                along.push_str(&token[word.len()..]);
            }
            along.push('\n');
        }
        for (own, other) in BINDINGS_ALONG {
            along = along.replace(&format!("@binding({own})"), &format!("@binding({other})"));
        }
        along
    }
}

/// The name that a line of WGSL declares for the whole module, if any.
fn declared(line: &str) -> Option<&str> {
    let starts = ["fn ", "const ", "struct ", "alias "];
    let rest = match starts.iter().find_map(|start| line.strip_prefix(start)) {
        Some(rest) => rest,
        None => {
            let is_variable = line.starts_with('@') || line.starts_with("var<");
            line.split_once("var<").filter(|_| is_variable)?.1.split_once("> ")?.1
        }
    };
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
}

#[cfg(test)]
mod tests {
    //! Contract: every kernel is valid WGSL, found out without a device.

    use super::*;
    use crate::constraint::Kind;

    fn swept(form: Form, constants: usize, ids_per_word: usize, is_soft: bool) -> Swept {
        let packing = Packing { ids_per_word, is_soft, is_damped: false };
        Swept { form, constants, packing, is_compliant: is_soft }
    }

    const ONE: Obstacles = Obstacles { shapes: 1, forms: 1, some_move: false, one_thickness: true };
    const ALL: Obstacles =
        Obstacles { shapes: 7, forms: 0x7f, some_move: true, one_thickness: false };

    /// All kernels that sweep over these elements.
    fn sweeps(swept: Swept) -> Vec<Module> {
        let with = |along| {
            let sweeping = Sweeping { swept, along, block_particles: 1024, block_width: 128 };
            let pieces = |taker| {
                [None, Some(ONE), Some(ALL)].map(|all| Module::Pieces(sweeping, all, taker))
            };
            let all = pieces(Taker::Workgroup).into_iter().chain(pieces(Taker::Invocation));
            all.chain([Module::Sweep(sweeping)])
        };
        with(None).chain(with(Some(swept))).collect()
    }

    fn modules() -> Vec<Module> {
        let mut modules = vec![
            Module::Particles,
            Module::Hands,
            Module::Wind,
            Module::Chebyshev,
            Module::Merge,
            Module::Contact(ONE),
            Module::Contact(ALL),
            Module::Detect,
            Module::Touch,
            Module::Balloon,
            Module::Coloring,
        ];
        for &kind in Kind::ALL {
            let rest = [glam::Vec3::ZERO, glam::Vec3::X, glam::Vec3::Y, glam::Vec3::Z];
            let constants = kind.constants(&rest, &Default::default()).len();
            let form = Form { kind, is_bundled: false };
            for (ids_per_word, is_soft) in [(1, true), (1, false), (2, true), (3, false)] {
                modules.extend(sweeps(swept(form, constants, ids_per_word, is_soft)));
            }
            modules.push(Module::Force { form, constants });
            modules.push(Module::Residual { form, constants });
        }
        for kind in [Kind::Stretch, Kind::Volume] {
            let form = Form { kind, is_bundled: true };
            for (ids_per_word, is_soft) in [(2, true), (3, false)] {
                modules.extend(sweeps(swept(form, form.rows(), ids_per_word, is_soft)));
            }
            modules.push(Module::Residual { form, constants: form.rows() });
        }
        modules
    }

    #[test]
    fn every_module_is_valid() {
        for module in modules() {
            let source = module.source();
            let parsed = naga::front::wgsl::parse_str(&source)
                .unwrap_or_else(|error| panic!("{module:?}: {}", error.emit_to_string(&source)));
            let mut validator = naga::valid::Validator::new(
                naga::valid::ValidationFlags::all(),
                naga::valid::Capabilities::empty(),
            );
            validator
                .validate(&parsed)
                .unwrap_or_else(|error| panic!("{module:?}: {}", error.emit_to_string(&source)));
        }
    }
}
