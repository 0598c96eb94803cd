//! A program turned into dispatches: made once for a model and its program, then encoded in every
//! step as it is.

mod pieces;

use std::ops::Range;

use wgpu::{BindGroup, Buffer};

use super::adapter::AdapterKind;
use super::arrays::{Arrays, Parameters};
use super::conditions::{Conditions, fields, form_number};
use super::contacts::ContactArrays;
use super::device::{Gpu, GpuError};
use super::group::{Lists, Way, particle_count, split_particles};
use super::kernels::{Bind, Dispatch, Groups, Kernels, Recorded};
use super::shaders::{BINDINGS_ALONG, Module, Obstacles, Sweeping, Swept};
use crate::constraint::{Balloon, Group, Response};
use crate::model::Model;
use crate::solver::{CopyPass, Job, Stage, chebyshev_weight};
use crate::state::State;

/// Words of a `Substep`.
pub(super) const SUBSTEP_BYTES: u64 = 64;

/// Words of what kernels notice.
pub(super) const FINDINGS: usize = 4;

/// The state on the device.
pub(super) struct Memory {
    pub(super) positions: Buffer,
    pub(super) previous: Buffer,
    pub(super) velocities: Buffer,
    multipliers: Buffer,
    memories: [Buffer; 2],
    scratch: Buffer,
    pub(super) findings: Buffer,
    body_of: Buffer,
    pub(super) bodies: Buffer,
    pub(super) shapes: Buffer,
    pub(super) substeps: Buffer,
}

/// A model and its program on a device.
pub(super) struct Plan {
    pub(super) memory: Memory,
    /// Conditions of substeps: the first group of every dispatch, with an offset.
    pub(super) conditions: BindGroup,
    pub(super) dispatches: Vec<Dispatch>,
    /// The dispatches of each stage.
    pub(super) stages: Vec<Range<usize>>,
    /// Looks whether particles are where they can be, once a step.
    pub(super) bounds: Dispatch,
    /// Where the fields of shapes start.
    pub(super) fields: Vec<u32>,
    /// Memory that all arrays take, bytes.
    pub(super) bytes: u64,
}

impl Plan {
    /// Makes a plan and takes the state to the device.
    ///
    /// # Errors
    /// If the device has no room for it or refuses a kernel.
    pub(super) fn new(gpu: &Gpu, job: Job<'_>, state: &State) -> Result<Self, GpuError> {
        let mut arrays = Arrays::new(gpu);
        let (field_words, fields) = fields(job.model);
        let memory = Memory::new(&mut arrays, job, state, &fields);
        let mut recorder = Recorder {
            gpu,
            model: job.model,
            memory: &memory,
            field_words: arrays.words("fields of shapes", &field_words),
            arrays,
            parameters: Parameters::default(),
            recorded: Vec::new(),
            contacts: None,
            lists: Vec::new(),
        };
        recorder.add_contacts();
        let stages = recorder.stages(&job.program.stages);
        recorder.bounds();
        let Recorder { mut arrays, parameters, recorded, .. } = recorder;
        let parameters = arrays.uniform("parameters of dispatches", parameters.bytes());
        let bytes = arrays.finish()?;

        let mut kernels = Kernels::new(gpu);
        let conditions = kernels.bind_conditions(&memory.substeps, SUBSTEP_BYTES);
        let mut dispatches: Vec<Dispatch> =
            recorded.iter().map(|one| kernels.bind(one, &parameters)).collect();
        gpu.check()?;
        gpu.pipelines.save();
        // Recorded last.
        let bounds = dispatches.remove(dispatches.len() - 1);
        Ok(Self { memory, conditions, dispatches, stages, bounds, fields, bytes })
    }

    /// Dispatches of a step of so many substeps.
    pub(super) fn dispatches_per_step(&self, substeps: usize) -> usize {
        self.dispatches.len() * substeps + 1
    }
}

