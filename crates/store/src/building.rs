//! Buildings and their sensors, as users see them.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::calendar::Timezone;
use domain::sensor::SensorKind;
use domain::time::Timestamp;
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

/// A building that a user is linked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Building {
    /// Identity.
    pub uuid: Uuid,
    /// Name for people.
    pub name: String,
    /// IANA timezone; rules where a day starts.
    pub timezone: String,
    /// Changes how curtailment behaves; the controller's to act on.
    pub consumption_compensated_curtailment: bool,
}

/// Whether a building's controller is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// What was heard last.
    pub online: bool,
    /// When the first of the messages that say so without interruption was received.
    pub since: Timestamp,
}

/// Who named a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensorOrigin {
    /// The fleet file.
    Fleet,
    /// The service, because telemetry has a section that the fleet file names no sensor for.
    Service,
}

/// A sensor of a building.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensor {
    /// Number, stable for the sensor's life.
    pub id: i64,
    /// Identity.
    pub sensor_uuid: Uuid,
    /// Name for people.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
    /// Configured minimum interval of its meter readings: `minute`, `quarter` or `day`.
    pub min_interval: String,
    /// Name of the meter, if it has one.
    pub meter_name: Option<String>,
    /// Tariff of the meter, if it has one.
    pub tariff: Option<String>,
    /// Who named it.
    pub origin: SensorOrigin,
    /// The hub that it belongs to.
    pub hub: HubOfSensor,
}

/// The hub of a sensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubOfSensor {
    /// Identity.
    pub uuid: Uuid,
    /// Name for people.
    pub name: String,
    /// What it is, for example `smart_meter`.
    pub kind: String,
}

/// A part of the combined sensor `consumption`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contributor {
    /// The contributing sensor.
    pub sensor_uuid: Uuid,
    /// 1 or −1.
    pub factor: i32,
}

impl Sensor {
    /// What the building's combined sensor is made of, in the order of `sensors`.
    #[must_use]
    pub fn contributors(sensors: &[Self]) -> Vec<Contributor> {
        sensors
            .iter()
            .filter_map(|sensor| {
                let factor = sensor.kind.consumption_factor()?;
                Some(Contributor {
                    sensor_uuid: sensor.sensor_uuid,
                    factor,
                })
            })
            .collect()
    }
}

impl Store {
    /// The buildings that a user is linked to, by name.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn buildings_of(&self, username: &str) -> Result<Vec<Building>, StoreFailure> {
        let statement = sqlx::query(include_str!("queries/buildings_of.sql")).bind(username);
        let rows = self.rows(statement).await?;
        rows.iter().map(building).collect()
    }

    /// A building, and its controller's presence if anything was ever heard of it; `None` when there
    /// is no such building.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn building_of(
        &self,
        uuid: Uuid,
    ) -> Result<Option<(Building, Option<Presence>)>, StoreFailure> {
        let statement = sqlx::query(include_str!("queries/building_of.sql")).bind(uuid);
        let row = self.row(statement).await?;
        let with_presence = |row: PgRow| {
            let online: Option<bool> = row.try_get("online")?;
            let since: Option<Instant> = row.try_get("since")?;
            let presence = online
                .zip(since)
                .map(|(online, Instant(since))| Presence { online, since });
            Ok((building(&row)?, presence))
        };
        row.map(with_presence).transpose()
    }

    /// The sensors of a building as [`Store::sensors_of`] orders them, and its timezone; `None` when there is no such
    /// building.
    ///
    /// # Errors
    /// When the database does not answer, or names a timezone that is none.
    pub async fn sensors_and_timezone(
        &self,
        building: Uuid,
    ) -> Result<Option<(Vec<Sensor>, Timezone)>, StoreFailure> {
        let statement =
            sqlx::query(include_str!("queries/sensors_and_timezone.sql")).bind(building);
        let rows = self.rows(statement).await?;
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let name: &str = first.try_get("timezone")?;
        let timezone = Timezone::parse(name).ok_or_else(|| {
            StoreFailure::Permanent(format!("the database names timezone {name:?}"))
        })?;
        // A building without sensors has one row.
        let id: Option<i64> = first.try_get("id")?;
        let sensors = match id {
            Some(_) => rows.iter().map(sensor).collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        Ok(Some((sensors, timezone)))
    }

    /// The sensors of a building: those of the fleet file in its order, then the service's own.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn sensors_of(&self, building: Uuid) -> Result<Vec<Sensor>, StoreFailure> {
        let statement = sqlx::query(include_str!("queries/sensors_of.sql")).bind(building);
        let rows = self.rows(statement).await?;
        rows.iter().map(sensor).collect()
    }
}

fn building(row: &PgRow) -> Result<Building, StoreFailure> {
    Ok(Building {
        uuid: row.try_get("uuid")?,
        name: row.try_get("name")?,
        timezone: row.try_get("timezone")?,
        consumption_compensated_curtailment: row.try_get("consumption_compensated_curtailment")?,
    })
}

pub(crate) fn sensor(row: &PgRow) -> Result<Sensor, StoreFailure> {
    let origin: String = row.try_get("origin")?;
    Ok(Sensor {
        id: row.try_get("id")?,
        sensor_uuid: row.try_get("sensor_uuid")?,
        name: row.try_get("name")?,
        kind: kind(row)?,
        min_interval: row.try_get("min_interval")?,
        meter_name: row.try_get("meter_name")?,
        tariff: row.try_get("tariff")?,
        origin: if origin == "fleet" {
            SensorOrigin::Fleet
        } else {
            SensorOrigin::Service
        },
        hub: HubOfSensor {
            uuid: row.try_get("hub_uuid")?,
            name: row.try_get("hub_name")?,
            kind: row.try_get("hub_kind")?,
        },
    })
}

/// The kind in a row's column `kind`.
pub(crate) fn kind(row: &PgRow) -> Result<SensorKind, StoreFailure> {
    let word: String = row.try_get("kind")?;
    SensorKind::parse(&word)
        .ok_or_else(|| StoreFailure::Permanent(format!("the database names sensor kind {word:?}")))
}
