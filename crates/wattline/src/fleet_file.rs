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
        serde_json::from_str(text).map_err(|error| without_value(&error.to_string()))
    }
}

/// serde's words about a value of the wrong type, without the value: it may be a password that stands in the
/// wrong place.
fn without_value(told: &str) -> String {
    let Some((before, value)) = told.split_once("invalid type: ") else {
        return told.to_owned();
    };
    match (value.split_once(' '), value.rsplit_once(", expected ")) {
        (Some((kind, _)), Some((_, expected))) => {
            format!("{before}invalid type: {kind}, expected {expected}")
        }
        (Some(_) | None, _) => told.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_wrong_place_is_not_repeated() {
        for (text, expected) in [
            (
                r#"{"users": ["secret"]}"#,
                "invalid type: string, expected struct User",
            ),
            (
                r#"{"users": "secret, expected x"}"#,
                "invalid type: string, expected a sequence",
            ),
            (
                r#"{"users": [{"username": 5}]}"#,
                "invalid type: integer, expected a string",
            ),
        ] {
            let told = FleetFile::parse(text).unwrap_err();
            assert!(
                told.starts_with(expected) && !told.contains("secret"),
                "{told}"
            );
        }
        let told = FleetFile::parse(r#"{"usres": []}"#).unwrap_err();
        assert!(told.contains("usres"), "{told}");
    }
}
