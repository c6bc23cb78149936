//! What ends a process.

use thiserror::Error;

/// A failure that no retry can mend: it ends the process with this one clear line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Fatal(pub String);
