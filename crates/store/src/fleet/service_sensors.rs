//! The sensors that the service adds by itself, where telemetry has a section that nobody named one for.

use crate::series::bit;
use crate::{StoreFailure, building};
use domain::record::Section;
use domain::sensor::{SensorKind, service_kinds};
use sqlx::{PgConnection, Row};
use uuid::Uuid;

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
pub(crate) async fn complete_sensors(
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
    sqlx::query(include_str!("../queries/take_back_sensors.sql"))
        .bind(building)
        .bind(kinds)
        .execute(&mut *connection)
        .await?;
    sqlx::query(include_str!("../queries/take_back_hubs.sql"))
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
    sqlx::query(include_str!("../queries/add_service_sensor.sql"))
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
