//! Contract: on a device, frames are written while later steps are made, and are the same to the bit as
//! those of somebody who waits for every step; however a run ends, its frames are complete up to then.
//! These tests need a driver; the software one of mesa-vulkan-drivers will do.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Parser;
use taut::SimulationError;
use taut::backend::gpu::{DeviceChoice, Gpu, Graphics};
use taut::backend::{Backend, BackendError};
use taut::constraint::Residual;
use taut::model::Model;
use taut::output::FrameWriter;
use taut::solver::{Findings, Job};
use taut::state::State;

use super::*;

/// Springs that a long step tears apart.
const EXPLOSION: &str = "dt = 0.02\nsteps = 100\n[[bodies]]\nname = \"cloth\"\n\
                         mesh.grid = { particles = [10, 10], size = [1, 1] }\n\
                         deform = [1.01, 1, 1.01]\nelements.stretch = { spring = 5 }\n";

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

/// What a run asked of its back-end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Step,
    Request,
    Receive,
    Wait,
    Fetch,
}

/// A device, and a list of what it was asked for.
struct Witness {
    device: Graphics,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Witness {
    fn note(&self, event: Event) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
    }
}

impl Backend for Witness {
    fn name(&self) -> &'static str {
        self.device.name()
    }
    fn threads(&self) -> usize {
        self.device.threads()
    }
    fn load(&mut self, job: Job<'_>, state: &State) -> Result<(), BackendError> {
        self.device.load(job, state)
    }
    fn step(
        &mut self,
        job: Job<'_>,
        state: &mut State,
        seconds: &mut [f64],
    ) -> Result<Findings, BackendError> {
        self.note(Event::Step);
        self.device.step(job, state, seconds)
    }
    fn fetch(&mut self, state: &mut State) -> Result<(), BackendError> {
        self.note(Event::Fetch);
        self.device.fetch(state)
    }
    fn request(&mut self, state: &State) -> Result<bool, BackendError> {
        self.note(Event::Request);
        self.device.request(state)
    }
    fn receive(&mut self, state: &mut State) -> Result<bool, BackendError> {
        let arrived = self.device.receive(state)?;
        if arrived {
            self.note(Event::Receive);
        }
        Ok(arrived)
    }
    fn behind(&self) -> u64 {
        self.device.behind()
    }
    fn wait(&mut self, seconds: &mut [f64]) -> Result<Option<Findings>, BackendError> {
        self.note(Event::Wait);
        self.device.wait(seconds)
    }
    fn residuals(&mut self, model: &Model) -> Result<Option<Vec<Residual>>, BackendError> {
        self.device.residuals(model)
    }
}

fn open() -> Gpu {
    Gpu::open(&DeviceChoice::Best).unwrap()
}

fn arguments(scene: &str, steps: u64, folder: &Path, more: &[&str]) -> Arguments {
    let (steps, out) = (steps.to_string(), folder.join("frame-#.ply"));
    let line = ["taut", scene, "--steps", &steps, "--out", out.to_str().unwrap()];
    Line::parse_from(line.iter().chain(more)).arguments
}

fn frame(folder: &Path, number: u64) -> Vec<u8> {
    std::fs::read(folder.join(format!("frame-{number}.ply"))).unwrap()
}