impl Memory {
    fn new(arrays: &mut Arrays<'_>, job: Job<'_>, state: &State, fields: &[u32]) -> Self {
        let model = job.model;
        let mut conditions = Conditions::default();
        conditions.set(model, job.substeps, fields);
        let mut positions = state.positions.to_vec();
        positions.resize(particle_count(&model.groups, positions.len()), [0.0; 4]);
        let [first, second] = &state.memories;
        Self {
            positions: arrays.particles("positions", &positions),
            previous: arrays.particles("previous positions", &state.previous),
            velocities: arrays.particles("velocities", &state.velocities),
            multipliers: arrays.numbers("multipliers", &state.multipliers),
            memories: [
                arrays.particles("positions before the last sweep", first),
                arrays.particles("positions before the last sweep but one", second),
            ],
            scratch: arrays.particles("scratch memory", &state.scratch),
            findings: arrays.particles("findings", &[[0.0; FINDINGS]]),
            body_of: arrays.words("bodies of particles", &model.body_of),
            bodies: arrays.numbers("bodies", &conditions.bodies),
            shapes: arrays.words("shapes", &conditions.shapes),
            substeps: arrays.uniform("substeps", bytemuck::cast_slice(&conditions.substeps)),
        }
    }
}

/// The lists of a group on the device.
#[derive(Clone)]
struct GroupArrays {
    way: Way,
    elements: Buffer,
    particles: Buffer,
    blocks: Buffer,
    are_in_rows: bool,
}

/// Turns stages into dispatches.
struct Recorder<'a> {
    gpu: &'a Gpu,
    model: &'a Model,
    memory: &'a Memory,
    field_words: Buffer,
    arrays: Arrays<'a>,
    parameters: Parameters,
    recorded: Vec<Recorded>,
    /// Contacts between particles, and their parameters, if there are any.
    contacts: Option<(ContactArrays, Bind)>,
    /// The arrays of groups that came up so far.
    lists: Vec<(usize, GroupArrays)>,
}

