//! The electricity reads.

use crate::description::{Answer, Description, Parameter, Place, Rule};
use crate::electricity::{BuildingPowerBody, SensorPowerBody};
use crate::example;
use schemars::json_schema;
use serde_json::{Value, json};

const NOTHING: Answer = Answer::nothing("There is no value to give.");

const COMBINED: &str = "Combines the sensors that have measured within the 120 seconds before the \
    newest measurement; the time of the oldest part is the time of the whole. `value` is delivery \
    \u{2212} return_delivery; what has no sensor in the window is left out. Integer watts.";

const OF_SENSORS: &str = "Newest measurements of single sensors, or with `aggregate=minute` the mean \
    power of the newest minute that has ended. A sensor without a value has no object. A combined \
    sensor has a value when all its contributors have one within 120 seconds of each other. Integer \
    watts.";

pub(crate) fn actual() -> Description {
    of_building(
        "readActualPower",
        "Reads the power of a building, at most an hour old",
    )
}

pub(crate) fn latest() -> Description {
    of_building(
        "readLatestPower",
        "Reads the newest power of a building, however old",
    )
}

pub(crate) fn sensors_actual() -> Description {
    of_sensors(
        "readActualSensorPower",
        "Reads the power of sensors, at most an hour old",
    )
}

pub(crate) fn sensors_latest() -> Description {
    of_sensors(
        "readLatestSensorPower",
        "Reads the newest power of sensors, however old",
    )
}

fn of_building(id: &'static str, summary: &'static str) -> Description {
    Description {
        id,
        subject: "Electricity",
        summary,
        text: COMBINED,
        answers: vec![
            Answer::ok::<BuildingPowerBody>("The building's power.", power()),
            NOTHING,
        ],
        ..Description::default()
    }
}

fn power() -> Value {
    json!({
        "datetime": example::MEASURED, "value": 700, "delivery": 700, "return_delivery": 0,
        "production": 1500, "consumption": 2200,
    })
}

fn of_sensors(id: &'static str, summary: &'static str) -> Description {
    Description {
        id,
        subject: "Electricity",
        summary,
        text: OF_SENSORS,
        parameters: parameters(),
        answers: vec![
            Answer::ok::<Vec<SensorPowerBody>>(
                "An object for each sensor that has a value, in the order of the query.",
                json!([{
                    "sensor_uuid": example::DELIVERY, "energy_method": "delivery",
                    "datetime": example::MEASURED, "value": 700,
                }]),
            ),
            NOTHING,
        ],
        rules: vec![
            Rule::new(
                "/sensor_uuid",
                "required",
                "sensor_uuid must be given at least once",
            ),
            Rule::new("/sensor_uuid", "not_a_uuid", "sensor_uuid must be a uuid"),
            Rule::new(
                "/sensor_uuid",
                "not_electric",
                "the sensor must be an electric one",
            ),
            Rule::new(
                "/aggregate",
                "not_a_choice",
                "aggregate can only be \"minute\"",
            ),
        ],
        ..Description::default()
    }
}

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter {
            name: "sensor_uuid",
            place: Place::Query,
            text: "The sensors, not their ids; once or several times, each also a comma list. One that \
                   is named twice is answered once.",
            required: true,
            schema: json_schema!({
                "type": "array", "items": {"type": "string", "format": "uuid"}, "minItems": 1,
            }),
            example: json!([example::DELIVERY]),
        },
        Parameter {
            name: "aggregate",
            place: Place::Query,
            text: "`minute` for the mean power of a minute.",
            required: false,
            schema: json_schema!({"type": "string", "enum": ["minute"]}),
            example: "minute".into(),
        },
    ]
}