fn count(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// Writes the frames of somebody who waits for every step; returns how that ended.
fn write_patiently(scene: &Scene, gpu: &Gpu, steps: u64, folder: &Path) -> Option<SimulationError> {
    let mut simulation = Simulation::on(scene, Box::new(Graphics::on(gpu.clone()))).unwrap();
    let writer = FrameWriter::new(&folder.join("frame-#.ply"), None).unwrap();
    writer.write(&simulation).unwrap();
    for _ in 0..steps {
        if let Err(error) = simulation.step().and_then(|()| simulation.synchronize()) {
            return Some(error);
        }
        writer.write(&simulation).unwrap();
    }
    None
}

#[test]
fn frames_are_written_while_later_steps_are_made() {
    const STEPS: u64 = 6;
    let (gpu, scene) = (open(), Scene::find("cloth-on-tube", &[]).unwrap());
    let (folder, patient) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let events = Arc::<Mutex<Vec<Event>>>::default();
    let witness = Witness { device: Graphics::on(gpu.clone()), events: Arc::clone(&events) };
    let mut simulation = Simulation::on(&scene, Box::new(witness)).unwrap();
    let trace = folder.path().join("trace.csv");
    let arguments =
        arguments("cloth-on-tube", STEPS, folder.path(), &["--trace", trace.to_str().unwrap()]);
    let (measurements, end) =
        simulate(&mut simulation, &scene, &arguments, &Interrupt::default()).unwrap();
    end.unwrap();

    use Event::{Receive, Request, Step, Wait};
    let mut expected = vec![Step, Request, Step, Request];
    for _ in 3..=STEPS {
        // The frame of the step before the last is read when another step has been submitted.
        expected.extend([Step, Receive, Request]);
    }
    expected.extend([Wait, Receive, Wait, Receive, Wait]);
    assert_eq!(*events.lock().unwrap(), expected);

    assert_eq!(write_patiently(&scene, &gpu, STEPS, patient.path()).map(|e| e.to_string()), None);
    for number in 0..=STEPS {
        let same = frame(folder.path(), number) == frame(patient.path(), number);
        assert!(same, "frame {number}");
    }
    assert_eq!(measurements.count(), STEPS);
    let table = std::fs::read_to_string(trace).unwrap();
    let steps: Vec<&str> = table.lines().skip(1).map(|row| &row[..1]).collect();
    assert_eq!(steps, ["1", "2", "3", "4", "5", "6"]);
}

#[test]
fn a_divergence_ends_a_run_with_the_frames_before_it() {
    let (gpu, scene) = (open(), Scene::parse("x", EXPLOSION, Path::new("."), &[]).unwrap());
    let (folder, patient) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let error = write_patiently(&scene, &gpu, 100, patient.path());
    let Some(SimulationError::Diverged { step, .. }) = error else { panic!("{error:?}") };
    assert!(step > 3, "some frames come before, not {step}");

    let mut simulation = Simulation::on(&scene, Box::new(Graphics::on(gpu))).unwrap();
    let arguments = arguments("x", 100, folder.path(), &[]);
    let (_, end) = simulate(&mut simulation, &scene, &arguments, &Interrupt::default()).unwrap();
    let expected = format!("diverged in step {step}:");
    assert!(matches!(&end, Err(Failure::Work(text)) if text.contains(&expected)), "{end:?}");
    assert_eq!(count(folder.path()) as u64, step);
    for number in 0..step {
        let same = frame(folder.path(), number) == frame(patient.path(), number);
        assert!(same, "frame {number}");
    }
}

#[test]
fn an_interrupted_run_has_the_frame_of_its_last_step() {
    let (gpu, scene) = (open(), Scene::find("hanging-cloth", &[]).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut simulation = Simulation::on(&scene, Box::new(Graphics::on(gpu))).unwrap();
    let single = folder.path().join("end.obj");
    let more = ["--out", single.to_str().unwrap()];
    let arguments = arguments("hanging-cloth", 100, folder.path(), &more);
    let interrupt = Interrupt::default();
    interrupt.raise();
    let (_, end) = simulate(&mut simulation, &scene, &arguments, &interrupt).unwrap();
    assert!(matches!(end, Err(Failure::Interrupted)), "{end:?}");
    assert_ne!(frame(folder.path(), 0), frame(folder.path(), 1));
    assert_eq!(count(folder.path()), 3, "two frames, and that of the end");
}

#[test]
fn a_lost_device_ends_a_run_with_its_frames_complete() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = arguments("hanging-cloth", 100_000, folder.path(), &[]);
    let (gpu, scene) = (open(), Scene::find("hanging-cloth", &[]).unwrap());
    let mut simulation = Simulation::on(&scene, Box::new(Graphics::on(gpu.clone()))).unwrap();
    let end = std::thread::scope(|scope| {
        scope.spawn(|| {
            while count(folder.path()) < 4 {
                std::thread::yield_now();
            }
            gpu.device.destroy();
        });
        simulate(&mut simulation, &scene, &arguments, &Interrupt::default()).unwrap().1
    });
    // Exit code 1.
    assert!(matches!(&end, Err(Failure::Work(message)) if message.contains("was lost")), "{end:?}");
    assert!(count(folder.path()) >= 4);
    for number in 1..count(folder.path()) as u64 {
        let (before, after) = (frame(folder.path(), number - 1), frame(folder.path(), number));
        assert_eq!(before.len(), after.len());
        assert_ne!(before, after, "frame {number} is not of another step");
    }
}
