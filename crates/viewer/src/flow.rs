//! How much a page is sent, and how much it may send.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::encode::Precision;
use crate::protocol::WantedPrecision;

/// Frames that a page may leave unacknowledged.
const MOST_FRAMES: usize = 2;
/// Acknowledgements slower than this ask for smaller frames, …
const SLOW: Duration = Duration::from_millis(33);
/// … and faster than this allow large ones again. Far apart, so that the change itself does not
/// cause the next one.
const FAST: Duration = Duration::from_millis(8);

/// Frames on their way to a page.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    sent: VecDeque<(u32, Instant)>,
    /// Smoothed time from sending a frame to its acknowledgement.
    delay: Duration,
    is_slow: bool,
}

impl Flow {
    /// Whether the page is ready for another frame.
    pub(crate) fn is_open(&self) -> bool {
        self.sent.len() < MOST_FRAMES
    }

    pub(crate) fn sent(&mut self, frame: u32, now: Instant) {
        self.sent.push_back((frame, now));
    }

    /// A frame was drawn, and with it all that were sent before it.
    pub(crate) fn acknowledged(&mut self, frame: u32, now: Instant) {
        while let Some(&(first, when)) = self.sent.front() {
            if first > frame {
                break;
            }
            self.sent.pop_front();
            self.delay = (self.delay * 3 + now.saturating_duration_since(when)) / 4;
        }
        self.is_slow = if self.is_slow { self.delay > FAST } else { self.delay > SLOW };
    }

    /// How places are to be sent.
    pub(crate) fn precision(&self, wanted: WantedPrecision) -> Precision {
        match wanted {
            WantedPrecision::F32 => Precision::F32,
            WantedPrecision::U16 => Precision::U16,
            WantedPrecision::Auto if self.is_slow => Precision::U16,
            WantedPrecision::Auto => Precision::F32,
        }
    }
}

/// Messages a second, on average, that a page may send, and at once.
const RATE: f64 = 240.0;
const BURST: f64 = 480.0;

/// Counts messages.
#[derive(Debug)]
pub(crate) struct Budget {
    left: f64,
    since: Instant,
}

impl Budget {
    pub(crate) fn new(now: Instant) -> Self {
        Self { left: BURST, since: now }
    }

    /// Takes one message; `false` if there were too many.
    pub(crate) fn spend(&mut self, now: Instant) -> bool {
        let earned = RATE * now.saturating_duration_since(self.since).as_secs_f64();
        self.left = (self.left + earned).min(BURST);
        self.since = now;
        self.left -= 1.0;
        self.left >= 0.0
    }
}

#[cfg(test)]
mod tests {
    //! Contract: two frames are under way at most, slow pages get small ones, and messages beyond
    //! the rate are noticed.

    use super::*;

    #[test]
    fn two_frames_may_be_under_way() {
        let (mut flow, now) = (Flow::default(), Instant::now());
        flow.sent(1, now);
        assert!(flow.is_open());
        flow.sent(5, now);
        assert!(!flow.is_open());
        flow.acknowledged(0, now);
        assert!(!flow.is_open());
        flow.acknowledged(1, now);
        assert!(flow.is_open());
        flow.sent(6, now);
        flow.acknowledged(6, now);
        assert_eq!(flow.sent.len(), 0);
    }

    #[test]
    fn slow_pages_get_small_frames_until_they_are_fast() {
        let (mut flow, start) = (Flow::default(), Instant::now());
        let mut exchange = |frame: u32, delay: u64| {
            flow.sent(frame, start);
            flow.acknowledged(frame, start + Duration::from_millis(delay));
            flow.precision(WantedPrecision::Auto)
        };
        assert_eq!(exchange(1, 5), Precision::F32);
        let slow: Vec<_> = (2..12).map(|frame| exchange(frame, 80)).collect();
        assert_eq!(slow[9], Precision::U16);
        assert_eq!(exchange(12, 20), Precision::U16);
        let fast: Vec<_> = (13..40).map(|frame| exchange(frame, 1)).collect();
        assert_eq!(fast[26], Precision::F32);
        assert_eq!(flow.precision(WantedPrecision::U16), Precision::U16);
    }

    #[test]
    fn a_burst_is_allowed_and_a_flood_is_not() {
        let start = Instant::now();
        let mut budget = Budget::new(start);
        assert!((0..480).all(|_| budget.spend(start)));
        assert!(!budget.spend(start));
        let mut budget = Budget::new(start);
        let at = |message: u64| start + Duration::from_micros(message * 4300);
        assert!((0..5000).all(|message| budget.spend(at(message))));
    }
}
