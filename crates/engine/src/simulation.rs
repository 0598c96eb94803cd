//! The front door: a scene goes in, [`Simulation::step`] moves it on.

mod grab;

use std::cell::{Ref, RefCell};

use thiserror::Error;

use self::grab::Grabs;
#[cfg(feature = "gpu")]
use crate::backend::gpu::{DeviceChoice, Gpu, Graphics};
use crate::backend::{Backend, BackendError, Multicore, Serial};
use crate::constraint::Residual;
use crate::model::{Model, ModelError};
use crate::scene::Scene;
use crate::solver::{Findings, Job, Placed, Program, Substep};
use crate::state::State;

pub use grab::{Grab, GrabError};

/// Where a simulation runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendChoice {
    /// One thread, the reference.
    Serial,
    /// A team of this many threads; 0: one per core.
    Cpu(usize),
    /// A graphics processor.
    #[cfg(feature = "gpu")]
    Gpu(DeviceChoice),
    /// A graphics processor that is open; opened anew if something has gone wrong on it.
    #[cfg(feature = "gpu")]
    OpenGpu(Gpu),
}

impl BackendChoice {
    /// Starts it.
    ///
    /// # Errors
    /// If the operating system gives no threads, or there is no such device.
    pub fn start(self) -> Result<Box<dyn Backend>, BackendError> {
        Ok(match self {
            Self::Serial => Box::new(Serial),
            Self::Cpu(threads) => Box::new(Multicore::new(threads)?),
            #[cfg(feature = "gpu")]
            Self::Gpu(device) => Box::new(Graphics::open(&device)?),
            #[cfg(feature = "gpu")]
            Self::OpenGpu(gpu) => Box::new(Graphics::on(gpu.or_anew()?)),
        })
    }
}

/// How time passes in a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Length of a step, s.
    pub dt: f32,
    /// Substeps of a step.
    pub substeps: u32,
    /// Sweeps of a substep.
    pub iterations: u32,
    /// m/s².
    pub gravity: [f32; 3],
    /// Whether time passes at all, or constraints are only projected.
    pub integrate: bool,
}

impl Settings {
    fn of(scene: &Scene) -> Self {
        let file = &scene.file;
        Self {
            dt: file.dt,
            substeps: file.substeps,
            iterations: file.iterations,
            gravity: if file.integrate { file.gravity } else { [0.0; 3] },
            integrate: file.integrate,
        }
    }
}

/// Why a simulation cannot start or go on.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The scene cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The back-end cannot be had.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// A running simulation was to go on with something else.
    #[error(
        "the scene to go on with has other bodies; start it anew, or change only how it is solved"
    )]
    OtherBodies,
    /// A particle went to infinity, or farther in a substep than it can have.
    #[error(
        "the simulation diverged in step {step}: particle {particle} of body '{body}' is at {place:?}, {element}; use a smaller dt, more substeps or less stiffness"
    )]
    Diverged {
        /// The step, counted from 1.
        step: u64,
        /// The body.
        body: String,
        /// The particle, in the body's own order.
        particle: usize,
        /// Where it is.
        place: [f32; 3],
        /// The element most in error there, in words: its kind and its particles.
        element: String,
    },
}

/// A scene in motion.
pub struct Simulation {
    settings: Settings,
    model: Model,
    /// What is simulated, for [`Simulation::reset`].
    scene: Scene,
    program: Program,
    /// In a cell, because a look at the state may have to fetch it.
    moving: RefCell<Moving>,
    /// Conditions of the substeps of a step; kept, so that a step allocates nothing.
    substeps: Vec<Substep>,
    stage_seconds: Vec<f64>,
    findings: Findings,
    steps: u64,
    /// Steps and time when steps got the length that they have now.
    since: (u64, f64),
    grabs: Grabs,
}

