//! The rules of the fleet file's values; what breaks one is told by its place, a JSON pointer.

use crate::fleet_file::{Building, FleetFile, Hub, Link, Sensor, User};
use crate::password::Password;
use domain::name::{check_name, check_note};
use domain::sensor::SensorKind;
use std::collections::BTreeSet;
use store::{Fleet, FleetBuilding, FleetHub, FleetLink, FleetSensor, FleetUser, Role};
use uuid::Uuid;

impl FleetFile {
    /// The fleet, its password hashes left empty, and the users' passwords in the same order.
    ///
    /// # Errors
    /// One line with the place and the rule that is broken.
    pub(crate) fn check(self) -> Result<(Fleet, Vec<Password>), String> {
        let mut seen = BTreeSet::new();
        let mut buildings = Vec::with_capacity(self.buildings.len());
        for (index, building) in self.buildings.into_iter().enumerate() {
            buildings.push(building.check(&format!("/buildings/{index}"), &mut seen)?);
        }
        let mut seen = BTreeSet::new();
        let (mut users, mut passwords) = (Vec::new(), Vec::new());
        for (index, user) in self.users.into_iter().enumerate() {
            let place = format!("/users/{index}");
            once(
                &mut seen,
                user.username.clone(),
                &format!("{place}/username"),
            )?;
            let (user, password) = user.check(&place)?;
            users.push(user);
            passwords.push(password);
        }
        Ok((Fleet { buildings, users }, passwords))
    }
}

impl Building {
    fn check(self, place: &str, seen: &mut BTreeSet<Uuid>) -> Result<FleetBuilding, String> {
        once(seen, self.uuid, &format!("{place}/uuid"))?;
        named(&self.name, &format!("{place}/name"))?;
        let timezone =
            timezone(&self.timezone).map_err(|rule| format!("{place}/timezone: {rule}"))?;
        let hubs = self.sensor_hubs.into_iter().enumerate();
        let hubs = hubs
            .map(|(index, hub)| hub.check(&format!("{place}/sensor_hubs/{index}"), seen))
            .collect::<Result<_, _>>()?;
        Ok(FleetBuilding {
            uuid: self.uuid,
            name: self.name,
            timezone,
            consumption_compensated_curtailment: self.consumption_compensated_curtailment,
            hubs,
        })
    }
}

impl Hub {
    fn check(self, place: &str, seen: &mut BTreeSet<Uuid>) -> Result<FleetHub, String> {
        once(seen, self.uuid, &format!("{place}/uuid"))?;
        named(&self.name, &format!("{place}/name"))?;
        named(&self.kind, &format!("{place}/kind"))?;
        let sensors = self.sensors.into_iter().enumerate();
        let sensors = sensors
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
        named(&self.name, &format!("{place}/name"))?;
        for (field, text) in [("meter_name", &self.meter_name), ("tariff", &self.tariff)] {
            check_note(text.as_deref().unwrap_or_default())
                .map_err(|rule| format!("{place}/{field}: {rule}"))?;
        }
        let min_interval = min_interval(&self.min_interval)
            .map_err(|rule| format!("{place}/min_interval: {rule}"))?;
        Ok(FleetSensor {
            sensor_uuid: self.sensor_uuid,
            name: self.name,
            kind: kind(&self.kind).map_err(|rule| format!("{place}/kind: {rule}"))?,
            min_interval,
            meter_name: self.meter_name,
            tariff: self.tariff,
        })
    }
}

impl User {
    fn check(self, place: &str) -> Result<(FleetUser, Password), String> {
        named(&self.username, &format!("{place}/username"))?;
        let mut seen = BTreeSet::new();
        let links = self.buildings.into_iter().enumerate();
        let links = links
            .map(|(index, link)| link.check(&format!("{place}/buildings/{index}"), &mut seen))
            .collect::<Result<_, _>>()?;
        let user = FleetUser {
            username: self.username,
            password_hash: String::new(),
            links,
        };
        Ok((user, self.password))
    }
}

impl Link {
    fn check(self, place: &str, seen: &mut BTreeSet<Uuid>) -> Result<FleetLink, String> {
        once(seen, self.uuid, &format!("{place}/uuid"))?;
        Ok(FleetLink {
            building: self.uuid,
            role: role(&self.role).map_err(|rule| format!("{place}/role: {rule}"))?,
        })
    }
}

fn named(text: &str, place: &str) -> Result<(), String> {
    check_name(text).map_err(|rule| format!("{place}: {rule}"))
}

