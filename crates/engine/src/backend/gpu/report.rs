//! What comes back from the device by itself: what kernels noticed, and how long stages took. It is
//! read when it arrives; nothing waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use wgpu::{Buffer, BufferDescriptor, BufferUsages, CommandEncoder, Features, QuerySet};

use super::device::{Gpu, GpuError};
use super::plan::FINDINGS;
use crate::solver::Findings;

/// Time stamps of a step at most: what a set of queries may hold.
const MOST_STAMPS: u32 = wgpu::QUERY_SET_MAX_QUERIES;

const FINDINGS_BYTES: u64 = 4 * FINDINGS as u64;

/// Nothing under way; being mapped; ready to be read; could not be mapped.
const IDLE: u8 = 0;
const MAPPING: u8 = 1;
const READY: u8 = 2;
const FAILED: u8 = 3;

/// The last report, and the next one under way.
pub(super) struct Report {
    staging: Buffer,
    clock: Option<Clock>,
    progress: Arc<AtomicU8>,
    /// Whether this step's report is being written into `staging`.
    is_recording: bool,
    /// What the last report said.
    pub(super) findings: Findings,
    /// Seconds of each stage in the last step that was measured.
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
            staging: gpu.device.create_buffer(&BufferDescriptor {
                label: Some("report"),
                size: bytes,
                usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
            clock,
            progress: Arc::default(),
            is_recording: false,
            findings: Findings::NONE,
            seconds: vec![0.0; stages],
        }
    }

    /// A step begins: it is reported on unless the last report is still under way.
    pub(super) fn begin(&mut self) {
        self.is_recording = self.progress.load(Ordering::Acquire) == IDLE;
    }

    /// Where a stage of a substep writes its time stamps.
    pub(super) fn stamps(
        &self,
        substep: usize,
        stage: usize,
    ) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let clock = self.clock.as_ref().filter(|_| self.is_recording)?;
        (substep < clock.measured).then(|| {
            let first = 2 * (substep * clock.stages + stage) as u32;
            wgpu::ComputePassTimestampWrites {
                query_set: &clock.queries,
                beginning_of_pass_write_index: Some(first),
                end_of_pass_write_index: Some(first + 1),
            }
        })
    }

    /// Whether stages are measured in this step.
    pub(super) fn is_timed(&self) -> bool {
        self.is_recording && self.clock.is_some()
    }

    /// The step's commands end here.
    pub(super) fn end(&self, encoder: &mut CommandEncoder, findings: &Buffer) {
        if !self.is_recording {
            return;
        }
        encoder.copy_buffer_to_buffer(findings, 0, &self.staging, 0, FINDINGS_BYTES);
        if let Some(clock) = &self.clock {
            encoder.resolve_query_set(&clock.queries, 0..clock.count(), &clock.resolved, 0);
            let bytes = 8 * u64::from(clock.count());
            encoder.copy_buffer_to_buffer(&clock.resolved, 0, &self.staging, FINDINGS_BYTES, bytes);
        }
    }

    /// The step's commands were submitted: the report comes when they are done.
    pub(super) fn submitted(&mut self) {
        if !self.is_recording {
            return;
        }
        self.is_recording = false;
        self.progress.store(MAPPING, Ordering::Release);
        let progress = Arc::clone(&self.progress);
        self.staging.map_async(wgpu::MapMode::Read, .., move |result| {
            progress.store(if result.is_ok() { READY } else { FAILED }, Ordering::Release);
        });
    }

    /// Reads the report if it has arrived.
    pub(super) fn receive(&mut self, gpu: &Gpu) -> Result<(), GpuError> {
        match self.progress.load(Ordering::Acquire) {
            FAILED => gpu.check(),
            READY => {
                if let Ok(bytes) = self.staging.get_mapped_range(..) {
                    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes[..16]);
                    let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(&bytes[16..]);
                    self.read(&words, &stamps);
                }
                self.staging.unmap();
                self.progress.store(IDLE, Ordering::Release);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read(&mut self, words: &[u32], stamps: &[u64]) {
        self.findings = Findings {
            contacts: words[0] as usize,
            touching: words[1] as usize,
            dropped: words[2] as usize,
            in_bounds: words[3] == 0,
        };
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
