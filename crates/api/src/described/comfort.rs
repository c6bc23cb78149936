//! The comfort read.

use crate::comfort::DayBody;
use crate::description::{Answer, Description, Parameter, Place, Rule};
use crate::example;
use schemars::json_schema;
use serde_json::json;

pub(crate) fn history_of_day() -> Description {
    let day = json!({
        "start_datetime": example::TODAY, "end_datetime": example::TOMORROW,
        "sensor_id": example::TEMPERATURE_ID, "sensor_uuid": example::TEMPERATURE,
        "unit": "degrees Celsius",
        "values": [
            {"datetime": example::TODAY, "value": 18.25},
            {"datetime": example::TODAY + 900, "value": 18.125},
        ],
    });
    Description {
        id: "readComfortDay",
        subject: "Comfort",
        summary: "Reads the temperature or the humidity of a day by quarters",
        text: "The mean of each quarter that has data. Days are those of the building's timezone: they \
               have 96 quarters, or 92 or 100 where clocks change.",
        parameters: parameters(),
        answers: vec![
            Answer::ok::<DayBody>("The day.", day),
            Answer::nothing("The day has no data."),
        ],
        rules: vec![
            Rule::new("/sensor_id", "required", "sensor_id must be given"),
            Rule::new(
                "/sensor_id",
                "not_an_integer",
                "sensor_id must be an integer",
            ),
            Rule::new(
                "/sensor_id",
                "not_a_comfort_sensor",
                "the sensor must measure temperature or relative humidity",
            ),
            Rule::new("/sensor_id", "repeated", "sensor_id may be given once only"),
            Rule::new("/offset", "not_an_integer", "offset must be an integer"),
            Rule::new("/offset", "out_of_range", "offset can only be 0, -1 or -2"),
            Rule::new("/offset", "repeated", "offset may be given once only"),
        ],
        ..Description::default()
    }
}

fn parameters() -> Vec<Parameter> {
    vec![
        Parameter {
            name: "sensor_id",
            place: Place::Query,
            text: "The `id` of a sensor in the sensor list, not its uuid.",
            required: true,
            schema: json_schema!({"type": "integer"}),
            example: example::TEMPERATURE_ID.into(),
        },
        Parameter {
            name: "offset",
            place: Place::Query,
            text: "0 for today, -1 for yesterday, -2 for the day before; 0 by default.",
            required: false,
            schema: json_schema!({"type": "integer", "minimum": -2, "maximum": 0}),
            example: 0.into(),
        },
    ]
}