impl Recorder<'_> {
    fn stages(&mut self, stages: &[Stage]) -> Vec<Range<usize>> {
        let last_contact = stages.iter().rposition(|stage| *stage == Stage::Contact);
        let mut ranges = Vec::new();
        for (place, stage) in stages.iter().enumerate() {
            let start = self.recorded.len();
            self.stage(*stage, Some(place) == last_contact);
            ranges.push(start..self.recorded.len());
        }
        ranges
    }

    fn add_contacts(&mut self) {
        if let Some(contacts) = &self.model.particle_contacts {
            let arrays = ContactArrays::new(&mut self.arrays, contacts);
            let parameters = self.parameters(&arrays.words(contacts));
            self.contacts = Some((arrays, parameters));
        }
    }

    fn stage(&mut self, stage: Stage, is_last_contact: bool) {
        match stage {
            Stage::Wind => self.wind(),
            Stage::Force { group, .. } => self.force(group),
            Stage::Predict => {
                let count = self.model.body_of.len() + self.model.targets.len();
                self.particles("predict", count);
            }
            // The first use of a copy takes its place from the particle: nothing is split, and merging is
            // renewing, too.
            Stage::Copies { pass: CopyPass::Split, .. } => {}
            Stage::Copies { group, .. } => self.merge(group),
            Stage::Sweep { group, more, first, .. } => self.sweep_pieces(group, more, first),
            Stage::Pieces { iterations, .. } => self.pieces(iterations),
            Stage::Remember { slot } => self.chebyshev("remember", slot, 0.0),
            Stage::Accelerate { slot, iteration } => {
                let weight = chebyshev_weight(self.model.chebyshev.unwrap_or(0.0), iteration);
                self.chebyshev("accelerate", slot, weight);
            }
            Stage::Measure { balloon } => self.balloon("measure", balloon, false),
            Stage::Inflate { balloon, first } => self.balloon("inflate", balloon, first),
            Stage::Detect(pass) => {
                if let Some((arrays, parameters)) = self.contacts.clone() {
                    for (module, entry, binds, groups) in
                        arrays.detect(pass, self.memory, &parameters)
                    {
                        self.record(module, entry, binds, groups);
                    }
                }
            }
            Stage::Touch(pass) => {
                if let Some((arrays, parameters)) = self.contacts.clone() {
                    let (module, entry, binds, groups) =
                        arrays.touch(pass, self.memory, &parameters);
                    self.record(module, entry, binds, groups);
                }
            }
            Stage::Contact => self.contact(is_last_contact),
            Stage::Velocity => self.particles("velocity", self.model.body_of.len()),
        }
    }

    fn record(
        &mut self,
        module: Module,
        entry: &'static str,
        binds: Vec<(u32, Bind)>,
        groups: Groups,
    ) {
        self.recorded.push(Recorded { module, entry, binds, groups });
    }

    /// Adds parameters of a dispatch.
    fn parameters(&mut self, words: &[u32]) -> Bind {
        Bind::Parameters(self.parameters.add(words), words.len())
    }

    fn particles(&mut self, entry: &'static str, count: usize) {
        let memory = self.memory;
        let positions = Bind::Write(memory.positions.clone());
        let velocities = Bind::Write(memory.velocities.clone());
        let previous = Bind::Write(memory.previous.clone());
        let mut binds = vec![(0, positions), (1, velocities), (2, previous)];
        if entry == "predict" {
            let followers = self.arrays.words("kinematic particles", &followers(self.model));
            binds.push((5, Bind::Read(followers)));
            binds.push((6, Bind::Read(memory.shapes.clone())));
        } else {
            binds.push((3, Bind::Read(memory.body_of.clone())));
            binds.push((4, Bind::Read(memory.bodies.clone())));
            binds.push((7, Bind::Write(memory.findings.clone())));
        }
        self.record(Module::Particles, entry, binds, Groups::for_each(count));
    }

    fn bounds(&mut self) {
        self.particles("bounds", self.model.body_of.len());
    }

    fn wind(&mut self) {
        let Some(wind) = &self.model.wind else { return };
        let memory = self.memory;
        let triangles = self.arrays.words("triangles", self.model.triangles.as_flattened());
        let incident = self.arrays.words("triangles of particles", &wind.incidence());
        let binds = vec![
            (0, Bind::Read(memory.positions.clone())),
            (1, Bind::Read(memory.velocities.clone())),
            (2, Bind::Write(memory.previous.clone())),
            (3, Bind::Read(memory.body_of.clone())),
            (4, Bind::Read(memory.bodies.clone())),
            (5, Bind::Read(triangles)),
            (6, Bind::Read(incident)),
        ];
        let groups = Groups::for_each(self.model.body_of.len());
        self.record(Module::Wind, "wind", binds, groups);
    }

    fn chebyshev(&mut self, entry: &'static str, slot: usize, weight: f32) {
        let binds = vec![
            (0, Bind::Write(self.memory.positions.clone())),
            (1, Bind::Write(self.memory.memories[slot].clone())),
            (2, self.parameters(&[weight.to_bits(), 0, 0, 0])),
        ];
        let groups = Groups::for_each(self.model.body_of.len());
        self.record(Module::Chebyshev, entry, binds, groups);
    }

    fn contact(&mut self, is_last: bool) {
        let mut binds = self.contact_binds();
        binds.push((0, Bind::Write(self.memory.positions.clone())));
        binds.push((17, self.parameters(&[u32::from(is_last), 0, 0, 0])));
        let groups = Groups::for_each(self.model.body_of.len());
        self.record(Module::Contact(self.obstacles()), "contact", binds, groups);
    }

    /// What contacts with shapes read besides positions, and where they are counted.
    fn contact_binds(&self) -> Vec<(u32, Bind)> {
        let memory = self.memory;
        vec![
            (11, Bind::Read(memory.previous.clone())),
            (12, Bind::Read(memory.body_of.clone())),
            (13, Bind::Read(memory.bodies.clone())),
            (14, Bind::Read(memory.shapes.clone())),
            (15, Bind::Write(memory.findings.clone())),
            (16, Bind::Read(self.field_words.clone())),
        ]
    }

    fn obstacles(&self) -> Obstacles {
        let shapes = &self.model.shapes;
        let forms = shapes.iter().fold(0, |forms, shape| forms | 1 << form_number(&shape.form));
        let some_move = shapes.iter().any(|shape| shape.motion.is_moving());
        let mut bodies = self.model.bodies.iter().map(|body| body.thickness);
        let first = bodies.next();
        let one_thickness = bodies.all(|thickness| Some(thickness) == first);
        Obstacles { shapes: shapes.len(), forms, some_move, one_thickness }
    }

    fn merge(&mut self, group: usize) {
        let copies = &self.model.groups[group].copies;
        let split = self.arrays.words("split particles", &split_particles(copies));
        let binds = vec![
            (0, Bind::Write(self.memory.positions.clone())),
            (1, Bind::Read(split)),
            (2, self.parameters(&[copies.len() as u32, copies.first, 0, 0])),
        ];
        self.record(Module::Merge, "merge", binds, Groups::for_each(copies.len()));
    }

    fn balloon(&mut self, entry: &'static str, index: usize, first: bool) {
        let balloon = &self.model.balloons[index];
        let edges = self.arrays.words("edges of balloons", &balloon.edge_words());
        let binds = vec![
            (0, Bind::Write(self.memory.positions.clone())),
            (1, Bind::Write(self.memory.scratch.clone())),
            (2, Bind::Write(self.memory.multipliers.clone())),
            (3, Bind::Read(edges)),
            (4, self.parameters(&balloon_words(balloon, first))),
        ];
        self.record(Module::Balloon, entry, binds, Groups::of(balloon.chunk_count()));
    }

    /// The lists of a group, taken to the device once.
    fn lists(&mut self, index: usize) -> GroupArrays {
        if let Some((_, known)) = self.lists.iter().find(|(group, _)| *group == index) {
            return known.clone();
        }
        let group = &self.model.groups[index];
        let room = match group.response {
            // Springs write velocities, of which workgroup memory has none.
            Response::Force => 0,
            _ => self.gpu.info.workgroup_memory as usize / size_of::<[f32; 4]>(),
        };
        let lists = Lists::of(group, room);
        let arrays = GroupArrays {
            way: lists.way,
            elements: self.arrays.words("constraints", &lists.elements),
            particles: self.arrays.words("particles of blocks", &lists.particles),
            blocks: self.arrays.words("blocks", &lists.blocks),
            are_in_rows: lists.are_in_rows,
        };
        self.lists.push((index, arrays.clone()));
        arrays
    }

    /// Sweeps over groups with the same blocks: two at a time, for kernels have room for no more lists.
    fn sweep_pieces(&mut self, first_group: usize, more: usize, first: bool) {
        let end = first_group + more + 1;
        for index in (first_group..end).step_by(2) {
            let other = Some(index + 1).filter(|&other| other < end);
            let is_here = |lists: GroupArrays| matches!(lists.way, Way::Blocks(_));
            match other {
                Some(other) if is_here(self.lists(index)) && is_here(self.lists(other)) => {
                    self.sweep(index, Some(other), first);
                }
                _ => (index..end.min(index + 2)).for_each(|index| self.sweep(index, None, first)),
            }
        }
    }

    /// The elements of a group, for the kernel that sweeps over them.
    fn swept(&mut self, index: usize) -> Swept {
        let packing = self.lists(index).way.packing(&self.model.groups[index]);
        let group = &self.model.groups[index];
        Swept {
            form: group.form(),
            constants: group.constants.len(),
            packing,
            is_compliant: group.response == Response::Compliance,
        }
    }

    /// Sweeps over a group, and over another one that has the same blocks.
    fn sweep(&mut self, index: usize, other: Option<usize>, first: bool) {
        let way = self.lists(index).way;
        let group = &self.model.groups[index];
        let entry = match way {
            Way::Phases => "sweep_phase",
            Way::Split => "sweep_split",
            Way::Blocks(_) => "sweep_blocks",
            Way::LargeBlocks => "sweep_large_blocks",
        };
        let module = Module::Sweep(self.sweeping(index, other));
        for phase in 0..group.schedule.phase_count() {
            let (range, groups) = work_of(group, way, phase);
            let binds = self.sweep_binds(index, other, &Sweeps { range, first, iterations: 1 });
            self.record(module, entry, binds, groups);
        }
    }

    fn sweeping(&mut self, index: usize, other: Option<usize>) -> Sweeping {
        let block_particles = match self.lists(index).way {
            Way::Blocks(room) => room,
            Way::Phases | Way::Split | Way::LargeBlocks => 1,
        };
        let (swept, along) = (self.swept(index), other.map(|other| self.swept(other)));
        Sweeping { swept, along, block_particles, block_width: block_width(self.gpu) }
    }

    fn sweep_binds(
        &mut self,
        index: usize,
        other: Option<usize>,
        sweeps: &Sweeps,
    ) -> Vec<(u32, Bind)> {
        let lists = self.lists(index);
        let mut binds = vec![
            (0, Bind::Write(self.memory.positions.clone())),
            (1, Bind::Write(self.memory.multipliers.clone())),
            (2, Bind::Read(lists.elements.clone())),
            (4, self.parameters(&sweeps.words(&self.model.groups[index]))),
        ];
        if lists.way != Way::Phases {
            let particles = if lists.way == Way::Split { 5 } else { 7 };
            binds.push((particles, Bind::Read(lists.particles.clone())));
            binds.push((6, Bind::Read(lists.blocks.clone())));
        }
        if let Some(other) = other {
            let lists = self.lists(other);
            let parameters = self.parameters(&sweeps.words(&self.model.groups[other]));
            let own = [Bind::Read(lists.elements), parameters, Bind::Read(lists.blocks)];
            binds.extend(BINDINGS_ALONG.iter().map(|&(_, binding)| binding).zip(own));
        }
        binds
    }

    fn force(&mut self, index: usize) {
        let lists = self.lists(index);
        let group = &self.model.groups[index];
        let module = Module::Force { form: group.form(), constants: group.constants.len() };
        let entry = if lists.way == Way::Phases { "push_phase" } else { "push_blocks" };
        for phase in 0..group.schedule.phase_count() {
            let (range, groups) = work_of(group, lists.way, phase);
            let words = range_words(&range);
            let mut binds = vec![
                (0, Bind::Read(self.memory.positions.clone())),
                (1, Bind::Write(self.memory.velocities.clone())),
                (2, Bind::Read(lists.elements.clone())),
                (4, self.parameters(&words)),
            ];
            if lists.way != Way::Phases {
                binds.push((5, Bind::Read(lists.blocks.clone())));
            }
            self.record(module, entry, binds, groups);
        }
    }
}

