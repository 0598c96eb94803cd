//! What comes back from the device by itself, of every step: what kernels noticed, and how long stages
//! took. It is read when it arrives; nothing waits for it.

use wgpu::{Buffer, BufferDescriptor, BufferUsages, CommandEncoder, Features, QuerySet};

use super::device::{Gpu, GpuError};
use super::graphics::MOST_UNDER_WAY;
use super::plan::FINDINGS;
use super::staging::Staging;
use crate::solver::Findings;

/// Time stamps of a step at most: what a set of queries may hold.
const MOST_STAMPS: u32 = wgpu::QUERY_SET_MAX_QUERIES;

const FINDINGS_BYTES: u64 = 4 * FINDINGS as u64;

/// The last report, and those under way.
pub(super) struct Report {
    /// Taken by one step after another.
    slots: [Staging; MOST_UNDER_WAY],
    clock: Option<Clock>,
    /// Steps that were submitted, and how many of them have been reported on.
    submitted: u64,
    received: u64,
    /// Steps up to the one that `findings` are of: no more after one that went out of bounds.
    heard: u64,
    /// What the last report said.
    pub(super) findings: Findings,
    /// Seconds of each stage in that step.
    pub(super) seconds: Vec<f64>,
}

/// Time stamps at the ends of stages.
struct Clock {
    queries: QuerySet,
    resolved: Buffer,
    /// Stages of a substep, and how many substeps are measured, of how many.
    stages: usize,
    measured: usize,
    substeps: usize,
    /// Seconds of a tick.
    tick: f64,
}

impl Report {
    /// For a program of so many stages and substeps.
    pub(super) fn new(gpu: &Gpu, stages: usize, substeps: usize) -> Self {
        let clock = Clock::new(gpu, stages, substeps);
        let bytes = FINDINGS_BYTES + clock.as_ref().map_or(0, |clock| 8 * u64::from(clock.count()));
        Self {
            slots: std::array::from_fn(|_| Staging::new(gpu, "report", bytes)),
            clock,
            submitted: 0,
            received: 0,
            heard: 0,
            findings: Findings::NONE,
            seconds: vec![0.0; stages],
        }
    }

    /// Steps after the one that `findings` are of.
    pub(super) fn behind(&self) -> u64 {
        self.submitted - self.heard
    }

    /// The state is another one: what was noticed so far does not matter any more.
    pub(super) fn begin_again(&mut self) {
        self.heard = self.submitted;
        self.findings = Findings::NONE;
    }

    /// Where a stage of a substep writes its time stamps.
    pub(super) fn stamps(
        &self,
        substep: usize,
        stage: usize,
    ) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let clock = self.clock.as_ref()?;
        (substep < clock.measured).then(|| {
            let first = 2 * (substep * clock.stages + stage) as u32;
            wgpu::ComputePassTimestampWrites {
                query_set: &clock.queries,
                beginning_of_pass_write_index: Some(first),
                end_of_pass_write_index: Some(first + 1),
            }
        })
    }

    /// Whether stages are measured.
    pub(super) fn is_timed(&self) -> bool {
        self.clock.is_some()
    }

    /// The step's commands end here.
    pub(super) fn end(&self, encoder: &mut CommandEncoder, findings: &Buffer) {
        let home = &self.slot(self.submitted).buffer;
        encoder.copy_buffer_to_buffer(findings, 0, home, 0, FINDINGS_BYTES);
        if let Some(clock) = &self.clock {
            encoder.resolve_query_set(&clock.queries, 0..clock.count(), &clock.resolved, 0);
            let bytes = 8 * u64::from(clock.count());
            encoder.copy_buffer_to_buffer(&clock.resolved, 0, home, FINDINGS_BYTES, bytes);
        }
    }

    /// The step's commands were submitted: the report comes when they are done.
    pub(super) fn submitted(&mut self) {
        self.slot(self.submitted).submitted();
        self.submitted += 1;
    }

    /// Reads the report on the oldest step under way, if it has arrived; returns whether it had.
    pub(super) fn receive(&mut self, gpu: &Gpu) -> Result<bool, GpuError> {
        let (mut words, mut stamps) = (Vec::new(), Vec::new());
        let arrived = self.slot(self.received).receive(gpu, |bytes| {
            words = bytemuck::pod_collect_to_vec::<u8, u32>(&bytes[..FINDINGS_BYTES as usize]);
            stamps = bytemuck::pod_collect_to_vec::<u8, u64>(&bytes[FINDINGS_BYTES as usize..]);
        })?;
        if arrived {
            self.received += 1;
            if self.findings.in_bounds {
                self.heard = self.received;
                self.read(&words, &stamps);
            }
        }
        Ok(arrived)
    }

    fn slot(&self, step: u64) -> &Staging {
        &self.slots[step as usize % MOST_UNDER_WAY]
    }

    fn read(&mut self, words: &[u32], stamps: &[u64]) {
        self.findings = findings_of(words);
        let Some(clock) = &self.clock else { return };
        self.seconds.fill(0.0);
        for (index, ends) in stamps.chunks_exact(2).enumerate() {
            let ticks = ends[1].saturating_sub(ends[0]) as f64;
            self.seconds[index % clock.stages] += ticks * clock.tick;
        }
        let share = clock.substeps as f64 / clock.measured as f64;
        self.seconds.iter_mut().for_each(|seconds| *seconds *= share);
    }
}

fn findings_of(words: &[u32]) -> Findings {
    Findings {
        contacts: words[0] as usize,
        touching: words[1] as usize,
        dropped: words[2] as usize,
        in_bounds: words[3] == 0,
    }
}

impl Clock {
    /// Nothing if the device cannot tell the time, or a substep has more stages than can be measured.
    fn new(gpu: &Gpu, stages: usize, substeps: usize) -> Option<Self> {
        let measured = substeps.min(MOST_STAMPS as usize / (2 * stages.max(1)));
        if !gpu.device.features().contains(Features::TIMESTAMP_QUERY) || measured == 0 {
            return None;
        }
        let count = 2 * (stages * measured) as u32;
        let queries = gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("stages"),
            ty: wgpu::QueryType::Timestamp,
            count,
        });
        let resolved = gpu.device.create_buffer(&BufferDescriptor {
            label: Some("times of stages"),
            size: 8 * u64::from(count),
            usage: BufferUsages::QUERY_RESOLVE | BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        let tick = f64::from(gpu.queue.get_timestamp_period()) * 1e-9;
        Some(Self { queries, resolved, stages, measured, substeps, tick })
    }

    fn count(&self) -> u32 {
        2 * (self.stages * self.measured) as u32
    }
}