fn once<T: Ord + Clone + std::fmt::Debug>(
    seen: &mut BTreeSet<T>,
    identity: T,
    place: &str,
) -> Result<(), String> {
    if seen.insert(identity.clone()) {
        Ok(())
    } else {
        Err(format!("{place}: {identity:?} stands here twice"))
    }
}

/// Reads an IANA timezone; gives its own spelling.
pub(crate) fn timezone(text: &str) -> Result<String, String> {
    let expected = || "expected an IANA name such as Europe/Amsterdam".to_owned();
    let timezone = jiff::tz::TimeZone::get(text).map_err(|_| expected())?;
    Ok(timezone.iana_name().unwrap_or("UTC").to_owned())
}

/// Reads a sensor kind.
pub(crate) fn kind(text: &str) -> Result<SensorKind, String> {
    SensorKind::parse(text).ok_or_else(|| {
        let kinds: Vec<&str> = SensorKind::ALL.iter().map(|kind| kind.as_str()).collect();
        format!("expected one of {}", kinds.join(", "))
    })
}

/// Reads a minimum interval.
pub(crate) fn min_interval(text: &str) -> Result<String, String> {
    if ["minute", "quarter", "day"].contains(&text) {
        return Ok(text.to_owned());
    }
    Err("expected minute, quarter or day".to_owned())
}

/// Reads a role.
pub(crate) fn role(text: &str) -> Result<Role, String> {
    Role::parse(text).ok_or_else(|| "expected viewer or operator".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const BUILDING: &str = "00000000-0000-4000-8000-000000000001";
    const SENSOR: &str = "00000000-0000-4000-8000-000000000003";

    fn fleet() -> Value {
        json!({
            "buildings": [{"uuid": BUILDING, "name": "a", "timezone": "UTC", "sensor_hubs": [{
                "uuid": "00000000-0000-4000-8000-000000000002", "name": "h", "kind": "k",
                "sensors": [{"sensor_uuid": SENSOR, "name": "s", "kind": "delivery"}]}]}],
            "users": [{"username": "ada", "password": "sesame",
                "buildings": [{"uuid": BUILDING, "role": "viewer"}]}],
        })
    }

    fn told(fleet: &Value) -> String {
        let checked = FleetFile::parse(&fleet.to_string()).and_then(FleetFile::check);
        checked.map(|_| String::new()).unwrap_or_else(|told| told)
    }

    /// What is told when `value` stands at `place`.
    fn check(place: &str, value: Value, expected: &str) {
        let mut fleet = fleet();
        *fleet.pointer_mut(place).unwrap() = value;
        let told = told(&fleet);
        assert!(told.contains(expected), "{place}: {told}");
        if !expected.contains(" at line ") {
            assert!(told.starts_with(place), "{place}: {told}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_place_and_rule() {
        assert_eq!(told(&fleet()), "");
        let (hub, sensor) = (
            "/buildings/0/sensor_hubs/0",
            "/buildings/0/sensor_hubs/0/sensors/0",
        );
        check("/buildings/0/timezone", json!("Mars/Base"), "IANA");
        check("/buildings/0/name", json!(" "), "not empty");
        check("/buildings/0/name", json!("a\0"), "control characters");
        check(&format!("{hub}/kind"), json!(""), "not empty");
        check(&format!("{sensor}/sensor_uuid"), json!(BUILDING), "twice");
        check(&format!("{sensor}/kind"), json!("steam"), "expected one of");
        check(&format!("{sensor}/name"), json!("x".repeat(201)), "200");
        check("/users/0/username", json!(""), "not empty");
        check("/users/0/buildings/0/role", json!("king"), "viewer or");
        assert!(told(&json!({"houses": []})).contains("unknown field `houses`"));
    }

    #[test]
    fn what_may_stand_once_is_refused_twice() {
        for list in ["/buildings", "/users", "/users/0/buildings"] {
            let mut fleet = fleet();
            let entries = fleet.pointer_mut(list).unwrap().as_array_mut().unwrap();
            entries.push(entries[0].clone());
            let told = told(&fleet);
            let place = format!("{list}/1/");
            assert!(told.starts_with(&place) && told.contains("twice"), "{told}");
        }
    }

    #[test]
    fn a_password_is_told_by_no_error() {
        for wrong in [json!(7_777_777), json!(["7777777"]), json!("")] {
            let mut fleet = fleet();
            fleet["users"][0]["password"] = wrong;
            let told = told(&fleet);
            assert!(told.contains("expected a password"), "{told}");
            assert!(!told.contains("7777777"), "{told}");
        }
        let parsed = FleetFile::parse(&fleet().to_string()).unwrap();
        assert!(!format!("{parsed:?}").contains("sesame"));
    }
}
