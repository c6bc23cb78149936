//! Making the database match a fleet file, and the sensors that the service adds by itself.

use crate::series::bit;
use crate::{Role, Store, StoreFailure, building};
use domain::record::Section;
use domain::sensor::{SensorKind, service_kinds};
use sqlx::{PgConnection, Row};
use uuid::Uuid;

/// What a fleet file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fleet {
    /// Buildings with their hubs and sensors.
    pub buildings: Vec<FleetBuilding>,
    /// Users with their links.
    pub users: Vec<FleetUser>,
}

/// A building of the fleet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetBuilding {
    /// Identity.
    pub uuid: Uuid,
    /// Name for people.
    pub name: String,
    /// IANA timezone.
    pub timezone: String,
    /// Changes how curtailment behaves.
    pub consumption_compensated_curtailment: bool,
    /// Hubs in the file's order.
    pub hubs: Vec<FleetHub>,
}

/// A hub of the fleet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetHub {
    /// Identity.
    pub uuid: Uuid,
    /// Name for people.
    pub name: String,
    /// What it is, for example `smart_meter`.
    pub kind: String,
    /// Sensors in the file's order.
    pub sensors: Vec<FleetSensor>,
}

/// A sensor of the fleet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetSensor {
    /// Identity.
    pub sensor_uuid: Uuid,
    /// Name for people.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// `minute`, `quarter` or `day`.
    pub min_interval: String,
    /// Name of the meter.
    pub meter_name: Option<String>,
    /// Tariff of the meter.
    pub tariff: Option<String>,
}

/// A user of the fleet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetUser {
    /// Name to log in with.
    pub username: String,
    /// argon2id, PHC string.
    pub password_hash: String,
    /// What the user may do where.
    pub links: Vec<FleetLink>,
}

/// A user's link to a building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetLink {
    /// The building.
    pub building: Uuid,
    /// What the user may do there.
    pub role: Role,
}

/// How much a fleet file named, and how much was deleted because it does not name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Buildings of the file.
    pub buildings: usize,
    /// Users of the file.
    pub users: usize,
    /// Buildings, sensors, users and links deleted.
    pub pruned: u64,
}

impl Store {
    /// Makes the database match `fleet`, all or nothing; the same again changes nothing. What the
    /// fleet does not name is deleted only with `prune`.
    ///
    /// # Errors
    /// When the database does not take it: for example a link to a building that exists nowhere.
    pub async fn apply_fleet(&self, fleet: &Fleet, prune: bool) -> Result<Applied, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        // What is pruned may be large.
        sqlx::query("set local statement_timeout = 0")
            .execute(&mut *transaction)
            .await?;
        // All of them, in the order in which batches lock theirs, before any is changed.
        sqlx::query("select from building order by uuid for no key update")
            .execute(&mut *transaction)
            .await?;
        let mut applied = Applied {
            buildings: fleet.buildings.len(),
            users: fleet.users.len(),
            pruned: 0,
        };
        // By identity: the order in which batches lock their buildings.
        let mut buildings: Vec<&FleetBuilding> = fleet.buildings.iter().collect();
        buildings.sort_by_key(|it| it.uuid);
        for building in buildings {
            apply_building(&mut transaction, building).await?;
            if prune {
                applied.pruned += prune_sensors(&mut transaction, building).await?;
            }
            complete_sensors(&mut transaction, building.uuid).await?;
        }
        for user in &fleet.users {
            apply_user(&mut transaction, user).await?;
            if prune {
                applied.pruned += prune_links(&mut transaction, user).await?;
            }
        }
        if prune {
            applied.pruned += prune_rest(&mut transaction, fleet).await?;
        }
        transaction.commit().await?;
        Ok(applied)
    }
}

