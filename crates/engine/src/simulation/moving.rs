//! The state and the back-end that moves it: who has the newest state, and which frames are on their
//! way home.

use std::collections::VecDeque;

use super::{Simulation, SimulationError};
use crate::backend::{Backend, BackendError};
use crate::solver::{Findings, Job};
use crate::state::State;

/// What moves, and who moves it.
pub(super) struct Moving {
    /// All that moves, as far as it is at home.
    pub(super) state: State,
    pub(super) backend: Box<dyn Backend>,
    /// Whether the back-end knows the program.
    pub(super) is_loaded: bool,
    /// Whether the back-end knows the state, unless it has moved on.
    is_put: bool,
    /// Whether the newest state is at home.
    pub(super) is_home: bool,
    /// Why the state could not be fetched.
    pub(super) trouble: Option<BackendError>,
    /// The frames that are under way, oldest first.
    frames: VecDeque<Moment>,
    /// The frame that is looked at: it is at home, though the back-end may have moved on.
    pub(super) shown: Option<Moment>,
}

/// Steps made, and time, s; what was noticed in the last step, once that is known.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    pub(super) steps: u64,
    pub(super) time: f64,
    pub(super) findings: Option<Findings>,
}

impl Moving {
    pub(super) fn new(state: State, backend: Box<dyn Backend>) -> Self {
        Self {
            state,
            backend,
            is_loaded: false,
            is_put: true,
            is_home: true,
            trouble: None,
            frames: VecDeque::new(),
            shown: None,
        }
    }

    /// Brings the state home. What goes wrong is kept: the state is then as it was last fetched.
    pub(super) fn fetch(&mut self) {
        if !self.is_home {
            self.trouble = self.backend.fetch(&mut self.state).err();
            self.is_home = self.trouble.is_none();
        }
    }

    /// The state at home, to be changed there. Frames of what was before are forgotten.
    pub(super) fn change(&mut self) -> &mut State {
        self.fetch();
        self.is_put = false;
        self.frames.clear();
        &mut self.state
    }

    /// Goes on with another back-end; gives back the one before.
    pub(super) fn run_on(&mut self, backend: Box<dyn Backend>) -> Box<dyn Backend> {
        self.fetch();
        (self.trouble, self.is_home, self.is_loaded) = (None, true, false);
        self.frames.clear();
        std::mem::replace(&mut self.backend, backend)
    }

    pub(super) fn step(
        &mut self,
        job: Job<'_>,
        seconds: &mut [f64],
    ) -> Result<Findings, BackendError> {
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

    /// Has a frame sent home; returns whether it is there already.
    fn request(&mut self, now: Moment) -> Result<bool, BackendError> {
        let is_here = self.is_home && self.frames.is_empty();
        if is_here || !self.backend.request(&self.state)? {
            return Ok(true);
        }
        self.frames.push_back(now);
        Ok(false)
    }

    /// Takes up the oldest frame if it has arrived and its step is known to have gone well.
    fn receive(&mut self) -> Result<Option<Moment>, BackendError> {
        let is_sound = |frame: &Moment| frame.findings.is_some_and(|findings| findings.in_bounds);
        let Some(frame) = self.frames.front().copied().filter(is_sound) else { return Ok(None) };
        // Should it fail, the state is neither the newest nor this one.
        self.is_home = false;
        if !self.backend.receive(&mut self.state)? {
            return Ok(None);
        }
        self.frames.pop_front();
        Ok(Some(frame))
    }

    /// This is what was noticed in a step.
    pub(super) fn notice(&mut self, step: u64, findings: Findings) {
        for frame in self.frames.iter_mut().filter(|frame| frame.steps == step) {
            frame.findings = Some(findings);
        }
    }
}

impl Simulation {
    /// Has a look at the simulation, without holding it up. Where the state is on a device, the first
    /// call only asks for it, as it is after the steps made so far; steps can be made while it is on its
    /// way, and a later call shows it: [`Simulation::steps`] and [`Simulation::time`] are then, for
    /// `look`, those of the frame that is shown.
    ///
    /// Nothing is shown of a device that has failed; the next step says why.
    pub fn look<R>(&mut self, look: impl FnOnce(&Self) -> R) -> Option<R> {
        match self.bring() {
            Ok(moment) => self.show(moment?, look).into(),
            Err(trouble) => {
                self.moving.get_mut().trouble = Some(trouble);
                None
            }
        }
    }

    /// Asks for a frame: for a look at the simulation as it is after the steps made so far. Where the
    /// state is at home, `look` is called at once. On a device, the frame is sent home behind the last
    /// step, and [`Simulation::take`] shows it later; any number of frames may be under way. They are
    /// forgotten when the simulation is reset, or goes on with another scene or back-end.
    ///
    /// # Errors
    /// If the device fails.
    pub fn ask<R>(&mut self, look: impl FnOnce(&Self) -> R) -> Result<Option<R>, SimulationError> {
        let now = self.now();
        let is_here = self.moving.get_mut().request(now)?;
        Ok(is_here.then(|| self.show(now, look)))
    }

    /// Looks at the oldest frame that was asked for, if it has arrived; else, or if there is none,
    /// returns nothing. A frame has arrived when its step is known to be made (see
    /// [`Simulation::done`]), and never if the simulation has diverged by then. For `look`, steps, time
    /// and contacts are those of the frame.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take<R>(&mut self, look: impl FnOnce(&Self) -> R) -> Result<Option<R>, SimulationError> {
        let taken = self.moving.get_mut().receive()?;
        Ok(taken.map(|moment| self.show(moment, look)))
    }

    /// The frame to look at, if one is here; asks for one if none is under way.
    fn bring(&mut self) -> Result<Option<Moment>, BackendError> {
        while let Some(findings) = self.moving.get_mut().backend.hear(&mut self.stage_seconds)? {
            self.notice(findings);
        }
        let now = self.now();
        let moving = self.moving.get_mut();
        let is_here = moving.frames.is_empty() && moving.request(now)?;
        if is_here { Ok(Some(now)) } else { moving.receive() }
    }

    fn now(&self) -> Moment {
        let is_known = self.done() == self.steps;
        let findings = is_known.then_some(self.findings);
        Moment { steps: self.steps, time: self.moving.borrow().state.time, findings }
    }

    fn show<R>(&mut self, moment: Moment, look: impl FnOnce(&Self) -> R) -> R {
        self.moving.get_mut().shown = Some(moment);
        let seen = look(self);
        self.moving.get_mut().shown = None;
        seen
    }
}
