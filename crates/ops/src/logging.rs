//! Log lines on standard error, so that standard output stays a command's own.

use std::io::{IsTerminal, stderr};
use thiserror::Error;
use tracing_subscriber::EnvFilter;

/// What a log line looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people; coloured on a terminal.
    Text,
    /// One JSON object a line.
    Json,
}

/// Why the log cannot be written.
#[derive(Debug, Error)]
pub enum LoggingError {
    /// The filter is not `level` or `target=level` with commas between them.
    #[error("expected a log filter such as info or info,bridge=debug")]
    Filter,
    /// The process has set up its log already.
    #[error("the log is set up already")]
    Again,
}

impl Format {
    /// The format's name in settings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }

    /// Reads the name that settings use.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Text, Self::Json]
            .into_iter()
            .find(|format| format.as_str() == name)
    }
}

/// Writes the process's log to standard error from now on, what `filter` lets through (`info`,
/// `info,bridge=debug`).
///
/// # Errors
/// The filter cannot be read, or the log is set up already.
pub fn init(filter: &str, format: Format) -> Result<(), LoggingError> {
    let filter = EnvFilter::try_new(filter).map_err(|_| LoggingError::Filter)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal());
    let set = match format {
        Format::Text => builder.try_init(),
        Format::Json => builder.json().flatten_event(true).try_init(),
    };
    set.map_err(|_| LoggingError::Again)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_cannot_be_read_is_refused() {
        let error = init("info,=nonsense=", Format::Text).unwrap_err();
        assert!(matches!(error, LoggingError::Filter), "{error}");
    }

    #[test]
    fn every_format_is_read_back_from_its_name() {
        for format in [Format::Text, Format::Json] {
            assert_eq!(Format::parse(format.as_str()), Some(format));
        }
        assert_eq!(Format::parse("xml"), None);
    }
}
