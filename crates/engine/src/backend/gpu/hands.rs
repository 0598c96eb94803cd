//! Particles that are grabbed, pulled on the device: their targets go there, nothing comes back.

use wgpu::{BindGroup, Buffer, ComputePass};

use super::arrays::Arrays;
use super::device::{Gpu, GpuError};
use super::kernels::{Bind, Dispatch, Groups, Kernels, Recorded};
use super::plan::{Memory, SUBSTEP_BYTES};
use super::shaders::Module;
use crate::solver::Hands;

/// Words of a `Hands` of `solver/hand.wgsl` without its hands, and of one of these.
const HEADER: usize = 12;
const HAND: usize = 8;

/// Kernels that grab and let go, and the list of hands.
pub(super) struct Grip {
    conditions: BindGroup,
    grab: Dispatch,
    let_go: Dispatch,
    list: Buffer,
    /// How many hands the list has room for.
    room: usize,
}

impl Grip {
    /// With room for so many hands.
    pub(super) fn new(gpu: &Gpu, memory: &Memory, room: usize) -> Result<Self, GpuError> {
        let mut arrays = Arrays::new(gpu);
        let list = arrays.zeros("hands", HEADER + HAND * room);
        arrays.finish()?;
        let mut kernels = Kernels::new(gpu);
        let conditions = kernels.bind_conditions(&memory.substeps, SUBSTEP_BYTES);
        let [grab, let_go] = ["grab", "let_go"].map(|entry| {
            let binds = vec![
                (0, Bind::Write(memory.positions.clone())),
                (1, Bind::Write(memory.velocities.clone())),
                (2, Bind::Read(list.clone())),
            ];
            let groups = Groups::for_each(room);
            kernels.bind(&Recorded { module: Module::Hands, entry, binds, groups }, &list)
        });
        gpu.check()?;
        Ok(Self { conditions, grab, let_go, list, room })
    }

    pub(super) fn has_room_for(&self, hands: &Hands) -> bool {
        hands.all.len() <= self.room
    }

    /// Takes hands to the device.
    pub(super) fn put(&self, gpu: &Gpu, hands: &Hands) {
        gpu.queue.write_buffer(&self.list, 0, bytemuck::cast_slice(&words(hands)));
    }

    pub(super) fn encode_grab(&self, pass: &mut ComputePass<'_>) {
        self.grab.encode(&self.conditions, 0, pass);
    }

    pub(super) fn encode_let_go(&self, pass: &mut ComputePass<'_>) {
        self.let_go.encode(&self.conditions, 0, pass);
    }
}

fn words(hands: &Hands) -> Vec<u32> {
    let mut words = vec![hands.all.len() as u32, u32::from(hands.fall.is_some())];
    let numbers = [hands.step, hands.inverse_step, hands.gain, hands.kept, hands.reach, 0.0];
    words.extend(numbers.map(f32::to_bits));
    words.extend(hands.fall.unwrap_or_default().map(f32::to_bits));
    words.resize(HEADER, 0);
    for hand in &hands.all {
        words.extend(hand.target.map(f32::to_bits));
        words.extend([
            hand.particle as u32,
            hand.inverse_mass.to_bits(),
            hand.heavy().to_bits(),
            u32::from(hand.is_firm),
            0,
        ]);
    }
    words
}
