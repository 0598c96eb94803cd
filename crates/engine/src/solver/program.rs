//! The algorithm as a list: what happens in one substep.

use super::detect::DetectPass;
use super::phantom::CopyPass;
use super::touch::TouchPass;
use crate::constraint::{Group, Kind, Response};
use crate::model::Model;

/// One thing that happens to all particles or all constraints of a group before the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The air pushes on triangles: velocity changes are worked out.
    Wind,
    /// Springs of a group push on velocities, phase after phase.
    Force {
        /// Index of the group in the model.
        group: usize,
        /// Kind of the group.
        kind: Kind,
    },
    /// Gravity acts, particles move on with their velocity, kinematic ones with their shape.
    Predict,
    /// Particles that a group's schedule splits are copied, or their copies merged; with tiles only those
    /// that several tiles share, for the others are a sweep's business.
    Copies {
        /// Index of the group in the model.
        group: usize,
        /// What happens to them.
        pass: CopyPass,
    },
    /// Partners are found for contacts between particles.
    Detect(DetectPass),
    /// All constraints of a group are solved once, phase after phase.
    Sweep {
        /// Index of the group in the model.
        group: usize,
        /// Kind of the group.
        kind: Kind,
        /// How many groups after it go along, because their blocks are the same pieces: each piece goes
        /// through all of them while its particles are at hand.
        more: usize,
        /// Whether this is the first sweep of the substep.
        first: bool,
        /// What happens to the copies of particles in each tile before its constraints are solved, and
        /// after that.
        copies: [Option<CopyPass>; 2],
    },
    /// Pieces that nothing connects go through all sweeps of the substep, and contacts with shapes after
    /// each, one piece after another.
    Pieces {
        /// How many sweeps.
        iterations: u32,
        /// Whether there are shapes.
        with_contacts: bool,
    },
    /// Places before a sweep are kept, for acceleration.
    Remember {
        /// Which of the two memories takes them: that of the sweep before the last.
        slot: usize,
    },
    /// Particles move on in the direction of the last two sweeps.
    Accelerate {
        /// Which of the two memories has the places before the last sweep but one.
        slot: usize,
        /// The sweep, counted from 0.
        iteration: u32,
    },
    /// Volume and gradients of a balloon are worked out.
    Measure {
        /// Index of the balloon in the model.
        balloon: usize,
    },
    /// The particles of a balloon are moved towards its volume.
    Inflate {
        /// Index of the balloon in the model.
        balloon: usize,
        /// Whether this is the first time in the substep.
        first: bool,
    },
    /// Particles that are too close to each other are parted, with friction.
    Touch(TouchPass),
    /// Particles are moved out of the shapes, with friction.
    Contact,
    /// Velocities follow from the way that was made.
    Velocity,
}

impl Stage {
    /// The stage's name in tables and traces.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Wind => "wind",
            Stage::Force { kind, .. } => kind.force_name(),
            Stage::Predict => "predict",
            Stage::Copies { pass, .. } => pass.name(),
            Stage::Sweep { kind, more: 0, .. } => kind.sweep_name(),
            Stage::Sweep { .. } | Stage::Pieces { with_contacts: false, .. } => "sweep pieces",
            Stage::Pieces { .. } => "sweep pieces with contacts",
            Stage::Remember { .. } => "remember",
            Stage::Accelerate { .. } => "accelerate",
            Stage::Measure { .. } => "measure balloon",
            Stage::Inflate { .. } => "inflate balloon",
            Stage::Detect(_) => "detect",
            Stage::Touch(_) => "touch",
            Stage::Contact => "contact",
            Stage::Velocity => "velocity",
        }
    }
}

/// The stages of one substep, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The stages.
    pub stages: Vec<Stage>,
}

