//! The bounds that a scene states for its end: what makes every scene a test.

use crate::scene::file::Expect;
use crate::simulation::Simulation;

/// One bound and how it fared.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was bounded, as in the scene file: `residual.stretch.rms`.
    pub key: String,
    /// The value at the end.
    pub value: f64,
    /// What it had to be, in words: `≤ 0.05`.
    pub bound: String,
    /// Whether it was.
    pub holds: bool,
}

/// Compares a simulation with the bounds of its scene.
pub fn check_expectations(simulation: &Simulation, expect: &Expect) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut at_most = |key: String, value: f64, bound: Option<f32>| {
        if let Some(bound) = bound {
            let holds = value <= f64::from(bound);
            outcomes.push(Outcome { key, value, bound: format!("≤ {bound}"), holds });
        }
    };
    let residuals = simulation.residuals();
    for (name, bound) in &expect.residual {
        let found = residuals.iter().find(|(kind, _)| kind == name);
        let residual = found.map(|(_, residual)| *residual).unwrap_or_default();
        at_most(format!("residual.{name}.rms"), residual.rms, bound.rms);
        at_most(format!("residual.{name}.max"), residual.max, bound.max);
    }
    at_most("penetration".into(), simulation.penetration().depth, expect.penetration);
    at_most("kinetic-energy".into(), simulation.energy().kinetic, expect.kinetic_energy);
    if let Some(extent) = &expect.extent {
        let [low, high] = simulation.extent();
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let bound = format!("in {}..{}", extent.min[axis], extent.max[axis]);
            let ends = [(low[axis], "min"), (high[axis], "max")];
            outcomes.extend(ends.map(|(value, end)| Outcome {
                key: format!("extent.{end}.{name}"),
                value: value.into(),
                bound: bound.clone(),
                holds: (extent.min[axis]..=extent.max[axis]).contains(&value),
            }));
        }
    }
    outcomes
}
