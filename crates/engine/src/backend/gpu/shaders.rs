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
    Contact {
        /// How many shapes.
        shapes: usize,
        /// A bit for each form that they have.
        forms: u32,
        /// Whether some of them move.
        some_move: bool,
    },
    /// Which particles are close to each other.
    Detect,
    /// Contacts between particles.
    Touch,
    /// Closed surfaces under pressure.
    Balloon,
    /// Colors of elements.
    Coloring,
    /// Sweeps over a kind.
    Sweep {
        /// What elements are.
        form: Form,
        /// Its number of constants.
        constants: usize,
        /// How they lie in memory.
        packing: Packing,
        /// Whether their softness is a compliance.
        is_compliant: bool,
        /// Particles that the workgroup memory of a block has room for.
        block_particles: u32,
        /// Invocations of a workgroup that solves a block.
        block_width: u32,
    },
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
            Self::Contact { shapes, forms, some_move } => [
                SUBSTEP,
                &format!(
                    "const SHAPES = {shapes}u;\nconst FORMS = {forms}u;\n\
                     const SOME_MOVE = {some_move};"
                ),
                FINDINGS,
                SHAPE,
                include_str!("../../collide/distance.wgsl"),
                include_str!("../../collide/contact.wgsl"),
            ]
            .join("\n"),
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
            Self::Sweep {
                form,
                constants,
                packing,
                is_compliant,
                block_particles,
                block_width,
            } => {
                let sizes = format!(
                    "const BLOCK_PARTICLES = {block_particles}u;\nconst BLOCK_WIDTH = {block_width}u;\n\
                     const IS_COMPLIANT = {is_compliant};"
                );
                let project = include_str!("../../constraint/project.wgsl");
                let elements = form.wgsl(constants, packing);
                [SUBSTEP, &elements, &sizes, &form.solve_wgsl(), project].join("\n")
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

#[cfg(test)]
mod tests {
    //! Contract: every kernel is valid WGSL, found out without a device.

    use super::*;
    use crate::constraint::Kind;

    fn sweep(form: Form, constants: usize, ids_per_word: usize, is_soft: bool) -> Module {
        let packing = Packing { ids_per_word, is_soft, is_damped: false };
        let (is_compliant, block_particles, block_width) = (is_soft, 1024, 128);
        Module::Sweep { form, constants, packing, is_compliant, block_particles, block_width }
    }

    fn modules() -> Vec<Module> {
        let mut modules = vec![
            Module::Particles,
            Module::Hands,
            Module::Wind,
            Module::Chebyshev,
            Module::Merge,
            Module::Contact { shapes: 0, forms: 0, some_move: false },
            Module::Contact { shapes: 7, forms: 0x7f, some_move: true },
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
                modules.push(sweep(form, constants, ids_per_word, is_soft));
            }
            modules.push(Module::Force { form, constants });
            modules.push(Module::Residual { form, constants });
        }
        for kind in [Kind::Stretch, Kind::Volume] {
            let form = Form { kind, is_bundled: true };
            for (ids_per_word, is_soft) in [(2, true), (3, false)] {
                modules.push(sweep(form, form.rows(), ids_per_word, is_soft));
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
