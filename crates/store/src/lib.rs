#![doc = include_str!("../README.md")]

mod account;
mod address;
mod administration;
mod admission;
mod audit;
mod binary_copy;
mod building;
mod control;
mod dead_letter;
mod failure;
mod fleet;
mod fold;
mod grid_limit;
mod ingest;
mod inspect;
mod instant;
mod lent;
mod listing;
mod login_attempt;
mod migrate;
mod position;
mod raw_tables;
mod read;
mod rebuild;
mod record_columns;
mod refresh_token;
mod retention;
mod schema;
mod series;
mod stretch;
mod waiting;
mod watch;
mod whole;

pub use account::{Login, Role};
pub use administration::{
    Administered, Change, KeptBuilding, KeptHub, KeptSensor, KeptToken, KeptUser, PutSensor, Run,
    Snapshot, TABLES_OF_A_BUILDING,
};
pub use admission::{Admission, AskedAdmission, RequestLimit};
pub use audit::{AuditEntry, AuditFilter, Who};
pub use building::{Building, Contributor, HubOfSensor, Presence, Sensor, SensorOrigin};
pub use control::{
    Acted, CONTROL_LIMIT, Executed, Facts, Listener, Publication, Publishing, Unconfirmed, Wish,
};
pub use dead_letter::{
    AskedLetters, Filter as DeadLetterFilter, KeptDeadLetter, LETTERS_AT_ONCE, Letter, Outcome,
    Refused, Replayed, ReplayedPage, Standing, Tally,
};
pub use failure::StoreFailure;
pub use fleet::{Fleet, FleetBuilding, FleetHub, FleetLink, FleetSensor, FleetUser};
pub use fold::{FOLD_LIMIT, Folded};
pub use grid_limit::{AskedGridLimits, CreationRefusal, DeletionRefusal};
pub use ingest::{Batch, Incoming, Ingested};
pub use inspect::Inspected;
pub use listing::{ListedBuilding, ListedLink, ListedUser};
pub use login_attempt::{LoginAttempt, LoginLimit, LoginRefusal};
pub use migrate::{Edition, License, Migrated};
pub use position::{Move, Position};
pub use read::action::{ActionStep, KeptAction};
pub use read::comfort::QuarterMean;
pub use read::key_value::KeyValue;
pub use read::meter_reading::{MeterReading, Metered, Reading};
pub use read::{AskedMinutes, LatestSample, MinuteSums, NewestMinutes};
pub use rebuild::{Period, Rebuilt};
pub use refresh_token::{Cleared, RefreshRefusal, RefreshToken};
pub use retention::{Dropped, Horizon, LogEnd, LogInUse, RETENTION_SLACK};
pub use schema::SchemaAge;
pub use series::Series;
pub use stretch::{Stretch, StretchMove};
pub use waiting::Outbox;
pub use watch::Watch;

use sqlx::Connection as _;
use sqlx::postgres::PgPoolOptions;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use uuid::Uuid;

/// How long a caller waits for a connection of the pool before the database counts as away.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a statement may take, unless its caller gives up before: a batch takes a second at most.
pub const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection whose statement was given up is dead when the server does not answer so long after it must have ended the
/// statement.
const DEAD_AFTER: Duration = Duration::from_secs(3);

/// How long a transaction may stand still: longer than any that goes on, and short enough that a process that is frozen
/// in one holds nobody up for long.
const STANDSTILL_TIMEOUT: Duration = Duration::from_secs(10);

/// A handle to the database; cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    pool: sqlx::PgPool,
    /// Connections of the pool for who only asks.
    lender: Arc<lent::Lender>,
    /// What this process cannot read.
    aside: Arc<control::Aside>,
    /// The server in words.
    server: String,
    /// What the server knows the connections of this store by.
    application: String,
    /// Set when the schema is newer than this binary may touch: no connection is given out then.
    too_new: Arc<AtomicBool>,
    /// Set when somebody has given up waiting for the database.
    given_up: Arc<AtomicBool>,
    /// How the next batch gets in.
    ways: Arc<ingest::Ways>,
}

