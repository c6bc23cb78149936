//! What every command does around its work: logs, the runtime, the one line of a failure.

use crate::failure::Failure;
use crate::output;
use ops::logging::{self, Format};
use ops::settings::Settings;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::future::Future;
use std::io::{self, Write as _};
use std::time::Duration;

/// What no filter lets through. A parameter of the database's URL that sqlx does not know may be a password, and it
/// logs it; its slow statements are told with their whole text. rumqttc shows what is subscribed to, and with it
/// the share group's name, and warns of every answer to a question about a topic that nobody subscribes to; what is
/// worth telling of a connection comes with its end.
const NEVER_SAID: &str = "sqlx=off,sqlx_postgres=off,rumqttc::v5::state=off";

/// Starts the log as the settings say.
pub(crate) fn start_logging(settings: &Settings) -> Result<(), Failure> {
    let format = Format::parse(&settings.choice("log_format")?)
        .ok_or_else(|| settings.unacceptable("log_format", "text or json"))?;
    let filter = format!("{},{NEVER_SAID}", settings.text("log")?);
    logging::init(&filter, format)
        .map_err(|error| settings.unacceptable("log", error.to_string()).into())
}

/// How long what still blocks a thread may hold up the process's end: a server that hangs.
const BLOCKED_PATIENCE: Duration = Duration::from_secs(1);

/// Runs a command's work to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let outcome = runtime.block_on(work);
    runtime.shutdown_timeout(BLOCKED_PATIENCE);
    outcome
}

/// Lets the process have as many open files as it may: every connection is one, and what systems start
/// with is often too few for all that the api takes.
pub(crate) fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let all = Rlimit {
        current: maximum,
        maximum,
    };
    if let Err(error) = setrlimit(Resource::Nofile, all) {
        tracing::warn!(%error, current, "cannot raise the number of open files");
    }
}

/// Writes a failure's one line to standard error.
pub(crate) fn tell_failure(failure: &Failure) {
    tell(&output::visible(&failure.to_string().replace('\n', " ")));
}

/// Writes one line to standard error, beside a command's own output.
pub(crate) fn tell(line: &str) {
    // Nobody reads standard error any more: the exit code still tells.
    if writeln!(io::stderr().lock(), "wattline: {line}").is_err() {}
}