impl Program {
    /// Position based dynamics: predict, sweep and resolve contacts as often as asked, update
    /// velocities. Stages that have nothing to do in this model are left out.
    pub fn new(model: &Model, iterations: u32, integrate: bool) -> Self {
        let mut stages = Vec::new();
        if model.wind.is_some() && integrate {
            stages.push(Stage::Wind);
        }
        for (index, group) in model.groups.iter().enumerate() {
            if group.response == Response::Force && integrate {
                stages.push(Stage::Force { group: index, kind: group.kind });
            }
        }
        stages.push(Stage::Predict);
        if model.particle_contacts.is_some() {
            stages.extend(DetectPass::ALL.map(Stage::Detect));
        }
        if model.pieces.is_some() && iterations > 1 {
            let with_contacts = !model.shapes.is_empty();
            stages.push(Stage::Pieces { iterations, with_contacts });
        } else {
            (0..iterations).for_each(|iteration| iterate(model, iteration, &mut stages));
        }
        if integrate {
            stages.push(Stage::Velocity);
        }
        copy_in_tiles(model, &mut stages);
        Self { stages }
    }

    /// How often all workers meet in one substep: once per stage, once per round of a sweep.
    pub fn dispatches(&self, model: &Model) -> usize {
        let phases = |stage: &Stage| match stage {
            Stage::Sweep { group, .. } | Stage::Force { group, .. } => {
                model.groups[*group].rounds()
            }
            _ => 1,
        };
        self.stages.iter().map(phases).sum()
    }
}

/// Has sweeps over groups with tiles split particles that are a tile's own before it is solved, and merge or
/// renew them right after that, while they are in a cache. The stages before and after do it for all others.
fn copy_in_tiles(model: &Model, stages: &mut [Stage]) {
    for place in 1..stages.len().saturating_sub(1) {
        let around = [place - 1, place + 1].map(|place| match stages[place] {
            Stage::Copies { pass, .. } => Some(pass),
            _ => None,
        });
        if let Stage::Sweep { group, copies, .. } = &mut stages[place]
            && model.groups[*group].copies.has_tiles()
        {
            let [before, after] = around;
            *copies = [before.filter(|&pass| pass == CopyPass::Split), after];
        }
    }
}

/// Adds the stages of one iteration: a sweep over every group, and contacts.
pub(crate) fn iterate(model: &Model, iteration: u32, stages: &mut Vec<Stage>) {
    let slot = (iteration % 2) as usize;
    if model.chebyshev.is_some() {
        stages.push(Stage::Remember { slot });
    }
    for balloon in 0..model.balloons.len() {
        let first = iteration == 0;
        stages.extend([Stage::Measure { balloon }, Stage::Inflate { balloon, first }]);
    }
    let is_swept = |group: &Group| group.response != Response::Force && !group.goes_along;
    for (index, group) in model.groups.iter().enumerate().filter(|(_, group)| is_swept(group)) {
        let later = model.groups[index + 1..].iter();
        let more = later.take_while(|group| group.goes_along).count();
        let first = iteration == 0;
        let copies = [None; 2];
        let sweep = Stage::Sweep { group: index, kind: group.kind, more, first, copies };
        if group.copies.is_empty() {
            stages.push(sweep);
            continue;
        }
        let pass = |pass| Stage::Copies { group: index, pass };
        let begin = match stages.pop_if(|stage| *stage == pass(CopyPass::Merge)) {
            Some(_) => CopyPass::Renew,
            None => CopyPass::Split,
        };
        stages.extend([pass(begin), sweep, pass(CopyPass::Merge)]);
    }
    if model.chebyshev.is_some() && iteration > 0 {
        stages.push(Stage::Accelerate { slot: 1 - slot, iteration });
    }
    if model.particle_contacts.is_some() {
        let passes = if iteration == 0 { &TouchPass::FIRST[..] } else { &TouchPass::LATER[..] };
        stages.extend(passes.iter().copied().map(Stage::Touch));
    }
    if !model.shapes.is_empty() {
        stages.push(Stage::Contact);
    }
}
