//! What a read of single sensors asks for.

use crate::error::{Problem, Violation};
use crate::extract::{Parameters, parse_uuid};
use store::Sensor;
use uuid::Uuid;

/// Which values are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Single measurements.
    Sample,
    /// Means of a minute (`aggregate=minute`).
    Minute,
}

/// A read that breaks no rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Which of the building's sensors, each once, in the order in which they are named.
    pub(crate) indices: Vec<usize>,
    pub(crate) grain: Grain,
}

const SENSOR: &str = "/sensor_uuid";
const AGGREGATE: &str = "/aggregate";

impl Asked {
    /// Reads `sensor_uuid` and `aggregate`. A sensor that the building has not is 404 before
    /// anything else is said.
    pub(crate) fn of(parameters: &Parameters, sensors: &[Sensor]) -> Result<Self, Problem> {
        let mut violations = Vec::new();
        let uuids = sensor_uuids(parameters, &mut violations);
        let position = |uuid: &Uuid| sensors.iter().position(|it| it.sensor_uuid == *uuid);
        let indices: Option<Vec<usize>> = uuids.iter().map(position).collect();
        let indices = indices.ok_or(Problem::NotFound)?;
        for index in &indices {
            let sensor = &sensors[*index];
            if !sensor.kind.is_electric() {
                let detail = format!("{} is not an electric sensor", sensor.sensor_uuid);
                violations.push(Violation::new(SENSOR, "not_electric", detail));
            }
        }
        let grain = grain(parameters, &mut violations);
        if violations.is_empty() {
            Ok(Self { indices, grain })
        } else {
            Err(Problem::Invalid(violations))
        }
    }
}

fn sensor_uuids(parameters: &Parameters, violations: &mut Vec<Violation>) -> Vec<Uuid> {
    let mut uuids = Vec::new();
    for item in parameters.items("sensor_uuid") {
        match parse_uuid(item) {
            Some(uuid) if uuids.contains(&uuid) => {}
            Some(uuid) => uuids.push(uuid),
            None => {
                let detail = format!("{item:?} is not a uuid");
                violations.push(Violation::new(SENSOR, "not_a_uuid", detail));
            }
        }
    }
    if uuids.is_empty() && violations.is_empty() {
        let detail = "sensor_uuid must be given at least once";
        violations.push(Violation::new(SENSOR, "required", detail));
    }
    uuids
}

fn grain(parameters: &Parameters, violations: &mut Vec<Violation>) -> Grain {
    let mut grain = Grain::Sample;
    for aggregate in parameters.all("aggregate") {
        grain = Grain::Minute;
        if aggregate != "minute" {
            let detail = "aggregate can only be \"minute\"";
            violations.push(Violation::new(AGGREGATE, "not_a_choice", detail));
        }
    }
    grain
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::extract::FromRequestParts;
    use axum::http::Request;
    use domain::sensor::SensorKind;
    use store::{HubOfSensor, SensorOrigin};

    const A: &str = "aaaaaaaa-0000-4000-8000-000000000000";
    const B: &str = "bbbbbbbb-0000-4000-8000-000000000000";
    const HEAT: &str = "cccccccc-0000-4000-8000-000000000000";
    const FOREIGN: &str = "dddddddd-0000-4000-8000-000000000000";

    fn sensor(uuid: &str, kind: SensorKind) -> Sensor {
        let sensor_uuid = parse_uuid(uuid).unwrap();
        Sensor {
            id: 1,
            sensor_uuid,
            name: String::new(),
            kind,
            min_interval: "minute".to_owned(),
            meter_name: None,
            tariff: None,
            origin: SensorOrigin::Fleet,
            hub: HubOfSensor {
                uuid: sensor_uuid,
                name: String::new(),
                kind: String::new(),
            },
        }
    }

    async fn asked(query: &str) -> Result<Asked, Problem> {
        let request = Request::get(format!("/?{query}")).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        let parameters = Parameters::from_request_parts(&mut parts, &())
            .await
            .unwrap();
        let sensors = [
            sensor(A, SensorKind::Delivery),
            sensor(B, SensorKind::EvSocket),
            sensor(HEAT, SensorKind::Heat),
        ];
        Asked::of(&parameters, &sensors)
    }

    #[tokio::test]
    async fn sensors_repeat_and_are_comma_lists_and_are_answered_once() {
        let check = async |query: &str, indices: &[usize], grain| {
            let expected = Asked {
                indices: indices.to_vec(),
                grain,
            };
            assert_eq!(asked(query).await, Ok(expected), "{query}");
        };
        check(&format!("sensor_uuid={A}"), &[0], Grain::Sample).await;
        check(
            &format!("sensor_uuid={B},{A}&sensor_uuid={B}"),
            &[1, 0],
            Grain::Sample,
        )
        .await;
        check(&format!("sensor_uuid={B}%2C{A}"), &[1, 0], Grain::Sample).await;
        let upper = A.to_uppercase();
        check(
            &format!("sensor_uuid={A}&sensor_uuid={upper}"),
            &[0],
            Grain::Sample,
        )
        .await;
        check(
            &format!("sensor_uuid={A}&aggregate=minute&x=y"),
            &[0],
            Grain::Minute,
        )
        .await;
    }

    #[tokio::test]
    async fn an_unknown_sensor_is_told_before_what_else_is_wrong() {
        for query in [
            format!("sensor_uuid={FOREIGN}"),
            format!("sensor_uuid={A},{FOREIGN}"),
            format!("sensor_uuid=nonsense,{FOREIGN}&aggregate=hour"),
        ] {
            assert_eq!(asked(&query).await, Err(Problem::NotFound), "{query}");
        }
    }

    #[tokio::test]
    async fn every_broken_rule_is_told() {
        let check = async |query: &str, codes: &[&str]| {
            let Err(Problem::Invalid(violations)) = asked(query).await else {
                panic!("{query} is accepted");
            };
            let told: Vec<&str> = violations.iter().map(|it| it.code).collect();
            assert_eq!(told, codes, "{query}");
        };
        check("", &["required"]).await;
        check("aggregate=minute", &["required"]).await;
        check("sensor_uuid=", &["not_a_uuid"]).await;
        check(&format!("sensor_uuid={A},"), &["not_a_uuid"]).await;
        check("sensor_uuid=12", &["not_a_uuid"]).await;
        check(
            &format!("sensor_uuid={}", A.replace('-', "")),
            &["not_a_uuid"],
        )
        .await;
        check(&format!("sensor_uuid={HEAT}"), &["not_electric"]).await;
        check(&format!("sensor_uuid={A}&aggregate="), &["not_a_choice"]).await;
        check(
            &format!("sensor_uuid={A}&aggregate=Minute"),
            &["not_a_choice"],
        )
        .await;
        let all = format!("sensor_uuid=x,{HEAT}&aggregate=hour");
        check(&all, &["not_a_uuid", "not_electric", "not_a_choice"]).await;
    }
}
