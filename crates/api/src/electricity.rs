//! The electricity reads: the building's power, and that of single sensors.

pub(crate) mod asked;
mod minute;

use crate::error::Problem;
use crate::extract::{Found, Member, Parameters};
use crate::sensors::{fed_by, sources_of};
use crate::state::Api;
use asked::{Asked, Grain};
use axum::extract::State;
use domain::electricity::{BuildingPower, Metered, Read, Sample, Source, consumption};
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use store::{LatestSample, Sensor};
use uuid::Uuid;

/// The building's power; watt.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "BuildingPower")]
pub(crate) struct BuildingPowerBody {
    /// Epoch seconds of the oldest part.
    datetime: i64,
    /// Delivery − return delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    delivery: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    return_delivery: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    production: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    charge: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    discharge: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    consumption: Option<i64>,
}

/// A sensor's power; watt.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SensorPower")]
pub(crate) struct SensorPowerBody {
    sensor_uuid: Uuid,
    /// None of an EV socket.
    energy_method: Option<&'static str>,
    /// Epoch seconds.
    datetime: i64,
    value: i64,
}

/// `GET …/electricity/actual/`
pub(crate) async fn actual(
    State(api): State<Api>,
    member: Member,
) -> Result<Found<BuildingPowerBody>, Problem> {
    of_building(&api, member, Read::Actual).await
}

/// `GET …/electricity/latest/`
pub(crate) async fn latest(
    State(api): State<Api>,
    member: Member,
) -> Result<Found<BuildingPowerBody>, Problem> {
    of_building(&api, member, Read::Latest).await
}

/// `GET …/electricity/sensors/actual/`
pub(crate) async fn sensors_actual(
    State(api): State<Api>,
    member: Member,
    parameters: Parameters,
) -> Result<Found<Vec<SensorPowerBody>>, Problem> {
    of_sensors(&api, member, &parameters, Read::Actual).await
}

/// `GET …/electricity/sensors/latest/`
pub(crate) async fn sensors_latest(
    State(api): State<Api>,
    member: Member,
    parameters: Parameters,
) -> Result<Found<Vec<SensorPowerBody>>, Problem> {
    of_sensors(&api, member, &parameters, Read::Latest).await
}

async fn of_building(
    api: &Api,
    member: Member,
    read: Read,
) -> Result<Found<BuildingPowerBody>, Problem> {
    let (sensors, latest) = api.store.sensors_and_samples(member.building).await?;
    let power = BuildingPower::of(&metered(&sensors, &latest));
    let now = api.now();
    Ok(Found(
        power
            .filter(|power| read.gives(power.time, now))
            .map(BuildingPowerBody::from),
    ))
}

async fn of_sensors(
    api: &Api,
    member: Member,
    parameters: &Parameters,
    read: Read,
) -> Result<Found<Vec<SensorPowerBody>>, Problem> {
    let (sensors, latest) = api.store.sensors_and_samples(member.building).await?;
    let asked = Asked::of(parameters, &sensors)?;
    let samples = match asked.grain {
        Grain::Sample => newest_samples(&sensors, &latest, read, api.now()),
        Grain::Minute => minute::newest_means(api, member, &sensors, &asked.indices, read).await?,
    };
    let body = |index: &usize| Some(SensorPowerBody::new(&sensors[*index], samples[*index]?));
    let bodies: Vec<_> = asked.indices.iter().filter_map(body).collect();
    Ok(Found((!bodies.is_empty()).then_some(bodies)))
}

/// The newest sample of each sensor that the read gives.
fn newest_samples(
    sensors: &[Sensor],
    latest: &[LatestSample],
    read: Read,
    now: Timestamp,
) -> Vec<Option<Sample>> {
    let metered = metered(sensors, latest);
    let sample = |(source, sensor): (Source, &Metered)| {
        let newest = match source {
            Source::Combined => consumption(&metered),
            Source::Telemetry(_) | Source::Own => sensor.newest,
        };
        newest.filter(|sample| read.gives(sample.time, now))
    };
    sources_of(sensors)
        .into_iter()
        .zip(&metered)
        .map(sample)
        .collect()
}

/// Each sensor with its newest sample.
fn metered(sensors: &[Sensor], latest: &[LatestSample]) -> Vec<Metered> {
    let newest = |sensor: &Sensor, source| {
        let (series, sign) = fed_by(sensor, source)?;
        let sample = latest.iter().find(|it| it.series == series)?;
        Some(Sample {
            time: sample.time,
            power_w: sign.of(sample.power_w),
        })
    };
    let metered = |(sensor, source): (&Sensor, Source)| Metered {
        kind: sensor.kind,
        newest: newest(sensor, source),
    };
    sensors
        .iter()
        .zip(sources_of(sensors))
        .map(metered)
        .collect()
}

impl From<BuildingPower> for BuildingPowerBody {
    fn from(power: BuildingPower) -> Self {
        Self {
            datetime: power.time.seconds(),
            value: power.value(),
            delivery: power.delivery,
            return_delivery: power.return_delivery,
            production: power.production,
            charge: power.charge,
            discharge: power.discharge,
            consumption: power.consumption,
        }
    }
}

impl SensorPowerBody {
    fn new(sensor: &Sensor, sample: Sample) -> Self {
        Self {
            sensor_uuid: sensor.sensor_uuid,
            energy_method: sensor.kind.energy_method(),
            datetime: sample.time.seconds(),
            value: sample.power_w,
        }
    }
}
