//! Minute aggregates of single sensors.

use crate::error::Problem;
use crate::extract::Member;
use crate::sensors::sources_of;
use crate::state::Api;
use domain::bucket::{MinuteSum, combined_mean, mean, readable_starts};
use domain::electricity::{Read, Sample, Source};
use domain::record::Section;
use domain::sensor::{Feed, Sign};
use domain::time::Timestamp;
use std::ops::Range;
use store::{MinuteSums, Sensor};

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
    let starts = readable_starts(read, api.now());
    let feeds: Vec<Feed> = wanted
        .iter()
        .filter_map(|index| feed(sources[*index]))
        .collect();
    let sums = match distinct_sections(&feeds) {
        sections if sections.is_empty() => Vec::new(),
        sections => {
            api.store
                .newest_minutes(member.building, &sections, starts.clone())
                .await?
        }
    };
    let combined = if wanted
        .iter()
        .any(|index| sources[*index] == Source::Combined)
    {
        newest_combined(api, member, sensors, &sources, starts).await?
    } else {
        None
    };
    let sample = |source: &Source| match source {
        Source::Telemetry(feed) => mean(minute_sum(*feed, &sums)?),
        Source::Combined => combined,
        Source::Own => None,
    };
    Ok(sources.iter().map(sample).collect())
}

/// The combined value of the newest minute that all contributors have.
async fn newest_combined(
    api: &Api,
    member: Member,
    sensors: &[Sensor],
    sources: &[Source],
    starts: Range<Timestamp>,
) -> Result<Option<Sample>, Problem> {
    let contributors = sensors.iter().zip(sources).filter_map(|(sensor, source)| {
        let factor = sensor.kind.consumption_factor()?;
        Some(feed(*source).map(|feed| (factor, feed)))
    });
    // A contributor that telemetry does not feed has no minute yet, so there is none in common.
    let Some(contributors) = contributors.collect::<Option<Vec<(i32, Feed)>>>() else {
        return Ok(None);
    };
    let feeds: Vec<Feed> = contributors.iter().map(|(_, feed)| *feed).collect();
    let sections = distinct_sections(&feeds);
    let sums = api
        .store
        .newest_common_minute(member.building, &sections, starts)
        .await?;
    let part = |(factor, feed): &(i32, Feed)| Some((*factor, minute_sum(*feed, &sums)?));
    let parts: Option<Vec<(i32, MinuteSum)>> = contributors.iter().map(part).collect();
    Ok(parts.and_then(|parts| combined_mean(&parts)))
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
