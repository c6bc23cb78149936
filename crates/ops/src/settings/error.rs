//! What is wrong with a setting, in one line, and where a value is from.

use super::redaction::one_line;
use std::fmt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What the names of all environment variables start with.
const PREFIX: &str = "WATTLINE_";

/// Where a value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The flag, without its dashes.
    Flag(String),
    /// The environment variable.
    Environment(String),
    /// The file that `--config` names.
    File(PathBuf),
    /// The table's default.
    Default,
}

/// Why the settings cannot be used: one line with the setting, where its value is from and what is
/// expected; never the value of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SettingsError(String);

impl SettingsError {
    pub(super) fn unacceptable(key: &str, origin: Origin, expected: String) -> Self {
        Self::line(format!("setting {key} from {origin}: expected {expected}"))
    }

    /// As [`SettingsError::unacceptable`], with the value that was found, already redacted.
    pub(super) fn found(key: &str, origin: Origin, expected: &str, found: &str) -> Self {
        Self::line(format!(
            "setting {key} from {origin}: expected {expected}, found {found:?}"
        ))
    }

    pub(super) fn missing(key: &str, expected: String) -> Self {
        Self::line(format!(
            "setting {key} is not given: expected {expected}, by flag --{}, environment {} or {key} in the file of --config",
            flag(key),
            variable(key),
        ))
    }

    pub(super) fn unknown_key(key: &str, path: &Path) -> Self {
        Self::line(format!(
            "unknown setting {key} in file {}: expected one of the settings that --help lists",
            path.display()
        ))
    }

    pub(super) fn config(path: &Path, expected: &str) -> Self {
        Self::line(format!(
            "setting config, file {}: expected {expected}",
            path.display()
        ))
    }

    fn line(text: String) -> Self {
        Self(one_line(&text))
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(formatter, "flag --{flag}"),
            Self::Environment(variable) => write!(formatter, "environment {variable}"),
            Self::File(path) => write!(formatter, "file {}", path.display()),
            Self::Default => formatter.write_str("default"),
        }
    }
}

/// The flag of a key, without its dashes.
pub(super) fn flag(key: &str) -> String {
    key.replace('_', "-")
}

/// The environment variable of a key.
pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.to_ascii_uppercase())
}
