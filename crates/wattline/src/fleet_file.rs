//! The fleet file: buildings, sensors and users as an operator writes them.

mod check;

pub(crate) use check::{kind, min_interval, role, timezone};

use crate::password::Password;
use serde::Deserialize;
use uuid::Uuid;

/// A fleet file as it stands on disk; unknown keys are refused by name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetFile {
    #[serde(default)]
    buildings: Vec<Building>,
    #[serde(default)]
    users: Vec<User>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Building {
    uuid: Uuid,
    name: String,
    #[serde(default = "utc")]
    timezone: String,
    #[serde(default)]
    consumption_compensated_curtailment: bool,
    #[serde(default)]
    sensor_hubs: Vec<Hub>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Hub {
    uuid: Uuid,
    name: String,
    kind: String,
    #[serde(default)]
    sensors: Vec<Sensor>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sensor {
    sensor_uuid: Uuid,
    name: String,
    kind: String,
    #[serde(default = "minute")]
    min_interval: String,
    #[serde(default)]
    meter_name: Option<String>,
    #[serde(default)]
    tariff: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct User {
    username: String,
    password: Password,
    #[serde(default)]
    buildings: Vec<Link>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Link {
    uuid: Uuid,
    role: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

fn minute() -> String {
    "minute".to_owned()
}

impl FleetFile {
    /// Reads a fleet file; its values are checked by `check`.
    ///
    /// # Errors
    /// One line with the place and the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}
