//! The newest minute that all contributors have: right, and found without reading the history.

use domain::reading::Record;
use domain::record::{MainMeter, Section, Solar, Status, TelemetryRecord};
use domain::time::{Interval, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sqlx::PgPool;
use std::collections::BTreeSet;
use std::time::Duration;
use store::{AskedMinutes, Batch, Fleet, FleetBuilding, Incoming, Letter, Series, Store};
use testkit::{Edition, servers};
use tokio::runtime::Runtime;
use uuid::Uuid;

const METER: Series = Series::Section(Section::MainMeter);
const SUN: Series = Series::Section(Section::Solar);

const START: i64 = 1_700_000_100;
const MINUTES: i64 = 30;

async fn building(store: &Store) -> Uuid {
    let uuid = Uuid::new_v4();
    let building = FleetBuilding {
        uuid,
        name: "Depot".to_owned(),
        timezone: "UTC".to_owned(),
        consumption_compensated_curtailment: false,
        hubs: Vec::new(),
    };
    let fleet = Fleet {
        buildings: vec![building],
        users: Vec::new(),
    };
    store.apply_fleet(&fleet, false).await.unwrap();
    uuid
}

fn minute(number: i64) -> Timestamp {
    Timestamp::from_seconds(START + number * 60).floor(Interval::Minute)
}

/// A record in the minute, with the sections that are asked for.
fn incoming(building: Uuid, number: i64, meter: bool, solar: bool) -> Incoming {
    let record = TelemetryRecord {
        time: minute(number),
        main_meter: meter.then_some(MainMeter {
            status: Status::Available,
            active_power_w: Some(1),
        }),
        battery: None,
        solar: solar.then_some(Solar {
            status: Status::Available,
            active_power_w: Some(-1),
            active_power_setpoint_w: None,
            rated_power_w: None,
            min_power_w: None,
            max_power_w: None,
            baseline_power_w: None,
        }),
    };
    Incoming {
        building,
        record: Record::Telemetry(record),
        letter: Letter {
            building: Some(building),
            source: String::new(),
            received_at: Timestamp::from_seconds(START + 7_200),
            traceparent: None,
            redelivered: false,
            payload: Vec::new(),
            kept_as: None,
        },
    }
}

fn minutes() -> impl Strategy<Value = BTreeSet<i64>> {
    prop::collection::btree_set(0..MINUTES, 0..12)
}

#[test]
fn the_newest_common_minute_is_the_newest_that_all_sections_have_folded_or_not() {
    let runtime = Runtime::new().unwrap();
    let store = runtime.block_on(async {
        let url = servers::fresh_database(Edition::Plain).await;
        let store = Store::open(&url, 2).unwrap();
        store.migrate().await.unwrap();
        store
    });
    let config = Config {
        cases: 60,
        failure_persistence: None,
        ..Config::default()
    };
    let case = (minutes(), minutes(), 0..=MINUTES, 0..MINUTES, 0..MINUTES);
    let result = TestRunner::new(config).run(&case, |(meter, solar, folded, from, length)| {
        runtime.block_on(async {
            let building = building(&store).await;
            let all: BTreeSet<i64> = meter.union(&solar).copied().collect();
            let records = all
                .iter()
                .map(|it| incoming(building, *it, meter.contains(it), solar.contains(it)));
            let batch = Batch {
                records: records.collect(),
                ..Batch::default()
            };
            let retention = Duration::from_secs(86_400);
            store.ingest(&batch, retention).await.unwrap();
            // What ended before this is folded, what came later is still marked.
            store.fold(minute(folded)).await.unwrap();
            let asked = AskedMinutes {
                each: Vec::new(),
                common: vec![METER, SUN],
            };
            let starts = minute(from)..minute(from + length);
            let found = store
                .newest_minutes(building, &asked, starts)
                .await
                .unwrap();
            let common = meter.intersection(&solar);
            let newest = common.filter(|it| (from..from + length).contains(it)).max();
            let mut expected = Vec::new();
            if let Some(newest) = newest {
                expected = vec![(METER, minute(*newest)), (SUN, minute(*newest))];
            }
            let mut found: Vec<_> = found
                .common
                .iter()
                .map(|it| (it.series, it.start))
                .collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
            Ok(())
        })
    });
    result.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_year_without_a_common_minute_costs_no_more_than_a_day() {
    /// A statement that reads the year takes several times as long.
    const PATIENCE: Duration = Duration::from_millis(250);
    let url = servers::fresh_database(Edition::Plain).await;
    let store = Store::open_with(&url, 2, PATIENCE).unwrap();
    Store::open(&url, 1).unwrap().migrate().await.unwrap();
    let building = building(&store).await;
    let pool = PgPool::connect(&url).await.unwrap();
    // A year of the meter; of the sun one minute before it.
    for (series, first, last) in [(METER, 1, 525_600), (SUN, 0, 0)] {
        let insert = "insert into minute_bucket (building_uuid, start, series, samples, positive_sum_w, \
            negative_sum_w, first_at, last_at, last_power_w, covered_us, positive_energy_wus, negative_energy_wus) \
            select $1, t, $2, 1, 1, 0, t, t, 1, 0, 0, 0 from (select '2025-01-01'::timestamptz + n * interval '1 minute' as t \
            from generate_series($3::integer, $4) n) minute";
        sqlx::query(insert)
            .bind(building)
            .bind(series.code())
            .bind(first)
            .bind(last)
            .execute(&pool)
            .await
            .unwrap();
    }
    sqlx::query("analyze").execute(&pool).await.unwrap();
    let asked = AskedMinutes {
        each: vec![METER],
        common: vec![METER, SUN],
    };
    let starts = Timestamp::from_seconds(0)..Timestamp::from_seconds(2_000_000_000);
    let found = store
        .newest_minutes(building, &asked, starts)
        .await
        .unwrap();
    assert_eq!((found.each.len(), found.common.len()), (1, 0));
}
