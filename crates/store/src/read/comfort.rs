//! Comfort: the means of a sensor's values by quarter.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::Row;
use std::ops::Range;
use uuid::Uuid;

/// The mean of a sensor's values in a quarter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuarterMean {
    /// Start of the quarter.
    pub start: Timestamp,
    /// In the sensor's unit.
    pub mean: f64,
}

impl Store {
    /// The quarters that start in an interval and have a value of the sensor, in order of time.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn quarter_means(
        &self,
        building: Uuid,
        sensor_id: i64,
        interval: &Range<Timestamp>,
    ) -> Result<Vec<QuarterMean>, StoreFailure> {
        let statement = sqlx::query(include_str!("../queries/quarter_means.sql"))
            .bind(building)
            .bind(sensor_id)
            .bind(Instant(interval.start))
            .bind(Instant(interval.end));
        let rows = self.rows(statement).await?;
        rows.iter()
            .map(|row| {
                let start: Instant = row.try_get("start")?;
                Ok(QuarterMean {
                    start: start.0,
                    mean: row.try_get("mean")?,
                })
            })
            .collect()
    }
}
