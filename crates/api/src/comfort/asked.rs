//! What the query of a comfort read asks for.

use crate::error::{Problem, Violation};
use crate::extract::{BrokenRule, Parameters};
use store::Sensor;

/// A checked query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked<'a> {
    /// The sensor.
    pub(crate) sensor: &'a Sensor,
    /// Days before today: 0, 1 or 2.
    pub(crate) days_before: u32,
}

impl<'a> Asked<'a> {
    /// Checks the query against the building's sensors: an unknown sensor is told before what else is
    /// wrong, and that all at once.
    pub(crate) fn of(parameters: &Parameters, sensors: &'a [Sensor]) -> Result<Self, Problem> {
        let mut violations = Vec::new();
        let id = parameters.once("sensor_id", &mut violations, sensor_id);
        let sensor = match id {
            Some(id) => Some(find(id, sensors).ok_or(Problem::NotFound)?),
            None => None,
        };
        if sensor.is_some_and(|it| !it.kind.is_comfort()) {
            let detail = "the sensor measures neither temperature nor relative humidity";
            violations.push(Violation::new("/sensor_id", "not_a_comfort_sensor", detail));
        }
        if parameters.all("sensor_id").next().is_none() {
            let detail = "sensor_id must be given";
            violations.push(Violation::new("/sensor_id", "required", detail));
        }
        let days_before = parameters.once("offset", &mut violations, days_before);
        match sensor {
            Some(sensor) if violations.is_empty() => Ok(Self {
                sensor,
                days_before: days_before.unwrap_or_default(),
            }),
            Some(_) | None => Err(Problem::Invalid(violations)),
        }
    }
}

fn find(id: i128, sensors: &[Sensor]) -> Option<&Sensor> {
    sensors.iter().find(|it| i128::from(it.id) == id)
}

/// Any integer is an id, if need be of no sensor.
fn sensor_id(text: &str) -> Result<i128, BrokenRule> {
    text.parse()
        .map_err(|_| ("not_an_integer", "must be an integer"))
}

fn days_before(text: &str) -> Result<u32, BrokenRule> {
    match text.parse::<i128>() {
        Ok(0) => Ok(0),
        Ok(-1) => Ok(1),
        Ok(-2) => Ok(2),
        Ok(_) => Err(("out_of_range", "can only be 0, -1 or -2")),
        Err(_) => Err(("not_an_integer", "must be an integer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::sensor::SensorKind;
    use store::{HubOfSensor, SensorOrigin};
    use uuid::Uuid;

    fn sensor(id: i64, kind: SensorKind) -> Sensor {
        Sensor {
            id,
            sensor_uuid: Uuid::nil(),
            name: String::new(),
            kind,
            min_interval: "minute".to_owned(),
            meter_name: None,
            tariff: None,
            origin: SensorOrigin::Fleet,
            hub: HubOfSensor {
                uuid: Uuid::nil(),
                name: String::new(),
                kind: String::new(),
            },
        }
    }

    fn sensors() -> [Sensor; 3] {
        [
            sensor(7, SensorKind::Temperature),
            sensor(8, SensorKind::RelativeHumidity),
            sensor(9, SensorKind::Delivery),
        ]
    }

    #[test]
    fn a_sensor_and_one_of_three_days_may_be_asked_for() {
        let check = |query: &str, id, days_before| {
            let sensors = sensors();
            let asked = Asked::of(&Parameters::parse(query), &sensors).unwrap();
            assert_eq!(
                (asked.sensor.id, asked.days_before),
                (id, days_before),
                "{query}"
            );
        };
        check("sensor_id=7", 7, 0);
        check("sensor_id=8&offset=0&x=y", 8, 0);
        check("sensor_id=7&offset=-1", 7, 1);
        check("offset=-2&sensor_id=7", 7, 2);
    }

    #[test]
    fn an_unknown_sensor_is_told_before_what_else_is_wrong() {
        for query in [
            "sensor_id=10",
            "sensor_id=0",
            "sensor_id=-7",
            "sensor_id=10&offset=5",
            "sensor_id=99999999999999999999",
        ] {
            let found = Asked::of(&Parameters::parse(query), &sensors()).map(|it| it.sensor.id);
            assert_eq!(found, Err(Problem::NotFound), "{query}");
        }
    }

    #[test]
    fn every_broken_rule_is_told_with_its_parameter() {
        let check = |query: &str, expected: &[(&str, &str)]| {
            let sensors = sensors();
            let Err(Problem::Invalid(violations)) = Asked::of(&Parameters::parse(query), &sensors)
            else {
                panic!("{query} is accepted");
            };
            let told: Vec<_> = violations
                .iter()
                .map(|it| (it.field.as_str(), it.code))
                .collect();
            assert_eq!(told, expected, "{query}");
        };
        check("", &[("/sensor_id", "required")]);
        for text in [
            "",
            "x",
            "7.0",
            "%207",
            "aaaaaaaa-0000-4000-8000-000000000000",
        ] {
            check(
                &format!("sensor_id={text}"),
                &[("/sensor_id", "not_an_integer")],
            );
        }
        check("sensor_id=7&sensor_id=7", &[("/sensor_id", "repeated")]);
        check("sensor_id=9", &[("/sensor_id", "not_a_comfort_sensor")]);
        for text in ["1", "-3", "99999999999999999999"] {
            let query = format!("sensor_id=7&offset={text}");
            check(&query, &[("/offset", "out_of_range")]);
        }
        for text in ["", "x", "-1.0", "0.5"] {
            let query = format!("sensor_id=7&offset={text}");
            check(&query, &[("/offset", "not_an_integer")]);
        }
        check("sensor_id=7&offset=0&offset=0", &[("/offset", "repeated")]);
        check(
            "sensor_id=9&offset=1",
            &[
                ("/sensor_id", "not_a_comfort_sensor"),
                ("/offset", "out_of_range"),
            ],
        );
        check(
            "offset=1",
            &[("/sensor_id", "required"), ("/offset", "out_of_range")],
        );
    }
}
