//! One day of a building, in one transaction: registers, minutes, quarters, the day.

use super::{DAY, DayKeys, Rebuilt, amend, end, registers};
use crate::StoreFailure;
use crate::administration::Run;
use crate::instant::Instant;
use domain::time::{Interval, Timestamp};
use sqlx::{PgConnection, Postgres, Row, Transaction};
use std::collections::BTreeSet;
use uuid::Uuid;

/// What is looked at, and what is found.
pub(super) struct Look<'a> {
    pub(super) building: Uuid,
    /// A midnight (UTC).
    pub(super) start: Timestamp,
    pub(super) now: Timestamp,
    pub(super) rebuilt: &'a mut Rebuilt,
    pub(super) days: &'a mut DayKeys,
}

impl Look<'_> {
    /// Where the day ends, or before it the last interval of this kind that has ended.
    fn end(&self, interval: Interval) -> Timestamp {
        self.start.plus(DAY).min(self.now.floor(interval))
    }
}

pub(super) async fn rebuild(
    mut transaction: Transaction<'_, Postgres>,
    look: &mut Look<'_>,
    run: Run,
) -> Result<(), StoreFailure> {
    // Nobody drops the day's records meanwhile.
    let horizon: Instant = sqlx::query_scalar("select moment from hold_raw_horizon()")
        .fetch_one(&mut *transaction)
        .await?;
    if look.start < horizon.0 {
        return end(transaction, run).await;
    }
    look.rebuilt.days += 1;
    let (building, start, until) = (look.building, look.start, look.start.plus(DAY));
    registers::rebuild(&mut transaction, building, start, until, look.rebuilt).await?;
    let minutes = minutes(&mut transaction, look).await?;
    let quarters = quarters(&mut transaction, look, &minutes).await?;
    day(&mut transaction, look, !quarters.is_empty()).await?;
    end(transaction, run).await
}

/// Answers which minutes were not right.
async fn minutes(
    connection: &mut PgConnection,
    look: &mut Look<'_>,
) -> Result<Vec<Instant>, StoreFailure> {
    let differing = include_str!("../queries/differing_minutes.sql");
    let starts = differing_starts(connection, differing, look, Interval::Minute).await?;
    if starts.is_empty() {
        return Ok(starts);
    }
    let statement = include_str!("../queries/mark_minutes.sql");
    mark(connection, statement, look.building, &starts).await?;
    let statement = include_str!("../queries/amend_minutes.sql");
    look.rebuilt.minutes += amend(connection, statement, look.building, &starts).await?;
    let statement = "delete from touched_minute where building_uuid = $1 and start = any($2)";
    unmark(connection, statement, look.building, &starts).await?;
    Ok(starts)
}

/// Answers which quarters were not right, or were made of minutes that were not.
async fn quarters(
    connection: &mut PgConnection,
    look: &mut Look<'_>,
    minutes: &[Instant],
) -> Result<Vec<Instant>, StoreFailure> {
    let around: BTreeSet<Instant> = minutes
        .iter()
        .map(|it| Instant(it.0.floor(Interval::Quarter)))
        .collect();
    // Minutes that were put right show here as quarters that differ; an open quarter is left to folding.
    let differing = include_str!("../queries/differing_quarters.sql");
    let differing = differing_starts(connection, differing, look, Interval::Quarter).await?;
    let all: BTreeSet<Instant> = around.into_iter().chain(differing).collect();
    let all: Vec<Instant> = all.into_iter().collect();
    if all.is_empty() {
        return Ok(all);
    }
    let statement = include_str!("../queries/mark_quarters.sql");
    mark(connection, statement, look.building, &all).await?;
    let end = look.end(Interval::Quarter);
    let ended: Vec<Instant> = all.iter().copied().filter(|it| it.0 < end).collect();
    let statement = include_str!("../queries/amend_quarters.sql");
    look.rebuilt.quarters += amend(connection, statement, look.building, &ended).await?;
    let statement = include_str!("../queries/amend_value_quarters.sql");
    look.rebuilt.value_quarters += amend(connection, statement, look.building, &ended).await?;
    let statement = "delete from touched_quarter where building_uuid = $1 and start = any($2)";
    unmark(connection, statement, look.building, &ended).await?;
    Ok(all)
}

/// Today is left to folding, and so is a day that waits for it.
async fn day(
    connection: &mut PgConnection,
    look: &mut Look<'_>,
    changed: bool,
) -> Result<(), StoreFailure> {
    let starts = [Instant(look.start)];
    let ended = look.start < look.end(Interval::Day);
    if !ended && !changed {
        return Ok(());
    }
    let settled: bool = sqlx::query_scalar(include_str!("../queries/hold_day.sql"))
        .bind(look.building)
        .bind(Instant(look.start))
        .fetch_one(&mut *connection)
        .await?;
    if !ended || !(settled || changed) {
        return Ok(());
    }
    // The order of folding: the mark first, then this.
    sqlx::query(include_str!("../queries/lock_days.sql"))
        .bind(vec![look.building])
        .execute(&mut *connection)
        .await?;
    let amended: Vec<i64> = sqlx::query_scalar(include_str!("../queries/amend_day.sql"))
        .bind(look.building)
        .bind(Instant(look.start))
        .fetch_all(&mut *connection)
        .await?;
    let start = look.start;
    look.days
        .extend(amended.into_iter().map(|series| (series, start)));
    let moved = sqlx::query(include_str!("../queries/total_days.sql"))
        .bind(vec![look.building])
        .bind(starts.as_slice())
        .fetch_all(&mut *connection)
        .await?;
    for row in &moved {
        let start: Instant = row.try_get("start")?;
        look.days.insert((row.try_get("series")?, start.0));
    }
    let statement = "delete from touched_day where building_uuid = $1 and start = any($2)";
    unmark(connection, statement, look.building, &starts).await
}

async fn differing_starts(
    connection: &mut PgConnection,
    statement: &'static str,
    look: &Look<'_>,
    interval: Interval,
) -> Result<Vec<Instant>, StoreFailure> {
    let end = look.end(interval);
    if end <= look.start {
        return Ok(Vec::new());
    }
    let starts = sqlx::query_scalar(statement)
        .bind(look.building)
        .bind(Instant(look.start))
        .bind(Instant(end))
        .fetch_all(connection)
        .await?;
    Ok(starts)
}

/// Locks them as a batch does: whoever folds or stores there waits for this transaction.
async fn mark(
    connection: &mut PgConnection,
    statement: &'static str,
    building: Uuid,
    starts: &[Instant],
) -> Result<(), StoreFailure> {
    sqlx::query(statement)
        .bind(vec![building; starts.len()])
        .bind(starts)
        .execute(connection)
        .await?;
    Ok(())
}

/// What was made anew with the mark held is folded.
async fn unmark(
    connection: &mut PgConnection,
    statement: &'static str,
    building: Uuid,
    starts: &[Instant],
) -> Result<(), StoreFailure> {
    sqlx::query(statement)
        .bind(building)
        .bind(starts)
        .execute(connection)
        .await?;
    Ok(())
}
