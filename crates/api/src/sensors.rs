//! `GET /public-api/buildings/{uuid}/sensors/`: the sensors of a building.

use crate::error::Problem;
use crate::extract::Member;
use crate::state::Api;
use axum::Json;
use axum::extract::State;
use domain::electricity::{Source, sources};
use domain::sensor::{SensorKind, Sign};
use schemars::JsonSchema;
use serde::Serialize;
use store::{Contributor, Sensor, Series};
use uuid::Uuid;

/// A sensor of a building.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Sensor")]
pub(crate) struct SensorBody {
    /// Number; not the same as its uuid.
    id: i64,
    sensor_uuid: Uuid,
    name: String,
    /// What it measures.
    #[schemars(extend("enum" = SensorKind::ALL.map(SensorKind::as_str)))]
    kind: &'static str,
    unit: &'static str,
    /// The kind again, of an electric sensor.
    energy_method: Option<&'static str>,
    /// Configured minimum interval of its meter readings.
    #[schemars(extend("enum" = ["minute", "quarter", "day"]))]
    min_interval: String,
    sensor_hub: HubBody,
    /// Of a combined sensor; of all others empty.
    contributors: Vec<ContributorBody>,
}

/// A collection of sensors.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SensorHub")]
struct HubBody {
    uuid: Uuid,
    name: String,
    kind: String,
}

/// A part of a combined sensor.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "Contributor")]
struct ContributorBody {
    sensor_uuid: Uuid,
    /// 1 or -1.
    factor: i32,
}

pub(crate) async fn list(
    State(api): State<Api>,
    member: Member,
) -> Result<Json<Vec<SensorBody>>, Problem> {
    let sensors = api.store.sensors_of(member.building).await?;
    Ok(Json(bodies(sensors)))
}

fn bodies(sensors: Vec<Sensor>) -> Vec<SensorBody> {
    let contributors: Vec<ContributorBody> = Sensor::contributors(&sensors)
        .into_iter()
        .map(ContributorBody::from)
        .collect();
    let sources = sources_of(&sensors);
    let body = |(sensor, source)| match source {
        Source::Combined => SensorBody::new(sensor, contributors.clone()),
        Source::Telemetry(_) | Source::Own => SensorBody::new(sensor, Vec::new()),
    };
    sensors.into_iter().zip(sources).map(body).collect()
}

/// Where the power of each of a building's sensors comes from; `sensors` as the store orders them.
pub(crate) fn sources_of(sensors: &[Sensor]) -> Vec<Source> {
    let kinds: Vec<SensorKind> = sensors.iter().map(|sensor| sensor.kind).collect();
    sources(&kinds)
}

/// Where a sensor's power is found, and which direction of it counts; none for a combined sensor.
pub(crate) fn fed_by(sensor: &Sensor, source: Source) -> Option<(Series, Sign)> {
    match source {
        Source::Telemetry(feed) => Some((Series::Section(feed.section), feed.sign)),
        Source::Own => Some((Series::Sensor(sensor.id), Sign::Positive)),
        Source::Combined => None,
    }
}

impl SensorBody {
    fn new(sensor: Sensor, contributors: Vec<ContributorBody>) -> Self {
        Self {
            id: sensor.id,
            sensor_uuid: sensor.sensor_uuid,
            name: sensor.name,
            kind: sensor.kind.as_str(),
            unit: sensor.kind.unit(),
            energy_method: sensor.kind.energy_method(),
            min_interval: sensor.min_interval,
            sensor_hub: HubBody {
                uuid: sensor.hub.uuid,
                name: sensor.hub.name,
                kind: sensor.hub.kind,
            },
            contributors,
        }
    }
}

impl From<Contributor> for ContributorBody {
    fn from(contributor: Contributor) -> Self {
        Self {
            sensor_uuid: contributor.sensor_uuid,
            factor: contributor.factor,
        }
    }
}
