//! Residuals: what sweeps leave of errors.

/// How far the constraints of a kind are from being satisfied.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Residual {
    /// Root mean square of the relative errors.
    pub rms: f64,
    /// Largest relative error.
    pub max: f64,
    /// Number of constraints.
    pub count: usize,
}

impl Residual {
    /// The residual of a list of relative errors.
    pub(super) fn of(errors: impl Iterator<Item = f64>) -> Self {
        let (mut squares, mut max, mut count) = (0.0, 0.0_f64, 0);
        for error in errors {
            squares += error * error;
            max = max.max(error.abs());
            count += 1;
        }
        Self { rms: (squares / f64::max(count as f64, 1.0)).sqrt(), max, count }
    }

    /// The residual of two lists of constraints together.
    pub fn merge(self, other: Self) -> Self {
        let count = self.count + other.count;
        let squares = self.rms.powi(2) * self.count as f64 + other.rms.powi(2) * other.count as f64;
        Self {
            rms: (squares / f64::max(count as f64, 1.0)).sqrt(),
            max: self.max.max(other.max),
            count,
        }
    }
}
