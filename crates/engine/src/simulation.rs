//! The front door: a scene goes in, [`Simulation::step`] moves it on.

mod grab;
mod moving;

use std::cell::{Ref, RefCell};

use thiserror::Error;

use self::grab::Grabs;
use self::moving::Moving;
#[cfg(feature = "gpu")]
use crate::backend::gpu::{DeviceChoice, Gpu, Graphics};
use crate::backend::{Backend, BackendError, Multicore, Serial};
use crate::constraint::Residual;
use crate::model::Model;
use crate::scene::{Scene, SceneErrors};
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
    Scene(#[from] SceneErrors),
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
    /// explains. The state is then as it was found. On a device that is noticed up to two steps later:
    /// the error says in which step it was, and where the particle is by now.
    pub fn step(&mut self) -> Result<(), SimulationError> {
        let step = self.settings.dt / self.settings.substeps as f32;
        let moving = self.moving.get_mut();
        for (index, substep) in self.substeps.iter_mut().enumerate() {
            let start = moving.state.time + index as f64 * f64::from(step);
            prepare(substep, &self.model, &self.settings, start, step);
        }

        let hands = self.grabs.hands(&self.model, &moving.state, &self.settings);
        let hands = hands.and_then(|hands| moving.backend.grab(hands));
        if let Some(hands) = &hands {
            grab::begin(hands, &mut self.model, moving.change());
        }
        let job = Job { model: &self.model, program: &self.program, substeps: &self.substeps };
        self.stage_seconds.fill(0.0);
        let findings = moving.step(job, &mut self.stage_seconds);
        if let Some(hands) = &hands {
            grab::end(hands, &mut self.model, moving.change());
        }
        let findings = findings?;

        self.steps += 1;
        let (first, start) = self.since;
        moving.state.time = start + (self.steps - first) as f64 * f64::from(self.settings.dt);
        self.notice(findings);
        self.check()
    }

    /// Waits until the back-end has made one more of the steps that are under way; returns whether there
    /// was one.
    ///
    /// # Errors
    /// As [`Simulation::step`], of the step that was waited for.
    pub fn catch_up(&mut self) -> Result<bool, SimulationError> {
        let noticed = self.moving.get_mut().backend.wait(&mut self.stage_seconds)?;
        if let Some(findings) = noticed {
            self.notice(findings);
        }
        self.check().map(|()| noticed.is_some())
    }

    /// Waits until the back-end has made all steps and sent home all frames; what it knows stays where
    /// it is.
    ///
    /// # Errors
    /// As [`Simulation::step`], of steps that were under way.
    pub fn wait(&mut self) -> Result<(), SimulationError> {
        while self.catch_up()? {}
        Ok(())
    }

    /// This was noticed in the last step that is known to be made.
    fn notice(&mut self, findings: Findings) {
        self.findings = findings;
        let done = self.done();
        self.moving.get_mut().notice(done, findings);
    }

    fn check(&self) -> Result<(), SimulationError> {
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
        self.moving.get_mut().run_on(backend)
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

    /// Steps that are known to be made. On a device, steps are submitted some time before: at most two of
    /// [`Simulation::steps`] are under way.
    pub fn done(&self) -> u64 {
        self.steps.saturating_sub(self.moving.borrow().backend.behind())
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
        let findings = self.noticed();
        findings.contacts + findings.touching
    }

    /// Contacts between particles that were left out in the last step because a particle had too
    /// many: a sign of bodies that are crushed, or of particles far larger than the mesh's edges.
    pub fn dropped_contacts(&self) -> usize {
        self.noticed().dropped
    }

    /// What was noticed in the last step, or in that of the frame that is shown.
    fn noticed(&self) -> Findings {
        let shown = self.moving.borrow().shown;
        shown.and_then(|moment| moment.findings).unwrap_or(self.findings)
    }

    /// Seconds that each stage took in the last step that is known to be made, all substeps and iterations together, in the
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
            step: self.done(),
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
