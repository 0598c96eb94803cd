//! How many threads a step gets. Results do not depend on it, so it may change between two steps.
//!
//! What is the fastest cannot be known beforehand. Workers that meet some hundred times a step wait for
//! one that another program has pushed off its core, and bring each other's particles from cache to
//! cache, which takes ten times as long on some machines as on others. So numbers are tried, and the
//! fastest stays. What else a machine does can make any number slow for a while: the one that was in use
//! gets a second chance before it is given up.

/// Steps whose median counts.
const STEPS: usize = 12;
/// A trial whose first steps, so many, all take longer than before is over.
const FIRST_STEPS: usize = 4;
/// Steps that do not count after a change: memory and caches move to other cores.
const UNSETTLED: usize = 2;
/// Seconds that do not count after cores slept: they take a while to their full speed.
const WAKING_UP: f64 = 0.03;
/// A step that takes a smaller share of the time it has comes in time.
const IN_TIME: f64 = 0.85;
/// A number must take so much less time than the former one, or it was chance.
const FASTER: f64 = 0.9;
/// Medians between two trials after one that brought nothing: twice as many each time, up to the last.
const WAITS: [u32; 2] = [4, 256];

/// The number of threads.
#[derive(Debug)]
pub struct TeamSize {
    /// Numbers to choose from, rising.
    counts: Vec<usize>,
    /// Which of them is in use.
    now: usize,
    /// Seconds of the last steps.
    times: Vec<f64>,
    /// Steps and seconds that do not count yet.
    unsettled: (usize, f64),
    /// What is tried, if anything is.
    trial: Option<Trial>,
    is_rising: bool,
    /// Medians to let pass, and how many after the next trial that brings nothing.
    wait: u32,
    next_wait: u32,
}

/// A trial of another number.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// What was in use before, and how long its steps took.
    before: usize,
    time: f64,
    /// The number that was tried, and how long its steps took, while the one before has its second chance.
    better: Option<(usize, f64)>,
}

impl TeamSize {
    /// So many, whatever they take.
    pub fn exactly(threads: usize) -> Self {
        Self::new(vec![threads], threads)
    }

    /// So many at first, and fewer if that is faster.
    pub fn up_to(threads: usize) -> Self {
        Self::new(rising(threads), threads)
    }

    /// One core less than there are, for those who draw what is simulated; other numbers are tried while
    /// steps come late.
    pub fn with_a_core_free(cores: usize) -> Self {
        let most_but_one = cores.saturating_sub(1).max(1);
        let mut counts = rising(cores);
        if let Err(place) = counts.binary_search(&most_but_one) {
            counts.insert(place, most_but_one);
        }
        Self::new(counts, most_but_one)
    }

    fn new(counts: Vec<usize>, first: usize) -> Self {
        Self {
            now: counts.binary_search(&first).unwrap_or(0),
            counts,
            times: Vec::with_capacity(STEPS),
            unsettled: (UNSETTLED, WAKING_UP),
            trial: None,
            is_rising: true,
            wait: 0,
            next_wait: WAITS[0],
        }
    }

    /// The number that is in use.
    pub fn threads(&self) -> usize {
        self.counts.get(self.now).copied().unwrap_or(1)
    }

    /// Something else is simulated now: what was measured does not hold any more.
    pub fn forget(&mut self) {
        self.times.clear();
        self.pause();
        self.trial = None;
        (self.wait, self.next_wait) = (0, WAITS[0]);
    }

    /// Nothing was simulated for a while.
    pub fn pause(&mut self) {
        self.unsettled = (UNSETTLED, WAKING_UP);
    }

    /// A step took so many seconds of those that it has (0: as few as possible). Whether the number
    /// has changed.
    pub fn step(&mut self, seconds: f64, due: f64) -> bool {
        let (steps, time) = self.unsettled;
        if steps > 0 || time > 0.0 {
            self.unsettled = (steps.saturating_sub(1), time - seconds);
            return false;
        }
        self.times.push(seconds);
        if self.times.len() < STEPS && !self.is_hopeless() {
            return false;
        }
        self.times.sort_unstable_by(f64::total_cmp);
        let median = self.times[self.times.len() / 2];
        self.times.clear();
        let now = self.now;
        match self.trial.take() {
            Some(trial) => self.judge(median, trial),
            None => self.consider(median, due),
        }
        if self.now > now {
            self.pause();
        } else if self.now < now {
            self.unsettled = (UNSETTLED, 0.0);
        }
        self.now != now
    }

    /// Whether a trial need not go on.
    fn is_hopeless(&self) -> bool {
        let Some(Trial { time, better: None, .. }) = self.trial else { return false };
        self.times.len() >= FIRST_STEPS && self.times.iter().all(|&seconds| seconds >= time)
    }

    /// The end of a trial, or of the second chance.
    fn judge(&mut self, median: f64, trial: Trial) {
        let Trial { before, time, better } = trial;
        match better {
            None if median < FASTER * time => {
                self.trial = Some(Trial { better: Some((self.now, median)), ..trial });
                self.now = before;
            }
            Some((number, seconds)) if seconds < FASTER * median => {
                self.now = number;
                // On in the same direction at once: there may be more to gain.
                (self.wait, self.next_wait) = (0, WAITS[0]);
            }
            _ => {
                self.now = before;
                self.is_rising = !self.is_rising;
                self.wait = self.next_wait;
                self.next_wait = (2 * self.next_wait).min(WAITS[1]);
            }
        }
    }

