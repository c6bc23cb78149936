//! What the electricity reads ask: newest samples and newest minutes, each as of one moment, so that a
//! reader never sees half a batch. The other reads are below.

pub(crate) mod action;
pub(crate) mod comfort;
pub(crate) mod key_value;
pub(crate) mod meter_reading;

use crate::instant::Instant;
use crate::series::Series;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Postgres, Row, Transaction};
use std::ops::Range;
use uuid::Uuid;

/// The newest measurement of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatestSample {
    /// What measured.
    pub series: Series,
    /// When.
    pub time: Timestamp,
    /// Watt, signed as it came.
    pub power_w: i32,
}

/// Sums over the samples of one series in one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinuteSums {
    /// What measured.
    pub series: Series,
    /// Start of the minute.
    pub start: Timestamp,
    /// Samples in the minute, at least 1.
    pub samples: i32,
    /// Sum of max(power, 0), watt.
    pub positive_sum_w: i64,
    /// Sum of max(−power, 0), watt.
    pub negative_sum_w: i64,
}

/// Which minutes a read asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedMinutes {
    /// Series of which each has its own newest minute.
    pub each: Vec<Series>,
    /// Series that must all have the minute.
    pub common: Vec<Series>,
}

/// The minutes that a read gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewestMinutes {
    /// Of each series asked for its newest minute with a sample, if it has one.
    pub each: Vec<MinuteSums>,
    /// The newest minute in which all series have a sample, a value for each; empty without one.
    pub common: Vec<MinuteSums>,
}

impl Store {
    /// The newest measurement of each series of the building that ever had one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn latest_samples(&self, building: Uuid) -> Result<Vec<LatestSample>, StoreFailure> {
        let rows = sqlx::query(include_str!("queries/latest_samples.sql"))
            .bind(building)
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                let time: Instant = row.try_get("time")?;
                Ok(LatestSample {
                    series: series(row)?,
                    time: time.0,
                    power_w: row.try_get("power_w")?,
                })
            })
            .collect()
    }

    /// The newest minutes that start within `starts`, all as of one moment: a reader never sees half
    /// a batch.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn newest_minutes(
        &self,
        building: Uuid,
        asked: &AskedMinutes,
        starts: Range<Timestamp>,
    ) -> Result<NewestMinutes, StoreFailure> {
        let mut snapshot = self.snapshot().await?;
        let each = include_str!("queries/newest_minutes.sql");
        let common = include_str!("queries/newest_common_minute.sql");
        Ok(NewestMinutes {
            each: minutes(&mut snapshot, each, building, &asked.each, &starts).await?,
            common: minutes(&mut snapshot, common, building, &asked.common, &starts).await?,
        })
    }
}

impl Store {
    /// A transaction whose statements all see the same moment.
    async fn snapshot(&self) -> Result<Transaction<'static, Postgres>, StoreFailure> {
        let begin = "begin isolation level repeatable read, read only";
        Ok(self.pool.begin_with(begin).await?)
    }
}

async fn minutes(
    connection: &mut PgConnection,
    statement: &'static str,
    building: Uuid,
    wanted: &[Series],
    starts: &Range<Timestamp>,
) -> Result<Vec<MinuteSums>, StoreFailure> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let codes: Vec<i64> = wanted.iter().map(|series| series.code()).collect();
    let rows = sqlx::query(statement)
        .bind(building)
        .bind(codes)
        .bind(Instant(starts.start))
        .bind(Instant(starts.end))
        .fetch_all(connection)
        .await?;
    rows.iter().map(minute_sums).collect()
}

fn minute_sums(row: &PgRow) -> Result<MinuteSums, StoreFailure> {
    let start: Instant = row.try_get("start")?;
    Ok(MinuteSums {
        series: series(row)?,
        start: start.0,
        samples: row.try_get("samples")?,
        positive_sum_w: row.try_get("positive_sum_w")?,
        negative_sum_w: row.try_get("negative_sum_w")?,
    })
}

fn series(row: &PgRow) -> Result<Series, StoreFailure> {
    let value: i64 = row.try_get("series")?;
    Series::from_code(value)
        .ok_or_else(|| StoreFailure::Permanent(format!("the database names series {value}")))
}
