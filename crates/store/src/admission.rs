//! Whether requests of users come in: the user, the role, the rate limit, in one statement.

mod several;

use crate::instant::Instant;
use crate::{Role, Store, StoreFailure};
use domain::time::Timestamp;
use several::Round;
use sqlx::Row;
use sqlx::postgres::PgRow;
use sqlx::postgres::types::PgInterval;
use std::time::Duration;
use uuid::Uuid;

/// How many requests a user has in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLimit {
    /// For each building that the user is linked to.
    pub each_building: i64,
    /// Whatever the user is linked to.
    pub least: i64,
    /// Length of the window, which begins with its first request.
    pub window: Duration,
}

/// A request that wants to come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedAdmission {
    /// Whose it is.
    pub username: String,
    /// The building that it is about, if it is about one.
    pub building: Option<Uuid>,
}

/// What a request of a user who may log in is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// The user's role in the building that was asked for; `None` without a link to it.
    pub role: Option<Role>,
    /// Requests that the user has in a window, by the links of this moment.
    pub limit: i64,
    /// Requests of the window so far, this one included if it is admitted.
    pub spent: i64,
    /// When the window began.
    pub window_start: Timestamp,
    /// Whether this request is within the limit, and counted.
    pub admitted: bool,
}

impl Store {
    /// Counts a request of `username` at `now`, unless it is one too many, and tells what it may do in
    /// `building`; `None` when the user is disabled or does not exist. One budget over all processes,
    /// exact under concurrency.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn admit(
        &self,
        username: &str,
        building: Option<Uuid>,
        limit: RequestLimit,
        now: Timestamp,
    ) -> Result<Option<Admission>, StoreFailure> {
        let statement = sqlx::query(include_str!("queries/admit.sql"))
            .bind(username)
            .bind(building)
            .bind(Instant(now))
            .bind(limit.least)
            .bind(limit.each_building)
            .bind(interval(limit.window));
        self.row(statement)
            .await?
            .as_ref()
            .map(admission)
            .transpose()
    }

    /// The same of several requests, answered in their order: what comes of them is what would come of one after the
    /// other, for the price of one.
    ///
    /// # Errors
    /// When the database does not answer; requests may have been counted by then.
    pub async fn admit_several(
        &self,
        asked: &[AskedAdmission],
        limit: RequestLimit,
        now: Timestamp,
    ) -> Result<Vec<Option<Admission>>, StoreFailure> {
        if let [one] = asked {
            let admission = self.admit(&one.username, one.building, limit, now).await?;
            return Ok(vec![admission]);
        }
        let mut told = vec![None; asked.len()];
        let mut round = Round::first(asked);
        while !round.is_empty() {
            let (usernames, buildings) = round.columns();
            let statement = sqlx::query(include_str!("queries/admit_several.sql"))
                .bind(usernames)
                .bind(buildings)
                .bind(Instant(now))
                .bind(limit.least)
                .bind(limit.each_building)
                .bind(interval(limit.window));
            let rows = self.rows(statement).await?;
            let counted = rows.iter().map(several::counted);
            round = round.settle(counted.collect::<Result<_, _>>()?, &mut told);
        }
        Ok(told)
    }
}

fn admission(row: &PgRow) -> Result<Admission, StoreFailure> {
    let role: Option<&str> = row.try_get("role")?;
    let Instant(window_start) = row.try_get("window_start")?;
    Ok(Admission {
        role: role.and_then(Role::parse),
        limit: row.try_get("request_limit")?,
        spent: row.try_get("spent")?,
        window_start,
        admitted: row.try_get("admitted")?,
    })
}

fn interval(length: Duration) -> PgInterval {
    PgInterval {
        months: 0,
        days: 0,
        microseconds: i64::try_from(length.as_micros()).unwrap_or(i64::MAX),
    }
}
