//! A team of worker threads. One fork per step: each worker runs the whole program on its shares
//! and meets the others at a spinning barrier between two phases, which costs well under a
//! microsecond where a fork costs ten.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::crew::Crew;
use super::disjoint::share;
use super::shares::Shares;
use super::{Backend, BackendError, Stopwatch, TeamSize};
use crate::constraint::Group;
use crate::math::{Work, widest};
use crate::model::Model;
use crate::solver::{Findings, Job, Share, Team, run};
use crate::state::State;

/// Constraints of a phase below which another worker costs more at the barriers than it brings.
const PHASE_PER_WORKER: usize = 256;

/// Constraints of a phase from which another worker surely brings more than it costs; between the two it
/// depends on the machine, and is measured.
const LONG_PHASE_PER_WORKER: usize = 1 << 12;

/// Between two steps, other work of a caller takes less. After longer ones threads have slept.
const PAUSE: Duration = Duration::from_millis(5);

/// Rounds of waiting before a worker lets others have its core: about 50 µs.
const SPINS_BEFORE_YIELDING: u32 = 4096;

/// Runs a program on several threads.
#[derive(Debug)]
pub struct Multicore {
    crew: Crew,
    shares: Shares,
    cores: usize,
    /// How long the phases of the scene are that was stepped last.
    phase: usize,
    /// How many workers are best for it.
    size: TeamSize,
    /// When the last step ended.
    ended: Option<Instant>,
}

impl Multicore {
    /// Starts worker threads; 0 means one per core.
    pub fn new(threads: usize) -> Result<Self, BackendError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores } else { threads };
        let crew = Crew::new(threads)
            .map_err(|error| BackendError::NoThreads { threads, reason: error.to_string() })?;
        let (shares, size) = (Shares::new(threads), TeamSize::exactly(1));
        Ok(Self { crew, shares, cores, phase: 0, size, ended: None })
    }

    /// Small scenes get fewer workers than there are threads, and those between small and large as many as
    /// turn out to be the fastest.
    fn workers(&mut self, model: &Model) -> usize {
        let phase = phase_length(model);
        if phase != self.phase {
            let threads = self.threads();
            self.phase = phase;
            self.size = if phase / LONG_PHASE_PER_WORKER >= threads {
                TeamSize::exactly(threads)
            } else {
                TeamSize::up_to((phase / PHASE_PER_WORKER).clamp(1, threads))
            };
        }
        self.size.threads()
    }
}

/// How much there is to do between two barriers: constraints of a phase, on the mean.
fn phase_length(model: &Model) -> usize {
    match model.groups.iter().map(Group::rounds).sum() {
        0 => model.body_of.len(),
        rounds => model.constraint_count() / rounds,
    }
}

impl Backend for Multicore {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn threads(&self) -> usize {
        self.crew.size()
    }

    fn step(
        &mut self,
        job: Job<'_>,
        state: &mut State,
        seconds: &mut [f64],
    ) -> Result<Findings, BackendError> {
        let start = Instant::now();
        if self.ended.is_some_and(|ended| start - ended > PAUSE) {
            self.size.pause();
        }
        let workers = self.workers(job.model);
        self.shares.clear();
        let view = share(state, job.model);
        let barrier = Barrier::new(workers, self.cores);
        let stopwatch = Mutex::new(Some(Stopwatch::start(seconds)));
        let findings = Mutex::new(Findings::NONE);
        let work = |worker: usize| {
            // The first worker holds the stopwatch.
            let mine = (worker == 0).then(|| stopwatch.lock().ok()?.take()).flatten();
            let share = Share { worker, workers };
            let (shares, barrier) = (&self.shares, &barrier);
            let mut member = Worker { share, shares, barrier, stopwatch: mine };
            let _poison_on_panic = PoisonOnPanic(barrier);
            let found = run(job, &view, &mut member);
            let mut all = findings.lock().unwrap_or_else(PoisonError::into_inner);
            *all = all.merge(found);
        };
        if workers == 1 {
            work(0);
        } else {
            self.crew.run(&|worker| {
                if worker < workers {
                    work(worker);
                }
            });
        }
        let end = Instant::now();
        self.size.step((end - start).as_secs_f64(), 0.0);
        self.ended = Some(end);
        Ok(findings.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One of the team.
struct Worker<'a> {
    share: Share,
    shares: &'a Shares,
    barrier: &'a Barrier,
    stopwatch: Option<Stopwatch<'a>>,
}

impl Team for Worker<'_> {
    fn compute<W: Work>(&self, work: W) -> W::Output {
        widest(work)
    }
    fn share(&self) -> Share {
        self.share
    }
    fn deal(&self, count: usize, work: impl FnMut(Range<usize>)) {
        self.shares.deal(self.share, count, work);
    }
    fn wait(&self) {
        self.barrier.wait();
    }
    fn finished(&mut self, place: usize) {
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.lap(place);
        }
    }
}

/// A barrier that spins: the last to arrive opens the next round for all.
#[derive(Debug)]
struct Barrier {
    workers: usize,
    spins: u32,
    arrived: AtomicUsize,
    round: AtomicUsize,
    poisoned: AtomicBool,
}

impl Barrier {
    fn new(workers: usize, cores: usize) -> Self {
        Self {
            workers,
            // With more workers than cores, whoever we wait for may need our core.
            spins: if workers > cores { 0 } else { SPINS_BEFORE_YIELDING },
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            poisoned: AtomicBool::new(false),
        }
    }

    fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        // Release what this worker wrote, acquire what the earlier ones released.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.workers {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.round.load(Ordering::Acquire) == round {
            assert!(!self.poisoned.load(Ordering::Relaxed), "another worker panicked");
            if spins < self.spins {
                spins += 1;
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// Lets the others go when a worker panics, instead of waiting for it forever.
struct PoisonOnPanic<'a>(&'a Barrier);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poisoned.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    //! Contract: nobody passes the barrier before all have arrived; a panic frees the others.

    use super::*;

    #[test]
    fn rounds_do_not_mix() {
        let workers = 4;
        let barrier = Barrier::new(workers, 2);
        let counter = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    for round in 0..1000 {
                        counter.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(counter.load(Ordering::Relaxed), (round + 1) * workers);
                        barrier.wait();
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_frees_the_others() {
        let barrier = Barrier::new(2, 2);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| barrier.wait());
            let broken = scope.spawn(|| {
                let _poison = PoisonOnPanic(&barrier);
                panic!("on purpose");
            });
            assert!(broken.join().is_err() && waiting.join().is_err());
        });
    }
}
