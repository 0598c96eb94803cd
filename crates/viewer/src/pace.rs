//! When the next step is due.

use std::time::{Duration, Instant};

/// A simulation that is later than this does not try to catch up: it would only get later.
const MOST_DEBT: f64 = 0.1;
/// How long steps wait for the first picture of a page at most.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Simulated seconds against seconds.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Simulated seconds per second; 0: as fast as it can.
    speed: f64,
    /// A moment, and the simulated time that belongs to it.
    anchor: Option<(Instant, f64)>,
    /// No step before this.
    held: Option<Instant>,
}

impl Pace {
    pub(crate) fn new(speed: f64) -> Self {
        Self { speed, anchor: None, held: None }
    }

    pub(crate) fn speed(&self) -> f64 {
        self.speed
    }

    pub(crate) fn set_speed(&mut self, speed: f64) {
        *self = Self::new(speed);
    }

    /// Time starts anew: after a pause, a reset, or another scene.
    pub(crate) fn restart(&mut self) {
        self.anchor = None;
    }

    /// Steps wait for the first picture of a page that starts. Its start takes all that two cores
    /// have, and is often on the same ones; and what is simulated meanwhile nobody sees.
    pub(crate) fn hold(&mut self, now: Instant) {
        self.held = Some(now + PATIENCE);
    }

    /// The first picture is there.
    pub(crate) fn go_on(&mut self) {
        self.held = None;
    }

    /// Seconds that so much simulated time has; 0 if it shall be as few as possible.
    pub(crate) fn due(&self, simulated: f64) -> f64 {
        if self.speed > 0.0 { simulated / self.speed } else { 0.0 }
    }

    /// How long to wait until a simulation that is at `time` may make its next step.
    pub(crate) fn wait(&mut self, time: f64, now: Instant) -> Duration {
        if let Some(held) = self.held.filter(|held| now < *held) {
            return held - now;
        }
        self.held = None;
        if self.speed <= 0.0 {
            return Duration::ZERO;
        }
        let (moment, start) = *self.anchor.get_or_insert((now, time));
        let ahead = (time - start) / self.speed - now.duration_since(moment).as_secs_f64();
        if ahead < -MOST_DEBT {
            self.anchor = Some((now, time));
        }
        Duration::try_from_secs_f64(ahead).unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    //! Contract: steps come at the speed that is asked for, debts are forgotten, and steps wait for
    //! the first picture of a page, but not for long.

    use super::*;

    #[test]
    fn steps_are_due_when_their_time_has_come() {
        let (mut pace, start) = (Pace::new(0.5), Instant::now());
        assert_eq!(pace.wait(3.0, start), Duration::ZERO);
        let wait = pace.wait(3.1, start + Duration::from_millis(50));
        assert!((wait.as_secs_f64() - 0.15).abs() < 1e-6, "{wait:?}");
        assert_eq!(pace.wait(3.1, start + Duration::from_millis(220)), Duration::ZERO);
    }

    #[test]
    fn what_cannot_keep_up_does_not_race_later() {
        let (mut pace, start) = (Pace::new(1.0), Instant::now());
        pace.wait(0.0, start);
        let late = start + Duration::from_secs(5);
        assert_eq!(pace.wait(0.1, late), Duration::ZERO);
        // From there on, time passes as if nothing had happened.
        assert!(pace.wait(0.2, late) > Duration::from_millis(90));
    }

    #[test]
    fn without_a_speed_nothing_waits() {
        assert_eq!(Pace::new(0.0).wait(9.0, Instant::now()), Duration::ZERO);
        assert_eq!((Pace::new(0.0).due(0.5), Pace::new(2.0).due(0.5)), (0.0, 0.25));
    }

    #[test]
    fn steps_wait_for_a_first_picture_but_not_for_long() {
        let now = Instant::now();
        for speed in [0.0, 1.0] {
            let mut pace = Pace::new(speed);
            pace.hold(now);
            assert_eq!(pace.wait(0.0, now + PATIENCE / 3), PATIENCE - PATIENCE / 3);
            assert_eq!(pace.wait(0.0, now + PATIENCE), Duration::ZERO);
            pace.hold(now);
            pace.go_on();
            assert_eq!(pace.wait(0.0, now), Duration::ZERO);
        }
    }
}