    /// Begins a trial if steps come late.
    fn consider(&mut self, median: f64, due: f64) {
        if median < IN_TIME * due {
            return;
        }
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        let last = self.counts.len() - 1;
        if last == 0 {
            return;
        }
        self.is_rising = if self.is_rising { self.now < last } else { self.now == 0 };
        self.trial = Some(Trial { before: self.now, time: median, better: None });
        self.now = if self.is_rising { self.now + 1 } else { self.now - 1 };
    }
}

/// Powers of two up to a number, and that number.
fn rising(most: usize) -> Vec<usize> {
    let powers = (0..usize::BITS - 1).map(|power| 1 << power);
    powers.take_while(|&count| count < most).chain([most]).collect()
}

#[cfg(test)]
mod tests {
    //! Contract: a core stays free while steps come in time, where that is asked for; when they are late
    //! the fastest number is found and kept, and trials that bring nothing become rare.

    use super::*;

    /// Makes steps of a machine on which each number takes so many seconds; how often it changed.
    fn run(team: &mut TeamSize, steps: usize, due: f64, cost: impl Fn(usize) -> f64) -> usize {
        (0..steps).filter(|_| team.step(cost(team.threads()), due)).count()
    }

    #[test]
    fn one_core_stays_free() {
        let first = |cores| TeamSize::with_a_core_free(cores).threads();
        assert_eq!([1, 2, 3, 4, 8, 9].map(first), [1, 1, 2, 3, 7, 8]);
        assert_eq!(TeamSize::with_a_core_free(12).counts, [1, 2, 4, 8, 11, 12]);
    }

    #[test]
    fn all_threads_come_first_where_no_core_is_to_be_free() {
        let mut team = TeamSize::up_to(6);
        assert_eq!((team.threads(), &team.counts), (6, &vec![1, 2, 4, 6]));
        // What one core does not share with another is soon done.
        run(&mut team, 160, 0.0, |threads| threads as f64);
        assert_eq!(team.threads(), 1);
        run(&mut team, 1000, 0.0, |threads| 1.0 / threads as f64);
        assert_eq!(team.threads(), 6);
    }

    #[test]
    fn steps_in_time_change_nothing() {
        let mut team = TeamSize::with_a_core_free(2);
        // Two threads would be faster, but one is fast enough.
        assert_eq!(run(&mut team, 5000, 0.010, |threads| 0.008 / threads as f64), 0);
    }

    #[test]
    fn late_steps_find_the_fastest_number() {
        let mut team = TeamSize::with_a_core_free(8);
        let crowded = |threads: usize| if threads > 4 { 0.050 } else { 0.040 / threads as f64 };
        run(&mut team, 500, 0.001, crowded);
        assert_eq!(team.threads(), 4);
        run(&mut team, 5000, 0.001, |threads| 0.080 / threads as f64);
        assert_eq!(team.threads(), 8);
    }

    #[test]
    fn a_number_that_is_no_faster_is_left_again() {
        let mut team = TeamSize::with_a_core_free(2);
        let changes = run(&mut team, 40_000, 0.0, |threads| if threads > 1 { 0.02 } else { 0.01 });
        assert_eq!(team.threads(), 1);
        // There and back, ever more rarely.
        assert!((10..40).contains(&changes), "{changes}");
    }

    #[test]
    fn a_rare_long_step_means_nothing() {
        let mut team = TeamSize::with_a_core_free(4);
        let mut number = 0;
        let changes = (0..1000).filter(|_| {
            number += 1;
            team.step(if number % 6 == 0 { 0.5 } else { 0.004 }, 0.008)
        });
        assert_eq!(changes.count(), 0);
    }

    #[test]
    fn what_comes_after_a_pause_means_nothing() {
        let mut team = TeamSize::up_to(2);
        let mut number = 0;
        let two = (0..3000).filter(|_| {
            if number % 20 == 0 {
                team.pause();
            }
            // After a pause the second core sleeps for some steps.
            let helps = team.threads() == 2 && number % 20 > 7;
            number += 1;
            team.step(if helps { 0.003 } else { 0.005 }, 0.0);
            team.threads() == 2
        });
        assert!(two.count() > 2700);
    }

    #[test]
    fn a_hopeless_trial_is_short() {
        let mut team = TeamSize::up_to(2);
        let alone = (0..1000).filter(|_| {
            team.step(if team.threads() == 2 { 0.02 } else { 0.04 }, 0.0);
            team.threads() == 1
        });
        // Six trials or so, each of two steps that do not count and four that do.
        assert!(alone.count() < 40);
    }

    #[test]
    fn a_slow_while_changes_nothing() {
        // As long as what a median is taken of, at any time: two threads are not given up for it.
        for slow in 0..400 {
            let mut team = TeamSize::up_to(2);
            let (mut alone, mut longest) = (0, 0);
            for step in 0..2000 {
                let is_slow = (slow..slow + STEPS).contains(&step);
                let seconds = [0.02, if is_slow { 0.03 } else { 0.012 }][team.threads() - 1];
                team.step(seconds, 0.0);
                alone = if team.threads() == 1 { alone + 1 } else { 0 };
                longest = longest.max(alone);
            }
            assert!(longest <= UNSETTLED + STEPS, "slow from step {slow}: {longest} steps alone");
        }
    }

    #[test]
    fn one_core_is_left_alone() {
        assert_eq!(run(&mut TeamSize::with_a_core_free(1), 1000, 0.0, |_| 0.1), 0);
    }
}
