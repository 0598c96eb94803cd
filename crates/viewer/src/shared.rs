//! What the simulation thread and the connections share. The simulation leaves its newest scene,
//! frame and figures here and never waits; each connection takes what it is ready for.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::extract::ws::Utf8Bytes;
use taut::output::{Field, KindElements, ShapePose};
use tokio::sync::{Semaphore, mpsc, watch};

use crate::encode::{self, FrameParts, Precision};
use crate::origin::Guard;
use crate::protocol::{Request, WantedField};

/// Viewers at once.
pub(crate) const MOST_VIEWERS: usize = 16;
/// Commands that wait for the simulation; connections whose commands find no room wait themselves.
pub(crate) const MOST_COMMANDS: usize = 256;
/// Answers that wait for a connection; more are dropped.
pub(crate) const MOST_REPLIES: usize = 32;

/// The fields, in the order of their numbers in frames, from 1 on.
pub(crate) const FIELDS: [Field; 3] = [Field::Strain, Field::Speed, Field::Contact];

/// What connections tell the simulation.
#[derive(Debug)]
pub(crate) enum Command {
    /// A viewer has come; errors go there.
    Join { viewer: u64, replies: mpsc::Sender<Utf8Bytes> },
    /// It has gone.
    Leave { viewer: u64 },
    /// A page is on its way to the browser: a viewer will come.
    Expect,
    /// A viewer has drawn its first frame.
    Seen,
    /// It asks for something.
    Ask { viewer: u64, request: Request },
    /// A frame is wanted although nothing has moved.
    Refresh,
}

/// A scene as it is told to viewers.
#[derive(Debug)]
pub(crate) struct SceneState {
    pub(crate) generation: u32,
    pub(crate) particles: usize,
    pub(crate) text: Utf8Bytes,
    pub(crate) look: Arc<Look>,
}

/// What is large in a scene, and sent when it is asked for.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) topology: Bytes,
    pub(crate) kinds: Vec<KindElements>,
    elements: Vec<OnceLock<Bytes>>,
}

impl Look {
    pub(crate) fn new(topology: Bytes, kinds: Vec<KindElements>) -> Self {
        let elements = kinds.iter().map(|_| OnceLock::new()).collect();
        Self { topology, kinds, elements }
    }

    /// The elements of a kind, encoded once for all viewers.
    pub(crate) fn elements(&self, generation: u32, kind: usize) -> Option<Bytes> {
        let encoded = self.elements.get(kind)?;
        let elements = || encode::elements(generation, kind, &self.kinds[kind]);
        Some(encoded.get_or_init(elements).clone())
    }
}

/// A field at a moment.
#[derive(Debug)]
pub(crate) struct FieldValues {
    /// At each point.
    pub(crate) values: Vec<f32>,
    /// The value that the last color stands for.
    pub(crate) scale: f32,
}

/// Where everything was at a moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) generation: u32,
    pub(crate) number: u32,
    pub(crate) step: u64,
    pub(crate) time: f64,
    pub(crate) low: [f32; 3],
    pub(crate) high: [f32; 3],
    pub(crate) places: Vec<[f32; 3]>,
    /// Values of the fields that somebody wants.
    pub(crate) fields: [Option<FieldValues>; 3],
    pub(crate) poses: Vec<ShapePose>,
    /// What it cost the simulation.
    pub(crate) cost: Duration,
    /// By precision and field.
    pub(crate) encoded: [[OnceLock<Bytes>; 4]; 2],
}

impl Snapshot {
    /// The frame as it is sent, encoded once for all viewers that want the same.
    pub(crate) fn frame(&self, field: WantedField, precision: Precision, costs: &Costs) -> Bytes {
        let slot = &self.encoded[precision as usize][field as usize];
        let encode = || {
            let start = Instant::now();
            let bytes = encode::frame(&self.parts(field), precision);
            costs.record(self.cost + start.elapsed(), bytes.len());
            bytes
        };
        slot.get_or_init(encode).clone()
    }

    fn parts(&self, field: WantedField) -> FrameParts<'_> {
        let number = field as usize;
        let values = number.checked_sub(1).and_then(|index| self.fields[index].as_ref());
        FrameParts {
            generation: self.generation,
            number: self.number,
            step: self.step,
            time: self.time,
            low: self.low,
            high: self.high,
            places: &self.places,
            field: values.map(|field| (number as u8, field)),
            poses: &self.poses,
        }
    }
}

/// What the last frame cost.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    nanoseconds: AtomicU64,
    bytes: AtomicU64,
}

impl Costs {
    fn record(&self, time: Duration, bytes: usize) {
        self.nanoseconds.store(time.as_nanos() as u64, Ordering::Relaxed);
        self.bytes.store(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn milliseconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-6
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// What viewers want, without asking.
#[derive(Debug, Default)]
pub(crate) struct Demand {
    /// Whether a viewer is ready for a frame.
    pub(crate) is_hungry: AtomicBool,
    /// How many viewers want each field.
    pub(crate) fields: [AtomicUsize; 3],
    /// How many viewers there are.
    pub(crate) viewers: AtomicUsize,
    /// Whether the server is to end.
    pub(crate) is_over: AtomicBool,
    pub(crate) costs: Costs,
}

impl Demand {
    /// A viewer now wants another field.
    pub(crate) fn change_field(&self, from: WantedField, to: WantedField) {
        if let Some(index) = (to as usize).checked_sub(1) {
            self.fields[index].fetch_add(1, Ordering::Relaxed);
        }
        if let Some(index) = (from as usize).checked_sub(1) {
            self.fields[index].fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The simulation's ends of what it leaves for connections.
#[derive(Debug)]
pub(crate) struct Outlets {
    pub(crate) scene: watch::Sender<Arc<SceneState>>,
    pub(crate) frame: watch::Sender<Arc<Snapshot>>,
    pub(crate) stats: watch::Sender<Utf8Bytes>,
}

/// All that a connection needs.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) guard: Guard,
    pub(crate) hello: Utf8Bytes,
    pub(crate) commands: SyncSender<Command>,
    pub(crate) scene: watch::Receiver<Arc<SceneState>>,
    pub(crate) frame: watch::Receiver<Arc<Snapshot>>,
    pub(crate) stats: watch::Receiver<Utf8Bytes>,
    pub(crate) demand: Arc<Demand>,
    pub(crate) seats: Arc<Semaphore>,
    pub(crate) next_viewer: AtomicU64,
}
