//! Folding: marked minutes into minute buckets, quarters from minutes, days from quarters.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::{Interval, Timestamp};
use sqlx::{PgConnection, Row};
use std::collections::BTreeSet;
use uuid::Uuid;

/// Marks that one transaction takes: some tenths of a second of work, so that marks are not held long.
pub const FOLD_LIMIT: i64 = 2_000;

/// How many marks a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Building-minutes.
    pub minutes: usize,
    /// Building-quarters.
    pub quarters: usize,
    /// Building-days.
    pub days: usize,
}

impl Store {
    /// Folds at most [`FOLD_LIMIT`] marked minutes, and as many quarters and days, that have ended at `now`.
    /// Any number of processes may do so at once: each mark is taken by one of them.
    ///
    /// # Errors
    /// When the database does not take it; nothing is lost then.
    pub async fn fold(&self, now: Timestamp) -> Result<Folded, StoreFailure> {
        // One that fails does not keep the others from going on.
        let minutes = self.fold_minutes(now.floor(Interval::Minute)).await;
        let quarters = self.fold_quarters(now.floor(Interval::Quarter)).await;
        let days = self.fold_days(now.floor(Interval::Day)).await;
        Ok(Folded {
            minutes: minutes?,
            quarters: quarters?,
            days: days?,
        })
    }

    async fn fold_minutes(&self, before: Timestamp) -> Result<usize, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let claim = include_str!("queries/claim_minutes.sql");
        let claimed = claim_marks(&mut transaction, claim, before).await?;
        if claimed.is_empty() {
            return Ok(0);
        }
        let fold = include_str!("queries/fold_minutes.sql");
        write(&mut transaction, fold, &claimed).await?;
        let mark = include_str!("queries/mark_quarters.sql");
        write(&mut transaction, mark, &around(&claimed, Interval::Quarter)).await?;
        transaction.commit().await?;
        Ok(claimed.len())
    }

    async fn fold_quarters(&self, before: Timestamp) -> Result<usize, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let claim = include_str!("queries/claim_quarters.sql");
        let claimed = claim_marks(&mut transaction, claim, before).await?;
        if claimed.is_empty() {
            return Ok(0);
        }
        let fold = include_str!("queries/fold_quarters.sql");
        write(&mut transaction, fold, &claimed).await?;
        let values = include_str!("queries/fold_value_quarters.sql");
        write(&mut transaction, values, &claimed).await?;
        let mark = include_str!("queries/mark_days.sql");
        write(&mut transaction, mark, &around(&claimed, Interval::Day)).await?;
        transaction.commit().await?;
        Ok(claimed.len())
    }

    async fn fold_days(&self, before: Timestamp) -> Result<usize, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let claim = include_str!("queries/claim_days.sql");
        let claimed = claim_marks(&mut transaction, claim, before).await?;
        if claimed.is_empty() {
            return Ok(0);
        }
        // Totals lean on those of earlier days, so one process at a time has a building's days.
        let buildings: BTreeSet<Uuid> = claimed.iter().map(|(building, _)| *building).collect();
        sqlx::query(include_str!("queries/lock_days.sql"))
            .bind(buildings.into_iter().collect::<Vec<_>>())
            .execute(&mut *transaction)
            .await?;
        let fold = include_str!("queries/fold_days.sql");
        write(&mut transaction, fold, &claimed).await?;
        let total = include_str!("queries/total_days.sql");
        write(&mut transaction, total, &claimed).await?;
        transaction.commit().await?;
        Ok(claimed.len())
    }
}

/// The claimed marks by building and start: one order of locks for all processes.
type Marks = BTreeSet<(Uuid, Timestamp)>;

/// The intervals that hold the claimed ones.
fn around(claimed: &Marks, interval: Interval) -> Marks {
    claimed
        .iter()
        .map(|(building, start)| (*building, start.floor(interval)))
        .collect()
}

async fn claim_marks(
    connection: &mut PgConnection,
    claim: &'static str,
    before: Timestamp,
) -> Result<Marks, StoreFailure> {
    let rows = sqlx::query(claim)
        .bind(Instant(before))
        .bind(FOLD_LIMIT)
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| {
            let start: Instant = row.try_get("start")?;
            Ok((row.try_get("building_uuid")?, start.0))
        })
        .collect()
}

async fn write(
    connection: &mut PgConnection,
    statement: &'static str,
    marks: &Marks,
) -> Result<(), StoreFailure> {
    let (buildings, starts): (Vec<Uuid>, Vec<Instant>) = marks
        .iter()
        .map(|(building, start)| (*building, Instant(*start)))
        .unzip();
    sqlx::query(statement)
        .bind(buildings)
        .bind(starts)
        .execute(connection)
        .await?;
    Ok(())
}
