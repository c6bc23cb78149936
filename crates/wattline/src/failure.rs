//! How a command ends when it does not end well.

use ops::failure::Fatal;
use ops::settings::SettingsError;
use store::StoreFailure;

/// Why a command failed; its exit code and its one line follow from it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong usage or settings: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// Failed while running: exit code 1.
    #[error("{0}")]
    Running(String),
}

impl Failure {
    /// The process's exit code.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Running(_) => 1,
        }
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<Fatal> for Failure {
    fn from(fatal: Fatal) -> Self {
        Self::Running(fatal.0)
    }
}

impl From<StoreFailure> for Failure {
    fn from(failure: StoreFailure) -> Self {
        Self::Running(failure.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Running(error.to_string())
    }
}
