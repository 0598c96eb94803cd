//! The simulation thread: steps at their time, commands between them, frames when somebody wants one.

mod describe;
mod snapshot;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use axum::extract::ws::Utf8Bytes;
use taut::backend::TeamSize;
use taut::output::{Drawing, elements_by_kind};
use taut::scene::{Override, Scene};
use taut::{BackendChoice, Simulation, SimulationError};
use tokio::sync::mpsc;

use crate::encode;
use crate::pace::Pace;
use crate::protocol::{Message, Request};
use crate::shared::{Command, Demand, Look, Outlets, SceneState};
use crate::source::Source;
use crate::stats::Meter;

use snapshot::snapshot;

/// Time between two frames: 60 a second.
const FRAME: Duration = Duration::from_micros(16_600);
/// How long the thread sleeps when there is nothing to do.
const IDLE: Duration = Duration::from_millis(100);
/// Most particles that are grabbed at once.
const MOST_GRABS: usize = 256;
/// Most threads that a page can ask for.
const MOST_THREADS: usize = 1024;

/// What runs, and who watches.
pub(crate) struct Live {
    simulation: Simulation,
    source: Source,
    overrides: Vec<Override>,
    backend: BackendChoice,
    /// Chooses the number of threads, if nobody else did.
    team: Option<TeamSize>,
    generation: u32,
    drawing: Drawing,
    look: Arc<Look>,
    pace: Pace,
    is_running: bool,
    /// The state cannot be shown or gone on with: the simulation has diverged, or its device is gone.
    is_broken: bool,
    /// Something has changed since the last frame.
    is_new: bool,
    frames: u32,
    last_frame: Instant,
    meter: Meter,
    viewers: BTreeMap<u64, mpsc::Sender<Utf8Bytes>>,
    /// Who pulls which particle.
    hands: BTreeMap<usize, u64>,
    /// Values to set, and who asked for them: several changes at once cost no more than one.
    pending: Option<(u64, Vec<Override>)>,
    demand: Arc<Demand>,
}

/// What a simulation thread starts with.
pub(crate) struct Start {
    pub(crate) source: Source,
    pub(crate) scene: Scene,
    pub(crate) overrides: Vec<Override>,
    pub(crate) backend: BackendChoice,
    pub(crate) is_running: bool,
}

impl Live {
    pub(crate) fn new(start: Start, demand: Arc<Demand>) -> Result<Self, SimulationError> {
        let team = team_for(&start.backend);
        let simulation = Simulation::new(&start.scene, manned(&start.backend, team.as_ref()))?;
        let drawing = Drawing::of(&simulation);
        let look = Arc::new(look(&simulation, &drawing, 1));
        let now = Instant::now();
        Ok(Self {
            simulation,
            source: start.source,
            overrides: start.overrides,
            backend: start.backend,
            team,
            generation: 1,
            drawing,
            look,
            pace: Pace::new(1.0),
            is_running: start.is_running,
            is_broken: false,
            is_new: true,
            frames: 0,
            last_frame: now,
            meter: Meter::new(now),
            viewers: BTreeMap::new(),
            hands: BTreeMap::new(),
            pending: None,
            demand,
        })
    }

