//! The back-end on a graphics processor. The state lives on the device; the host encodes commands, and
//! brings the state home when somebody asks for it.

use std::collections::VecDeque;

use wgpu::{CommandEncoder, ComputePass};

use super::adapter::DeviceChoice;
use super::arrays::ALIGNMENT;
use super::conditions::Conditions;
use super::device::{Gpu, GpuError};
use super::frames::Frames;
use super::hands::Grip;
use super::kernels::Dispatch;
use super::plan::Plan;
use super::report::Report;
use super::residual::Residuals;
use crate::backend::{Backend, BackendError};
use crate::constraint::Residual;
use crate::model::Model;
use crate::solver::{Findings, Hands, Job};
use crate::state::State;

/// Steps that may be under way on the device: enough to keep it busy, few enough to answer soon.
pub(super) const MOST_UNDER_WAY: usize = 2;

/// A graphics processor as a back-end.
pub struct Graphics {
    gpu: Gpu,
    running: Option<Running>,
    /// Those who pull in the next step.
    hands: Option<Hands>,
}

/// What is on the device.
struct Running {
    plan: Plan,
    report: Report,
    conditions: Conditions,
    /// Made when they are first asked for.
    residuals: Option<Residuals>,
    /// Made when a particle is first grabbed, and whether one was in the last step.
    grip: Option<Grip>,
    is_grabbed: bool,
    substeps: usize,
    /// Steps that are not known to be done, each with the states that were requested behind it.
    under_way: VecDeque<wgpu::SubmissionIndex>,
    frames: Frames,
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
        Self { gpu, running: None, hands: None }
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
            grip: None,
            is_grabbed: false,
            substeps,
            under_way: VecDeque::new(),
            frames: Frames::default(),
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
        Some((running.under_way.len(), running.frames.has_arrived()))
    }

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }
}

impl Running {
    fn step(&mut self, gpu: &Gpu, job: Job<'_>, hands: Option<&Hands>) -> Result<(), GpuError> {
        // The device catches up, so that the host is never far ahead.
        while self.under_way.len() >= MOST_UNDER_WAY {
            self.wait(gpu)?;
        }
        self.is_grabbed = hands.is_some();
        if let Some(hands) = hands {
            self.take_hold(gpu, hands)?;
        }
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
        let grip = self.grip.as_ref().filter(|_| self.is_grabbed);
        if let Some(grip) = grip {
            grip.encode_grab(&mut begin(&mut encoder, None));
        }
        self.encode(&mut encoder);
        if let Some(grip) = grip {
            grip.encode_let_go(&mut begin(&mut encoder, None));
        }
        self.report.end(&mut encoder, &memory.findings);
        self.under_way.push_back(gpu.queue.submit([encoder.finish()]));
        self.report.submitted();
        gpu.check()
    }

