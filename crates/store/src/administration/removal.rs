//! Forgetting what was gathered of buildings that are removed.

use crate::StoreFailure;
use sqlx::PgConnection;
use uuid::Uuid;

/// The tables that hold what was gathered of a building, without a foreign key to it. Dead letters are
/// none of them: they tell what was refused, whatever becomes of the building.
///
/// Marks come before buckets: deleting a mark waits for whoever folds it, and then sees the bucket.
pub const TABLES_OF_A_BUILDING: [&str; 16] = [
    "telemetry_record",
    "sensor_reading",
    "key_value",
    "presence",
    "latest_sample",
    "latest_key_value",
    "register_reading",
    "register_event",
    "touched_minute",
    "touched_quarter",
    "touched_day",
    "minute_bucket",
    "quarter_bucket",
    "value_quarter",
    "day_bucket",
    "grid_limit",
];

/// Deletes all that was gathered of buildings whose rows are gone.
pub(crate) async fn forget(
    connection: &mut PgConnection,
    buildings: &[Uuid],
) -> Result<(), StoreFailure> {
    if buildings.is_empty() {
        return Ok(());
    }
    for table in TABLES_OF_A_BUILDING {
        let statement = format!("delete from {table} where building_uuid = any($1)");
        sqlx::query(&statement)
            .bind(buildings)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
