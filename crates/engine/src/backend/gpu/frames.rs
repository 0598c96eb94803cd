//! States on their way home: positions, previous positions and velocities, as they were when they were
//! asked for. Steps go on meanwhile.

use std::collections::VecDeque;

use wgpu::SubmissionIndex;

use super::device::{Gpu, GpuError};
use super::plan::Memory;
use super::staging::Staging;
use crate::state::State;

/// No buffer may be empty.
const LEAST: u64 = 16;

/// The states that are under way, oldest first, and buffers for more.
#[derive(Default)]
pub(super) struct Frames {
    under_way: VecDeque<Staging>,
    spare: Vec<Staging>,
}

impl Frames {
    /// Sends the state home, behind all that was submitted.
    pub(super) fn request(
        &mut self,
        gpu: &Gpu,
        memory: &Memory,
        state: &State,
    ) -> Result<SubmissionIndex, GpuError> {
        let parts = [
            (&memory.positions, bytes_of(&state.positions)),
            (&memory.previous, bytes_of(&state.previous)),
            (&memory.velocities, bytes_of(&state.velocities)),
        ];
        let room = parts.iter().map(|(_, bytes)| bytes).sum::<u64>().max(LEAST);
        let frame = self.spare.pop().unwrap_or_else(|| Staging::new(gpu, "frame", room));
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut start = 0;
        for (buffer, bytes) in parts {
            encoder.copy_buffer_to_buffer(buffer, 0, &frame.buffer, start, bytes);
            start += bytes;
        }
        let submission = gpu.queue.submit([encoder.finish()]);
        frame.submitted();
        self.under_way.push_back(frame);
        gpu.check()?;
        Ok(submission)
    }

    /// Takes up the oldest state if it has come home.
    pub(super) fn receive(&mut self, gpu: &Gpu, state: &mut State) -> Result<bool, GpuError> {
        let Some(frame) = self.under_way.front() else { return Ok(false) };
        let arrived = read(frame, gpu, state)?;
        if arrived {
            self.spare.extend(self.under_way.pop_front());
        }
        Ok(arrived)
    }

    /// Takes up the newest state, once everything is done; those before are still to be received.
    pub(super) fn receive_newest(&mut self, gpu: &Gpu, state: &mut State) -> Result<(), GpuError> {
        let newest = self.under_way.pop_back();
        let arrived = newest.as_ref().map_or(Ok(false), |frame| read(frame, gpu, state))?;
        self.spare.extend(newest);
        if arrived { Ok(()) } else { Err(gpu.lost("the state did not come home")) }
    }

    /// Whether the oldest one is known to have arrived.
    #[cfg(test)]
    pub(super) fn has_arrived(&self) -> bool {
        self.under_way.front().is_some_and(Staging::has_arrived)
    }
}

fn read(frame: &Staging, gpu: &Gpu, state: &mut State) -> Result<bool, GpuError> {
    frame.receive(gpu, |bytes| {
        let arrays = [&mut state.positions[..], &mut state.previous, &mut state.velocities];
        let mut start = 0;
        for array in arrays {
            let own: &mut [u8] = bytemuck::cast_slice_mut(array);
            own.copy_from_slice(&bytes[start..start + own.len()]);
            start += own.len();
        }
    })
}

fn bytes_of(array: &[[f32; 4]]) -> u64 {
    size_of_val(array) as u64
}
