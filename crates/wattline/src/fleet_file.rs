//! The fleet file: buildings, sensors and users as an operator writes them.

use domain::sensor::SensorKind;
use serde::Deserialize;
use std::collections::BTreeSet;
use store::{Fleet, FleetBuilding, FleetHub, FleetLink, FleetSensor, FleetUser, Role};
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
    password: String,
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
    /// Reads a fleet file.
    ///
    /// # Errors
    /// One line with the place and the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The users with their passwords as written.
    pub fn credentials(&self) -> impl Iterator<Item = (&str, &str)> {
        self.users
            .iter()
            .map(|user| (user.username.as_str(), user.password.as_str()))
    }

    /// The fleet, with the password hash that `hash_of` gives for each user.
    ///
    /// # Errors
    /// One line with the place and the rule that is broken.
    pub fn into_fleet(self, hash_of: impl Fn(&str) -> String) -> Result<Fleet, String> {
        let mut seen = BTreeSet::new();
        let buildings = self
            .buildings
            .into_iter()
            .enumerate()
            .map(|(index, building)| building.check(&format!("/buildings/{index}"), &mut seen))
            .collect::<Result<_, _>>()?;
        let users = self
            .users
            .into_iter()
            .enumerate()
            .map(|(index, user)| user.check(&format!("/users/{index}"), &hash_of))
            .collect::<Result<_, _>>()?;
        Ok(Fleet { buildings, users })
    }
}

impl Building {
    fn check(self, place: &str, seen: &mut BTreeSet<Uuid>) -> Result<FleetBuilding, String> {
        once(seen, self.uuid, &format!("{place}/uuid"))?;
        let timezone = jiff::tz::TimeZone::get(&self.timezone).map_err(|_| {
            format!("{place}/timezone: expected an IANA name such as Europe/Amsterdam")
        })?;
        let hubs = self
            .sensor_hubs
            .into_iter()
            .enumerate()
            .map(|(index, hub)| hub.check(&format!("{place}/sensor_hubs/{index}"), seen))
            .collect::<Result<_, _>>()?;
        Ok(FleetBuilding {
            uuid: self.uuid,
            name: self.name,
            timezone: timezone.iana_name().unwrap_or("UTC").to_owned(),
            consumption_compensated_curtailment: self.consumption_compensated_curtailment,
            hubs,
        })
    }
}

impl Hub {
    fn check(self, place: &str, seen: &mut BTreeSet<Uuid>) -> Result<FleetHub, String> {
        once(seen, self.uuid, &format!("{place}/uuid"))?;
        let sensors = self
            .sensors
            .into_iter()
            .enumerate()
            .map(|(index, sensor)| sensor.check(&format!("{place}/sensors/{index}"), seen))
            .collect::<Result<_, _>>()?;
        Ok(FleetHub {
            uuid: self.uuid,
            name: self.name,
            kind: self.kind,
            sensors,
        })
    }
}

impl Sensor {
    fn check(self, place: &str, seen: &mut BTreeSet<Uuid>) -> Result<FleetSensor, String> {
        once(seen, self.sensor_uuid, &format!("{place}/sensor_uuid"))?;
        let kind = SensorKind::parse(&self.kind).ok_or_else(|| {
            let kinds: Vec<&str> = SensorKind::ALL.iter().map(|kind| kind.as_str()).collect();
            format!("{place}/kind: expected one of {}", kinds.join(", "))
        })?;
        if !["minute", "quarter", "day"].contains(&self.min_interval.as_str()) {
            return Err(format!(
                "{place}/min_interval: expected minute, quarter or day"
            ));
        }
        Ok(FleetSensor {
            sensor_uuid: self.sensor_uuid,
            name: self.name,
            kind,
            min_interval: self.min_interval,
            meter_name: self.meter_name,
            tariff: self.tariff,
        })
    }
}

impl User {
    fn check(self, place: &str, hash_of: &impl Fn(&str) -> String) -> Result<FleetUser, String> {
        let links = self
            .buildings
            .iter()
            .enumerate()
            .map(|(index, link)| {
                let role = Role::parse(&link.role).ok_or_else(|| {
                    format!("{place}/buildings/{index}/role: expected viewer or operator")
                })?;
                Ok(FleetLink {
                    building: link.uuid,
                    role,
                })
            })
            .collect::<Result<_, String>>()?;
        let password_hash = hash_of(&self.username);
        Ok(FleetUser {
            username: self.username,
            password_hash,
            links,
        })
    }
}

fn once(seen: &mut BTreeSet<Uuid>, uuid: Uuid, place: &str) -> Result<(), String> {
    if seen.insert(uuid) {
        Ok(())
    } else {
        Err(format!("{place}: {uuid} stands here twice"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let told = FleetFile::parse(text).and_then(|file| file.into_fleet(|_| String::new()));
        let told = told.unwrap_err();
        assert!(told.contains(expected), "{told}");
    }

    #[test]
    fn what_is_wrong_is_named_by_place_and_rule() {
        check(r#"{"houses": []}"#, "houses");
        let building = |rest: &str| {
            format!(
                r#"{{"buildings": [{{"uuid": "00000000-0000-4000-8000-000000000001", "name": "a"{rest}}}]}}"#
            )
        };
        check(
            &building(r#", "timezone": "Mars/Base""#),
            "/buildings/0/timezone",
        );
        let hub = |sensor: &str| {
            building(&format!(
                r#", "sensor_hubs": [{{"uuid": "00000000-0000-4000-8000-000000000002", "name": "h", "kind": "k",
                "sensors": [{{"sensor_uuid": "00000000-0000-4000-8000-000000000002", "name": "s", {sensor}}}]}}]"#
            ))
        };
        check(&hub(r#""kind": "delivery""#), "twice");
        check(
            &hub(r#""kind": "steam""#).replace("2\", \"name\": \"s\"", "3\", \"name\": \"s\""),
            "/buildings/0/sensor_hubs/0/sensors/0/kind",
        );
        check(
            r#"{"users": [{"username": "ada", "password": "x",
                "buildings": [{"uuid": "00000000-0000-4000-8000-000000000001", "role": "king"}]}]}"#,
            "/users/0/buildings/0/role",
        );
    }
}
