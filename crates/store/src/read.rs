//! What the electricity reads ask: newest samples and newest minutes, each as of one moment, so that a
//! reader never sees half a batch. The other reads are below.

pub(crate) mod action;
pub(crate) mod comfort;
pub(crate) mod key_value;
pub(crate) mod meter_reading;

use crate::building::sensor;
use crate::instant::Instant;
use crate::series::Series;
use crate::{Sensor, Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Postgres, Row, Transaction};
use std::ops::Range;
use uuid::Uuid;

const EACH: &str = include_str!("queries/newest_minutes.sql");
const COMMON: &str = include_str!("queries/newest_common_minute.sql");

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
    /// The sensors of a building as [`Store::sensors_of`] orders them, and the newest measurement of each of its series
    /// that ever had one; as of one moment.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sensors_and_samples(
        &self,
        building: Uuid,
    ) -> Result<(Vec<Sensor>, Vec<LatestSample>), StoreFailure> {
        let statement = sqlx::query(include_str!("queries/sensors_and_samples.sql")).bind(building);
        let rows = self.rows(statement).await?;
        let (mut sensors, mut samples) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in &rows {
            match row.try_get::<Option<i64>, _>("series")? {
                None => sensors.push(sensor(row)?),
                Some(_) => samples.push(latest_sample(row)?),
            }
        }
        Ok((sensors, samples))
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
        let each = statement(EACH, building, &asked.each, &starts);
        let common = statement(COMMON, building, &asked.common, &starts);
        let (each, common) = match (asked.each.is_empty(), asked.common.is_empty()) {
            (false, false) => {
                let mut snapshot = self.snapshot().await?;
                let each = each.fetch_all(&mut *snapshot).await?;
                (each, common.fetch_all(&mut *snapshot).await?)
            }
            // A statement by itself is as of one moment.
            (false, true) => (self.rows(each).await?, Vec::new()),
            (true, false) => (Vec::new(), self.rows(common).await?),
            (true, true) => (Vec::new(), Vec::new()),
        };
        Ok(NewestMinutes {
            each: each.iter().map(minute_sums).collect::<Result<_, _>>()?,
            common: common.iter().map(minute_sums).collect::<Result<_, _>>()?,
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

fn statement(
    text: &'static str,
    building: Uuid,
    wanted: &[Series],
    starts: &Range<Timestamp>,
) -> Query<'static, Postgres, PgArguments> {
    let codes: Vec<i64> = wanted.iter().map(|series| series.code()).collect();
    sqlx::query(text)
        .bind(building)
        .bind(codes)
        .bind(Instant(starts.start))
        .bind(Instant(starts.end))
}

fn latest_sample(row: &PgRow) -> Result<LatestSample, StoreFailure> {
    let Instant(time) = row.try_get("time")?;
    Ok(LatestSample {
        series: series(row)?,
        time,
        power_w: row.try_get("power_w")?,
    })
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
