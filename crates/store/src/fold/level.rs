//! The three levels of buckets: their marks, and the statements that fold them.

use crate::StoreFailure;
use crate::instant::Instant;
use domain::time::{Interval, Timestamp};
use sqlx::PgConnection;
use sqlx::postgres::{PgArguments, Postgres};
use sqlx::query::Query;
use std::collections::BTreeSet;
use uuid::Uuid;

/// A building, and the start of an interval.
pub(super) type Mark = (Uuid, Timestamp);

/// What is folded.
#[derive(Clone, Copy)]
pub(super) enum Level {
    /// Records into minute buckets.
    Minute,
    /// Minute buckets into quarter buckets, and values into their means.
    Quarter,
    /// Quarter buckets into day buckets, and totals.
    Day,
}

impl Level {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Quarter => "quarter",
            Self::Day => "day",
        }
    }

    pub(super) const fn interval(self) -> Interval {
        match self {
            Self::Minute => Interval::Minute,
            Self::Quarter => Interval::Quarter,
            Self::Day => Interval::Day,
        }
    }

    pub(super) const fn claim(self) -> &'static str {
        match self {
            Self::Minute => include_str!("../queries/claim_minutes.sql"),
            Self::Quarter => include_str!("../queries/claim_quarters.sql"),
            Self::Day => include_str!("../queries/claim_days.sql"),
        }
    }

    pub(super) const fn set_aside(self) -> &'static str {
        match self {
            Self::Minute => include_str!("../queries/set_aside_minutes.sql"),
            Self::Quarter => include_str!("../queries/set_aside_quarters.sql"),
            Self::Day => include_str!("../queries/set_aside_days.sql"),
        }
    }

    /// Locks what folding these marks leans on.
    pub(super) async fn lock(
        self,
        connection: &mut PgConnection,
        marks: &[Mark],
    ) -> Result<(), StoreFailure> {
        match self {
            Self::Minute | Self::Quarter => Ok(()),
            Self::Day => {
                // Totals lean on those of earlier days, so one process at a time has a building's days.
                let buildings: BTreeSet<Uuid> = marks.iter().map(|mark| mark.0).collect();
                sqlx::query(include_str!("../queries/lock_days.sql"))
                    .bind(buildings.into_iter().collect::<Vec<_>>())
                    .execute(connection)
                    .await?;
                Ok(())
            }
        }
    }

    /// Writes the buckets of the marks, and marks those that are folded from them.
    pub(super) async fn fold(
        self,
        connection: &mut PgConnection,
        marks: &[Mark],
    ) -> Result<(), StoreFailure> {
        let statements: &[&'static str] = match self {
            Self::Minute => &[include_str!("../queries/fold_minutes.sql")],
            Self::Quarter => &[
                include_str!("../queries/fold_quarters.sql"),
                include_str!("../queries/fold_value_quarters.sql"),
            ],
            Self::Day => &[
                include_str!("../queries/fold_days.sql"),
                include_str!("../queries/total_days.sql"),
            ],
        };
        for statement in statements {
            bind(statement, marks).execute(&mut *connection).await?;
        }
        let (statement, interval) = match self {
            Self::Minute => (
                include_str!("../queries/mark_quarters.sql"),
                Interval::Quarter,
            ),
            Self::Quarter => (include_str!("../queries/mark_days.sql"), Interval::Day),
            Self::Day => return Ok(()),
        };
        bind(statement, &around(marks, interval))
            .execute(connection)
            .await?;
        Ok(())
    }
}

/// A statement with marks bound as `$1` and `$2`.
pub(super) fn bind(
    statement: &'static str,
    marks: &[Mark],
) -> Query<'static, Postgres, PgArguments> {
    let (buildings, starts): (Vec<Uuid>, Vec<Instant>) = marks
        .iter()
        .map(|(building, start)| (*building, Instant(*start)))
        .unzip();
    sqlx::query(statement).bind(buildings).bind(starts)
}

/// The intervals that hold the marked ones.
fn around(marks: &[Mark], interval: Interval) -> Vec<Mark> {
    let around: BTreeSet<Mark> = marks
        .iter()
        .map(|(building, start)| (*building, start.floor(interval)))
        .collect();
    around.into_iter().collect()
}