/// What moves, and who moves it.
struct Moving {
    /// All that moves, as far as it is at home.
    state: State,
    backend: Box<dyn Backend>,
    /// Whether the back-end knows the program.
    is_loaded: bool,
    /// Whether the back-end knows the state, unless it has moved on.
    is_put: bool,
    /// Whether the back-end has not moved anything since the state was last fetched.
    is_home: bool,
    /// Why the state could not be fetched.
    trouble: Option<BackendError>,
    /// Steps and time of the frame that is under way.
    frame: Option<Moment>,
    /// Those of the frame that is looked at: it is at home, though the back-end may have moved on.
    shown: Option<Moment>,
}

/// Steps made, and time, s.
#[derive(Clone, Copy)]
struct Moment {
    steps: u64,
    time: f64,
}

impl Moving {
    fn new(state: State, backend: Box<dyn Backend>) -> Self {
        Self {
            state,
            backend,
            is_loaded: false,
            is_put: true,
            is_home: true,
            trouble: None,
            frame: None,
            shown: None,
        }
    }

    /// Brings the state home. What goes wrong is kept: the state is then as it was last fetched.
    fn fetch(&mut self) {
        if !self.is_home {
            self.frame = None;
            self.trouble = self.backend.fetch(&mut self.state).err();
            self.is_home = self.trouble.is_none();
        }
    }

    /// Has a frame brought home, without waiting for it; returns which one is there.
    fn bring(&mut self, now: Moment) -> Result<Option<Moment>, BackendError> {
        if self.is_home || (self.frame.is_none() && !self.backend.request(&self.state)?) {
            return Ok(Some(now));
        }
        let frame = *self.frame.get_or_insert(now);
        if !self.backend.receive(&mut self.state)? {
            return Ok(None);
        }
        self.frame = None;
        Ok(Some(frame))
    }

    /// The state at home, to be changed there.
    fn change(&mut self) -> &mut State {
        self.fetch();
        self.is_put = false;
        &mut self.state
    }

    fn step(&mut self, job: Job<'_>, seconds: &mut [f64]) -> Result<Findings, BackendError> {
        if let Some(trouble) = self.trouble.take() {
            return Err(trouble);
        }
        if !self.is_loaded {
            self.backend.load(job, &self.state)?;
        } else if !self.is_put {
            self.backend.put(&self.state)?;
        }
        (self.is_loaded, self.is_put) = (true, true);
        let findings = self.backend.step(job, &mut self.state, seconds)?;
        self.is_home = false;
        Ok(findings)
    }
}

impl Simulation {
    /// Builds a scene and starts a back-end.
    ///
    /// # Errors
    /// If the scene cannot be simulated, or the back-end cannot be had.
    pub fn new(scene: &Scene, backend: BackendChoice) -> Result<Self, SimulationError> {
        Self::on(scene, backend.start()?)
    }

    /// Builds a scene to be simulated on a back-end that runs already.
    ///
    /// # Errors
    /// If the scene cannot be simulated.
    pub fn on(scene: &Scene, backend: Box<dyn Backend>) -> Result<Self, SimulationError> {
        let settings = Settings::of(scene);
        let (model, state) = Model::build(scene)?;
        let program = Program::new(&model, settings.iterations, settings.integrate);
        Ok(Self {
            substeps: vec![Substep::default(); settings.substeps as usize],
            stage_seconds: vec![0.0; program.stages.len()],
            scene: scene.clone(),
            findings: Findings::NONE,
            steps: 0,
            since: (0, 0.0),
            grabs: Grabs::default(),
            settings,
            model,
            moving: RefCell::new(Moving::new(state, backend)),
            program,
        })
    }

