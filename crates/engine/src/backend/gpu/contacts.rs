//! Contacts between particles on the device: the memory that `solver/detect.wgsl` and
//! `solver/touch.wgsl` share, and their dispatches.

use wgpu::Buffer;

use super::arrays::Arrays;
use super::kernels::{Bind, Groups};
use super::plan::Memory;
use super::shaders::Module;
use crate::model::ParticleContacts;
use crate::solver::{DetectPass, TouchPass};
use crate::state::MOST_PARTNERS;

/// Words of a `Grid`, and the bytes at which its dispatch sizes begin.
const GRID_WORDS: usize = 20;
const FOR_MEMBERS: u64 = 0;
const FOR_CELLS: u64 = 16;
const FOR_CHUNKS: u64 = 32;
const FOR_ONE: u64 = 48;

/// Words of a `Spread`.
const SPREAD_WORDS: usize = 16;

/// Cells whose counts one workgroup adds up.
const CELLS_OF_CHUNK: usize = 256;

/// A dispatch: kernel, what it is bound to, how many workgroups.
pub(super) type Call = (Module, &'static str, Vec<(u32, Bind)>, Groups);

/// The memory of contacts on the device.
#[derive(Clone)]
pub(super) struct ContactArrays {
    members: usize,
    chunks: usize,
    listed: Buffer,
    rest: Buffer,
    order: Buffer,
    kept: Buffer,
    spreads: Buffer,
    grid: Buffer,
    cells: Buffer,
    ends: Buffer,
    sums: Buffer,
    partners: Buffer,
    partner_counts: Buffer,
    around: Buffer,
    normals: Buffer,
    touching: Buffer,
    corrections: Buffer,
}

impl ContactArrays {
    pub(super) fn new(arrays: &mut Arrays<'_>, contacts: &ParticleContacts) -> Self {
        let members = contacts.members.len();
        let chunks = contacts.chunks();
        let cells = 1_usize << contacts.cell_bits();
        let particles = contacts.rest.len();
        // Not a number: everybody has moved far since partners were last looked for.
        let nowhere = vec![[f32::NAN; 4]; members];
        Self {
            members,
            chunks,
            listed: arrays.words("members", &contacts.members),
            rest: arrays.numbers("rest places", contacts.rest.as_flattened()),
            order: arrays.words("particles by cell", &contacts.members),
            kept: arrays.particles("places at the last search", &nowhere),
            spreads: arrays.zeros("spreads", SPREAD_WORDS * chunks),
            grid: arrays.indirect("grid", &[0; GRID_WORDS]),
            cells: arrays.zeros("cells of members", members),
            ends: arrays.zeros("ends of cells", cells),
            sums: arrays.zeros("sums of cells", cells.div_ceil(CELLS_OF_CHUNK)),
            partners: arrays.zeros("partners", members * MOST_PARTNERS),
            partner_counts: arrays.zeros("numbers of partners", 2 * members),
            around: arrays.words("triangles around particles", &contacts.solid_triangles.words()),
            normals: arrays.zeros("normals", 4 * particles),
            touching: arrays.zeros("contacts of particles", particles),
            corrections: arrays.zeros("corrections", 4 * members),
        }
    }

    /// The `Contacts` of `collide/contacts.wgsl`.
    pub(super) fn words(&self, contacts: &ParticleContacts) -> [u32; 8] {
        [
            self.members as u32,
            contacts.cell_bits(),
            contacts.reach().to_bits(),
            contacts.stale().to_bits(),
            contacts.diameter.to_bits(),
            contacts.friction.to_bits(),
            contacts.push(1.0).to_bits(),
            self.chunks as u32,
        ]
    }

    /// The dispatches of a pass of detection. `contacts` are the parameters.
    pub(super) fn detect(&self, pass: DetectPass, memory: &Memory, contacts: &Bind) -> Vec<Call> {
        let read = |buffer: &Buffer| Bind::Read(buffer.clone());
        let write = |buffer: &Buffer| Bind::Write(buffer.clone());
        let positions = (1, read(&memory.positions));
        let order = (2, write(&self.order));
        let kept = (3, write(&self.kept));
        let spreads = (4, write(&self.spreads));
        let grid = (6, read(&self.grid));
        let listed = (7, read(&self.listed));
        let cells = (8, write(&self.cells));
        let counters = (9, write(&self.ends));
        let ends = (10, write(&self.ends));
        let sums = (11, write(&self.sums));
        let counts = (14, write(&self.partner_counts));
        let call = |entry, binds: Vec<(u32, Bind)>, groups| {
            let binds = [vec![(0, contacts.clone())], binds].concat();
            (Module::Detect, entry, binds, groups)
        };
        let due = |byte| Groups::Indirect(self.grid.clone(), byte);
        match pass {
            DetectPass::Ways => vec![
                call(
                    "measure_spread",
                    vec![positions, order, kept, spreads.clone()],
                    Groups::of(self.chunks),
                ),
                call("shape_grid", vec![spreads, (5, write(&self.grid))], Groups::of(1)),
            ],
            DetectPass::Boxes => vec![
                call("clear_cells", vec![ends], due(FOR_CELLS)),
                call(
                    "count_members",
                    vec![positions, grid, listed, cells, counters],
                    due(FOR_MEMBERS),
                ),
            ],
            DetectPass::Tree => vec![
                call("add_up_chunk", vec![ends.clone(), sums.clone()], due(FOR_CHUNKS)),
                call("add_up_sums", vec![sums.clone()], due(FOR_ONE)),
                call("add_sums", vec![ends.clone(), sums], due(FOR_CELLS)),
                call("scatter", vec![order.clone(), listed, cells, counters], due(FOR_MEMBERS)),
                call("sort_cells", vec![positions, order, kept, ends], due(FOR_CELLS)),
            ],
            DetectPass::Search => {
                let rest = (12, read(&self.rest));
                let partners = (13, write(&self.partners));
                let findings = (15, write(&memory.findings));
                let binds = vec![order, kept, grid, ends, rest, partners, counts, findings];
                vec![call("search", binds, due(FOR_MEMBERS))]
            }
            DetectPass::Normals => {
                let around = (16, read(&self.around));
                let normals = (17, write(&self.normals));
                let binds = vec![positions, order, counts, around, normals];
                vec![call("find_normals", binds, due(FOR_MEMBERS))]
            }
        }
    }

    /// The dispatch of a pass of contacts. `contacts` are the parameters.
    pub(super) fn touch(&self, pass: TouchPass, memory: &Memory, contacts: &Bind) -> Call {
        let read = |buffer: &Buffer| Bind::Read(buffer.clone());
        let write = |buffer: &Buffer| Bind::Write(buffer.clone());
        let mut binds = vec![
            (0, contacts.clone()),
            (1, write(&memory.positions)),
            (4, read(&self.order)),
            (5, write(&self.partner_counts)),
        ];
        if pass != TouchPass::Apply {
            binds.extend([
                (2, read(&memory.previous)),
                (3, read(&self.normals)),
                (6, write(&self.partners)),
                (7, write(&self.touching)),
            ]);
        }
        let entry = match pass {
            TouchPass::Count => {
                binds.push((9, write(&memory.findings)));
                "count_touching"
            }
            TouchPass::Correct => {
                binds.push((8, write(&self.corrections)));
                "correct"
            }
            TouchPass::Apply => {
                binds.push((8, write(&self.corrections)));
                "move_apart"
            }
        };
        (Module::Touch, entry, binds, Groups::for_each(self.members))
    }
}
