//! Threads that stay: they wait for a job, do it together, and wait for the next one. A job costs no
//! allocation and, when steps follow one another closely, no call to the operating system.
//!
//! Why this is sound. A job is a closure that lives on the caller's stack. Its lifetime is erased
//! for the threads' sake, and [`Crew::run`] restores what that takes away: it returns (or unwinds)
//! only when every thread has reported that it is done with the job, and a thread touches the job
//! only between taking it and reporting.
#![allow(unsafe_code)]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::{io, thread};

/// Rounds of waiting for the next job before a thread goes to sleep: some 100 µs.
const SPINS_BEFORE_SLEEP: u32 = 1 << 13;

/// What the threads of a crew do together: called with 1, 2, …, on the caller's own thread with 0.
type Job<'a> = &'a (dyn Fn(usize) + Sync + 'a);

/// The caller's thread and some more.
#[derive(Debug)]
pub(super) struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    /// The present job. Threads of a job still running hold a copy of it.
    job: Mutex<Option<Job<'static>>>,
    /// Rises with every job.
    round: AtomicUsize,
    /// Threads that are not done with the present job.
    busy: AtomicUsize,
    panicked: AtomicBool,
    closing: AtomicBool,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("round", &self.round).finish_non_exhaustive()
    }
}

impl Crew {
    /// A crew of `size` workers, the caller among them.
    pub(super) fn new(size: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            job: Mutex::new(None),
            round: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            panicked: AtomicBool::new(false),
            closing: AtomicBool::new(false),
        });
        let mut crew = Self { shared, threads: Vec::new() };
        for worker in 1..size {
            let shared = Arc::clone(&crew.shared);
            let builder = thread::Builder::new().name(format!("taut-{worker}"));
            crew.threads.push(builder.spawn(move || shared.serve(worker))?);
        }
        Ok(crew)
    }

    /// How many workers there are.
    pub(super) fn size(&self) -> usize {
        self.threads.len() + 1
    }

    /// Runs the job on all workers at the same time, each with its number.
    ///
    /// # Panics
    /// If the job panics on one of them, when all have ended.
    pub(super) fn run(&mut self, job: Job<'_>) {
        // SAFETY: the erased lifetime ends after this function, which waits until no thread has the
        // job any more; see the top of this file. `&mut self` keeps a second job from coming in.
        let erased = unsafe { std::mem::transmute::<Job<'_>, Job<'static>>(job) };
        *self.shared.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(erased);
        self.shared.busy.store(self.threads.len(), Ordering::Relaxed);
        self.shared.round.fetch_add(1, Ordering::Release);
        for thread in &self.threads {
            thread.thread().unpark();
        }
        let own = catch_unwind(AssertUnwindSafe(|| job(0)));
        let mut spins = 0;
        while self.shared.busy.load(Ordering::Acquire) != 0 {
            wait_a_little(&mut spins, thread::yield_now);
        }
        if let Err(panic) = own {
            resume_unwind(panic);
        }
        let panicked = self.shared.panicked.swap(false, Ordering::Relaxed);
        assert!(!panicked, "a worker panicked");
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            // A worker that panicked has said so already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// The life of a worker.
    fn serve(&self, worker: usize) {
        let mut seen = 0;
        let mut spins = 0;
        while !self.closing.load(Ordering::Acquire) {
            let round = self.round.load(Ordering::Acquire);
            if round == seen {
                wait_a_little(&mut spins, thread::park);
                continue;
            }
            (seen, spins) = (round, 0);
            let job = *self.job.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(job) = job
                && catch_unwind(AssertUnwindSafe(|| job(worker))).is_err()
            {
                self.panicked.store(true, Ordering::Relaxed);
            }
            self.busy.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Spins at first, then does what costs more.
fn wait_a_little(spins: &mut u32, then: fn()) {
    if *spins < SPINS_BEFORE_SLEEP {
        *spins += 1;
        std::hint::spin_loop();
    } else {
        then();
    }
}

#[cfg(test)]
mod tests {
    //! Contract: every worker does every job once, with its own number; a panic reaches the caller
    //! and leaves the crew fit for the next job.

    use super::*;

    #[test]
    fn every_worker_does_every_job_once() {
        let mut crew = Crew::new(4).unwrap();
        let counts: Vec<AtomicUsize> = (0..4).map(|_| AtomicUsize::new(0)).collect();
        for round in 1..=2000 {
            crew.run(&|worker| {
                counts[worker].fetch_add(1, Ordering::Relaxed);
            });
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == round));
        }
        // Long enough for the others to fall asleep.
        thread::sleep(std::time::Duration::from_millis(20));
        crew.run(&|worker| {
            counts[worker].fetch_add(1, Ordering::Relaxed);
        });
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 2001));
    }

    #[test]
    fn a_panic_reaches_the_caller() {
        let mut crew = Crew::new(3).unwrap();
        for broken in 0..3 {
            let run = catch_unwind(AssertUnwindSafe(|| {
                crew.run(&|worker| assert!(worker != broken, "on purpose"));
            }));
            assert!(run.is_err());
        }
        let done = AtomicUsize::new(0);
        crew.run(&|_| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 3);
    }

    #[test]
    fn one_worker_is_the_caller() {
        let caller = thread::current().id();
        let mut crew = Crew::new(1).unwrap();
        crew.run(&|worker| assert!(worker == 0 && thread::current().id() == caller));
        assert_eq!(crew.size(), 1);
    }
}
