//! How a command ends when it does not end well: the exit codes of the command line.

use std::fmt;
use std::io;
use std::process::ExitCode;

use taut::SimulationError;
use taut::output::FrameError;
use taut::scene::SceneErrors;

use crate::console;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Bad input or usage: exit code 2.
    Input(String),
    /// The work failed: exit code 1.
    Work(String),
    /// Stopped by Ctrl-C after closing its outputs: exit code 130.
    Interrupted,
    /// Nobody reads the results any more: no complaint.
    NoReader,
}

impl Failure {
    /// Says what went wrong, once, and gives the exit code.
    pub(crate) fn report(self) -> ExitCode {
        let (message, code) = match self {
            Failure::Input(message) => (message, 2),
            Failure::Work(message) => (message, 1),
            Failure::Interrupted => ("interrupted".to_owned(), 130),
            Failure::NoReader => return ExitCode::SUCCESS,
        };
        for line in message.lines() {
            console::complain(&format!("error: {line}"));
        }
        ExitCode::from(code)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(message) | Failure::Work(message) => f.write_str(message),
            Failure::Interrupted => f.write_str("interrupted"),
            Failure::NoReader => f.write_str("nobody reads the results"),
        }
    }
}

impl From<SceneErrors> for Failure {
    fn from(errors: SceneErrors) -> Self {
        Failure::Input(errors.to_string())
    }
}

impl From<SimulationError> for Failure {
    fn from(error: SimulationError) -> Self {
        match error {
            SimulationError::Scene(errors) => errors.into(),
            SimulationError::OtherBodies => Failure::Input(error.to_string()),
            SimulationError::Backend(_) | SimulationError::Diverged { .. } => {
                Failure::Work(error.to_string())
            }
        }
    }
}

impl From<FrameError> for Failure {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::UnknownEnding { .. } => Failure::Input(error.to_string()),
            FrameError::Io { .. } => Failure::Work(error.to_string()),
        }
    }
}

#[cfg(feature = "gpu")]
mod graphics {
    use taut::backend::gpu::GpuError;
    use taut_render::RenderError;

    use super::Failure;

    impl From<GpuError> for Failure {
        fn from(error: GpuError) -> Self {
            match error {
                GpuError::NotFound { .. } => Failure::Input(error.to_string()),
                _ => Failure::Work(error.to_string()),
            }
        }
    }

    impl From<RenderError> for Failure {
        fn from(error: RenderError) -> Self {
            match error {
                RenderError::Gpu(error) => error.into(),
                RenderError::Size { .. } => Failure::Input(error.to_string()),
                RenderError::TooLarge { .. } => Failure::Work(error.to_string()),
            }
        }
    }
}

/// Writing results to standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::NoReader,
            _ => Failure::Work(format!("could not write results: {error}")),
        }
    }
}
