//! Buildings and their sensors.

use crate::buildings::{BuildingBody, BuildingWithPresenceBody};
use crate::description::{Answer, Description};
use crate::example;
use crate::sensors::SensorBody;
use serde_json::{Value, json};

pub(crate) fn list() -> Description {
    Description {
        id: "listBuildings",
        subject: "Buildings",
        summary: "Lists the buildings that the user is linked to",
        text: "By name.",
        answers: vec![Answer::ok::<Vec<BuildingBody>>(
            "The user's buildings.",
            json!([building()]),
        )],
        ..Description::default()
    }
}

pub(crate) fn one() -> Description {
    let mut building = building();
    building["presence"] = json!({"online": true, "since": example::ONLINE_SINCE});
    Description {
        id: "readBuilding",
        subject: "Buildings",
        summary: "Reads a building, and whether its controller is connected",
        text: "`presence` is null as long as nothing was heard of it.",
        answers: vec![Answer::ok::<BuildingWithPresenceBody>(
            "The building.",
            building,
        )],
        ..Description::default()
    }
}

fn building() -> Value {
    json!({
        "uuid": example::BUILDING, "name": "Depot", "timezone": "Europe/Amsterdam",
        "consumption_compensated_curtailment": false,
    })
}

pub(crate) fn sensors() -> Description {
    let meter = hub(example::METER_HUB, "Main meter", "smart_meter");
    let solar = hub(example::SOLAR_HUB, "Roof", "inverter");
    let contributors = json!([
        {"sensor_uuid": example::DELIVERY, "factor": 1},
        {"sensor_uuid": example::RETURN_DELIVERY, "factor": -1},
        {"sensor_uuid": example::PRODUCTION, "factor": 1},
    ]);
    let office = hub(example::OFFICE_HUB, "Office", "climate");
    let delivery = sensor(1, example::DELIVERY, "Delivery", "delivery", &meter);
    let (uuid, kind) = (example::RETURN_DELIVERY, "return_delivery");
    let given_back = sensor(2, uuid, "Return", kind, &meter);
    let mut used = sensor(3, example::CONSUMPTION, "Use", "consumption", &meter);
    used["contributors"] = contributors;
    let produced = sensor(4, example::PRODUCTION, "Panels", "production", &solar);
    let id = example::TEMPERATURE_ID;
    let mut warmth = sensor(id, example::TEMPERATURE, "Desk", "temperature", &office);
    warmth["unit"] = "degrees Celsius".into();
    warmth["energy_method"] = Value::Null;
    let (uuid, kind) = (example::SETPOINT, "setpoint");
    let mut wanted = sensor(id + 1, uuid, "Heating", kind, &office);
    wanted["unit"] = "degrees Celsius".into();
    wanted["energy_method"] = Value::Null;
    let charger = hub(example::CHARGER_HUB, "Car park", "charge_point");
    let (uuid, kind) = (example::SOCKET, "ev_socket");
    let mut socket = sensor(id + 2, uuid, "Socket 1", kind, &charger);
    socket["energy_method"] = Value::Null;
    Description {
        id: "listSensors",
        subject: "Buildings",
        summary: "Lists the sensors of a building",
        text: "In the fleet's order; those that the service added because telemetry reported them come \
               last.",
        answers: vec![Answer::ok::<Vec<SensorBody>>(
            "The building's sensors.",
            json!([delivery, given_back, used, produced, warmth, wanted, socket]),
        )],
        ..Description::default()
    }
}

fn hub(uuid: &str, name: &str, kind: &str) -> Value {
    json!({"uuid": uuid, "name": name, "kind": kind})
}

fn sensor(id: i64, uuid: &str, name: &str, kind: &str, hub: &Value) -> Value {
    json!({
        "id": id, "sensor_uuid": uuid, "name": name, "kind": kind, "unit": "W",
        "energy_method": kind, "min_interval": "minute", "sensor_hub": hub,
        "contributors": [],
    })
}