impl Store {
    /// Prepares a pool of at most `connections` connections; connects when first used. A statement
    /// may take [`STATEMENT_TIMEOUT`].
    ///
    /// # Errors
    /// When `url` is not a PostgreSQL address, or has a parameter that is none.
    pub fn open(url: &str, connections: u32) -> Result<Self, StoreFailure> {
        Self::open_with(url, connections, STATEMENT_TIMEOUT)
    }

    /// As [`Store::open`], for a caller that gives up after `statement_timeout`: so that no statement
    /// goes on for nobody.
    ///
    /// # Errors
    /// When `url` is not a PostgreSQL address, or has a parameter that is none.
    pub fn open_with(
        url: &str,
        connections: u32,
        statement_timeout: Duration,
    ) -> Result<Self, StoreFailure> {
        let millis = |timeout: Duration| format!("{}ms", timeout.as_millis());
        let standstill = millis(statement_timeout.min(STANDSTILL_TIMEOUT));
        let timeout = millis(statement_timeout);
        let application = format!("wattline-{}", Uuid::new_v4().simple());
        let options = address::options(url)?
            .application_name(&application)
            // An outage shows as an error, not as a statement that never ends.
            .options([
                ("statement_timeout", timeout.as_str()),
                ("idle_in_transaction_session_timeout", standstill.as_str()),
                // Every statement is a few probes; compiling one takes longer than running it.
                ("jit", "off"),
            ]);
        let server = watch::server(&options);
        let too_new = Arc::new(AtomicBool::new(false));
        let given_up = Arc::new(AtomicBool::new(false));
        let pool = pool_options(connections, &too_new);
        let pool = forget_dead(pool, &given_up, statement_timeout + DEAD_AFTER);
        let pool = pool.connect_lazy_with(options);
        Ok(Self {
            pool,
            lender: Arc::new(lent::Lender::new(connections)),
            aside: Arc::default(),
            server,
            application,
            too_new,
            given_up,
            ways: Arc::default(),
        })
    }

    /// Asks the database for a sign of life, and whether the schema is there.
    ///
    /// # Errors
    /// When it does not answer, or has no schema yet.
    pub async fn ping(&self) -> Result<(), StoreFailure> {
        sqlx::query("select from building limit 1")
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Waits so long, for who then drops another future of this store since the database has not answered: its
    /// connection may be dead for good, and is not waited for any longer than the database may take for a statement.
    pub async fn given_up_after(&self, patience: Duration) {
        tokio::time::sleep(patience).await;
        self.given_up.store(true, Ordering::Release);
    }

    /// Closes all connections and waits until they are.
    pub async fn close(&self) {
        self.lender.close();
        self.pool.close().await;
    }
}

/// Gives out no connection to a schema that this binary must not touch: neither one that is made, nor one that was
/// there before.
fn pool_options(connections: u32, too_new: &Arc<AtomicBool>) -> PgPoolOptions {
    let too_new = Arc::clone(too_new);
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .after_connect(|connection, _| Box::pin(schema::refuse_too_new(connection)))
        .before_acquire(move |_, _| {
            let usable = !too_new.load(Ordering::Acquire);
            Box::pin(async move { Ok(usable) })
        })
}

/// The pool waits without end for the answer to what was given up before it takes a connection back. Where the network has
/// forgotten the connection none comes for a quarter of an hour, and a handful of them is all that a pool has. To ask
/// costs a way to the server and back, so it is done only since somebody has given up.
fn forget_dead(
    options: PgPoolOptions,
    given_up: &Arc<AtomicBool>,
    patience: Duration,
) -> PgPoolOptions {
    let given_up = Arc::clone(given_up);
    options.after_release(move |connection, _| {
        let doubted = given_up.load(Ordering::Acquire);
        Box::pin(async move {
            if doubted {
                let answer = tokio::time::timeout(patience, connection.ping()).await;
                answer.map_err(|_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into()))??;
            }
            Ok(true)
        })
    })
}
