//! Shares that even out: who is done with its own share takes of what others have left, so that nobody waits
//! for a core that is slower, or busy with something else.
//!
//! What is dealt are things that need none of the others, such as the blocks of a phase, so results do not depend
//! on who does them.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::solver::Share;

/// A worker takes this part of what is left of a share at a time: little enough for others to find something,
/// and yet seldom.
const PART: u32 = 4;
/// What is left of another's share is left alone from this part of it on: whoever has it in the nearest cache is
/// most often about to take it, and to bring it to another core and back takes longer than to wait.
const LITTLE: u32 = 8;

/// What is left of the share of each worker.
#[derive(Debug)]
pub(super) struct Shares(Vec<Left>);

impl Shares {
    /// For so many workers.
    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Left::default()).collect())
    }

    /// Forgets what a worker that panicked has left.
    pub(super) fn clear(&mut self) {
        self.0.fill_with(Left::default);
    }

    /// Every worker of a team calls this with its share, and together they do work on all of `count` things,
    /// each once. They must meet before they call it again: then every share is used up.
    pub(super) fn deal(&self, share: Share, count: usize, mut work: impl FnMut(Range<usize>)) {
        if share.workers == 1 {
            return work(0..count);
        }
        let own = &self.0[share.worker];
        own.open(share.of(count));
        while let Some(part) = own.take_first() {
            work(part);
        }
        let worth_it = u32::try_from(count / share.workers).map_or(u32::MAX, |own| own / LITTLE);
        for step in 1..share.workers {
            let other = &self.0[(share.worker + step) % share.workers];
            while let Some(part) = other.take_last(worth_it) {
                work(part);
            }
        }
    }
}

/// What is left of a share: its start in the upper half, its end in the lower one. Each has lines of memory to
/// itself, of which some processors move two at a time.
///
/// No order is asked of memory: a number that changes as a whole settles who has what, and what is written is
/// seen where workers meet.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Left(AtomicU64);

impl Left {
    fn open(&self, Range { start, end }: Range<usize>) {
        let end = u32::try_from(end).expect("things are counted by 32 bits");
        self.0.store(pack(start as u32, end), Ordering::Relaxed);
    }

    /// A part from the front, for the worker whose share it is.
    fn take_first(&self) -> Option<Range<usize>> {
        let (start, end) = self.shrink(1, |start, end| (start + part(start, end), end))?;
        Some(start as usize..(start + part(start, end)) as usize)
    }

    /// A part from the back, for others, if there is more than a little.
    fn take_last(&self, little: u32) -> Option<Range<usize>> {
        let less = |start, end| (start, end - part(start, end));
        let (start, end) = self.shrink(little.max(1) + 1, less)?;
        Some((end - part(start, end)) as usize..end as usize)
    }

    /// Leaves less of what there is, if there is enough; returns what there was.
    fn shrink(&self, enough: u32, less: impl Fn(u32, u32) -> (u32, u32)) -> Option<(u32, u32)> {
        let less = |left| {
            let (start, end) = unpack(left);
            let (start, end) = (start + enough <= end).then(|| less(start, end))?;
            Some(pack(start, end))
        };
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok().map(unpack)
    }
}

fn part(start: u32, end: u32) -> u32 {
    ((end - start) / PART).max(1)
}

fn pack(start: u32, end: u32) -> u64 {
    u64::from(start) << 32 | u64::from(end)
}

fn unpack(left: u64) -> (u32, u32) {
    ((left >> 32) as u32, left as u32)
}

#[cfg(test)]
mod tests {
    //! Contract: everything is done once, whoever does it; nobody waits while others have something left.

    use std::sync::Barrier;
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn everything_is_done_once() {
        for workers in [1, 2, 5] {
            let shares = Shares::new(workers);
            let barrier = Barrier::new(workers);
            let done: Vec<_> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
            let counts = [1000, 0, 1, 4, 999];
            std::thread::scope(|scope| {
                for worker in 0..workers {
                    let (shares, barrier, done) = (&shares, &barrier, &done);
                    scope.spawn(move || {
                        for count in counts.repeat(100) {
                            shares.deal(Share { worker, workers }, count, |part| {
                                for one in &done[part] {
                                    one.fetch_add(1, Ordering::Relaxed);
                                }
                            });
                            barrier.wait();
                        }
                    });
                }
            });
            for (thing, times) in done.iter().enumerate() {
                let expected = 100 * counts.iter().filter(|&&count| thing < count).count();
                assert_eq!(times.load(Ordering::Relaxed), expected, "{workers} workers, {thing}");
            }
        }
    }

    #[test]
    fn nothing_stays_from_a_panic() {
        let mut shares = Shares::new(2);
        let [first, second] = [0, 1].map(|worker| Share { worker, workers: 2 });
        let broken =
            std::panic::AssertUnwindSafe(|| shares.deal(first, 100, |_| panic!("on purpose")));
        assert!(std::panic::catch_unwind(broken).is_err());
        shares.clear();
        shares.deal(second, 10, |part| assert!(part.start >= 5));
    }

    #[test]
    fn what_a_slow_worker_leaves_is_done_by_others() {
        let shares = Shares::new(2);
        let (began, ended) = (Barrier::new(2), Barrier::new(2));
        let mut by_slow = 0;
        let mut by_fast = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                shares.deal(Share { worker: 0, workers: 2 }, 100, |part| {
                    if by_slow == 0 {
                        began.wait();
                        ended.wait();
                    }
                    by_slow += part.len();
                });
            });
            began.wait();
            shares.deal(Share { worker: 1, workers: 2 }, 100, |part| by_fast.extend(part));
            ended.wait();
        });
        // A quarter of its fifty was the first worker's already, and an eighth is left to it.
        assert_eq!(by_slow, 12 + 6);
        by_fast.sort_unstable();
        assert!(by_fast.into_iter().eq(18..100));
    }
}
