//! Retention: a horizon before which everything raw is final, and the dropping of what lies before it.

use crate::instant::Instant;
use crate::migrate::{Edition, installed_edition};
use crate::raw_tables::RAW_TABLES;
use crate::{Store, StoreFailure};
use domain::time::{Interval, Timestamp};
use sqlx::{PgConnection, Row};
use std::time::Duration;

/// How much longer raw records are kept than they are taken: for clocks that are wrong by an hour, and for messages
/// that are on their way for another one.
pub const RETENTION_SLACK: Duration = Duration::from_secs(2 * 3_600);

/// Rows that one statement deletes: some tens of milliseconds.
const CLEARED_AT_ONCE: i64 = 5_000;

/// The end of a partition of the log: the offset of the next message that is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEnd {
    /// Kafka topic.
    pub topic: String,
    /// Partition of the topic.
    pub partition: i32,
    /// Offset behind its last message.
    pub end_offset: i64,
}

/// The log that records come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogInUse {
    /// Which Kafka; empty in direct mode.
    pub cluster: String,
    /// All partitions that carry records, whoever serves them; empty in direct mode.
    pub partitions: Vec<(String, i32)>,
}

/// How far the horizon is, and what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Horizon {
    /// Everything raw from before this moment is final, and dropped or about to be: a midnight (UTC).
    pub moment: Timestamp,
    /// Where the clocks alone would have it.
    pub due: Timestamp,
    /// Why it is not there yet, for people; `None` when it is.
    pub held_back: Option<String>,
}

/// What was dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Chunks or partitions.
    pub pieces: u64,
    /// Single rows, where there was no piece for them.
    pub rows: u64,
}

/// Where the horizon may be by a clock that says `now`.
fn horizon_at(now: Timestamp, raw_retention: Duration) -> Timestamp {
    now.minus(raw_retention)
        .minus(RETENTION_SLACK)
        .floor(Interval::Day)
}

impl Store {
    /// Notes how far partitions of the log that `cluster` names have been read by time: `ends` were looked up
    /// after `at`.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn note_log_ends(
        &self,
        cluster: &str,
        ends: &[LogEnd],
        at: Timestamp,
    ) -> Result<(), StoreFailure> {
        let topics: Vec<&str> = ends.iter().map(|it| it.topic.as_str()).collect();
        let partitions: Vec<i32> = ends.iter().map(|it| it.partition).collect();
        let offsets: Vec<i64> = ends.iter().map(|it| it.end_offset).collect();
        let mut transaction = self.pool.begin().await?;
        sqlx::query(include_str!("queries/lock_positions.sql"))
            .bind(cluster)
            .bind(&topics)
            .bind(&partitions)
            .execute(&mut *transaction)
            .await?;
        sqlx::query(include_str!("queries/note_log_ends.sql"))
            .bind(cluster)
            .bind(&topics)
            .bind(&partitions)
            .bind(offsets)
            .bind(Instant(at))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Moves the horizon as far as it may: no later than `raw_retention` and [`RETENTION_SLACK`] before `now`, the
    /// database's own clock, and the moment up to which all of the log has been read; and not while
    /// anything from before it has to be folded. So whatever is found behind it later has been there before.
    ///
    /// # Errors
    /// When the database does not answer, or batches take too long to wait for.
    pub async fn move_raw_horizon(
        &self,
        now: Timestamp,
        raw_retention: Duration,
        log: &LogInUse,
    ) -> Result<Horizon, StoreFailure> {
        let mut connection = self.pool.acquire().await?;
        let look = look(&mut connection, now, raw_retention, log).await?;
        let due = horizon_at(now.min(look.database_now), raw_retention);
        let read = look.read_through.map(|it| horizon_at(it, raw_retention));
        let may = match (&look.least_read, read) {
            (None, _) => due,
            (Some(_), Some(read)) => due.min(read),
            (Some(_), None) => look.moment,
        };
        let mut horizon = Horizon {
            moment: look.moment,
            due,
            held_back: None,
        };
        if may > look.moment && advance(&mut connection, may, raw_retention).await? {
            horizon.moment = may;
        }
        if horizon.moment < due {
            horizon.held_back = Some(match look.least_read {
                Some(name) if may < due => format!("{name} of the log is not read far enough"),
                Some(_) | None if look.marked => "older records wait to be folded".to_owned(),
                Some(_) | None => "records are being stored".to_owned(),
            });
        }
        Ok(horizon)
    }

    /// Drops what lies before the horizon, as far as the database gives it away at once; the rest is for the
    /// next time. Pieces are dropped by one process at a time.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn drop_raw(&self) -> Result<Dropped, StoreFailure> {
        let mut connection = self.pool.acquire().await?;
        let before: Instant = sqlx::query("select moment from raw_horizon")
            .fetch_one(&mut *connection)
            .await?
            .try_get(0)?;
        let mut dropped = Dropped::default();
        // It has not moved yet.
        if before.0 < Timestamp::from_micros(0) {
            return Ok(dropped);
        }
        match installed_edition(&mut connection).await? {
            Edition::Timescale { .. } => {
                dropped.pieces = drop_chunks(&mut connection, before).await?
            }
            Edition::Plain => {
                dropped.pieces = drop_partitions(&mut connection, before).await?;
                for table in RAW_TABLES {
                    let clear = include_str!("queries/clear_default_partition.sql");
                    let clear = clear.replace("RAW_TABLE", table);
                    dropped.rows += clear_rows(&mut connection, &clear, before).await?;
                }
            }
        }
        let presence = include_str!("queries/clear_presence.sql");
        dropped.rows += clear_rows(&mut connection, presence, before).await?;
        Ok(dropped)
    }
}

