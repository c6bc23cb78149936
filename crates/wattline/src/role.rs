//! Starts the roles, alone or together, from the settings.

mod servers;
mod start;

pub(crate) use servers::{cluster, demands, explain, store, topics};

use crate::failure::Failure;
use crate::process;
use domain::time::Timestamp;
use ops::failure::Fatal;
use ops::health::Health;
use ops::metrics::Metrics;
use ops::settings::Settings;
use ops::shutdown::{GRACE, Shutdown};
use start::start;
use tokio::task::{JoinError, JoinSet};

/// Which roles a process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles {
    /// MQTT to the log.
    pub bridge: bool,
    /// The log to the database.
    pub aggregator: bool,
    /// The database to controllers.
    pub control: bool,
    /// The database over HTTP.
    pub api: bool,
}

impl Roles {
    const NONE: Self = Self {
        bridge: false,
        aggregator: false,
        control: false,
        api: false,
    };
    /// `wattline serve`.
    pub const ALL: Self = Self {
        bridge: true,
        aggregator: true,
        control: true,
        api: true,
    };
    /// `wattline bridge`.
    pub const BRIDGE: Self = Self {
        bridge: true,
        ..Self::NONE
    };
    /// `wattline aggregator`.
    pub const AGGREGATOR: Self = Self {
        aggregator: true,
        ..Self::NONE
    };
    /// `wattline control`.
    pub const CONTROL: Self = Self {
        control: true,
        ..Self::NONE
    };
    /// `wattline api`.
    pub const API: Self = Self {
        api: true,
        ..Self::NONE
    };
}

/// What the roles of one process share.
#[derive(Clone, Default)]
pub struct Shared {
    /// Where to count.
    pub metrics: Metrics,
    /// Where to tell readiness.
    pub health: Health,
    /// Tells everybody to stop.
    pub shutdown: Shutdown,
    /// What else is to be done.
    pub errand: Errand,
}

/// What a role is told to do on the command line, beside its work or instead of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Errand {
    /// Its work.
    #[default]
    None,
    /// The aggregator reads the log again from that moment on.
    ReadAgain(Timestamp),
    /// The bridge leaves the broker for good.
    Leave,
}

/// Runs the roles until SIGTERM or SIGINT.
pub(crate) fn run(roles: Roles, settings: &Settings) -> Result<(), Failure> {
    run_with(roles, settings, Errand::None)
}

/// The same, with an errand.
pub(crate) fn run_with(roles: Roles, settings: &Settings, errand: Errand) -> Result<(), Failure> {
    process::block_on(async {
        let shared = Shared {
            shutdown: Shutdown::on_signals(),
            errand,
            ..Shared::default()
        };
        run_until_shutdown(roles, settings, &shared).await
    })
}

/// Runs the roles until `shared.shutdown`; the first that fails stops the others.
///
/// # Errors
/// Settings that cannot be used; a port in use; a failure that no retry mends.
pub async fn run_until_shutdown(
    roles: Roles,
    settings: &Settings,
    shared: &Shared,
) -> Result<(), Failure> {
    let mut tasks = JoinSet::new();
    let started = start(roles, settings, shared, &mut tasks).await;
    let mut outcome = started;
    if outcome.is_err() {
        shared.shutdown.trigger();
    }
    while let Some(ended) = join_next(&mut tasks, &shared.shutdown).await {
        let ended = ended.unwrap_or_else(|error| Err(Fatal(format!("a role broke off: {error}"))));
        if let Err(fatal) = ended {
            shared.shutdown.trigger();
            if outcome.is_ok() {
                outcome = Err(fatal.into());
            }
        }
    }
    outcome
}

type Tasks = JoinSet<Result<(), Fatal>>;

/// The next role that ends; none when all have, or when a server that hangs holds one up longer than
/// a stop may take.
async fn join_next(
    tasks: &mut Tasks,
    shutdown: &Shutdown,
) -> Option<Result<Result<(), Fatal>, JoinError>> {
    let overdue = async {
        shutdown.requested().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        ended = tasks.join_next() => ended,
        () = overdue => {
            tracing::warn!("a server hangs: what is in flight is left to be done again");
            None
        }
    }
}