async fn apply_building(
    connection: &mut PgConnection,
    building: &FleetBuilding,
) -> Result<(), StoreFailure> {
    sqlx::query(include_str!("queries/apply_building.sql"))
        .bind(building.uuid)
        .bind(&building.name)
        .bind(&building.timezone)
        .bind(building.consumption_compensated_curtailment)
        .execute(&mut *connection)
        .await?;
    let mut position = 0_i32;
    for hub in &building.hubs {
        position += 1;
        let applied = sqlx::query(include_str!("queries/apply_hub.sql"))
            .bind(hub.uuid)
            .bind(building.uuid)
            .bind(&hub.name)
            .bind(&hub.kind)
            .bind(position)
            .execute(&mut *connection)
            .await?
            .rows_affected();
        refuse_foreign(applied, "sensor hub", hub.uuid)?;
        for sensor in &hub.sensors {
            position += 1;
            apply_sensor(connection, building.uuid, hub.uuid, sensor, position).await?;
        }
    }
    sqlx::query(include_str!("queries/move_unnamed_back.sql"))
        .bind(building.uuid)
        .bind(named_sensors(building))
        .bind(position)
        .execute(connection)
        .await?;
    Ok(())
}

fn named_sensors(building: &FleetBuilding) -> Vec<Uuid> {
    let sensors = building.hubs.iter().flat_map(|hub| &hub.sensors);
    sensors.map(|sensor| sensor.sensor_uuid).collect()
}

