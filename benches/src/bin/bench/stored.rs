//! What is in the database: when all of a batch is, and whether it is there once.

use crate::batch::{Batch, Counted, Tally};
use crate::roles::{Roles, STORED};
use crate::servers::Site;
use benches::Outcome;
use benches::cost::{Machine, Spent};
use domain::time::Timestamp;
use futures_util::TryStreamExt as _;
use ops::clock::Clock;
use sqlx::{Connection as _, PgConnection, Row as _};
use std::time::{Duration, Instant};

/// The records of a stretch of time, in microseconds since the epoch.
const BETWEEN: &str = "
    select building_uuid, (extract(epoch from time) * 1000000)::bigint
    from telemetry_record
    where time >= timestamptz 'epoch' + $1 * interval '1 microsecond'
      and time < timestamptz 'epoch' + $2 * interval '1 microsecond'";

/// Without another record for so long those that are missing do not come.
const PATIENCE: Duration = Duration::from_secs(60);
/// The same for the few that are on their way when the counter says that all are there.
const SETTLED_PATIENCE: Duration = Duration::from_secs(10);
/// Pause between two looks at how much is stored: how exact the end of a run is.
const LOOK: Duration = Duration::from_millis(25);
/// Pause between two looks at the buckets, which are a question to the database.
const BUCKETS_LOOK: Duration = Duration::from_millis(100);
/// Longest wait for buckets.
const BUCKETS_PATIENCE: Duration = Duration::from_secs(300);

/// When all was done, and what was spent until then.
pub(crate) struct Done {
    pub(crate) stored: Instant,
    pub(crate) buckets: Option<Instant>,
    pub(crate) spent: Spent,
}

/// Waits until so many records are counted as stored, or no more come.
pub(crate) async fn until_stored(roles: &mut Roles, machine: &Machine, due: u64) -> Outcome<Done> {
    let mut stored = 0;
    let mut changed = Instant::now();
    while stored < due && changed.elapsed() < PATIENCE {
        tokio::time::sleep(LOOK).await;
        let found = roles.count(STORED).await?;
        if found != stored {
            (stored, changed) = (found, Instant::now());
        }
    }
    Ok(Done {
        stored: changed,
        buckets: None,
        spent: machine.spent()?,
    })
}

/// The same, and until every minute, quarter and day that has ended has its bucket.
pub(crate) async fn until_in_buckets(
    site: &Site,
    roles: &mut Roles,
    machine: &Machine,
    due: u64,
) -> Outcome<Done> {
    let mut done = until_stored(roles, machine, due).await?;
    let store = &site.database()?.store;
    let begun = Instant::now();
    let now = Timestamp::from_micros(Clock::system().now_micros());
    while store.waiting_marks(now).await? > 0 {
        if begun.elapsed() > BUCKETS_PATIENCE {
            return Err("the buckets are not computed".into());
        }
        tokio::time::sleep(BUCKETS_LOOK).await;
    }
    done.buckets = Some(Instant::now());
    done.spent = machine.spent()?;
    Ok(done)
}

/// The same once all of it is there, or for some time was not: where others publish too, the counter runs ahead.
pub(crate) async fn settled(site: &Site, batch: &Batch) -> Outcome<Counted> {
    let begun = Instant::now();
    loop {
        let counted = count(site, batch).await?;
        if counted.missing == 0 || begun.elapsed() > SETTLED_PATIENCE {
            return Ok(counted);
        }
        tokio::time::sleep(BUCKETS_LOOK).await;
    }
}

/// Counts the batch in the database, record by record.
pub(crate) async fn count(site: &Site, batch: &Batch) -> Outcome<Counted> {
    let mut connection = PgConnection::connect(&site.database()?.url).await?;
    let mut tally = Tally::new(batch);
    let mut rows = sqlx::query(BETWEEN)
        .bind(batch.time(0).micros())
        .bind(batch.end().micros())
        .fetch(&mut connection);
    while let Some(row) = rows.try_next().await? {
        let building = row.try_get(0)?;
        // Probes come from buildings that are not the batch's.
        if batch.has(building) {
            tally.note(Timestamp::from_micros(row.try_get(1)?), Some(building));
        }
    }
    drop(rows);
    connection.close().await?;
    Ok(tally.counted())
}
