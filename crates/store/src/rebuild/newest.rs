//! A building's newest samples and newest key-values.

use super::{Rebuilt, end};
use crate::StoreFailure;
use crate::administration::Run;
use sqlx::{Connection, PgConnection, Row};
use uuid::Uuid;

pub(super) async fn rebuild(
    connection: &mut PgConnection,
    building: Uuid,
    run: Run,
    rebuilt: &mut Rebuilt,
) -> Result<(), StoreFailure> {
    // Each with the order in which batches lock the rows.
    for (lock, statement) in [
        (
            "select from latest_sample where building_uuid = $1 order by series for update",
            include_str!("../queries/amend_latest_samples.sql"),
        ),
        (
            "select from latest_key_value where building_uuid = $1 order by key_sha256 for update",
            include_str!("../queries/amend_latest_key_values.sql"),
        ),
    ] {
        let mut transaction = connection.begin().await?;
        sqlx::query("select moment from hold_raw_horizon()")
            .execute(&mut *transaction)
            .await?;
        sqlx::query(lock)
            .bind(building)
            .execute(&mut *transaction)
            .await?;
        let amended: i64 = sqlx::query(statement)
            .bind(building)
            .fetch_one(&mut *transaction)
            .await?
            .try_get(0)?;
        rebuilt.newest += amended.unsigned_abs();
        end(transaction, run).await?;
    }
    Ok(())
}
