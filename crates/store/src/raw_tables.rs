//! How raw records lie: in chunks of hypertables on TimescaleDB, in daily partitions elsewhere.

use crate::instant::Instant;
use crate::migrate::Edition;
use crate::{Store, StoreFailure};
use domain::time::{Interval, Timestamp};
use sqlx::{Connection, Executor, PgConnection, Row};
use std::time::Duration;

/// The raw tables that are dropped in pieces; each has a column `time` and its own name in its key's.
pub(crate) const RAW_TABLES: [&str; 3] = ["telemetry_record", "sensor_reading", "key_value"];

/// Days for which partitions are made ahead, today included: as long nobody has to come by.
const DAYS_AHEAD: u64 = 4;

/// Brings the raw tables into the form of the edition, with what is in them. It is looked at with every `migrate`,
/// since a database may be moved to another edition.
pub(crate) async fn arrange(
    connection: &mut PgConnection,
    edition: &Edition,
) -> Result<(), StoreFailure> {
    for table in RAW_TABLES {
        let partitioned = is_partitioned(connection, table).await?;
        match edition {
            Edition::Timescale { .. } if partitioned => gather(connection, table).await?,
            Edition::Timescale { .. } => {
                sqlx::query(include_str!("queries/create_hypertable.sql"))
                    .bind(table)
                    .execute(&mut *connection)
                    .await?;
            }
            Edition::Plain if partitioned => {}
            Edition::Plain => partition(connection, table).await?,
        }
    }
    let today: Instant = sqlx::query("select date_bin('1 day', now(), 'epoch')")
        .fetch_one(&mut *connection)
        .await?
        .try_get(0)?;
    make_partitions(connection, today.0).await?;
    Ok(())
}

async fn is_partitioned(connection: &mut PgConnection, table: &str) -> Result<bool, StoreFailure> {
    let kind: String = sqlx::query(include_str!("queries/raw_table_kind.sql"))
        .bind(table)
        .fetch_one(connection)
        .await?
        .try_get("kind")?;
    Ok(kind == "p")
}

/// Makes a plain table a partitioned one, all or nothing.
async fn partition(connection: &mut PgConnection, table: &str) -> Result<(), StoreFailure> {
    let mut transaction = connection.begin().await?;
    let lock = format!("lock table {table} in access exclusive mode");
    transaction.execute(lock.as_str()).await?;
    let bound = include_str!("queries/partition_bound.sql").replace("RAW_TABLE", table);
    let bound: Option<String> = sqlx::query_scalar(&bound)
        .fetch_optional(&mut *transaction)
        .await?;
    let statement = include_str!("queries/partition_raw_table.sql")
        .replace("RAW_TABLE", table)
        .replace("BOUND", bound.as_deref().unwrap_or("-infinity"));
    transaction.execute(sqlx::raw_sql(&statement)).await?;
    if bound.is_none() {
        let empty = format!("drop table {table}_earlier");
        transaction.execute(empty.as_str()).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Makes a partitioned table a hypertable, all or nothing.
async fn gather(connection: &mut PgConnection, table: &str) -> Result<(), StoreFailure> {
    tracing::info!(table, "moving the partitions into a hypertable");
    let statement = include_str!("queries/gather_raw_table.sql").replace("RAW_TABLE", table);
    let mut transaction = connection.begin().await?;
    transaction.execute(sqlx::raw_sql(&statement)).await?;
    transaction.commit().await?;
    Ok(())
}

async fn make_partitions(
    connection: &mut PgConnection,
    today: Timestamp,
) -> Result<u64, StoreFailure> {
    let day = Duration::from_micros(Interval::Day.micros().unsigned_abs());
    let until = (0..DAYS_AHEAD).fold(today, |until, _| until.plus(day));
    let mut made = 0;
    for table in RAW_TABLES {
        let answer: i32 = sqlx::query_scalar("select make_raw_partitions($1, $2, $3)")
            .bind(table)
            .bind(Instant(today))
            .bind(Instant(until))
            .fetch_one(&mut *connection)
            .await?;
        made += u64::from(answer.unsigned_abs());
    }
    Ok(made)
}

impl Store {
    /// Makes the partitions of the days to come, where the server has partitions; answers how many. What comes for a
    /// day that has none is stored too, but is later deleted row by row.
    ///
    /// # Errors
    /// When the database does not take it, or somebody is at work in the tables for too long.
    pub async fn make_raw_partitions(&self, now: Timestamp) -> Result<u64, StoreFailure> {
        let mut connection = self.pool.acquire().await?;
        make_partitions(&mut connection, now.floor(Interval::Day)).await
    }
}
