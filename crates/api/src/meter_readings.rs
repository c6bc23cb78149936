//! The meter readings: what the registers of a building read.

pub(crate) mod asked;

use crate::error::Problem;
use crate::extract::{Found, Member, Parameters};
use crate::sensors::{fed_by, sources_of};
use crate::state::Api;
use asked::Asked;
use axum::extract::State;
use domain::electricity::{Read, Source};
use domain::register::{has_virtual_register, kwh, takes_own_register};
use schemars::JsonSchema;
use serde::Serialize;
use store::{MeterReading, Metered, Reading, Sensor};
use uuid::Uuid;

/// What a register read; kWh, or the meter's own unit.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MeterReading")]
pub(crate) struct MeterReadingBody {
    meter_name: Option<String>,
    sensor_uuid: Uuid,
    /// When it was read; of a virtual register the start of a minute.
    datetime: i64,
    #[schemars(range(min = 0))]
    value: f64,
    energy_method: Option<&'static str>,
    tariff: Option<String>,
}

/// `GET …/electricity/meterreadings/`
pub(crate) async fn of_interval(
    State(api): State<Api>,
    member: Member,
    parameters: Parameters,
) -> Result<Found<Vec<MeterReadingBody>>, Problem> {
    let asked = Asked::of(&parameters)?;
    let building = member.building;
    let found = api.store.sensors_and_timezone(building).await?;
    let (sensors, timezone) = found.ok_or(Problem::NotFound)?;
    let metered = metered(&sensors);
    let readings = match asked.moment {
        Some(moment) => {
            let interval = asked.interval.containing(moment, &timezone);
            let first = api
                .store
                .first_meter_readings(building, &metered, &interval);
            first.await?
        }
        None => {
            let (now, interval) = (api.now(), asked.interval);
            let last = api
                .store
                .last_processed_meter_readings(building, &metered, interval, &timezone, now);
            last.await?
        }
    };
    Ok(bodies(sensors, &readings))
}

/// `GET …/electricity/meterreadings/actual/`
pub(crate) async fn actual(
    State(api): State<Api>,
    member: Member,
) -> Result<Found<Vec<MeterReadingBody>>, Problem> {
    newest(&api, member, Read::Actual).await
}

/// `GET …/electricity/meterreadings/latest/`
pub(crate) async fn latest(
    State(api): State<Api>,
    member: Member,
) -> Result<Found<Vec<MeterReadingBody>>, Problem> {
    newest(&api, member, Read::Latest).await
}

async fn newest(
    api: &Api,
    member: Member,
    read: Read,
) -> Result<Found<Vec<MeterReadingBody>>, Problem> {
    let sensors = api.store.sensors_of(member.building).await?;
    let metered = metered(&sensors);
    let newest = api.store.newest_meter_readings(member.building, &metered);
    let mut readings = newest.await?;
    let now = api.now();
    readings.retain(|reading| read.gives(reading.time, now));
    Ok(bodies(sensors, &readings))
}

/// The sensors that have a register.
fn metered(sensors: &[Sensor]) -> Vec<Metered> {
    let metered = |(sensor, source): (&Sensor, Source)| {
        takes_own_register(sensor.kind, source).then(|| Metered {
            sensor_id: sensor.id,
            fed_by: match has_virtual_register(sensor.kind, source) {
                true => fed_by(sensor, source),
                false => None,
            },
        })
    };
    sensors
        .iter()
        .zip(sources_of(sensors))
        .filter_map(metered)
        .collect()
}

/// The readings, in the order of the sensor list.
fn bodies(sensors: Vec<Sensor>, readings: &[MeterReading]) -> Found<Vec<MeterReadingBody>> {
    let body = |sensor: Sensor| {
        let reading = readings.iter().find(|it| it.sensor_id == sensor.id)?;
        Some(MeterReadingBody::new(sensor, reading))
    };
    let bodies: Vec<_> = sensors.into_iter().filter_map(body).collect();
    Found((!bodies.is_empty()).then_some(bodies))
}

impl MeterReadingBody {
    fn new(sensor: Sensor, reading: &MeterReading) -> Self {
        Self {
            meter_name: sensor.meter_name,
            sensor_uuid: sensor.sensor_uuid,
            datetime: reading.time.seconds(),
            value: match reading.reading {
                // A meter may have sent -0.0.
                Reading::Own(reading) => reading.abs(),
                Reading::Virtual(energy_wus) => kwh(energy_wus),
            },
            energy_method: sensor.kind.energy_method(),
            tariff: sensor.tariff,
        }
    }
}
