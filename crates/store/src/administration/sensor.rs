//! A sensor by itself: its place among the others, and its hub.

use crate::StoreFailure;
use crate::administration::change::{PutSensor, must_have_building};
use crate::fleet::{self, FleetHub, complete_sensors};
use sqlx::{PgConnection, Row};
use uuid::Uuid;

/// Makes the sensor and its hub what is said. New ones stand behind those that an operator named; one
/// that is there keeps its place.
pub(crate) async fn put(
    connection: &mut PgConnection,
    put: &PutSensor,
) -> Result<(), StoreFailure> {
    must_have_building(connection, put.building).await?;
    let last: i32 = sqlx::query(include_str!("../queries/last_position.sql"))
        .bind(put.building)
        .fetch_one(&mut *connection)
        .await?
        .try_get("last")?;
    let (hub, hub_position) = hub(connection, put, last + 1).await?;
    fleet::put_hub(connection, put.building, &hub, hub_position).await?;
    let named = "select position from sensor where sensor_uuid = $1 and origin = 'fleet'";
    let kept = sqlx::query(named)
        .bind(put.sensor.sensor_uuid)
        .fetch_optional(&mut *connection)
        .await?;
    let position = match kept {
        Some(row) => row.try_get("position")?,
        None => last + 2,
    };
    fleet::put_sensor(connection, put.building, hub.uuid, &put.sensor, position).await?;
    complete_sensors(connection, put.building).await
}

/// The hub as it should be, and its place.
async fn hub(
    connection: &mut PgConnection,
    put: &PutSensor,
    next: i32,
) -> Result<(FleetHub, i32), StoreFailure> {
    let kept = sqlx::query("select name, kind, position, origin from sensor_hub where uuid = $1")
        .bind(put.hub)
        .fetch_optional(connection)
        .await?;
    let (mut name, mut kind, mut position) = (None, None, next);
    if let Some(row) = kept {
        name = row.try_get("name")?;
        kind = row.try_get("kind")?;
        if row.try_get::<String, _>("origin")? == "fleet" {
            position = row.try_get("position")?;
        }
    }
    let name = put.hub_name.clone().or(name);
    let kind = put.hub_kind.clone().or(kind);
    let (Some(name), Some(kind)) = (name, kind) else {
        return Err(StoreFailure::Permanent(format!(
            "sensor hub {} does not exist yet: it needs a name and a kind",
            put.hub
        )));
    };
    let hub = FleetHub {
        uuid: put.hub,
        name,
        kind,
        sensors: Vec::new(),
    };
    Ok((hub, position))
}

/// Removes a sensor that an operator named, and its hub when it was the last one there.
pub(crate) async fn remove(
    connection: &mut PgConnection,
    sensor_uuid: Uuid,
) -> Result<(), StoreFailure> {
    let named = "delete from sensor where sensor_uuid = $1 and origin = 'fleet' \
                 returning building_uuid, hub_uuid";
    let removed = sqlx::query(named)
        .bind(sensor_uuid)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(removed) = removed else {
        return Err(StoreFailure::Permanent(format!(
            "sensor {sensor_uuid} was added by the service: it goes when a sensor of its kind is named"
        )));
    };
    sqlx::query(include_str!("../queries/remove_empty_hub.sql"))
        .bind(removed.try_get::<Uuid, _>("hub_uuid")?)
        .execute(&mut *connection)
        .await?;
    complete_sensors(connection, removed.try_get("building_uuid")?).await
}
