//! The delivery plan, without MQTT.

use domain::record::{Section, TelemetryRecord};
use domain::rejection::{Reason, refuse_future};
use domain::time::Timestamp;
use proptest::prelude::*;
use simulator::{Kind, Limit, Plan, Publication, Scenario, Shares, Topics};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use wire::decode::decode_telemetry;
use wire::topic::{RecordKind, parse_topic};

const START: Timestamp = Timestamp::from_seconds(1_750_000_000);

fn scenario(seed: u64, records: u64) -> Scenario {
    Scenario {
        limit: Limit::Records(records),
        shares: Shares {
            duplicates: 0.1,
            late: 0.1,
            invalid: 0.1,
            gaps: 0.1,
        },
        ..Scenario::new(seed, 20, Duration::from_secs(5))
    }
}

fn with_topics(mut scenario: Scenario, all: bool) -> Scenario {
    if all {
        scenario.topics = Topics::All;
        // Often enough that some of them are late and doubled within few records.
        scenario.readings_interval = Duration::from_secs(10);
    }
    scenario
}

fn publications(scenario: &Scenario) -> Vec<Publication> {
    Plan::new(scenario, START).unwrap().collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_other_ones() {
    let first = publications(&scenario(1, 2_000));
    assert_eq!(first, publications(&scenario(1, 2_000)));
    assert_ne!(first, publications(&scenario(2, 2_000)));
}

#[test]
fn the_shares_are_met_and_the_summary_counts_what_was_published() {
    let mut plan = Plan::new(&scenario(3, 20_000), START).unwrap();
    let mut kinds: HashMap<String, u64> = HashMap::new();
    for publication in plan.by_ref() {
        *kinds.entry(format!("{:?}", publication.kind)).or_default() += 1;
    }
    let summary = plan.summary().telemetry;
    let about = |count: u64, share: f64| (count as f64 / 20_000.0 - share).abs() < 0.01;
    assert_eq!(summary.records, 20_000);
    assert!(about(summary.missing, 0.1));
    assert!(about(summary.good, 0.7), "doubled records are good ones");
    assert!(about(summary.late, 0.1));
    assert!(about(summary.duplicates, 0.1));
    let invalid = summary.refused();
    assert!(about(invalid, 0.1));
    assert_eq!(summary.valid() + invalid + summary.missing, summary.records);
    assert_eq!(plan.summary().held_back, 0);
    assert_eq!(summary.published(), kinds.values().sum::<u64>());
    assert_eq!(plan.summary().published(), summary.published());
    for (kind, count) in [
        ("Good", summary.good),
        ("Duplicate", summary.duplicates),
        ("Late", summary.late),
        ("Invalid(Schema)", summary.invalid(Reason::Schema)),
        (
            "Invalid(TimeInFuture)",
            summary.invalid(Reason::TimeInFuture),
        ),
    ] {
        assert_eq!(kinds[kind], count, "{kind}");
        assert!(count > 0);
    }
}

#[test]
fn a_duplicate_repeats_the_bytes_and_comes_after_the_first_copy() {
    let mut seen = HashSet::new();
    for publication in publications(&scenario(4, 5_000)) {
        let copy = (publication.building, publication.time, publication.payload);
        match publication.kind {
            Kind::Duplicate => assert!(seen.contains(&copy)),
            Kind::Good | Kind::Late | Kind::Invalid(_) => assert!(seen.insert(copy)),
        }
    }
}

#[test]
fn a_late_record_comes_after_a_newer_one_of_its_building() {
    let scenario = Scenario {
        limit: Limit::Duration(Duration::from_secs(3_600)),
        ..scenario(5, 0)
    };
    let mut newest = HashMap::new();
    let (mut late, mut overtaken) = (0, 0);
    for publication in publications(&scenario) {
        let newest = newest.entry(publication.building).or_insert(START);
        if publication.kind == Kind::Late {
            late += 1;
            overtaken += u32::from(publication.time < *newest);
        }
        *newest = publication.time.max(*newest);
    }
    assert!(late > 1_000);
    // The others were the last ones of their building.
    assert!(overtaken > late - 200, "{overtaken} of {late}");
}

#[test]
fn every_kind_of_fault_occurs_even_in_a_small_fleet() {
    let mut scenario = scenario(6, 40);
    scenario.shares = Shares {
        invalid: 1.0,
        ..Shares::default()
    };
    let mut plan = Plan::new(&scenario, START).unwrap();
    assert_eq!(plan.by_ref().count(), 40);
    assert_eq!(plan.summary().telemetry.invalid, [10; 4]);
}

/// What the service makes of a payload that it receives when the record is due.
fn verdict(publication: &Publication) -> Result<TelemetryRecord, Reason> {
    decode_telemetry(&publication.payload)
        .and_then(|record| refuse_future(record.time, publication.time).map(|()| record))
        .map_err(|rejection| rejection.reason)
}

#[test]
fn the_service_takes_every_good_record_and_refuses_every_bad_one_with_its_reason() {
    let mut scenario = scenario(7, 4_000);
    scenario.shares.invalid = 0.7;
    for publication in publications(&scenario) {
        let payload = String::from_utf8_lossy(&publication.payload);
        match (publication.kind, verdict(&publication)) {
            (Kind::Invalid(expected), Err(reason)) => assert_eq!(reason, expected, "{payload}"),
            (Kind::Good | Kind::Duplicate | Kind::Late, Ok(record)) => {
                assert_eq!(record.time, publication.time);
                assert!(
                    Section::ALL
                        .iter()
                        .any(|section| record.measurement(*section).is_some())
                );
            }
            (kind, verdict) => panic!("{kind:?} was taken for {verdict:?}: {payload}"),
        }
        let topic = parse_topic(&publication.topic);
        assert_eq!(topic.kind, Some(RecordKind::Telemetry));
        assert_eq!(topic.building, Ok(publication.building));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_parts_of_a_plan_publish_together_what_the_whole_does(
        seed: u64, records in 0_u64..500, parts in 1_usize..30, all: bool,
    ) {
        let scenario = with_topics(scenario(seed, records), all);
        let by_building = |publications: Vec<Publication>| {
            let mut sorted: HashMap<_, Vec<_>> = HashMap::new();
            for publication in publications {
                sorted.entry(publication.building).or_default().push(publication);
            }
            // At the end each part lets go of what it holds by itself.
            for publications in sorted.values_mut() {
                publications.sort_by_key(|p| (p.time, p.record, p.kind == Kind::Duplicate));
            }
            sorted
        };
        let pieces = (0..parts)
            .flat_map(|part| Plan::part(&scenario, START, part, parts).unwrap())
            .collect();
        prop_assert_eq!(by_building(pieces), by_building(publications(&scenario)));
    }

    #[test]
    fn asking_when_it_is_due_publishes_the_same_and_nothing_before_its_time(
        seed: u64, records in 0_u64..500, all: bool,
    ) {
        let scenario = with_topics(scenario(seed, records), all);
        let mut plan = Plan::new(&scenario, START).unwrap();
        let mut paced = Vec::new();
        while let Some(due) = plan.next_due() {
            while let Some(publication) = plan.next_until(due) {
                prop_assert!(publication.time <= due || plan.summary().telemetry.records == records);
                paced.push(publication);
            }
        }
        prop_assert_eq!(paced, publications(&scenario));
    }
}
