//! Making the database match a fleet, row by row; the same again writes the same.

use crate::administration::{Administered, Change, Run};
use crate::fleet::prune::{self, named_sensors};
use crate::fleet::{
    Fleet, FleetBuilding, FleetHub, FleetLink, FleetSensor, FleetUser, complete_sensors,
};
use crate::{Store, StoreFailure};
use sqlx::PgConnection;
use uuid::Uuid;

impl Store {
    /// Makes the database match `fleet`, all or nothing; the same again changes nothing. What the
    /// fleet does not name is deleted only with `prune`.
    ///
    /// # Errors
    /// When the database does not take it: for example a link to a building that exists nowhere.
    pub async fn apply_fleet(
        &self,
        fleet: &Fleet,
        prune: bool,
    ) -> Result<Administered, StoreFailure> {
        let fleet = fleet.clone();
        self.administer(&Change::Fleet { fleet, prune }, Run::Real)
            .await
    }
}

/// The whole fleet, in the caller's transaction, which has locked all buildings.
pub(crate) async fn apply(
    connection: &mut PgConnection,
    fleet: &Fleet,
    prune: bool,
) -> Result<(), StoreFailure> {
    if prune {
        prune::make_room(connection, fleet).await?;
    }
    // By identity: the order in which batches lock their buildings.
    let mut buildings: Vec<&FleetBuilding> = fleet.buildings.iter().collect();
    buildings.sort_by_key(|it| it.uuid);
    for building in buildings {
        put_building(connection, building).await?;
        put_hubs(connection, building).await?;
        if prune {
            prune::hubs(connection, building).await?;
        }
        complete_sensors(connection, building.uuid).await?;
    }
    for user in &fleet.users {
        put_user(connection, &user.username, &user.password_hash).await?;
        put_links(connection, user).await?;
        if prune {
            prune::links(connection, user).await?;
        }
    }
    Ok(())
}

/// The building's own row; its hubs and sensors stay as they are.
pub(crate) async fn put_building(
    connection: &mut PgConnection,
    building: &FleetBuilding,
) -> Result<(), StoreFailure> {
    sqlx::query(include_str!("../queries/apply_building.sql"))
        .bind(building.uuid)
        .bind(&building.name)
        .bind(&building.timezone)
        .bind(building.consumption_compensated_curtailment)
        .execute(connection)
        .await?;
    Ok(())
}

async fn put_hubs(
    connection: &mut PgConnection,
    building: &FleetBuilding,
) -> Result<(), StoreFailure> {
    let mut position = 0_i32;
    for hub in &building.hubs {
        position += 1;
        put_hub(connection, building.uuid, hub, position).await?;
        for sensor in &hub.sensors {
            position += 1;
            put_sensor(connection, building.uuid, hub.uuid, sensor, position).await?;
        }
    }
    sqlx::query(include_str!("../queries/move_unnamed_back.sql"))
        .bind(building.uuid)
        .bind(named_sensors(building))
        .bind(position)
        .execute(connection)
        .await?;
    Ok(())
}

/// One hub, without its sensors.
pub(crate) async fn put_hub(
    connection: &mut PgConnection,
    building: Uuid,
    hub: &FleetHub,
    position: i32,
) -> Result<(), StoreFailure> {
    let applied = sqlx::query(include_str!("../queries/apply_hub.sql"))
        .bind(hub.uuid)
        .bind(building)
        .bind(&hub.name)
        .bind(&hub.kind)
        .bind(position)
        .execute(connection)
        .await?
        .rows_affected();
    refuse_foreign(applied, "sensor hub", hub.uuid)
}

/// One sensor of a hub that is there.
pub(crate) async fn put_sensor(
    connection: &mut PgConnection,
    building: Uuid,
    hub: Uuid,
    sensor: &FleetSensor,
    position: i32,
) -> Result<(), StoreFailure> {
    let applied = sqlx::query(include_str!("../queries/apply_sensor.sql"))
        .bind(sensor.sensor_uuid)
        .bind(building)
        .bind(hub)
        .bind(&sensor.name)
        .bind(sensor.kind.as_str())
        .bind(&sensor.min_interval)
        .bind(&sensor.meter_name)
        .bind(&sensor.tariff)
        .bind(position)
        .execute(connection)
        .await?
        .rows_affected();
    refuse_foreign(applied, "sensor", sensor.sensor_uuid)
}

fn refuse_foreign(applied: u64, what: &str, uuid: Uuid) -> Result<(), StoreFailure> {
    if applied == 0 {
        return Err(StoreFailure::Permanent(format!(
            "{what} {uuid} belongs to another building"
        )));
    }
    Ok(())
}

/// The user's own row; whether the user is disabled stays as it is.
pub(crate) async fn put_user(
    connection: &mut PgConnection,
    username: &str,
    password_hash: &str,
) -> Result<(), StoreFailure> {
    sqlx::query(include_str!("../queries/apply_user.sql"))
        .bind(username)
        .bind(password_hash)
        .execute(connection)
        .await?;
    Ok(())
}

async fn put_links(connection: &mut PgConnection, user: &FleetUser) -> Result<(), StoreFailure> {
    for link in &user.links {
        put_link(connection, &user.username, *link).await?;
    }
    Ok(())
}

/// A link of a user who is there.
pub(crate) async fn put_link(
    connection: &mut PgConnection,
    username: &str,
    link: FleetLink,
) -> Result<(), StoreFailure> {
    let applied = sqlx::query(include_str!("../queries/apply_link.sql"))
        .bind(username)
        .bind(link.building)
        .bind(link.role.as_str())
        .execute(connection)
        .await?
        .rows_affected();
    if applied == 0 {
        return Err(StoreFailure::Permanent(format!(
            "user {username:?} is linked to building {}, which does not exist",
            link.building
        )));
    }
    Ok(())
}