    /// Makes one step of `dt` seconds.
    ///
    /// The conditions of each substep are worked out first (where the shapes stand, how the wind
    /// blows); the back-end then runs the program for every substep: predict, sweeps and contacts
    /// as often as there are iterations, velocities. The program is listed in
    /// [`Program::new`](crate::solver::Program::new), what a stage does in `solver/stage.rs`, and the
    /// back-ends differ only in who does which share of a stage.
    ///
    /// # Errors
    /// When a particle has gone to infinity, or farther in a substep than anything in the scene
    /// explains. The state is then as it was found.
    pub fn step(&mut self) -> Result<(), SimulationError> {
        let step = self.settings.dt / self.settings.substeps as f32;
        let moving = self.moving.get_mut();
        for (index, substep) in self.substeps.iter_mut().enumerate() {
            let start = moving.state.time + index as f64 * f64::from(step);
            prepare(substep, &self.model, &self.settings, start, step);
        }

        let is_grabbed = !self.grabs.is_empty();
        if is_grabbed {
            self.grabs.begin(&mut self.model, moving.change(), &self.settings);
        }
        let job = Job { model: &self.model, program: &self.program, substeps: &self.substeps };
        self.stage_seconds.fill(0.0);
        let findings = moving.step(job, &mut self.stage_seconds);
        if is_grabbed {
            self.grabs.end(&mut self.model, moving.change());
        }
        self.findings = findings?;

        self.steps += 1;
        let (first, start) = self.since;
        moving.state.time = start + (self.steps - first) as f64 * f64::from(self.settings.dt);
        if self.findings.in_bounds { Ok(()) } else { Err(self.divergence()) }
    }

    /// Waits until the back-end has made all steps; what it knows stays where it is.
    ///
    /// # Errors
    /// As [`Simulation::step`], of steps that were under way.
    pub fn wait(&mut self) -> Result<(), SimulationError> {
        let noticed = self.moving.get_mut().backend.wait()?;
        self.findings = noticed.unwrap_or(self.findings);
        if self.findings.in_bounds { Ok(()) } else { Err(self.divergence()) }
    }

    /// Waits until the back-end has made all steps, and brings the state home.
    ///
    /// # Errors
    /// As [`Simulation::wait`]. If the back-end failed, the state is that of the last time it was
    /// looked at.
    pub fn synchronize(&mut self) -> Result<(), SimulationError> {
        self.wait()?;
        let moving = self.moving.get_mut();
        moving.fetch();
        moving.trouble.take().map_or(Ok(()), |trouble| Err(trouble.into()))
    }

    /// Has a look at the simulation, without holding it up. Where the state is on a device, the first
    /// call only asks for it, as it is after the steps made so far; steps can be made while it is on its
    /// way, and a later call shows it: [`Simulation::steps`] and [`Simulation::time`] are then, for
    /// `look`, those of the frame that is shown.
    ///
    /// Nothing is shown of a device that has failed; the next step says why.
    pub fn look<R>(&mut self, look: impl FnOnce(&Self) -> R) -> Option<R> {
        let steps = self.steps;
        let moving = self.moving.get_mut();
        let now = Moment { steps, time: moving.state.time };
        match moving.bring(now) {
            Ok(moment) => moving.shown = moment,
            Err(trouble) => moving.trouble = Some(trouble),
        }
        moving.shown?;
        let seen = look(self);
        self.moving.get_mut().shown = None;
        Some(seen)
    }

    /// Goes back to the start, with no particle grabbed.
    ///
    /// # Errors
    /// Never for a scene that could be built once.
    pub fn reset(&mut self) -> Result<(), SimulationError> {
        *self.moving.get_mut().change() = Model::start(&self.scene, &self.model)?;
        self.findings = Findings::NONE;
        self.steps = 0;
        self.since = (0, 0.0);
        self.grabs.clear();
        Ok(())
    }

