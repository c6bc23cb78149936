//! The meter readings.

use crate::description::{Answer, Description, Parameter, Place, Rule};
use crate::example;
use crate::meter_readings::MeterReadingBody;
use schemars::json_schema;
use serde_json::{Value, json};

const NOTHING: Answer = Answer::nothing("There is no reading to give.");

const REGISTERS: &str = "Electricity in kWh, other meters in their own unit. For an electricity sensor \
    that sends no register of its own, the service keeps a virtual one by integrating power over time: \
    0 at the first sample, read at the start of every minute that has a sample. A power holds until \
    the next sample, if that comes within 120 seconds. Combined sensors have none.";

pub(crate) fn of_interval() -> Description {
    let mut rules = vec![Rule::new(
        "/min_interval",
        "not_a_choice",
        "min_interval can only be \"minute\", \"quarter\" or \"day\"",
    )];
    rules.push(Rule::new(
        "/min_interval",
        "repeated",
        "min_interval may be given once only",
    ));
    rules.extend(Rule::of_epoch_seconds("/timestamp"));
    Description {
        parameters: parameters(),
        rules,
        ..described(
            "readMeterReadings",
            "Reads the registers of a building in an interval",
            "The first reading of each register on or after the start of the interval, and in it.",
            &readings(example::YESTERDAY, 1_519.25, 803.125),
        )
    }
}

pub(crate) fn actual() -> Description {
    described(
        "readActualMeterReadings",
        "Reads the registers of a building, at most an hour old",
        "The newest reading of each register.",
        &readings(example::MEASURED, 1_532.456, 803.5),
    )
}

pub(crate) fn latest() -> Description {
    described(
        "readLatestMeterReadings",
        "Reads the registers of a building, however old",
        "The newest reading of each register.",
        &readings(example::MEASURED, 1_532.456, 803.5),
    )
}

fn described(
    id: &'static str,
    summary: &'static str,
    answered: &'static str,
    example: &Value,
) -> Description {
    Description {
        id,
        subject: "Meter readings",
        summary,
        text: REGISTERS,
        answers: vec![
            Answer::ok::<Vec<MeterReadingBody>>(answered, example.clone()),
            NOTHING,
        ],
        ..Description::default()
    }
}

fn readings(datetime: i64, delivery: f64, return_delivery: f64) -> Value {
    let reading = |uuid: &str, method: &str, value: f64| {
        json!({
            "meter_name": "E0042", "sensor_uuid": uuid, "datetime": datetime, "value": value,
            "energy_method": method, "tariff": null,
        })
    };
    json!([
        reading(example::DELIVERY, "delivery", delivery),
        reading(example::RETURN_DELIVERY, "return_delivery", return_delivery),
    ])
}

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter::optional_seconds(
            "timestamp",
            "A moment of the interval; without it, the newest interval that has ended and has a reading \
             of the building.",
            example::YESTERDAY + 42_573,
        ),
        Parameter {
            name: "min_interval",
            place: Place::Query,
            text: "How long the interval is; days are those of the building's timezone. `day` by default.",
            required: false,
            schema: json_schema!({"type": "string", "enum": ["minute", "quarter", "day"]}),
            example: "day".into(),
        },
    ]
}
