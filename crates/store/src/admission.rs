//! Whether a request of a user comes in: the user, the role, the rate limit, in one statement.

use crate::instant::Instant;
use crate::{Role, Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::Row;
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
        let row = sqlx::query(include_str!("queries/admit.sql"))
            .bind(username)
            .bind(building)
            .bind(Instant(now))
            .bind(limit.least)
            .bind(limit.each_building)
            .bind(interval(limit.window))
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| {
            let role: Option<String> = row.try_get("role")?;
            Ok(Admission {
                role: role.as_deref().and_then(Role::parse),
                limit: row.try_get("request_limit")?,
                spent: row.try_get("spent")?,
                window_start: row.try_get::<Instant, _>("window_start")?.0,
                admitted: row.try_get("admitted")?,
            })
        })
        .transpose()
    }
}

fn interval(length: Duration) -> PgInterval {
    PgInterval {
        months: 0,
        days: 0,
        microseconds: i64::try_from(length.as_micros()).unwrap_or(i64::MAX),
    }
}