    /// Goes on from here with another scene of the same bodies: with another solver, partition,
    /// number of sweeps, gravity, material. Nothing moves because of the change itself.
    ///
    /// # Errors
    /// If the other scene has other particles. The simulation is then as it was.
    pub fn continue_with(&mut self, scene: &Scene) -> Result<(), SimulationError> {
        let (model, mut state) = Model::build(scene)?;
        let moving = self.moving.get_mut();
        let particles = |model: &Model| -> Vec<_> {
            model.bodies.iter().map(|body| body.particles.clone()).collect()
        };
        if particles(&model) != particles(&self.model) {
            return Err(SimulationError::OtherBodies);
        }
        moving.is_loaded = false;
        let old = moving.change();
        for particle in 0..model.body_of.len() {
            let [x, y, z, _] = old.positions[particle];
            let w = state.positions[particle][3];
            state.positions[particle] = [x, y, z, w];
            state.velocities[particle] = if w == 0.0 { [0.0; 4] } else { old.velocities[particle] };
        }
        state.time = old.time;
        self.since = (self.steps, old.time);
        self.grabs.keep_movable(&model, &state);
        *old = state;
        self.settings = Settings::of(scene);
        self.program = Program::new(&model, self.settings.iterations, self.settings.integrate);
        self.stage_seconds = vec![0.0; self.program.stages.len()];
        self.substeps = vec![Substep::default(); self.settings.substeps as usize];
        (self.model, self.scene) = (model, scene.clone());
        Ok(())
    }

    /// Goes on from here on another back-end; gives back the one it was on. If that one has failed, it
    /// goes on from what was last seen of it.
    pub fn run_on(&mut self, backend: Box<dyn Backend>) -> Box<dyn Backend> {
        let moving = self.moving.get_mut();
        moving.fetch();
        (moving.trouble, moving.is_home, moving.is_loaded) = (None, true, false);
        std::mem::replace(&mut moving.backend, backend)
    }

    /// What is simulated.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The scene that it was made from, or goes on with.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// How time passes.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The positions on the device, if the simulation runs on one and has made a step: for those who
    /// draw from the very array that the solver writes. Four numbers each, in an order that
    /// [`Drawing::sources`](crate::output::Drawing::sources) knows.
    #[cfg(feature = "gpu")]
    pub fn device_positions(&self) -> Option<wgpu::Buffer> {
        self.moving.borrow().backend.positions()
    }

    /// Steps made since the start.
    pub fn steps(&self) -> u64 {
        self.moving.borrow().shown.map_or(self.steps, |shown| shown.steps)
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        let moving = self.moving.borrow();
        moving.shown.map_or(moving.state.time, |shown| shown.time)
    }

    /// Name of the back-end and the number of its threads.
    pub fn backend(&self) -> (&'static str, usize) {
        let backend = &self.moving.borrow().backend;
        (backend.name(), backend.threads())
    }

    /// The device that it runs on, if that is not this processor.
    pub fn device(&self) -> Option<String> {
        self.moving.borrow().backend.device().map(str::to_owned)
    }

    /// Places of the bodies' particles, m, in the scene's order; the fourth number is the inverse
    /// mass. A copy: in memory, particles have an order of their own.
    pub fn positions(&self) -> Vec<[f32; 4]> {
        self.model.in_scene_order(&self.state().positions)
    }

    /// Velocities of the bodies' particles, m/s, in the scene's order; the fourth number means
    /// nothing.
    pub fn velocities(&self) -> Vec<[f32; 4]> {
        self.model.in_scene_order(&self.state().velocities)
    }

    /// Particles that touched a shape at the end of the last step, and those that touched others.
    pub fn contacts(&self) -> usize {
        self.findings.contacts + self.findings.touching
    }

    /// Contacts between particles that were left out in the last step because a particle had too
    /// many: a sign of bodies that are crushed, or of particles far larger than the mesh's edges.
    pub fn dropped_contacts(&self) -> usize {
        self.findings.dropped
    }

