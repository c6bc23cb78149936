//! Deleting what a fleet does not name.

use crate::StoreFailure;
use crate::fleet::{Fleet, FleetBuilding, FleetUser};
use sqlx::PgConnection;
use uuid::Uuid;

/// What has to go before the fleet is applied, so that a sensor or hub may change its building.
/// What the buildings have gathered is deleted with [`crate::administration::removal`].
pub(crate) async fn make_room(
    connection: &mut PgConnection,
    fleet: &Fleet,
) -> Result<(), StoreFailure> {
    let users: Vec<&str> = fleet.users.iter().map(|it| it.username.as_str()).collect();
    sqlx::query("delete from app_user where username <> all($1)")
        .bind(users)
        .execute(&mut *connection)
        .await?;
    let named: Vec<Uuid> = fleet.buildings.iter().map(|it| it.uuid).collect();
    sqlx::query("delete from building where uuid <> all($1)")
        .bind(named)
        .execute(&mut *connection)
        .await?;
    for building in &fleet.buildings {
        sqlx::query(include_str!("../queries/prune_sensors.sql"))
            .bind(building.uuid)
            .bind(named_sensors(building))
            .execute(&mut *connection)
            .await?;
    }
    let (hubs, homes): (Vec<Uuid>, Vec<Uuid>) = fleet
        .buildings
        .iter()
        .flat_map(|building| building.hubs.iter().map(|hub| (hub.uuid, building.uuid)))
        .unzip();
    sqlx::query(include_str!("../queries/prune_moved_hubs.sql"))
        .bind(hubs)
        .bind(homes)
        .execute(connection)
        .await?;
    Ok(())
}

/// Hubs of a building that the fleet does not name; their sensors stand elsewhere by now.
pub(crate) async fn hubs(
    connection: &mut PgConnection,
    building: &FleetBuilding,
) -> Result<(), StoreFailure> {
    let named: Vec<Uuid> = building.hubs.iter().map(|it| it.uuid).collect();
    sqlx::query(include_str!("../queries/prune_hubs.sql"))
        .bind(building.uuid)
        .bind(named)
        .execute(connection)
        .await?;
    Ok(())
}

/// Links of a user that the fleet does not name.
pub(crate) async fn links(
    connection: &mut PgConnection,
    user: &FleetUser,
) -> Result<(), StoreFailure> {
    let named: Vec<Uuid> = user.links.iter().map(|it| it.building).collect();
    sqlx::query(include_str!("../queries/prune_links.sql"))
        .bind(&user.username)
        .bind(named)
        .execute(connection)
        .await?;
    Ok(())
}

/// The sensors that a fleet names in a building.
pub(crate) fn named_sensors(building: &FleetBuilding) -> Vec<Uuid> {
    let sensors = building.hubs.iter().flat_map(|hub| &hub.sensors);
    sensors.map(|sensor| sensor.sensor_uuid).collect()
}
