//! The back-end on a graphics processor. The state lives on the device; the host encodes commands, and
//! brings the state home when somebody asks for it.

use std::collections::VecDeque;

use wgpu::{CommandEncoder, ComputePass};

use super::adapter::DeviceChoice;
use super::arrays::ALIGNMENT;
use super::conditions::Conditions;
use super::device::{Gpu, GpuError};
use super::kernels::Dispatch;
use super::plan::Plan;
use super::report::Report;
use super::residual::Residuals;
use super::staging::Staging;
use crate::backend::{Backend, BackendError};
use crate::constraint::Residual;
use crate::model::Model;
use crate::solver::{Findings, Job};
use crate::state::State;

/// Steps that may be under way on the device: enough to keep it busy, few enough to answer soon.
const MOST_UNDER_WAY: usize = 2;

/// No buffer may be empty.
const LEAST_FRAME: u64 = 16;

/// A graphics processor as a back-end.
pub struct Graphics {
    gpu: Gpu,
    running: Option<Running>,
}

/// What is on the device.
struct Running {
    plan: Plan,
    report: Report,
    conditions: Conditions,
    /// Made when they are first asked for.
    residuals: Option<Residuals>,
    substeps: usize,
    under_way: VecDeque<wgpu::SubmissionIndex>,
    /// Positions, previous positions and velocities on their way home; made when first asked for.
    frame: Option<Staging>,
}

impl Graphics {
    /// Opens a device.
    ///
    /// # Errors
    /// If there is none, or its driver refuses.
    pub fn open(choice: &DeviceChoice) -> Result<Self, GpuError> {
        Ok(Self::on(Gpu::open(choice)?))
    }

    /// On a device that is open already.
    #[must_use]
    pub fn on(gpu: Gpu) -> Self {
        Self { gpu, running: None }
    }

    fn load(&mut self, job: Job<'_>, state: &State) -> Result<(), GpuError> {
        let plan = Plan::new(&self.gpu, job, state)?;
        let substeps = job.substeps.len();
        let report = Report::new(&self.gpu, job.program.stages.len(), substeps);
        self.gpu.check()?;
        self.running = Some(Running {
            plan,
            report,
            conditions: Conditions::default(),
            residuals: None,
            substeps,
            under_way: VecDeque::new(),
            frame: None,
        });
        Ok(())
    }

    /// Memory that the scene takes on the device, bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.running.as_ref().map_or(0, |running| running.plan.bytes)
    }

    /// What was noticed in the last step that has been reported on.
    #[cfg(test)]
    pub(super) fn findings(&self) -> Findings {
        self.running.as_ref().map_or(Findings::NONE, |running| running.report.findings)
    }

    /// Steps that are not known to be done, and whether a frame that was sent home has arrived.
    #[cfg(test)]
    pub(super) fn progress(&self) -> Option<(usize, bool)> {
        let running = self.running.as_ref()?;
        Some((running.under_way.len(), running.frame.as_ref()?.has_arrived()))
    }

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }
}

impl Running {
    fn step(&mut self, gpu: &Gpu, job: Job<'_>) -> Result<Findings, GpuError> {
        self.keep_pace(gpu)?;
        self.report.receive(gpu)?;
        self.conditions.set(job.model, job.substeps, &self.plan.fields);
        let memory = &self.plan.memory;
        let written = [
            (&memory.substeps, bytemuck::cast_slice(&self.conditions.substeps)),
            (&memory.shapes, bytemuck::cast_slice(&self.conditions.shapes)),
            (&memory.bodies, bytemuck::cast_slice(&self.conditions.bodies)),
        ];
        for (buffer, bytes) in written {
            gpu.queue.write_buffer(buffer, 0, bytes);
        }

        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("step") });
        encoder.clear_buffer(&memory.findings, 0, None);
        self.report.begin();
        self.encode(&mut encoder);
        self.report.end(&mut encoder, &memory.findings);
        self.under_way.push_back(gpu.queue.submit([encoder.finish()]));
        self.report.submitted();
        gpu.check()?;
        Ok(self.report.findings)
    }

    /// All substeps, in one pass each; in a pass for each stage if stages are measured.
    fn encode(&self, encoder: &mut CommandEncoder) {
        for substep in 0..self.substeps {
            if !self.report.is_timed() {
                let mut pass = begin(encoder, None);
                self.encode_dispatches(&self.plan.dispatches, substep, &mut pass);
                continue;
            }
            for (stage, dispatches) in self.plan.stages.iter().enumerate() {
                let mut pass = begin(encoder, self.report.stamps(substep, stage));
                self.encode_dispatches(
                    &self.plan.dispatches[dispatches.clone()],
                    substep,
                    &mut pass,
                );
            }
        }
        let mut pass = begin(encoder, None);
        let bounds = std::slice::from_ref(&self.plan.bounds);
        self.encode_dispatches(bounds, self.substeps.saturating_sub(1), &mut pass);
    }

    fn encode_dispatches(
        &self,
        dispatches: &[Dispatch],
        substep: usize,
        pass: &mut ComputePass<'_>,
    ) {
        let offset = (substep * ALIGNMENT) as u32;
        for dispatch in dispatches {
            dispatch.encode(&self.plan.conditions, offset, pass);
        }
    }

    /// Lets the device catch up, so that the host is never far ahead.
    fn keep_pace(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        while self.under_way.len() >= MOST_UNDER_WAY {
            let submission_index = self.under_way.pop_front();
            let waited = gpu.device.poll(wgpu::PollType::Wait { submission_index, timeout: None });
            gpu.check()?;
            waited.map_err(|error| gpu.lost(&error.to_string()))?;
        }
        Ok(())
    }

    fn wait(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        gpu.wait()?;
        self.under_way.clear();
        self.report.receive(gpu)?;
        self.report.complete(gpu, &self.plan.memory.findings)
    }

    fn put(&mut self, gpu: &Gpu, state: &State) -> Result<(), GpuError> {
        let memory = &self.plan.memory;
        for (buffer, array) in [
            (&memory.positions, &state.positions),
            (&memory.previous, &state.previous),
            (&memory.velocities, &state.velocities),
        ] {
            gpu.queue.write_buffer(buffer, 0, bytemuck::cast_slice(array));
        }
        gpu.check()
    }

    /// Sends the state home, behind all steps so far.
    fn request(&mut self, gpu: &Gpu, state: &State) -> Result<(), GpuError> {
        let memory = &self.plan.memory;
        let parts = [
            (&memory.positions, bytes_of(&state.positions)),
            (&memory.previous, bytes_of(&state.previous)),
            (&memory.velocities, bytes_of(&state.velocities)),
        ];
        let room = parts.iter().map(|(_, bytes)| bytes).sum::<u64>().max(LEAST_FRAME);
        let frame = self.frame.get_or_insert_with(|| Staging::new(gpu, "frame", room));
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut start = 0;
        for (buffer, bytes) in parts {
            encoder.copy_buffer_to_buffer(buffer, 0, &frame.buffer, start, bytes);
            start += bytes;
        }
        gpu.queue.submit([encoder.finish()]);
        frame.submitted();
        gpu.check()
    }

    /// Takes up the state if it has come home.
    fn receive(&mut self, gpu: &Gpu, state: &mut State) -> Result<bool, GpuError> {
        let Some(frame) = &self.frame else { return Ok(false) };
        frame.receive(gpu, |bytes| {
            let arrays = [&mut state.positions, &mut state.previous, &mut state.velocities];
            let mut start = 0;
            for array in arrays {
                let own: &mut [u8] = bytemuck::cast_slice_mut(array);
                own.copy_from_slice(&bytes[start..start + own.len()]);
                start += own.len();
            }
        })
    }

    fn fetch(&mut self, gpu: &Gpu, state: &mut State) -> Result<(), GpuError> {
        if !self.is_idle() {
            // On its way is a state of some steps ago.
            self.wait(gpu)?;
            self.receive(gpu, state)?;
        }
        self.request(gpu, state)?;
        self.wait(gpu)?;
        let arrived = self.receive(gpu, state)?;
        if arrived { Ok(()) } else { Err(gpu.lost("the state did not come home")) }
    }

    fn is_idle(&self) -> bool {
        self.frame.as_ref().is_none_or(Staging::is_idle)
    }
}

