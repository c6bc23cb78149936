//! A bucket is a pure function of the stored records, whatever their order and repetition.

use domain::reading::Record;
use domain::record::{Battery, MainMeter, Section, Solar, Status, TelemetryRecord};
use domain::time::{Interval, Timestamp};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use sqlx::{PgPool, Row as _};
use std::collections::BTreeMap;
use std::time::Duration;
use store::{Batch, Fleet, FleetBuilding, Incoming, Letter, Series, Store};
use testkit::{Edition, servers};
use tokio::runtime::Runtime;
use uuid::Uuid;

const RETENTION: Duration = Duration::from_secs(7 * 86_400);
/// Cases of the property; each stores some hundred records twice.
const CASES: u32 = 24;
/// A whole quarter in the past.
const START: i64 = 1_700_000_100;

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![6 => Just(Status::Available), 1 => Just(Status::Degraded), 1 => Just(Status::Unavailable)]
}

/// Powers where sums, signs and borders matter.
fn power() -> impl Strategy<Value = Option<i32>> {
    prop_oneof![
        1 => Just(None),
        1 => Just(Some(i32::MAX)),
        1 => Just(Some(-i32::MAX)),
        6 => (-5_000..5_000_i32).prop_map(Some),
    ]
}

/// Times over 40 minutes, often on the border of a minute, some at sub-second distance.
fn time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        1 => (0..40_i64).prop_map(|minute| (START + minute * 60) * 1_000_000),
        1 => (0..40_i64).prop_map(|minute| (START + minute * 60) * 1_000_000 - 1),
        4 => (0..2_400_000_000_i64).prop_map(|micros| START * 1_000_000 + micros),
    ]
    .prop_map(Timestamp::from_micros)
}

fn record() -> impl Strategy<Value = TelemetryRecord> {
    let section = || prop::option::weighted(0.8, (status(), power()));
    (time(), section(), section(), section()).prop_map(|(time, meter, battery, solar)| {
        TelemetryRecord {
            time,
            main_meter: meter.map(|(status, active_power_w)| MainMeter {
                status,
                active_power_w,
            }),
            battery: battery.map(|(status, active_power_w)| Battery {
                status,
                active_power_w,
                active_power_setpoint_w: None,
                baseline_power_w: None,
                soc_percent: None,
                charge_limit_w: None,
                remaining_charge_time_s: None,
                discharge_limit_w: None,
                remaining_discharge_time_s: None,
            }),
            solar: solar.map(|(status, active_power_w)| Solar {
                status,
                active_power_w,
                active_power_setpoint_w: None,
                rated_power_w: None,
                min_power_w: None,
                max_power_w: None,
                baseline_power_w: None,
            }),
        }
    })
}

/// The same records in another order, some of them again, cut into batches.
fn disorder(
    records: &[TelemetryRecord],
) -> impl Strategy<Value = Vec<Vec<TelemetryRecord>>> + use<> {
    let records = records.to_vec();
    let count = records.len();
    (
        Just(records),
        prop::collection::vec(0..count, 0..count),
        1..6_usize,
    )
        .prop_map(|(mut records, again, batches)| {
            let repeated: Vec<_> = again.into_iter().map(|index| records[index]).collect();
            records.extend(repeated);
            (records, batches)
        })
        .prop_flat_map(|(records, batches)| (Just(records).prop_shuffle(), Just(batches)))
        .prop_map(|(records, batches)| {
            records
                .chunks(records.len().div_ceil(batches))
                .map(<[_]>::to_vec)
                .collect()
        })
}

fn case() -> impl Strategy<Value = (Vec<TelemetryRecord>, Vec<Vec<TelemetryRecord>>)> {
    prop::collection::btree_map(time(), record(), 1..150)
        .prop_map(|records| {
            let with_time = |(time, record)| TelemetryRecord { time, ..record };
            records.into_iter().map(with_time).collect::<Vec<_>>()
        })
        .prop_flat_map(|records| (Just(records.clone()), disorder(&records)))
}

struct Fixture {
    store: Store,
    pool: PgPool,
}

impl Fixture {
    async fn new(edition: Edition) -> Self {
        let url = servers::fresh_database(edition).await;
        let store = Store::open(&url, 4).unwrap();
        store.migrate().await.unwrap();
        Self {
            store,
            pool: PgPool::connect(&url).await.unwrap(),
        }
    }

    async fn building(&self) -> Uuid {
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
        self.store.apply_fleet(&fleet, false).await.unwrap();
        uuid
    }

    async fn ingest(&self, building: Uuid, records: &[TelemetryRecord]) {
        let records = records.iter().map(|record| Incoming {
            building,
            record: Record::Telemetry(*record),
            letter: Letter {
                building: Some(building),
                source: "test".to_owned(),
                received_at: Timestamp::from_seconds(START + 3_600),
                traceparent: None,
                redelivered: false,
                payload: Vec::new(),
                kept_as: None,
            },
        });
        let batch = Batch {
            records: records.collect(),
            ..Batch::default()
        };
        self.store.ingest(&batch, RETENTION).await.unwrap();
    }

    async fn fold(&self) {
        let now = Timestamp::from_seconds(START + 7_200);
        while self.store.fold(now).await.unwrap() != store::Folded::default() {}
    }

