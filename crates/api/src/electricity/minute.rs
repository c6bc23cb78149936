//! Minute aggregates of single sensors.

use crate::error::Problem;
use crate::extract::Member;
use crate::sensors::sources_of;
use crate::state::Api;
use domain::bucket::{MinuteSum, combined_mean, mean, readable_starts};
use domain::electricity::{Read, Sample, Source};
use domain::record::Section;
use domain::sensor::{Feed, Sign};
use store::{AskedMinutes, MinuteSums, Sensor};

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
    let feeds: Vec<Feed> = wanted
        .iter()
        .filter_map(|index| feed(sources[*index]))
        .collect();
    let combined = wanted
        .iter()
        .any(|index| sources[*index] == Source::Combined);
    let contributors = match combined {
        true => contributors(sensors, &sources),
        false => Vec::new(),
    };
    let contributing: Vec<Feed> = contributors.iter().map(|(_, feed)| *feed).collect();
    let asked = AskedMinutes {
        each: distinct_sections(&feeds),
        common: distinct_sections(&contributing),
    };
    let starts = readable_starts(read, api.now());
    let found = api
        .store
        .newest_minutes(member.building, &asked, starts)
        .await?;
    let part = |(factor, feed): &(i32, Feed)| Some((*factor, minute_sum(*feed, &found.common)?));
    let parts: Option<Vec<(i32, MinuteSum)>> = contributors.iter().map(part).collect();
    let combined = parts.and_then(|parts| combined_mean(&parts));
    let sample = |source: &Source| match source {
        Source::Telemetry(feed) => mean(minute_sum(*feed, &found.each)?),
        Source::Combined => combined,
        Source::Own => None,
    };
    Ok(sources.iter().map(sample).collect())
}

/// What the building's combined sensor is made of; nothing where a contributor is not fed by
/// telemetry, since it has no minute and so there is none in common.
fn contributors(sensors: &[Sensor], sources: &[Source]) -> Vec<(i32, Feed)> {
    let contributors = sensors.iter().zip(sources).filter_map(|(sensor, source)| {
        let factor = sensor.kind.consumption_factor()?;
        Some(feed(*source).map(|feed| (factor, feed)))
    });
    contributors.collect::<Option<_>>().unwrap_or_default()
}

const fn feed(source: Source) -> Option<Feed> {
    match source {
        Source::Telemetry(feed) => Some(feed),
        Source::Combined | Source::Own => None,
    }
}

fn distinct_sections(feeds: &[Feed]) -> Vec<Section> {
    let fed = |section: &Section| feeds.iter().any(|feed| feed.section == *section);
    Section::ALL.into_iter().filter(fed).collect()
}

/// What a feed's sensor has in the minute of its section.
fn minute_sum(feed: Feed, sums: &[MinuteSums]) -> Option<MinuteSum> {
    let minute = sums.iter().find(|minute| minute.section == feed.section)?;
    Some(MinuteSum {
        start: minute.start,
        samples: i64::from(minute.samples),
        sum_w: match feed.sign {
            Sign::Positive => minute.positive_sum_w,
            Sign::Negative => minute.negative_sum_w,
        },
    })
}
