//! What every command does around its work: logs, the runtime, the one line of a failure.

use crate::failure::Failure;
use ops::logging::{self, Format};
use ops::settings::Settings;
use std::future::Future;
use std::io::{self, Write as _};

/// Starts the log as the settings say.
pub(crate) fn start_logging(settings: &Settings) -> Result<(), Failure> {
    let format = Format::parse(&settings.choice("log_format")?)
        .ok_or_else(|| settings.unacceptable("log_format", "text or json"))?;
    logging::init(&settings.text("log")?, format)
        .map_err(|error| settings.unacceptable("log", error.to_string()).into())
}

/// Runs a command's work to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

/// Writes a failure's one line to standard error.
pub(crate) fn tell_failure(failure: &Failure) {
    let line = failure.to_string().replace('\n', " ");
    // Nobody reads standard error any more: the exit code still tells.
    if writeln!(io::stderr().lock(), "wattline: {line}").is_err() {}
}
