//! A CSV table with a row per step.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use taut::Simulation;

use crate::failure::Failure;
use crate::measure::Measurements;

/// A table that grows beside its place and is renamed when it is complete.
pub(super) struct Trace {
    path: PathBuf,
    beside: PathBuf,
    writer: BufWriter<File>,
    has_header: bool,
}

impl Trace {
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".partial");
        let beside = path.with_file_name(name);
        let file = File::create(&beside).map_err(|error| failure(path, &error))?;
        let writer = BufWriter::new(file);
        Ok(Self { path: path.to_owned(), beside, writer, has_header: false })
    }

    /// Adds a state.
    pub(super) fn row(
        &mut self,
        simulation: &Simulation,
        measurements: &Measurements,
    ) -> Result<(), Failure> {
        let cells = cells(simulation, measurements);
        let mut write = || -> io::Result<()> {
            if !self.has_header {
                let names: Vec<&str> = cells.iter().map(|(name, _)| name.as_str()).collect();
                writeln!(self.writer, "{}", names.join(","))?;
            }
            let values: Vec<String> = cells.iter().map(|(_, value)| value.to_string()).collect();
            writeln!(self.writer, "{}", values.join(","))
        };
        write().map_err(|error| failure(&self.path, &error))?;
        self.has_header = true;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let renamed = self.writer.flush().and_then(|()| fs::rename(&self.beside, &self.path));
        renamed.map_err(|error| failure(&self.path, &error))
    }
}

fn failure(path: &Path, error: &io::Error) -> Failure {
    Failure::Work(format!("{}: {error}", path.display()))
}

fn cells(simulation: &Simulation, measurements: &Measurements) -> Vec<(String, f64)> {
    let (seconds, stages) = measurements.of(simulation.steps());
    let mut cells = vec![
        ("step".to_owned(), simulation.steps() as f64),
        ("time_s".to_owned(), simulation.time()),
        ("step_ms".to_owned(), seconds * 1e3),
    ];
    for (kind, residual) in simulation.residuals() {
        cells.push((format!("{kind}_rms"), residual.rms));
        cells.push((format!("{kind}_max"), residual.max));
    }
    let energy = simulation.energy();
    cells.push(("kinetic_j".to_owned(), energy.kinetic));
    cells.push(("potential_j".to_owned(), energy.potential));
    cells.push(("contacts".to_owned(), simulation.contacts() as f64));
    cells.push(("max_penetration_m".to_owned(), simulation.penetration().depth));
    for (name, seconds) in stages {
        cells.push((format!("{}_ms", name.replace(' ', "_")), seconds * 1e3));
    }
    cells
}
