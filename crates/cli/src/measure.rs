//! Times of steps and stages, and their medians.

/// What was measured, step by step.
#[derive(Debug, Default)]
pub(crate) struct Measurements {
    /// Seconds of each step.
    steps: Vec<f64>,
    /// Seconds of each stage in each step.
    stages: Vec<(&'static str, Vec<f64>)>,
}

impl Measurements {
    /// Adds a step.
    pub(crate) fn record(&mut self, seconds: f64, stages: Vec<(&'static str, f64)>) {
        self.steps.push(seconds);
        if self.stages.is_empty() {
            self.stages = stages.iter().map(|(name, _)| (*name, Vec::new())).collect();
        }
        for ((_, all), (_, seconds)) in self.stages.iter_mut().zip(stages) {
            all.push(seconds);
        }
    }

    /// Median, least and most seconds of a step; zeros if there was none.
    pub(crate) fn step_seconds(&self) -> [f64; 3] {
        let least = self.steps.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.steps.iter().copied().fold(0.0, f64::max);
        [median(&self.steps), if self.steps.is_empty() { 0.0 } else { least }, most]
    }

    /// Median seconds of each stage.
    pub(crate) fn stage_seconds(&self) -> Vec<(&'static str, f64)> {
        self.stages.iter().map(|(name, all)| (*name, median(all))).collect()
    }

    /// Seconds of each stage, step by step.
    pub(crate) fn stages(&self) -> impl Iterator<Item = (&'static str, &[f64])> {
        self.stages.iter().map(|(name, all)| (*name, all.as_slice()))
    }

    /// How many steps were measured.
    pub(crate) fn count(&self) -> u64 {
        self.steps.len() as u64
    }

    /// Seconds of a step, counted from 1, and of its stages.
    pub(crate) fn of(&self, step: u64) -> (f64, impl Iterator<Item = (&'static str, f64)>) {
        let of = move |all: &[f64]| {
            let place = step.checked_sub(1).and_then(|place| usize::try_from(place).ok());
            place.and_then(|place| all.get(place)).copied().unwrap_or(0.0)
        };
        (of(&self.steps), self.stages.iter().map(move |(name, all)| (*name, of(all))))
    }
}

/// The middle value, 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