/// What the horizon depends on.
struct Look {
    moment: Timestamp,
    database_now: Timestamp,
    marked: bool,
    least_read: Option<String>,
    read_through: Option<Timestamp>,
}

async fn look(
    connection: &mut PgConnection,
    now: Timestamp,
    raw_retention: Duration,
    log: &LogInUse,
) -> Result<Look, StoreFailure> {
    let topics: Vec<&str> = log.partitions.iter().map(|it| it.0.as_str()).collect();
    let partitions: Vec<i32> = log.partitions.iter().map(|it| it.1).collect();
    let row = sqlx::query(include_str!("queries/raw_horizon.sql"))
        .bind(Instant(horizon_at(now, raw_retention)))
        .bind(&log.cluster)
        .bind(topics)
        .bind(partitions)
        .bind(Instant(now.minus(raw_retention)))
        .fetch_one(connection)
        .await?;
    let moment: Instant = row.try_get("moment")?;
    let database_now: Instant = row.try_get("database_now")?;
    let read_through: Option<Instant> = row.try_get("read_through")?;
    Ok(Look {
        moment: moment.0,
        database_now: database_now.0,
        marked: row.try_get("marked")?,
        least_read: row.try_get("least_read")?,
        read_through: read_through.map(|it| it.0),
    })
}

/// Answers whether the horizon stands at `to` now. Batches hold it while they store
/// (`hold_raw_horizon`), so it waits for those that are under way.
async fn advance(
    connection: &mut PgConnection,
    to: Timestamp,
    raw_retention: Duration,
) -> Result<bool, StoreFailure> {
    let moved = sqlx::query_scalar("select move_raw_horizon($1, $2)")
        .bind(Instant(to))
        .bind(i64::try_from(raw_retention.as_micros()).unwrap_or(i64::MAX))
        .fetch_one(connection)
        .await?;
    Ok(moved)
}

/// Answers how many chunks were dropped.
async fn drop_chunks(connection: &mut PgConnection, before: Instant) -> Result<u64, StoreFailure> {
    let mut dropped = 0;
    for table in RAW_TABLES {
        let chunks: i64 = sqlx::query_scalar("select drop_raw_chunks($1, $2)")
            .bind(table)
            .bind(before)
            .fetch_one(&mut *connection)
            .await?;
        dropped += chunks.unsigned_abs();
    }
    Ok(dropped)
}

/// Answers how many partitions were dropped.
async fn drop_partitions(
    connection: &mut PgConnection,
    before: Instant,
) -> Result<u64, StoreFailure> {
    let partitions: Vec<String> =
        sqlx::query_scalar(include_str!("queries/raw_partitions_before.sql"))
            .bind(before)
            .bind(RAW_TABLES.as_slice())
            .fetch_all(&mut *connection)
            .await?;
    let mut dropped = 0;
    for partition in partitions {
        let one: i64 = sqlx::query_scalar("select drop_raw_partition($1)")
            .bind(partition)
            .fetch_one(&mut *connection)
            .await?;
        dropped += one.unsigned_abs();
    }
    Ok(dropped)
}

/// Deletes in small steps all rows that the statement finds.
async fn clear_rows(
    connection: &mut PgConnection,
    statement: &str,
    before: Instant,
) -> Result<u64, StoreFailure> {
    let mut cleared = 0;
    loop {
        let deleted = sqlx::query(statement)
            .bind(before)
            .bind(CLEARED_AT_ONCE)
            .execute(&mut *connection)
            .await?
            .rows_affected();
        if deleted == 0 {
            return Ok(cleared);
        }
        cleared += deleted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_horizon_is_the_midnight_before_all_that_may_still_come() {
        let day = 86_400;
        let check = |now, retention_s, expected| {
            let at = horizon_at(
                Timestamp::from_seconds(now),
                Duration::from_secs(retention_s),
            );
            assert_eq!(at, Timestamp::from_seconds(expected), "{now}");
        };
        check(10 * day + 2 * 3_600, 7 * 86_400, 3 * day);
        check(10 * day + 2 * 3_600 - 1, 7 * 86_400, 2 * day);
        check(10 * day, 49 * 3_600, 7 * day);
        check(10 * day + 3 * 3_600, 49 * 3_600, 8 * day);
    }
}