async fn apply_sensor(
    connection: &mut PgConnection,
    building: Uuid,
    hub: Uuid,
    sensor: &FleetSensor,
    position: i32,
) -> Result<(), StoreFailure> {
    let applied = sqlx::query(include_str!("queries/apply_sensor.sql"))
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

async fn apply_user(connection: &mut PgConnection, user: &FleetUser) -> Result<(), StoreFailure> {
    sqlx::query(include_str!("queries/apply_user.sql"))
        .bind(&user.username)
        .bind(&user.password_hash)
        .execute(&mut *connection)
        .await?;
    for link in &user.links {
        let applied = sqlx::query(include_str!("queries/apply_link.sql"))
            .bind(&user.username)
            .bind(link.building)
            .bind(link.role.as_str())
            .execute(&mut *connection)
            .await?
            .rows_affected();
        if applied == 0 {
            return Err(StoreFailure::Permanent(format!(
                "user {} is linked to building {}, which does not exist",
                user.username, link.building
            )));
        }
    }
    Ok(())
}

async fn prune_sensors(
    connection: &mut PgConnection,
    building: &FleetBuilding,
) -> Result<u64, StoreFailure> {
    let hubs: Vec<Uuid> = building.hubs.iter().map(|it| it.uuid).collect();
    let sensors = named_sensors(building);
    let mut pruned = 0;
    for (statement, named) in [
        (include_str!("queries/prune_sensors.sql"), sensors),
        (include_str!("queries/prune_hubs.sql"), hubs),
    ] {
        pruned += sqlx::query(statement)
            .bind(building.uuid)
            .bind(named)
            .execute(&mut *connection)
            .await?
            .rows_affected();
    }
    Ok(pruned)
}

async fn prune_links(connection: &mut PgConnection, user: &FleetUser) -> Result<u64, StoreFailure> {
    let named: Vec<Uuid> = user.links.iter().map(|it| it.building).collect();
    Ok(sqlx::query(include_str!("queries/prune_links.sql"))
        .bind(&user.username)
        .bind(named)
        .execute(connection)
        .await?
        .rows_affected())
}

async fn prune_rest(connection: &mut PgConnection, fleet: &Fleet) -> Result<u64, StoreFailure> {
    let users: Vec<&str> = fleet.users.iter().map(|it| it.username.as_str()).collect();
    let pruned_users = sqlx::query("delete from app_user where username <> all($1)")
        .bind(users)
        .execute(&mut *connection)
        .await?
        .rows_affected();
    let named: Vec<Uuid> = fleet.buildings.iter().map(|it| it.uuid).collect();
    let rows = sqlx::query("delete from building where uuid <> all($1) returning uuid")
        .bind(named)
        .fetch_all(&mut *connection)
        .await?;
    let gone = rows
        .iter()
        .map(|row| row.try_get("uuid"))
        .collect::<Result<Vec<Uuid>, _>>()?;
    for statement in [
        "delete from telemetry_record where building_uuid = any($1)",
        "delete from latest_sample where building_uuid = any($1)",
        "delete from touched_minute where building_uuid = any($1)",
        "delete from touched_quarter where building_uuid = any($1)",
        "delete from minute_bucket where building_uuid = any($1)",
        "delete from quarter_bucket where building_uuid = any($1)",
    ] {
        sqlx::query(statement)
            .bind(&gone)
            .execute(&mut *connection)
            .await?;
    }
    Ok(pruned_users + gone.len() as u64)
}

/// Notes that a building's telemetry has these sections, and adds the sensors that this asks for.
pub(crate) async fn report_sections(
    connection: &mut PgConnection,
    building: Uuid,
    bits: i16,
) -> Result<(), StoreFailure> {
    sqlx::query("update building set reported_sections = reported_sections | $2 where uuid = $1")
        .bind(building)
        .bind(bits)
        .execute(&mut *connection)
        .await?;
    complete_sensors(connection, building).await
}

/// Adds the sensors that the service owes the building, and takes back those that the fleet file
/// names by now. The building's row is locked by the caller's update.
async fn complete_sensors(
    connection: &mut PgConnection,
    building: Uuid,
) -> Result<(), StoreFailure> {
    let reported: i16 = sqlx::query("select reported_sections from building where uuid = $1")
        .bind(building)
        .fetch_one(&mut *connection)
        .await?
        .try_get(0)?;
    let reported: Vec<Section> = Section::ALL
        .into_iter()
        .filter(|section| reported & bit(*section) != 0)
        .collect();
    let rows = sqlx::query(
        "select kind from sensor where building_uuid = $1 and origin = 'fleet' order by position",
    )
    .bind(building)
    .fetch_all(&mut *connection)
    .await?;
    let named = rows
        .iter()
        .map(building::kind)
        .collect::<Result<Vec<_>, _>>()?;
    let owed = service_kinds(&named, &reported);

    let kinds: Vec<&str> = owed.iter().map(|kind| kind.as_str()).collect();
    sqlx::query(include_str!("queries/take_back_sensors.sql"))
        .bind(building)
        .bind(kinds)
        .execute(&mut *connection)
        .await?;
    sqlx::query(include_str!("queries/take_back_hubs.sql"))
        .bind(building)
        .execute(&mut *connection)
        .await?;
    for kind in owed {
        add_service_sensor(connection, building, kind).await?;
    }
    Ok(())
}

/// The identities follow from the building, so that every installation gives the same ones.
async fn add_service_sensor(
    connection: &mut PgConnection,
    building: Uuid,
    kind: SensorKind,
) -> Result<(), StoreFailure> {
    let (hub_key, hub_name, hub_kind) = match kind.telemetry_feed().map(|feed| feed.section) {
        Some(Section::MainMeter) => ("main_meter", "Main meter", "smart_meter"),
        Some(Section::Battery) => ("battery", "Battery", "battery"),
        Some(Section::Solar) => ("solar", "Solar", "inverter"),
        None => ("combined", "Combined", "combined"),
    };
    let position = kind
        .telemetry_feed()
        .map_or(3, |feed| position_of(feed.section));
    sqlx::query(include_str!("queries/add_service_sensor.sql"))
        .bind(building)
        .bind(Uuid::new_v5(&building, format!("hub/{hub_key}").as_bytes()))
        .bind(hub_name)
        .bind(hub_kind)
        .bind(Uuid::new_v5(
            &building,
            format!("sensor/{}", kind.as_str()).as_bytes(),
        ))
        .bind(kind.as_str())
        .bind(position)
        .execute(connection)
        .await?;
    Ok(())
}

/// Where the sensors of a section stand among those that the service adds.
const fn position_of(section: Section) -> i32 {
    match section {
        Section::MainMeter => 0,
        Section::Battery => 1,
        Section::Solar => 2,
    }
}
