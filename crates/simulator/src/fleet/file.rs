//! The fleet file: what `wattline admin apply` reads.

use super::{Building, Fleet};
use crate::instruments::Utility;
use serde_json::{Value, json};
use uuid::Uuid;

/// The user that the fleet file names, operator of every building.
const USERNAME: &str = "demo";
const TIMEZONE: &str = "Europe/Amsterdam";

impl Fleet {
    /// The fleet file that matches this fleet, with one user `demo` who has the given password and
    /// is operator of every building.
    #[must_use]
    pub fn fleet_file(&self, password: &str) -> Value {
        let links = self
            .buildings()
            .iter()
            .map(|building| json!({"uuid": building.uuid, "role": "operator"}));
        json!({
            "buildings": self.buildings().iter().map(building).collect::<Vec<_>>(),
            "users": [{
                "username": USERNAME,
                "password": password,
                "buildings": links.collect::<Vec<_>>(),
            }],
        })
    }
}

fn building(building: &Building) -> Value {
    let hubs = &building.hubs;
    let mut sensor_hubs = vec![hub(
        hubs.meter,
        "Main meter",
        "smart_meter",
        &[
            (hubs.delivery, "Delivery", "delivery"),
            (hubs.return_delivery, "Return delivery", "return_delivery"),
        ],
    )];
    if building.solar_rated_w.is_some() {
        let sensors = [(hubs.production, "Production", "production")];
        sensor_hubs.push(hub(hubs.inverters, "Solar inverters", "solar", &sensors));
    }
    if building.battery.is_some() {
        let sensors = [
            (hubs.charge, "Charge", "charge"),
            (hubs.discharge, "Discharge", "discharge"),
        ];
        sensor_hubs.push(hub(hubs.battery, "Battery", "battery", &sensors));
    }
    sensor_hubs.extend(instruments(building));
    json!({
        "uuid": building.uuid,
        "name": building.name,
        "timezone": TIMEZONE,
        "consumption_compensated_curtailment": false,
        "sensor_hubs": sensor_hubs,
    })
}

fn instruments(building: &Building) -> [Value; 5] {
    let here = &building.instruments;
    let gas = [(here.gas, "Gas", "gas_volume")];
    let utility = match here.utility {
        Utility::Heat { heat } => {
            let sensors = [(heat, "Heat", "heat")];
            hub(here.utility_hub, "Heat meter", "heat_meter", &sensors)
        }
        Utility::Water { volume, flow } => {
            let sensors = [
                (volume, "Water volume", "water_volume"),
                (flow, "Water flow", "water_flow"),
            ];
            hub(here.utility_hub, "Water meter", "water_meter", &sensors)
        }
    };
    let climate = [
        (here.temperature, "Temperature", "temperature"),
        (here.humidity, "Relative humidity", "relative_humidity"),
    ];
    let socket = [(here.ev_socket, "Car socket", "ev_socket")];
    let [heating, cooling] = here.setpoints;
    let setpoints = [
        (heating, "Heating setpoint", "setpoint"),
        (cooling, "Cooling setpoint", "setpoint"),
    ];
    [
        hub(here.gas_hub, "Gas meter", "gas_meter", &gas),
        utility,
        hub(here.climate_hub, "Climate", "climate", &climate),
        hub(here.charger_hub, "Car charger", "ev_charger", &socket),
        hub(
            here.management_hub,
            "Building management",
            "building_management",
            &setpoints,
        ),
    ]
}

fn hub(uuid: Uuid, hub_name: &str, hub_kind: &str, sensors: &[(Uuid, &str, &str)]) -> Value {
    let sensors = sensors.iter().map(|(sensor_uuid, name, kind)| {
        json!({
            "sensor_uuid": sensor_uuid,
            "name": name,
            "kind": kind,
            "min_interval": "minute",
            "meter_name": hub_name,
            "tariff": null,
        })
    });
    json!({
        "uuid": uuid,
        "name": hub_name,
        "kind": hub_kind,
        "sensors": sensors.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::sensor::SensorKind;
    use std::collections::HashSet;

    #[test]
    fn the_same_seed_gives_the_same_file_and_another_seed_another_one() {
        let file = |seed| Fleet::new(seed, 20).fleet_file("secret").to_string();
        assert_eq!(file(1), file(1));
        assert_ne!(file(1), file(2));
    }

    #[test]
    fn every_building_is_linked_once_and_every_sensor_has_a_known_kind_and_its_own_uuid() {
        let file = Fleet::new(3, 50).fleet_file("secret");
        let mut uuids = HashSet::new();
        for building in file["buildings"].as_array().unwrap() {
            assert!(uuids.insert(building["uuid"].clone()));
            for hub in building["sensor_hubs"].as_array().unwrap() {
                assert!(uuids.insert(hub["uuid"].clone()));
                for sensor in hub["sensors"].as_array().unwrap() {
                    assert!(uuids.insert(sensor["sensor_uuid"].clone()));
                    assert!(SensorKind::parse(sensor["kind"].as_str().unwrap()).is_some());
                }
            }
        }
        let user = &file["users"][0];
        assert_eq!(
            (&user["username"], &user["password"]),
            (&json!("demo"), &json!("secret"))
        );
        assert_eq!(user["buildings"].as_array().unwrap().len(), 50);
        assert_eq!(user["buildings"][7]["uuid"], file["buildings"][7]["uuid"]);
    }
}