    /// Runs until the server is over.
    pub(crate) fn run(mut self, commands: &Receiver<Command>, outlets: &Outlets) {
        while !self.demand.is_over.load(Ordering::Relaxed) {
            match commands.recv_timeout(self.wait()) {
                Ok(command) => {
                    self.obey(command, outlets);
                    while let Ok(command) = commands.try_recv() {
                        self.obey(command, outlets);
                    }
                    self.apply_pending(outlets);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = Instant::now();
            if self.is_running && self.pace.wait(self.simulation.time(), now).is_zero() {
                self.step();
            }
            self.show(outlets);
            self.report(outlets);
        }
    }

    /// How long nothing has to be done unless a command comes.
    fn wait(&mut self) -> Duration {
        let now = Instant::now();
        let mut wait = IDLE;
        if self.is_running {
            wait = wait.min(self.pace.wait(self.simulation.time(), now));
        }
        if self.is_new && !self.is_broken {
            // Somebody may become ready for it at any time.
            let due = (self.last_frame + FRAME).saturating_duration_since(now);
            wait = wait.min(due.max(Duration::from_millis(2)));
        }
        wait.min(self.meter.next().saturating_duration_since(now).max(Duration::from_millis(1)))
    }

    fn step(&mut self) {
        let (start, time) = (Instant::now(), self.simulation.time());
        if let Err(error) = self.simulation.step() {
            self.is_broken = true;
            self.is_running = false;
            self.meter.hurry(Instant::now());
            let message = format!("{error}\nReset it, or load another scene.");
            self.tell_all(&Message::Error { message, about: "simulation" });
            return;
        }
        self.is_new = true;
        let (seconds, simulated) = (start.elapsed().as_secs_f64(), self.simulation.time() - time);
        self.meter.step(seconds, simulated);
        let due = self.pace.due(simulated);
        if self.team.as_mut().is_some_and(|team| team.step(seconds, due)) {
            match manned(&self.backend, self.team.as_ref()).start() {
                Ok(backend) => drop(self.simulation.run_on(backend)),
                // No more threads are to be had: those there are go on.
                Err(_) => self.team = None,
            }
        }
    }

    /// Leaves a frame for viewers, if there is something new and somebody wants it.
    fn show(&mut self, outlets: &Outlets) {
        let now = Instant::now();
        let is_due = self.is_new && !self.is_broken && now >= self.last_frame + FRAME;
        if !is_due || !self.demand.is_hungry.load(Ordering::Relaxed) {
            return;
        }
        let Self { simulation, drawing, demand, generation, frames, .. } = self;
        let number = frames.wrapping_add(1);
        let shown = simulation.look(|now| snapshot(now, drawing, demand, *generation, number));
        // From a device it comes a little later: steps go on meanwhile.
        let Some(snapshot) = shown else { return };
        self.demand.is_hungry.store(false, Ordering::Relaxed);
        self.frames = number;
        self.is_new = snapshot.step != self.simulation.steps();
        self.last_frame = now;
        outlets.frame.send_replace(Arc::new(snapshot));
    }

    /// Leaves figures for viewers, if it is time and there are any viewers.
    fn report(&mut self, outlets: &Outlets) {
        let now = Instant::now();
        if now < self.meter.next() {
            return;
        }
        let viewers = self.demand.viewers.load(Ordering::Relaxed);
        let mut stats = self.meter.report(&self.simulation, now);
        stats.generation = self.generation;
        stats.running = self.is_running;
        stats.speed = self.pace.speed();
        stats.viewers = viewers;
        stats.threads = self.simulation.backend().1;
        stats.frame_bytes = self.demand.costs.bytes();
        stats.frame_ms = self.demand.costs.milliseconds();
        if viewers > 0 {
            outlets.stats.send_replace(Message::Stats(Box::new(stats)).text().into());
        }
    }

    fn obey(&mut self, command: Command, outlets: &Outlets) {
        match command {
            Command::Expect => self.expect_viewer(),
            Command::Seen => self.pace.go_on(),
            Command::Join { viewer, replies } => {
                self.expect_viewer();
                self.viewers.insert(viewer, replies);
                self.meter.hurry(Instant::now());
            }
            Command::Leave { viewer } => self.leave(viewer),
            Command::Refresh => self.is_new = true,
            Command::Ask { viewer, request: Request::Set { overrides } } => {
                self.want_set(viewer, &overrides, outlets);
            }
            Command::Ask { viewer, request } => {
                self.apply_pending(outlets);
                let about = request.name();
                if let Err(message) = self.answer(viewer, request, outlets) {
                    self.tell(viewer, &Message::Error { message, about });
                }
                self.meter.hurry(Instant::now());
            }
        }
    }

    /// Does what a viewer asks for; the error says why it cannot be done.
    fn answer(&mut self, viewer: u64, request: Request, outlets: &Outlets) -> Result<(), String> {
        match request {
            Request::Pause {} => self.is_running = false,
            Request::Resume {} => {
                self.check_sound()?;
                self.is_running = true;
                self.pace.restart();
            }
            Request::Step {} => {
                self.check_sound()?;
                self.is_running = false;
                self.step();
            }
            Request::Reset {} => self.reset(outlets)?,
            Request::Speed { speed } => self.pace.set_speed(speed),
            Request::Scene { name } => {
                let source = Source::built_in(&name)
                    .ok_or_else(|| format!("there is no built-in scene {name:?}"))?;
                self.load(source, outlets)?;
            }
            Request::Load(load) => self.load(Source::dropped(load)?, outlets)?,
            Request::Backend { backend, threads } => self.run_on(&backend, threads, outlets)?,
            Request::Grab { particle, target } => {
                self.check_grabs(particle)?;
                self.simulation.pull(particle, target).map_err(|error| error.to_string())?;
                self.hands.insert(particle, viewer);
            }
            Request::Pin { particle, target } => {
                self.check_grabs(particle)?;
                self.simulation.hold(particle, target).map_err(|error| error.to_string())?;
                self.hands.remove(&particle);
                self.tell_scene(outlets);
            }
            Request::Release { particle } => {
                self.simulation.release(particle);
                if self.hands.remove(&particle).is_none() {
                    self.tell_scene(outlets);
                }
            }
            // Connections answer these themselves.
            Request::Ack { .. } | Request::Want { .. } | Request::Elements { .. } => {}
            Request::Set { .. } => {}
        }
        Ok(())
    }

    fn check_sound(&self) -> Result<(), String> {
        if self.is_broken {
            return Err("the simulation has come to an end; reset it first".to_owned());
        }
        Ok(())
    }

    fn check_grabs(&self, particle: usize) -> Result<(), String> {
        let grabs = self.simulation.grabs();
        if grabs.len() < MOST_GRABS || grabs.iter().any(|grab| grab.particle == particle) {
            return Ok(());
        }
        Err(format!("{MOST_GRABS} particles are held already; release some"))
    }

    /// A page starts. Those who watch already are not made to wait for it.
    fn expect_viewer(&mut self) {
        if self.viewers.is_empty() {
            self.pace.hold(Instant::now());
        }
    }

    fn leave(&mut self, viewer: u64) {
        self.viewers.remove(&viewer);
        let own = self.hands.iter().filter(|(_, hand)| **hand == viewer);
        for particle in own.map(|(&particle, _)| particle).collect::<Vec<_>>() {
            self.simulation.release(particle);
            self.hands.remove(&particle);
        }
    }

    fn reset(&mut self, outlets: &Outlets) -> Result<(), String> {
        self.simulation.reset().map_err(|error| error.to_string())?;
        self.begin_again();
        self.tell_scene(outlets);
        Ok(())
    }

    /// Nothing of what was before is left.
    fn begin_again(&mut self) {
        self.hands.clear();
        (self.is_broken, self.is_new) = (false, true);
        self.pace.restart();
    }

    fn load(&mut self, source: Source, outlets: &Outlets) -> Result<(), String> {
        let scene = source.scene(&[]).map_err(|errors| errors.to_string())?;
        let backend = manned(&self.backend, self.team.as_ref());
        let simulation = Simulation::new(&scene, backend).map_err(|error| error.to_string())?;
        (self.simulation, self.source) = (simulation, source);
        self.overrides.clear();
        // What was paused because it diverged has nothing to do with the new scene.
        self.is_running |= self.is_broken;
        self.begin_again();
        self.meter = Meter::new(Instant::now());
        self.generation = self.generation.wrapping_add(1);
        self.look_again(outlets);
        Ok(())
    }

    fn run_on(&mut self, name: &str, threads: usize, outlets: &Outlets) -> Result<(), String> {
        if threads > MOST_THREADS {
            return Err(format!("at most {MOST_THREADS} threads"));
        }
        let choice = describe::backend(name, threads).ok_or_else(|| {
            let known: Vec<&str> = describe::BACKENDS.to_vec();
            format!("there is no back-end {name:?}; there are {}", known.join(", "))
        })?;
        let team = team_for(&choice);
        let backend = manned(&choice, team.as_ref()).start().map_err(|error| error.to_string())?;
        self.simulation.run_on(backend);
        (self.backend, self.team) = (choice, team);
        self.tell_scene(outlets);
        Ok(())
    }

    /// Remembers values to set until all commands that wait have been heard.
    fn want_set(&mut self, viewer: u64, overrides: &[String], outlets: &Outlets) {
        let parsed: Result<Vec<Override>, _> = overrides.iter().map(|text| text.parse()).collect();
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(error) => {
                let message = error.to_string();
                return self.tell(viewer, &Message::Error { message, about: "set" });
            }
        };
        if self.pending.as_ref().is_some_and(|(other, _)| *other != viewer) {
            self.apply_pending(outlets);
        }
        let pending = &mut self.pending.get_or_insert_with(|| (viewer, Vec::new())).1;
        for value in parsed {
            replace(pending, value);
        }
    }

    fn apply_pending(&mut self, outlets: &Outlets) {
        let Some((viewer, values)) = self.pending.take() else { return };
        if let Err(message) = self.set(values, outlets) {
            self.tell(viewer, &Message::Error { message, about: "set" });
            // The page shows what it asked for: tell it what holds.
            self.tell_scene(outlets);
        }
    }

    /// Goes on with other values.
    fn set(&mut self, values: Vec<Override>, outlets: &Outlets) -> Result<(), String> {
        let mut overrides = self.overrides.clone();
        for value in values {
            replace(&mut overrides, value);
        }
        let scene = self.source.scene(&overrides).map_err(|errors| errors.to_string())?;
        self.simulation.continue_with(&scene).map_err(|error| error.to_string())?;
        self.overrides = overrides;
        let held: Vec<usize> = self.simulation.grabs().iter().map(|grab| grab.particle).collect();
        self.hands.retain(|particle, _| held.binary_search(particle).is_ok());
        self.is_new = true;
        self.pace.restart();
        self.meter.hurry(Instant::now());
        self.look_again(outlets);
        Ok(())
    }

    /// Works out what is drawn, and tells viewers.
    fn look_again(&mut self, outlets: &Outlets) {
        if let Some(team) = &mut self.team {
            team.forget();
        }
        self.drawing = Drawing::of(&self.simulation);
        let mut look = look(&self.simulation, &self.drawing, self.generation);
        if self.look.topology[..8] == look.topology[..8] && self.look.topology != look.topology {
            // The same bodies with other shapes: viewers need another topology.
            self.generation = self.generation.wrapping_add(1);
            look = self::look(&self.simulation, &self.drawing, self.generation);
        }
        self.look = Arc::new(look);
        self.tell_scene(outlets);
    }

    /// Tells viewers the scene as it is now.
    fn tell_scene(&self, outlets: &Outlets) {
        outlets.scene.send_replace(Arc::new(self.scene_state()));
    }

    /// The scene as it is now.
    pub(crate) fn scene_state(&self) -> SceneState {
        let info = describe::scene(&describe::Subject {
            simulation: &self.simulation,
            drawing: &self.drawing,
            kinds: &self.look.kinds,
            overrides: &self.overrides,
            backend: self.backend.clone(),
            generation: self.generation,
        });
        SceneState {
            generation: self.generation,
            particles: self.drawing.particles,
            text: Message::Scene(Box::new(info)).text().into(),
            look: Arc::clone(&self.look),
        }
    }

    /// Answers a viewer. One that does not read its answers loses them.
    fn tell(&self, viewer: u64, message: &Message<'_>) {
        if let Some(replies) = self.viewers.get(&viewer) {
            let _ = replies.try_send(message.text().into());
        }
    }

    fn tell_all(&self, message: &Message<'_>) {
        let text = Utf8Bytes::from(message.text());
        for replies in self.viewers.values() {
            let _ = replies.try_send(text.clone());
        }
    }
}

/// What chooses the number of threads, unless somebody did or it does not matter.
fn team_for(backend: &BackendChoice) -> Option<TeamSize> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    matches!(backend, BackendChoice::Cpu(0)).then(|| TeamSize::with_a_core_free(cores))
}

/// A back-end with the number of threads that a team has.
fn manned(backend: &BackendChoice, team: Option<&TeamSize>) -> BackendChoice {
    team.map_or_else(|| backend.clone(), |team| BackendChoice::Cpu(team.threads()))
}

fn look(simulation: &Simulation, drawing: &Drawing, generation: u32) -> Look {
    Look::new(encode::topology(generation, drawing), elements_by_kind(simulation.model()))
}

/// Puts a value in place of the former one of the same key, or at the end.
fn replace(overrides: &mut Vec<Override>, value: Override) {
    let key = |value: &Override| {
        let text = value.to_string();
        text.split('=').next().unwrap_or_default().trim().to_owned()
    };
    let own = key(&value);
    overrides.retain(|other| key(other) != own);
    overrides.push(value);
}