    /// Takes hands to the device, where there may have been no room for as many.
    fn take_hold(&mut self, gpu: &Gpu, hands: &Hands) -> Result<(), GpuError> {
        let grip = match self.grip.take().filter(|grip| grip.has_room_for(hands)) {
            Some(grip) => grip,
            None => Grip::new(gpu, &self.plan.memory, hands.all.len().next_power_of_two())?,
        };
        grip.put(gpu, hands);
        self.grip = Some(grip);
        Ok(())
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

    /// Waits until the oldest step under way is done; returns whether there was one. Without one, waits
    /// for all else.
    fn wait(&mut self, gpu: &Gpu) -> Result<bool, GpuError> {
        let Some(submission) = self.under_way.front() else { return gpu.wait().map(|()| false) };
        let submission_index = Some(submission.clone());
        let waited = gpu.device.poll(wgpu::PollType::Wait { submission_index, timeout: None });
        gpu.check()?;
        waited.map_err(|error| gpu.lost(&error.to_string()))?;
        if self.receive_report(gpu)? {
            Ok(true)
        } else {
            Err(gpu.lost("a step was not reported on"))
        }
    }

    /// Hears whether the oldest step under way is done, without waiting.
    fn hear(&mut self, gpu: &Gpu) -> Result<bool, GpuError> {
        let polled = gpu.device.poll(wgpu::PollType::Poll);
        gpu.check()?;
        polled.map_err(|error| gpu.lost(&error.to_string()))?;
        self.receive_report(gpu)
    }

    fn receive_report(&mut self, gpu: &Gpu) -> Result<bool, GpuError> {
        let arrived = !self.under_way.is_empty() && self.report.receive(gpu)?;
        if arrived {
            self.under_way.pop_front();
        }
        Ok(arrived)
    }

    /// What was noticed and measured in the last step that was reported on.
    fn tell(&self, seconds: &mut [f64]) -> Findings {
        seconds.copy_from_slice(&self.report.seconds);
        self.report.findings
    }

    fn put(&mut self, gpu: &Gpu, state: &State) -> Result<(), GpuError> {
        while self.wait(gpu)? {}
        self.report.begin_again();
        self.frames = Frames::default();
        let memory = &self.plan.memory;
        for (buffer, array) in [
            (&memory.positions, &state.positions[..]),
            (&memory.previous, &state.previous),
            (&memory.velocities, &state.velocities),
        ] {
            gpu.queue.write_buffer(buffer, 0, bytemuck::cast_slice(array));
        }
        gpu.check()
    }

    /// Sends the state home, behind all steps so far.
    fn request(&mut self, gpu: &Gpu, state: &State) -> Result<(), GpuError> {
        let submission = self.frames.request(gpu, &self.plan.memory, state)?;
        // Whoever waits for the step has the frame, too.
        if let Some(last) = self.under_way.back_mut() {
            *last = submission;
        }
        Ok(())
    }

    fn fetch(&mut self, gpu: &Gpu, state: &mut State) -> Result<(), GpuError> {
        self.request(gpu, state)?;
        gpu.wait()?;
        self.frames.receive_newest(gpu, state)
    }
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

    fn grab(&mut self, hands: Hands) -> Option<Hands> {
        self.hands = Some(hands);
        None
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
        running.step(&self.gpu, job, self.hands.take().as_ref())?;
        Ok(running.tell(seconds))
    }

    fn behind(&self) -> u64 {
        self.running.as_ref().map_or(0, |running| running.report.behind())
    }

    fn hear(&mut self, seconds: &mut [f64]) -> Result<Option<Findings>, BackendError> {
        let Some(running) = &mut self.running else { return Ok(None) };
        Ok(running.hear(&self.gpu)?.then(|| running.tell(seconds)))
    }

    fn wait(&mut self, seconds: &mut [f64]) -> Result<Option<Findings>, BackendError> {
        let Some(running) = &mut self.running else { return Ok(None) };
        Ok(running.wait(&self.gpu)?.then(|| running.tell(seconds)))
    }

    fn put(&mut self, state: &State) -> Result<(), BackendError> {
        Ok(self.running.as_mut().map_or(Ok(()), |running| running.put(&self.gpu, state))?)
    }

    fn fetch(&mut self, state: &mut State) -> Result<(), BackendError> {
        Ok(self.running.as_mut().map_or(Ok(()), |running| running.fetch(&self.gpu, state))?)
    }

    fn request(&mut self, state: &State) -> Result<bool, BackendError> {
        let Some(running) = &mut self.running else { return Ok(false) };
        running.request(&self.gpu, state)?;
        Ok(true)
    }

    fn receive(&mut self, state: &mut State) -> Result<bool, BackendError> {
        let Some(running) = &mut self.running else { return Ok(false) };
        Ok(running.frames.receive(&self.gpu, state)?)
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
        let hands = if running.is_grabbed { 2 } else { 0 };
        Some(running.plan.dispatches_per_step(running.substeps) + hands)
    }
}