fn bytes_of(array: &[[f32; 4]]) -> u64 {
    size_of_val(array) as u64
}

fn begin<'a>(
    encoder: &'a mut CommandEncoder,
    timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
) -> ComputePass<'a> {
    let label = Some("stages");
    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes })
}

impl Backend for Graphics {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn threads(&self) -> usize {
        1
    }

    fn device(&self) -> Option<&str> {
        Some(&self.gpu.info.name)
    }

    fn load(&mut self, job: Job<'_>, state: &State) -> Result<(), BackendError> {
        Ok(Graphics::load(self, job, state)?)
    }

    fn step(
        &mut self,
        job: Job<'_>,
        _: &mut State,
        seconds: &mut [f64],
    ) -> Result<Findings, BackendError> {
        let Some(running) = &mut self.running else {
            return Ok(Findings::NONE);
        };
        let findings = running.step(&self.gpu, job)?;
        seconds.copy_from_slice(&running.report.seconds);
        Ok(findings)
    }

    fn wait(&mut self) -> Result<Option<Findings>, BackendError> {
        let Some(running) = &mut self.running else { return Ok(None) };
        running.wait(&self.gpu)?;
        Ok(Some(running.report.findings))
    }

    fn put(&mut self, state: &State) -> Result<(), BackendError> {
        Ok(self.running.as_mut().map_or(Ok(()), |running| running.put(&self.gpu, state))?)
    }

    fn fetch(&mut self, state: &mut State) -> Result<(), BackendError> {
        Ok(self.running.as_mut().map_or(Ok(()), |running| running.fetch(&self.gpu, state))?)
    }

    fn request(&mut self, state: &State) -> Result<bool, BackendError> {
        let Some(running) = &mut self.running else { return Ok(false) };
        if running.is_idle() {
            running.request(&self.gpu, state)?;
        }
        Ok(true)
    }

    fn receive(&mut self, state: &mut State) -> Result<bool, BackendError> {
        let Some(running) = &mut self.running else { return Ok(true) };
        // Does not wait: only hears what has happened meanwhile.
        let polled = self.gpu.device.poll(wgpu::PollType::Poll);
        polled.map_err(|error| self.gpu.lost(&error.to_string()))?;
        Ok(running.receive(&self.gpu, state)?)
    }

    fn residuals(&mut self, model: &Model) -> Result<Option<Vec<Residual>>, BackendError> {
        let Some(running) = &mut self.running else { return Ok(None) };
        if running.residuals.is_none() {
            let positions = &running.plan.memory.positions;
            running.residuals = Some(Residuals::new(&self.gpu, &model.groups, positions)?);
        }
        let measured = running.residuals.as_ref().map(|all| all.measure(&self.gpu));
        Ok(measured.transpose()?)
    }

    fn positions(&self) -> Option<wgpu::Buffer> {
        self.running.as_ref().map(|running| running.plan.memory.positions.clone())
    }

    fn dispatches(&self) -> Option<usize> {
        let running = self.running.as_ref()?;
        Some(running.plan.dispatches_per_step(running.substeps))
    }
}