    /// Every bucket of a building but its revision, which tells how often it was amended.
    async fn buckets(&self, building: Uuid, table: &str) -> Vec<String> {
        let query = format!(
            "select (to_jsonb(bucket) - 'building_uuid' - 'revision')::text from {table} bucket \
             where building_uuid = $1 order by series, start"
        );
        let rows = sqlx::query(&query)
            .bind(building)
            .fetch_all(&self.pool)
            .await
            .unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    async fn essence(&self, building: Uuid, table: &str) -> Vec<Value> {
        let query = format!(
            "select jsonb_build_array(series, (extract(epoch from start) * 1000000)::bigint, samples, \
             positive_sum_w, negative_sum_w, (extract(epoch from first_at) * 1000000)::bigint, \
             (extract(epoch from last_at) * 1000000)::bigint, last_power_w, covered_us, \
             positive_energy_wus, negative_energy_wus)::text from {table} \
             where building_uuid = $1 order by series, start"
        );
        let rows = sqlx::query(&query)
            .bind(building)
            .fetch_all(&self.pool)
            .await
            .unwrap();
        rows.iter()
            .map(|row| serde_json::from_str(row.get(0)).unwrap())
            .collect()
    }
}

/// The independent fold: each interval from all its samples at once, nothing from minutes.
fn oracle(records: &[TelemetryRecord], interval: Interval) -> Vec<Value> {
    let mut samples: BTreeMap<(i64, Timestamp), Vec<(i64, i64)>> = BTreeMap::new();
    for record in records {
        for section in Section::ALL {
            if let Some(power_w) = record.measurement(section) {
                let key = (Series::Section(section).code(), record.time.floor(interval));
                samples
                    .entry(key)
                    .or_default()
                    .push((record.time.micros(), i64::from(power_w)));
            }
        }
    }
    let fold = |((series, start), mut samples): ((i64, Timestamp), Vec<(i64, i64)>)| {
        samples.sort_unstable();
        let (mut covered, mut positive, mut negative) = (0, 0, 0);
        for pair in samples.windows(2) {
            let gap = pair[1].0 - pair[0].0;
            if gap <= 120_000_000 {
                covered += gap;
                positive += pair[0].1.max(0) * gap;
                negative += (-pair[0].1).max(0) * gap;
            }
        }
        let (first, last) = (samples[0], samples[samples.len() - 1]);
        json!([
            series,
            start.micros(),
            samples.len(),
            samples.iter().map(|it| it.1.max(0)).sum::<i64>(),
            samples.iter().map(|it| (-it.1).max(0)).sum::<i64>(),
            first.0,
            last.0,
            last.1,
            covered,
            positive,
            negative,
        ])
    };
    samples.into_iter().map(fold).collect()
}

fn the_same_stream_gives_the_same_buckets(edition: Edition) {
    let runtime = Runtime::new().unwrap();
    let fixture = runtime.block_on(Fixture::new(edition));
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&case(), |(records, disorder)| {
        runtime.block_on(async {
            let (calm, wild) = (fixture.building().await, fixture.building().await);
            fixture.ingest(calm, &records).await;
            fixture.fold().await;
            for (number, batch) in disorder.iter().enumerate() {
                fixture.ingest(wild, batch).await;
                if number % 2 == 0 {
                    fixture.fold().await;
                }
            }
            // The whole stream once more, as after a restart.
            fixture.ingest(wild, &records).await;
            fixture.fold().await;
            for (table, interval) in [
                ("minute_bucket", Interval::Minute),
                ("quarter_bucket", Interval::Quarter),
            ] {
                let calm_rows = fixture.buckets(calm, table).await;
                prop_assert_eq!(&calm_rows, &fixture.buckets(wild, table).await);
                let expected = oracle(&records, interval);
                prop_assert_eq!(fixture.essence(calm, table).await, expected);
            }
            Ok(())
        })
    });
    result.unwrap();
}

#[test]
fn the_same_stream_shuffled_duplicated_and_replayed_gives_the_same_buckets() {
    the_same_stream_gives_the_same_buckets(Edition::Plain);
}

#[test]
fn the_same_stream_gives_the_same_buckets_on_timescaledb() {
    the_same_stream_gives_the_same_buckets(Edition::Timescale);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_and_a_fold_at_the_same_time_lose_no_record() {
    let fixture = Fixture::new(Edition::Plain).await;
    let building = fixture.building().await;
    let record = |second: i64| TelemetryRecord {
        time: Timestamp::from_micros(START * 1_000_000 + second * 100_000),
        main_meter: Some(MainMeter {
            status: Status::Available,
            active_power_w: Some(1),
        }),
        battery: None,
        solar: None,
    };
    let writing = async {
        for second in 0..400 {
            fixture.ingest(building, &[record(second)]).await;
        }
    };
    let folding = async {
        for _ in 0..400 {
            fixture
                .store
                .fold(Timestamp::from_seconds(START + 7_200))
                .await
                .unwrap();
        }
    };
    tokio::join!(writing, folding, async {
        for _ in 0..400 {
            fixture
                .store
                .fold(Timestamp::from_seconds(START + 7_200))
                .await
                .unwrap();
        }
    });
    fixture.fold().await;
    let records: Vec<TelemetryRecord> = (0..400).map(record).collect();
    assert_eq!(
        fixture.essence(building, "minute_bucket").await,
        oracle(&records, Interval::Minute)
    );
    assert_eq!(
        fixture.essence(building, "quarter_bucket").await,
        oracle(&records, Interval::Quarter)
    );
}
