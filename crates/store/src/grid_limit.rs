//! Occurrences of the grid limit schedule.

use crate::audit::{Operation, note_grid_limits};
use crate::control::surroundings_changed;
use crate::instant::Instant;
use crate::{Store, StoreFailure, Who};
use domain::grid_limit::{GridLimit, first_changeable};
use domain::time::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

/// Which occurrences of a building are asked for; in the order of start, then uuid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedGridLimits {
    /// Only those behind this place of the order.
    pub after: (Timestamp, Uuid),
    /// Only those that start before.
    pub starting_before: Timestamp,
    /// Only those that end after.
    pub ending_after: Timestamp,
    /// At most this many.
    pub limit: i64,
}

/// Why nothing was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreationRefusal {
    /// There is no such building.
    NoBuilding,
    /// The desired document would grow beyond what a broker takes.
    Full,
}

/// Why nothing was deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletionRefusal {
    /// The building has not all of them.
    Unknown,
    /// These start before the first moment that is asked for.
    TooEarly(Vec<Uuid>),
}

impl Store {
    /// Stores an occurrence, takes it into what is desired, and notes who asked for it.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn create_grid_limit(
        &self,
        building: Uuid,
        limit: GridLimit,
        who: Who<'_>,
        now: Timestamp,
    ) -> Result<Result<(), CreationRefusal>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let inserted = sqlx::query(include_str!("queries/insert_grid_limit.sql"))
            .bind(building)
            .bind(limit.grid_limit_uuid)
            .bind(Instant(limit.start))
            .bind(Instant(limit.end))
            .bind(limit.delivery_limit_watts)
            .bind(limit.return_delivery_limit_watts)
            .execute(&mut *transaction)
            .await?;
        if inserted.rows_affected() == 0 {
            return Ok(Err(CreationRefusal::NoBuilding));
        }
        if !surroundings_changed(&mut transaction, building, now).await? {
            return Ok(Err(CreationRefusal::Full));
        }
        let (uuids, operation) = ([limit.grid_limit_uuid], Operation::GridLimitCreated);
        note_grid_limits(&mut transaction, building, &uuids, operation, who, now).await?;
        transaction.commit().await?;
        Ok(Ok(()))
    }

    /// A page of a building's occurrences.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn grid_limits(
        &self,
        building: Uuid,
        asked: AskedGridLimits,
    ) -> Result<Vec<GridLimit>, StoreFailure> {
        let (start, grid_limit_uuid) = asked.after;
        let statement = sqlx::query(include_str!("queries/grid_limits.sql"))
            .bind(building)
            .bind(Instant(start))
            .bind(grid_limit_uuid)
            .bind(Instant(asked.starting_before))
            .bind(Instant(asked.ending_after))
            .bind(asked.limit);
        let rows = self.rows(statement).await?;
        rows.iter().map(grid_limit).collect()
    }

    /// One of a building's occurrences.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn grid_limit(
        &self,
        building: Uuid,
        grid_limit_uuid: Uuid,
    ) -> Result<Option<GridLimit>, StoreFailure> {
        let statement = sqlx::query(include_str!("queries/grid_limit.sql"))
            .bind(building)
            .bind(grid_limit_uuid);
        let row = self.row(statement).await?;
        row.as_ref().map(grid_limit).transpose()
    }

    /// Deletes all of these occurrences of a building, each named once, and notes who asked for it; or
    /// none: when the building has not all of them, or one may not be changed any more at `now`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn delete_grid_limits(
        &self,
        building: Uuid,
        uuids: &[Uuid],
        who: Who<'_>,
        now: Timestamp,
    ) -> Result<Result<(), DeletionRefusal>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let rows = sqlx::query(include_str!("queries/lock_grid_limits.sql"))
            .bind(building)
            .bind(uuids)
            .fetch_all(&mut *transaction)
            .await?;
        if rows.len() < uuids.len() {
            return Ok(Err(DeletionRefusal::Unknown));
        }
        let mut too_early = Vec::new();
        for row in &rows {
            let Instant(start) = row.try_get("start_time")?;
            if start < first_changeable(now) {
                too_early.push(row.try_get("grid_limit_uuid")?);
            }
        }
        if !too_early.is_empty() {
            return Ok(Err(DeletionRefusal::TooEarly(too_early)));
        }
        let operation = Operation::GridLimitDeleted;
        note_grid_limits(&mut transaction, building, uuids, operation, who, now).await?;
        sqlx::query(
            "delete from grid_limit where building_uuid = $1 and grid_limit_uuid = any($2)",
        )
        .bind(building)
        .bind(uuids)
        .execute(&mut *transaction)
        .await?;
        surroundings_changed(&mut transaction, building, now).await?;
        transaction.commit().await?;
        Ok(Ok(()))
    }
}

pub(crate) fn grid_limit(row: &PgRow) -> Result<GridLimit, StoreFailure> {
    let Instant(start) = row.try_get("start_time")?;
    let Instant(end) = row.try_get("end_time")?;
    Ok(GridLimit {
        grid_limit_uuid: row.try_get("grid_limit_uuid")?,
        start,
        end,
        delivery_limit_watts: row.try_get("delivery_limit_watts")?,
        return_delivery_limit_watts: row.try_get("return_delivery_limit_watts")?,
    })
}