    /// Seconds that each stage took in the last step, all substeps and iterations together, in the
    /// order in which the stages first come.
    pub fn stage_seconds(&self) -> Vec<(&'static str, f64)> {
        let mut totals: Vec<(&'static str, f64)> = Vec::new();
        for (stage, seconds) in self.program.stages.iter().zip(&self.stage_seconds) {
            match totals.iter_mut().find(|(name, _)| *name == stage.name()) {
                Some((_, total)) => *total += seconds,
                None => totals.push((stage.name(), *seconds)),
            }
        }
        totals
    }

    /// What a device dispatches in a step; on this processor, how often all workers meet.
    pub fn dispatches_per_step(&self) -> usize {
        let meetings = self.program.dispatches(&self.model) * self.settings.substeps as usize;
        self.moving.borrow().backend.dispatches().unwrap_or(meetings)
    }

    /// Residuals of the model's groups, measured where the state is.
    pub(crate) fn residuals_of_groups(&self) -> Vec<Residual> {
        let mut moving = self.moving.borrow_mut();
        if !moving.is_home && moving.shown.is_none() {
            // What goes wrong shows in the next step, or when the state is fetched.
            if let Ok(Some(residuals)) = moving.backend.residuals(&self.model) {
                return residuals;
            }
            moving.fetch();
        }
        self.model.groups.iter().map(|group| group.residual(&moving.state)).collect()
    }

    /// All that moves.
    pub(crate) fn state(&self) -> Ref<'_, State> {
        let is_here = |moving: &Moving| moving.is_home || moving.shown.is_some();
        if !is_here(&self.moving.borrow()) {
            self.moving.borrow_mut().fetch();
        }
        Ref::map(self.moving.borrow(), |moving| &moving.state)
    }

    /// All that moves, for tests that put it somewhere.
    #[cfg(test)]
    pub(crate) fn state_mut(&mut self) -> &mut State {
        self.moving.get_mut().change()
    }

    /// Names the particle that went farthest and the element most in error around it.
    fn divergence(&self) -> SimulationError {
        let particle = self.farthest();
        let body = &self.model.bodies[self.model.body_of[particle] as usize];
        let state = self.state();
        let [x, y, z, _] = state.positions[particle];
        SimulationError::Diverged {
            step: self.steps,
            body: body.name.clone(),
            particle: self.model.vertex(particle),
            place: [x, y, z],
            element: self.model.worst_element(&state, particle),
        }
    }

    /// The particle that moved farthest in the last substep, or the first that is nowhere.
    fn farthest(&self) -> usize {
        let own = self.model.body_of.len();
        let state = self.state();
        let places = state.positions[..own].iter().zip(&state.previous);
        let way = |(now, before): (&[f32; 4], &[f32; 4])| {
            let squares = (0..3).map(|axis| f64::from(now[axis] - before[axis]).powi(2));
            let way = squares.sum::<f64>();
            if way.is_finite() { way } else { f64::INFINITY }
        };
        let ways = places.map(way).enumerate();
        // Of equal ways the first.
        ways.fold((0, -1.0), |best, next| if next.1 > best.1 { next } else { best }).0
    }
}

/// Works out the conditions of the substep that begins at `start` and lasts `step` seconds.
fn prepare(substep: &mut Substep, model: &Model, settings: &Settings, start: f64, step: f32) {
    let end = start + f64::from(step);
    substep.step = step;
    substep.longest_way = longest_way(model, settings, end, step);
    substep.gravity = settings.gravity;
    substep.wind = model.wind.as_ref().map_or([0.0; 3], |wind| wind.velocity_at(start));
    substep.damping.clear();
    substep.damping.extend(model.bodies.iter().map(|body| (-body.damping * step).exp()));
    substep.placed.clear();
    substep.placed.extend(model.shapes.iter().map(|shape| Placed {
        pose: shape.motion.at(end),
        before: shape.motion.is_moving().then(|| shape.motion.at(start)),
    }));
}

/// Farther than this many times the size of the scene, nothing moves in one substep by itself.
const SIZES_PER_SUBSTEP: f32 = 10.0;

/// The farthest that a particle can go in a substep that ends at `time`: what constraints can pull it,
/// which is about the size of the scene, and what falling, flying and being carried adds.
fn longest_way(model: &Model, settings: &Settings, time: f64, step: f32) -> f32 {
    let length = |v: [f32; 3]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    let wind = model.wind.as_ref().map_or(0.0, |wind| length(wind.velocity_at(time)));
    let speed = model.speed + wind + length(settings.gravity) * time as f32;
    SIZES_PER_SUBSTEP * model.size + 2.0 * step * speed
}