/// Invocations of a workgroup that solves a block: as many as a batch has elements, more or less. A
/// driver that computes on the processor changes from one invocation to the next at every barrier, so
/// there they are no more than fit into one of its registers.
fn block_width(gpu: &Gpu) -> u32 {
    if gpu.info.kind == AdapterKind::Software { 8 } else { 128 }
}

/// The elements or blocks of a phase, and how many workgroups they take.
fn work_of(group: &Group, way: Way, phase: usize) -> (Range<usize>, Groups) {
    match way {
        Way::Phases | Way::Split => {
            let places = group.schedule.phase(phase);
            (places.clone(), Groups::for_each(places.len()))
        }
        Way::Blocks(_) | Way::LargeBlocks => {
            let blocks = group.schedule.blocks(phase);
            (blocks.clone(), Groups::of(blocks.len()))
        }
    }
}

fn range_words(range: &Range<usize>) -> Vec<u32> {
    vec![range.start as u32, range.len() as u32]
}

/// Which elements or blocks of a group a dispatch sweeps over, and how often.
struct Sweeps {
    range: Range<usize>,
    /// Whether the first of them is the first of the substep.
    first: bool,
    iterations: u32,
}

impl Sweeps {
    /// A `Sweep` of `constraint/project.wgsl`.
    fn words(&self, group: &Group) -> Vec<u32> {
        let mut words = range_words(&self.range);
        words.extend([
            group.schedule.len() as u32,
            group.first_multiplier as u32,
            group.relaxation.to_bits(),
            u32::from(self.first),
            group.copies.first,
            self.iterations,
        ]);
        let shared = group.softness.shared().unwrap_or_default();
        words.extend((0..4).map(|row| shared.get(row).map_or(0, |softness| softness.to_bits())));
        words
    }
}

/// A `Balloon` of `constraint/balloon.wgsl`.
fn balloon_words(balloon: &Balloon, first: bool) -> Vec<u32> {
    let particles = balloon.particles();
    vec![
        particles.start as u32,
        particles.len() as u32,
        balloon.first_scratch() as u32,
        balloon.first_multiplier() as u32,
        balloon.chunk_count() as u32,
        u32::from(balloon.is_compliant()),
        u32::from(first),
        balloon.target_volume().to_bits(),
        balloon.softness().to_bits(),
    ]
}

/// The `Follower`s of `solver/particles.wgsl`.
fn followers(model: &Model) -> Vec<u32> {
    let resting = [0, 0, 0, u32::MAX];
    let words = |target: &Option<(usize, [f32; 3])>| {
        target.map_or(resting, |(shape, [x, y, z])| {
            [x.to_bits(), y.to_bits(), z.to_bits(), shape as u32]
        })
    };
    model.targets.iter().flat_map(words).collect()
}
