//! Meter readings: what registers read, a meter's own or a virtual one. A sensor that ever sent its
//! own register has no virtual one.

use crate::instant::Instant;
use crate::series::Series;
use crate::{Store, StoreFailure};
use domain::calendar::{MinInterval, Timezone};
use domain::sensor::Sign;
use domain::time::Timestamp;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Postgres, Row};
use std::ops::Range;
use uuid::Uuid;

/// A sensor whose register is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metered {
    /// The sensor's id.
    pub sensor_id: i64,
    /// What its virtual register integrates, and in which direction; `None` for a sensor that has
    /// only readings of its own.
    pub fed_by: Option<(Series, Sign)>,
}

/// What a register read at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeterReading {
    /// The sensor's id.
    pub sensor_id: i64,
    /// When it was read; of a virtual register the start of a minute.
    pub time: Timestamp,
    /// What it read.
    pub reading: Reading,
}

/// What a register read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reading {
    /// The meter's own register, in its own unit.
    Own(f64),
    /// The virtual register: energy since the first sample, in watt-microseconds.
    Virtual(i128),
}

impl Store {
    /// The first reading of each sensor in an interval, of those that have one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn first_meter_readings(
        &self,
        building: Uuid,
        metered: &[Metered],
        interval: &Range<Timestamp>,
    ) -> Result<Vec<MeterReading>, StoreFailure> {
        let rows = self.rows(first_readings(building, metered, interval));
        meter_readings(&rows.await?, metered)
    }

    /// The newest reading of each sensor that ever had one.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn newest_meter_readings(
        &self,
        building: Uuid,
        metered: &[Metered],
    ) -> Result<Vec<MeterReading>, StoreFailure> {
        let statement = include_str!("../queries/newest_meter_readings.sql");
        let rows = self.rows(asking(statement, building, metered)).await?;
        meter_readings(&rows, metered)
    }

    /// The first readings in the newest interval that has ended at `now` and has a reading of any of
    /// the sensors; all as of one moment.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_processed_meter_readings(
        &self,
        building: Uuid,
        metered: &[Metered],
        interval: MinInterval,
        timezone: &Timezone,
        now: Timestamp,
    ) -> Result<Vec<MeterReading>, StoreFailure> {
        let open = interval.containing(now, timezone);
        // Where anything is read at all, it is mostly in the interval that has ended last: then one statement tells.
        let before = Timestamp::from_micros(open.start.micros().saturating_sub(1));
        let ended = interval.containing(before, timezone);
        let readings = self.first_meter_readings(building, metered, &ended).await?;
        if !readings.is_empty() {
            return Ok(readings);
        }
        let mut snapshot = self.snapshot().await?;
        let newest = include_str!("../queries/newest_reading_before.sql");
        let newest: Option<Instant> = asking(newest, building, metered)
            .bind(Instant(open.start))
            .fetch_one(&mut *snapshot)
            .await?
            .try_get("time")?;
        let Some(newest) = newest else {
            return Ok(Vec::new());
        };
        let last = interval.containing(newest.0, timezone);
        let first = first_readings(building, metered, &last);
        meter_readings(&first.fetch_all(&mut *snapshot).await?, metered)
    }
}

fn first_readings(
    building: Uuid,
    metered: &[Metered],
    interval: &Range<Timestamp>,
) -> Query<'static, Postgres, PgArguments> {
    let statement = include_str!("../queries/first_meter_readings.sql");
    asking(statement, building, metered)
        .bind(Instant(interval.start))
        .bind(Instant(interval.end))
}

/// A statement about the registers of some sensors.
fn asking(
    statement: &'static str,
    building: Uuid,
    metered: &[Metered],
) -> Query<'static, Postgres, PgArguments> {
    let (sensors, series): (Vec<i64>, Vec<Option<i64>>) = metered
        .iter()
        .map(|it| (it.sensor_id, it.fed_by.map(|(series, _)| series.code())))
        .unzip();
    sqlx::query(statement)
        .bind(building)
        .bind(sensors)
        .bind(series)
}

fn meter_readings(rows: &[PgRow], metered: &[Metered]) -> Result<Vec<MeterReading>, StoreFailure> {
    let reading = |row: &PgRow| {
        let sensor_id: i64 = row.try_get("sensor_id")?;
        let time: Instant = row.try_get("time")?;
        let own: Option<f64> = row.try_get("reading")?;
        let reading = match own {
            Some(reading) => Reading::Own(reading),
            None => Reading::Virtual(energy(row, sign(sensor_id, metered))?),
        };
        Ok(MeterReading {
            sensor_id,
            time: time.0,
            reading,
        })
    };
    rows.iter().map(reading).collect()
}

/// The direction that a sensor's virtual register counts.
fn sign(sensor_id: i64, metered: &[Metered]) -> Sign {
    let asked = metered.iter().find(|it| it.sensor_id == sensor_id);
    asked
        .and_then(|it| it.fed_by)
        .map_or(Sign::Positive, |(_, sign)| sign)
}

/// Energy, which the database counts in more digits than a bigint has.
fn energy(row: &PgRow, sign: Sign) -> Result<i128, StoreFailure> {
    let digits: String = row.try_get(match sign {
        Sign::Positive => "positive_wus",
        Sign::Negative => "negative_wus",
    })?;
    digits
        .parse()
        .map_err(|_| StoreFailure::Permanent(format!("the database counts {digits:?} of energy")))
}
