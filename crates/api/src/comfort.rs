//! The comfort read: temperature or humidity of a day by quarters.

pub(crate) mod asked;

use crate::error::Problem;
use crate::extract::{Found, Member, Parameters};
use crate::state::Api;
use asked::Asked;
use axum::extract::State;
use domain::time::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;
use store::{QuarterMean, Sensor};
use uuid::Uuid;

/// A sensor's day.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ComfortDay")]
pub(crate) struct DayBody {
    start_datetime: i64,
    end_datetime: i64,
    sensor_id: i64,
    sensor_uuid: Uuid,
    /// `degrees Celsius` or `percent`.
    unit: &'static str,
    /// Of each quarter that has data, by time.
    values: Vec<QuarterBody>,
}

/// The mean of a quarter.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ComfortQuarter")]
struct QuarterBody {
    datetime: i64,
    value: f64,
}

/// `GET …/comfort/history/day/`
pub(crate) async fn history_of_day(
    State(api): State<Api>,
    member: Member,
    parameters: Parameters,
) -> Result<Found<DayBody>, Problem> {
    let found = api.store.sensors_and_timezone(member.building).await?;
    let (sensors, timezone) = found.ok_or(Problem::NotFound)?;
    let asked = Asked::of(&parameters, &sensors)?;
    let day = timezone.day_before(api.now(), asked.days_before);
    let means = api
        .store
        .quarter_means(member.building, asked.sensor.id, &day)
        .await?;
    Ok(Found(
        (!means.is_empty()).then(|| DayBody::new(asked.sensor, &day, &means)),
    ))
}

impl DayBody {
    fn new(sensor: &Sensor, day: &Range<Timestamp>, means: &[QuarterMean]) -> Self {
        let quarter = |quarter: &QuarterMean| QuarterBody {
            datetime: quarter.start.seconds(),
            value: quarter.mean,
        };
        Self {
            start_datetime: day.start.seconds(),
            end_datetime: day.end.seconds(),
            sensor_id: sensor.id,
            sensor_uuid: sensor.sensor_uuid,
            unit: sensor.kind.unit(),
            values: means.iter().map(quarter).collect(),
        }
    }
}
