//! Why a server did not start.

use std::{io, path::PathBuf, process::ExitStatus, time::Duration};

use thiserror::Error;

/// Why a server did not start, with what to do about it where that is known.
#[derive(Debug, Error)]
pub enum StartFailure {
    /// A program or library is not on the machine.
    #[error("{0} is not on this machine: run `make servers`")]
    Missing(&'static str),
    /// Somebody else listens on the port that was asked for.
    #[error(
        "port {port} that {server} should listen on is in use: stop who uses it, or choose another"
    )]
    PortInUse {
        /// The server's name.
        server: &'static str,
        /// The port.
        port: u16,
    },
    /// The server's folder cannot be made, read or written.
    #[error("cannot use {path}: {source}")]
    Folder {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder is not one that this server can work in; the text says why.
    #[error("{0}")]
    Unsuitable(String),
    /// A program could not be run, or a step of preparation failed; the text ends with what it said.
    #[error("{program} failed: {said}")]
    Preparation {
        /// The program.
        program: &'static str,
        /// Its last lines, or the system's error.
        said: String,
    },
    /// The server ended before it answered.
    #[error("{server} ended before it answered ({status}); its last lines:\n{log}")]
    Died {
        /// The server's name.
        server: &'static str,
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its log.
        log: String,
    },
    /// The server runs, but did not answer in time; it has been killed.
    #[error("{server} did not answer within {} s; its last lines:\n{log}", patience.as_secs())]
    Silent {
        /// The server's name.
        server: &'static str,
        /// How long was waited.
        patience: Duration,
        /// The last lines of its log.
        log: String,
    },
}

impl StartFailure {
    /// Gives a function that turns an I/O error about `path` into a failure.
    pub(crate) fn about(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Folder { path, source }
    }
}
