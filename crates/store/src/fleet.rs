//! A fleet: buildings, hubs, sensors, users and links, as an operator names them.

mod apply;
mod prune;
mod service_sensors;

pub(crate) use apply::{apply, put_building, put_hub, put_link, put_sensor, put_user};
pub(crate) use service_sensors::{complete_sensors, report_sections};

use crate::Role;
use domain::sensor::SensorKind;
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
