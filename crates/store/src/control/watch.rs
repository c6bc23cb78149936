//! What telemetry shows of actions, made into fates.

use crate::control::fate::{self, Happened};
use crate::control::kept::NotRead;
use crate::control::{CONTROL_LIMIT, kept};
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::control::Happening;
use domain::control::seen::{Shown, seen};
use domain::time::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

impl Store {
    /// Looks at the newest records of at most [`CONTROL_LIMIT`] buildings behind `after`, in the order of
    /// their uuid, of which something may be seen; answers the last one, `None` when these were
    /// all.
    ///
    /// # Errors
    /// When the database does not take it; nothing has happened then.
    pub async fn watch_telemetry(
        &self,
        after: Uuid,
        now: Timestamp,
    ) -> Result<Option<Uuid>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let rows = sqlx::query(include_str!("../queries/claim_watched.sql"))
            .bind(after)
            .bind(CONTROL_LIMIT)
            .bind(Instant(now))
            .bind(self.aside.buildings(now))
            .fetch_all(&mut *transaction)
            .await?;
        let looked_at: Vec<Uuid> = rows
            .iter()
            .map(|row| row.try_get("building_uuid"))
            .collect::<Result<_, _>>()?;
        let seen = looked_at.iter().zip(&rows).map(|(building, row)| {
            let seen = seen_of(*building, row, now)?;
            Ok((*building, seen))
        });
        let happened = self.aside.sort(seen, now)?.concat();
        fate::happen(&mut transaction, happened).await?;
        sqlx::query(include_str!("../queries/end_watch.sql"))
            .bind(&looked_at)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        let limit = usize::try_from(CONTROL_LIMIT).unwrap_or(usize::MAX);
        Ok(looked_at
            .last()
            .filter(|_| looked_at.len() == limit)
            .copied())
    }
}

fn seen_of(building: Uuid, row: &PgRow, now: Timestamp) -> Result<Vec<Happened>, NotRead> {
    let state = kept::state(building, row.try_get("state")?)?;
    let column = |name: &str| -> Result<Vec<Option<i32>>, NotRead> {
        let column: Option<Vec<Option<i32>>> = row.try_get(name)?;
        Ok(column.unwrap_or_default())
    };
    let rated = column("solar_rated_w")?;
    let records = column("battery_setpoint_w")?.into_iter();
    let records = records.zip(column("solar_setpoint_w")?).zip(rated);
    let shown = records.map(
        |((battery_setpoint_w, solar_setpoint_w), solar_rated_w)| Shown {
            battery_setpoint_w,
            solar_setpoint_w,
            solar_rated_w,
        },
    );
    let happened = |action_uuid| Happened {
        building,
        action_uuid,
        happening: Happening::Seen,
        at: now,
        detail: "telemetry shows the setpoint".to_owned(),
    };
    let seen = shown.flat_map(|shown| seen(state.desired(), shown));
    Ok(seen.map(happened).collect())
}
