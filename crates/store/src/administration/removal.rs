//! Forgetting what was gathered of buildings and sensors that are removed.

use crate::StoreFailure;
use crate::administration::snapshot::{Scope, Snapshot};
use sqlx::{PgConnection, Row};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The tables that hold what was gathered of a building, without a foreign key to it, each with the
/// column that names one of its sensors by `sensor.id`, where it has one. Some outlive the building and are
/// none of them: dead letters tell what was refused, the audit who asked what, and what is to be
/// published (`desired_outbox`, `desired_publication`) has to say that the building is no more.
///
/// Marks come before buckets: deleting a mark waits for whoever folds it, and then sees the bucket.
pub const TABLES_OF_A_BUILDING: [(&str, Option<&str>); 16] = [
    ("telemetry_record", None),
    ("sensor_reading", Some("sensor_id")),
    ("key_value", None),
    ("presence", None),
    ("report", None),
    ("latest_sample", Some("series")),
    ("latest_key_value", None),
    ("register_reading", Some("sensor_id")),
    ("register_event", Some("sensor_id")),
    ("touched_minute", None),
    ("touched_quarter", None),
    ("touched_day", None),
    ("minute_bucket", Some("series")),
    ("quarter_bucket", Some("series")),
    ("value_quarter", Some("sensor_id")),
    ("day_bucket", Some("series")),
];

/// The ids of the sensors that a change may remove; told before it, since they go with the sensors.
pub(crate) struct SensorIds(BTreeMap<Uuid, i64>);

impl SensorIds {
    pub(crate) async fn of(
        connection: &mut PgConnection,
        scope: &Scope,
    ) -> Result<Self, StoreFailure> {
        let rows = sqlx::query("select sensor_uuid, id from sensor where $1 or building_uuid = $2")
            .bind(scope.everything)
            .bind(scope.building)
            .fetch_all(connection)
            .await?;
        let ids = rows
            .iter()
            .map(|row| Ok((row.try_get("sensor_uuid")?, row.try_get("id")?)));
        Ok(Self(ids.collect::<Result<_, StoreFailure>>()?))
    }
}

/// Deletes all that was gathered of the buildings and sensors that are gone.
pub(crate) async fn forget(
    connection: &mut PgConnection,
    ids: &SensorIds,
    before: &Snapshot,
    after: &Snapshot,
) -> Result<(), StoreFailure> {
    let buildings: Vec<Uuid> = before
        .buildings
        .keys()
        .filter(|uuid| !after.buildings.contains_key(uuid))
        .copied()
        .collect();
    if !buildings.is_empty() {
        for (table, _) in TABLES_OF_A_BUILDING {
            let statement = format!("delete from {table} where building_uuid = any($1)");
            sqlx::query(&statement)
                .bind(&buildings)
                .execute(&mut *connection)
                .await?;
        }
    }
    forget_sensors(connection, ids, before, after).await
}

async fn forget_sensors(
    connection: &mut PgConnection,
    ids: &SensorIds,
    before: &Snapshot,
    after: &Snapshot,
) -> Result<(), StoreFailure> {
    let gone = |building: &Uuid, uuid: &Uuid| {
        // One that moved to another building is another sensor there.
        let kept = after.sensors.get(uuid);
        let stays = kept.is_some_and(|kept| kept.building == *building);
        !stays && after.buildings.contains_key(building)
    };
    let (homes, sensors): (Vec<Uuid>, Vec<i64>) = before
        .sensors
        .iter()
        .filter(|(uuid, sensor)| gone(&sensor.building, uuid))
        .filter_map(|(uuid, sensor)| Some((sensor.building, *ids.0.get(uuid)?)))
        .unzip();
    if sensors.is_empty() {
        return Ok(());
    }
    for (table, column) in TABLES_OF_A_BUILDING {
        let Some(column) = column else { continue };
        let statement =
            format!("delete from {table} where building_uuid = any($1) and {column} = any($2)");
        sqlx::query(&statement)
            .bind(&homes)
            .bind(&sensors)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
