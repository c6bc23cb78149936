//! Rebuilding: what is made of stored records is compared with them, and made anew where it differs.
//!
//! In every committed state what is not marked is a function of the stored records, so what one statement sees to
//! differ is wrong. Only that is locked (by marking it, as a batch does) and made anew, a day of a building a
//! transaction: whoever stores and folds meanwhile hardly waits.

mod day;
mod newest;
mod registers;

use crate::administration::Run;
use crate::fold::FOLD_LIMIT;
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::{Interval, Timestamp};
use sqlx::{Connection, PgConnection, Postgres, Row, Transaction};
use std::collections::BTreeSet;
use std::time::Duration;
use uuid::Uuid;

/// A day of UTC.
const DAY: Duration = Duration::from_micros(Interval::Day.micros().unsigned_abs());

/// Which days are rebuilt, whole ones of UTC; what is `None` does not restrict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// From the day with this moment on.
    pub since: Option<Timestamp>,
    /// To the day with the last moment before this one.
    pub until: Option<Timestamp>,
}

/// How many rows were not what the stored records make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Days that were looked at.
    pub days: u64,
    /// Rows of minute buckets.
    pub minutes: u64,
    /// Rows of quarter buckets.
    pub quarters: u64,
    /// Rows of day buckets, totals included.
    pub day_buckets: u64,
    /// Rows of the means of quarters.
    pub value_quarters: u64,
    /// Rows of what registers read.
    pub register_readings: u64,
    /// Rows of what happened to registers.
    pub register_events: u64,
    /// Rows of newest samples and newest key-values.
    pub newest: u64,
}

impl Rebuilt {
    /// Adds what was found elsewhere.
    pub const fn add(&mut self, other: &Self) {
        self.days += other.days;
        self.minutes += other.minutes;
        self.quarters += other.quarters;
        self.day_buckets += other.day_buckets;
        self.value_quarters += other.value_quarters;
        self.register_readings += other.register_readings;
        self.register_events += other.register_events;
        self.newest += other.newest;
    }

    /// All rows that differed.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.minutes
            + self.quarters
            + self.day_buckets
            + self.value_quarters
            + self.register_readings
            + self.register_events
            + self.newest
    }
}

/// The series and starts of day buckets that were not right: a day may be found by its quarters and by the totals
/// of a day before it.
type DayKeys = BTreeSet<(i64, Timestamp)>;

impl Store {
    /// Rebuilds what was made of a building's raw records in a period: what is right is not touched, what is not,
    /// missing or too much is put right. What is from before the raw horizon stays as it is, and so does what
    /// is marked or has not ended at `now`: folding will make it. A dry run does the same and takes it back.
    ///
    /// # Errors
    /// When the database does not take it; what was rebuilt until then stays.
    pub async fn rebuild(
        &self,
        building: Uuid,
        period: Period,
        now: Timestamp,
        run: Run,
    ) -> Result<Rebuilt, StoreFailure> {
        if run == Run::Real {
            self.fold_waiting(now).await?;
        }
        let mut connection = self.pool.acquire().await?;
        let mut rebuilt = Rebuilt::default();
        // Totals of days are counted for what has a newest sample.
        newest::rebuild(&mut connection, building, run, &mut rebuilt).await?;
        let Some(first) = raw_since(&mut connection, building).await? else {
            return Ok(rebuilt);
        };
        let mut days = DayKeys::new();
        let mut day = period.since.map_or(first, |since| since.max(first));
        let until = period.until.map_or(now, |until| until.min(now));
        while day < until {
            let start = day.floor(Interval::Day);
            let mut look = day::Look {
                building,
                start,
                now,
                rebuilt: &mut rebuilt,
                days: &mut days,
            };
            let transaction = connection.begin().await?;
            day::rebuild(transaction, &mut look, run).await?;
            day = start.plus(DAY);
        }
        rebuilt.day_buckets = days.len() as u64;
        Ok(rebuilt)
    }

    /// Where raw records begin: what was made of those from before is not rebuilt. `None` while all are kept.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn raw_horizon(&self) -> Result<Option<Timestamp>, StoreFailure> {
        let moment: Instant = sqlx::query_scalar("select moment from raw_horizon")
            .fetch_one(&self.pool)
            .await?;
        Ok((moment.0 > Timestamp::from_micros(0)).then_some(moment.0))
    }

    /// Folds what has been marked so far.
    async fn fold_waiting(&self, now: Timestamp) -> Result<(), StoreFailure> {
        let limit = usize::try_from(FOLD_LIMIT).unwrap_or(usize::MAX);
        loop {
            let folded = self.fold(now).await?;
            let all = [folded.minutes, folded.quarters, folded.days];
            if all.into_iter().all(|taken| taken < limit) {
                return Ok(());
            }
        }
    }
}

async fn raw_since(
    connection: &mut PgConnection,
    building: Uuid,
) -> Result<Option<Timestamp>, StoreFailure> {
    let since: Option<Instant> = sqlx::query_scalar(include_str!("queries/raw_since.sql"))
        .bind(building)
        .fetch_optional(connection)
        .await?;
    Ok(since.map(|it| it.0))
}

/// Makes it true, or takes it back.
async fn end(transaction: Transaction<'_, Postgres>, run: Run) -> Result<(), StoreFailure> {
    match run {
        Run::Real => transaction.commit().await?,
        Run::Dry => transaction.rollback().await?,
    }
    Ok(())
}

/// Runs a statement that answers how many rows it put right.
async fn amend(
    connection: &mut PgConnection,
    statement: &'static str,
    building: Uuid,
    starts: &[Instant],
) -> Result<u64, StoreFailure> {
    let amended: i64 = sqlx::query(statement)
        .bind(building)
        .bind(starts)
        .fetch_one(connection)
        .await?
        .try_get(0)?;
    Ok(amended.unsigned_abs())
}
