//! A command's own output, on standard output; logs go to standard error.

use std::io::{self, Write as _};

/// Writes one line at once, so that a reader at the other end of a pipe sees it.
///
/// # Errors
/// When nobody reads any more.
pub(crate) fn line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
