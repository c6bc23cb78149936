//! Who asked what, when and from where, and what became of it.

use crate::instant::Instant;
use crate::read::action::status;
use crate::{Store, StoreFailure};
use domain::control::Status;
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

/// Somebody who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Who<'a> {
    /// The user's name.
    pub username: &'a str,
    /// The client's address, as far as proxies are believed.
    pub address: &'a str,
}

/// What was done to an occurrence of the grid limit schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    GridLimitCreated,
    GridLimitDeleted,
}

impl Operation {
    const fn as_str(self) -> &'static str {
        match self {
            Self::GridLimitCreated => "grid_limit_created",
            Self::GridLimitDeleted => "grid_limit_deleted",
        }
    }
}

/// Notes what is done to occurrences of a building, which must be there.
pub(crate) async fn note_grid_limits(
    connection: &mut PgConnection,
    building: Uuid,
    uuids: &[Uuid],
    operation: Operation,
    who: Who<'_>,
    now: Timestamp,
) -> Result<(), StoreFailure> {
    sqlx::query(include_str!("queries/audit_grid_limits.sql"))
        .bind(building)
        .bind(uuids)
        .bind(Instant(now))
        .bind(who.username)
        .bind(who.address)
        .bind(operation.as_str())
        .execute(connection)
        .await?;
    Ok(())
}

/// Which entries to list; what is `None` does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only of this building, which may be no more.
    pub building: Option<Uuid>,
    /// Only of this user, who may be no more.
    pub username: Option<String>,
    /// Only at this moment or later.
    pub since: Option<Timestamp>,
    /// Only before this moment.
    pub until: Option<Timestamp>,
}

/// An entry, with what became of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub username: String,
    /// From where.
    pub address: String,
    /// Of which building.
    pub building: Uuid,
    /// `action`, `grid_limit_created` or `grid_limit_deleted`.
    pub operation: String,
    /// The action's or the occurrence's uuid.
    pub subject: Uuid,
    /// The body as it was sent, or the occurrence: a JSON object.
    pub detail: String,
    /// How far the action came; `None` where the entry is of none, or of one that is no more.
    pub status: Option<Status>,
    /// When the action was over.
    pub ended_at: Option<Timestamp>,
}

impl Store {
    /// The newest entries, newest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn audit_entries(
        &self,
        filter: &AuditFilter,
        limit: i64,
    ) -> Result<Vec<AuditEntry>, StoreFailure> {
        let rows = sqlx::query(include_str!("queries/audit_entries.sql"))
            .bind(filter.building)
            .bind(filter.username.as_deref())
            .bind(filter.since.map(Instant))
            .bind(filter.until.map(Instant))
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(entry).collect()
    }
}

fn entry(row: &PgRow) -> Result<AuditEntry, StoreFailure> {
    let Instant(at) = row.try_get("at")?;
    let word: Option<&str> = row.try_get("status")?;
    let ended_at: Option<Instant> = row.try_get("ended_at")?;
    Ok(AuditEntry {
        at,
        username: row.try_get("username")?,
        address: row.try_get("address")?,
        building: row.try_get("building_uuid")?,
        operation: row.try_get("operation")?,
        subject: row.try_get("subject")?,
        detail: row.try_get("detail")?,
        status: word.map(status).transpose()?,
        ended_at: ended_at.map(|it| it.0),
    })
}
