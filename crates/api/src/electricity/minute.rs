//! Minute aggregates of single sensors.

use crate::error::Problem;
use crate::extract::Member;
use crate::sensors::{fed_by, sources_of};
use crate::state::Api;
use domain::bucket::{MinuteSum, combined_mean, mean, readable_starts};
use domain::electricity::{Read, Sample, Source};
use domain::sensor::Sign;
use std::collections::BTreeSet;
use store::{AskedMinutes, MinuteSums, Sensor, Series};

/// Where a sensor's power is found, and which direction of it counts.
type Fed = (Series, Sign);

/// The newest minute aggregate that the read gives, of each sensor of the building that `wanted`
/// names by its index.
pub(crate) async fn newest_means(
    api: &Api,
    member: Member,
    sensors: &[Sensor],
    wanted: &[usize],
    read: Read,
) -> Result<Vec<Option<Sample>>, Problem> {
    let sources = sources_of(sensors);
    let fed: Vec<Option<Fed>> = sensors
        .iter()
        .zip(&sources)
        .map(|(sensor, source)| fed_by(sensor, *source))
        .collect();
    let combined = wanted
        .iter()
        .any(|index| sources[*index] == Source::Combined);
    let contributors = match combined {
        true => contributors(sensors, &fed),
        false => Vec::new(),
    };
    let asked = AskedMinutes {
        each: distinct(wanted.iter().filter_map(|index| fed[*index])),
        common: distinct(contributors.iter().map(|(_, fed)| *fed)),
    };
    let starts = readable_starts(read, api.now());
    let found = api
        .store
        .newest_minutes(member.building, &asked, starts)
        .await?;
    let part = |(factor, fed): &(i32, Fed)| Some((*factor, minute_sum(*fed, &found.common)?));
    let parts: Option<Vec<(i32, MinuteSum)>> = contributors.iter().map(part).collect();
    let combined = parts.and_then(|parts| combined_mean(&parts));
    let sample = |(source, fed): (&Source, &Option<Fed>)| match source {
        Source::Combined => combined,
        Source::Telemetry(_) | Source::Own => mean(minute_sum((*fed)?, &found.each)?),
    };
    Ok(sources.iter().zip(&fed).map(sample).collect())
}

/// What the building's combined sensor is made of.
fn contributors(sensors: &[Sensor], fed: &[Option<Fed>]) -> Vec<(i32, Fed)> {
    let contributors = sensors.iter().zip(fed).filter_map(|(sensor, fed)| {
        let factor = sensor.kind.consumption_factor()?;
        Some((factor, (*fed)?))
    });
    contributors.collect()
}

fn distinct(fed: impl Iterator<Item = Fed>) -> Vec<Series> {
    let distinct: BTreeSet<Series> = fed.map(|(series, _)| series).collect();
    distinct.into_iter().collect()
}

/// What a sensor has in the minute of its series.
fn minute_sum((series, sign): Fed, sums: &[MinuteSums]) -> Option<MinuteSum> {
    let minute = sums.iter().find(|minute| minute.series == series)?;
    Some(MinuteSum {
        start: minute.start,
        samples: i64::from(minute.samples),
        sum_w: match sign {
            Sign::Positive => minute.positive_sum_w,
            Sign::Negative => minute.negative_sum_w,
        },
    })
}
