//! How much waits in the database to be done: marks to be folded, documents to be published.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::{Interval, Timestamp};
use sqlx::Row;

/// What stands in the outbox of desired documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outbox {
    /// Entries, refused ones and repetitions included.
    pub entries: i64,
    /// The numbers of the oldest and of the newest one; `None` when there is none. Numbers only rise.
    pub numbers: Option<(i64, i64)>,
}

impl Store {
    /// Counts the minutes, quarters and days that have ended at `now` and are not folded; at most 100,000 of each.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn waiting_marks(&self, now: Timestamp) -> Result<i64, StoreFailure> {
        let row = sqlx::query(include_str!("queries/waiting_marks.sql"))
            .bind(Instant(now.floor(Interval::Minute)))
            .bind(Instant(now.floor(Interval::Quarter)))
            .bind(Instant(now.floor(Interval::Day)))
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get("marks")?)
    }

    /// Counts what stands in the outbox.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn outbox(&self) -> Result<Outbox, StoreFailure> {
        let row = sqlx::query(
            "select count(*) as entries, min(number) as oldest, max(number) as newest from desired_outbox",
        )
        .fetch_one(&self.pool)
        .await?;
        let oldest: Option<i64> = row.try_get("oldest")?;
        let newest: Option<i64> = row.try_get("newest")?;
        Ok(Outbox {
            entries: row.try_get("entries")?,
            numbers: oldest.zip(newest),
        })
    }
}
