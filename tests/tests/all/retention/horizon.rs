//! How far the horizon may move.

use super::fixture::{History, KEPT, at, fold, ingest};
use crate::records::now;
use crate::site::metered;
use domain::rejection::Reason;
use domain::time::{Interval, Timestamp};
use store::{Batch, LogEnd, LogInUse, Move, Store};
use testkit::{Edition, Mode, World, eventually};

const CLUSTER: &str = "kafka";

async fn moved(store: &Store, log: &LogInUse) -> store::Horizon {
    store.move_raw_horizon(at(now()), KEPT, log).await.unwrap()
}

fn due() -> Timestamp {
    at(now() - 7 * 86_400 - 7_200).floor(Interval::Day)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_horizon_waits_for_what_is_not_folded() {
    let history = History::new(Edition::Plain, &[]).await;
    let store = &history.site.store;
    let time = now() - 9 * 86_400;
    ingest(
        store,
        history.site.building,
        &[(time, metered(at(time), 5))],
    )
    .await;
    let wait = "older records wait to be folded";
    let held = async || {
        let horizon = moved(store, &LogInUse::default()).await;
        assert_eq!(horizon.held_back.as_deref(), Some(wait));
        assert!(horizon.moment < due());
    };
    held().await;
    fold(store).await;
    // And for a mark of any kind.
    for table in ["touched_minute", "touched_quarter", "touched_day"] {
        let mark = format!(
            "insert into {table} (building_uuid, start) \
             select uuid, date_bin('1 day', now() - interval '9 days', 'epoch') from building"
        );
        let pool = &history.site.world.database;
        sqlx::query(&mark).execute(pool).await.unwrap();
        held().await;
        let unmark = format!("delete from {table}");
        sqlx::query(&unmark).execute(pool).await.unwrap();
    }
    let horizon = moved(store, &LogInUse::default()).await;
    assert_eq!((horizon.moment, horizon.held_back), (due(), None));
    // It does not move back.
    let before = at(now() - 3 * 86_400);
    let horizon = store
        .move_raw_horizon(before, KEPT, &LogInUse::default())
        .await;
    assert_eq!(horizon.unwrap().moment, due());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_ahead_drops_nothing_that_may_still_come() {
    let history = History::new(Edition::Plain, &[]).await;
    let store = &history.site.store;
    let ahead = at(now() + 365 * 86_400);
    let horizon = store
        .move_raw_horizon(ahead, KEPT, &LogInUse::default())
        .await;
    assert_eq!(horizon.unwrap().moment, due());
    // By an hour, as clocks step: the oldest record that may still come is stored.
    let oldest = now() - 7 * 86_400 + 60;
    let hour_ahead = at(now() + 3_600);
    let horizon = store
        .move_raw_horizon(hour_ahead, KEPT, &LogInUse::default())
        .await;
    assert!(horizon.unwrap().moment < at(oldest));
    let batch = Batch {
        records: vec![super::fixture::incoming(
            history.site.building,
            metered(at(oldest), 5),
            at(now()),
        )],
        ..Batch::default()
    };
    assert_eq!(store.ingest(&batch, KEPT).await.unwrap().stored, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_new_before_a_horizon_that_wrong_clocks_moved_is_kept_as_a_letter() {
    let history = History::new(Edition::Plain, &[]).await;
    let store = &history.site.store;
    let pool = &history.site.world.database;
    // Both clocks were two days ahead.
    let ahead = "update raw_horizon set kept_us = 7 * 86400 * 1000000::bigint, \
                 moment = date_bin('1 day', now() - interval '5 days', 'epoch')";
    sqlx::query(ahead).execute(pool).await.unwrap();
    let time = now() - 6 * 86_400 - 3_600;
    let received = async |at_second: i64| {
        let building = history.site.building;
        let message = super::fixture::incoming(building, metered(at(time), 5), at(at_second));
        let batch = Batch {
            records: vec![message],
            ..Batch::default()
        };
        store.ingest(&batch, KEPT).await.unwrap()
    };
    let fresh = received(now()).await;
    assert_eq!(fresh.dead_lettered[&Reason::TooOld], 1);
    // What was received when its records were kept still, the log brings again.
    let again = received(time + 86_400).await;
    assert_eq!((again.duplicates, again.beyond_horizon), (1, 1));
}

/// What stands in the log, as far as it was looked at.
async fn ends(store: &Store, ends: &[(i32, i64)], seen_at: i64) {
    let ends: Vec<LogEnd> = ends
        .iter()
        .map(|(partition, end_offset)| LogEnd {
            topic: "telemetry".to_owned(),
            partition: *partition,
            end_offset: *end_offset,
        })
        .collect();
    store
        .note_log_ends(CLUSTER, &ends, at(seen_at))
        .await
        .unwrap();
}

async fn read_on(store: &Store, partition: i32, from_offset: i64, to_offset: i64) {
    let batch = Batch {
        cluster: CLUSTER.to_owned(),
        moves: vec![Move {
            topic: "telemetry".to_owned(),
            partition,
            from_offset,
            to_offset,
        }],
        ..Batch::default()
    };
    store.ingest(&batch, KEPT).await.unwrap();
}

fn log(partitions: &[i32]) -> LogInUse {
    let partitions = partitions.iter();
    LogInUse {
        cluster: CLUSTER.to_owned(),
        partitions: partitions.map(|it| ("telemetry".to_owned(), *it)).collect(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_horizon_waits_for_every_partition_of_the_log() {
    let history = History::new(Edition::Plain, &[]).await;
    let store = &history.site.store;
    let held = async |partitions: &[i32]| moved(store, &log(partitions)).await.held_back;
    let behind = |partition: i32| {
        Some(format!(
            "telemetry/{partition} of the log is not read far enough"
        ))
    };
    // Nobody has begun it.
    assert_eq!(held(&[0]).await, behind(0));
    let both = [("telemetry".to_owned(), 0), ("telemetry".to_owned(), 1)];
    store.positions(CLUSTER, &both).await.unwrap();
    assert_eq!(held(&[0, 1]).await, behind(0));
    // The first one is read to its end; the other one is not.
    let long_ago = now() - 10 * 86_400;
    read_on(store, 0, 0, 7).await;
    ends(store, &[(0, 7), (1, 100)], long_ago).await;
    assert_eq!(held(&[0, 1]).await, behind(1));
    read_on(store, 1, 0, 99).await;
    ends(store, &[(0, 7), (1, 500)], now()).await;
    assert_eq!(held(&[0, 1]).await, behind(1));
    // Now it has come as far as its end was ten days ago: so far may the horizon move.
    read_on(store, 1, 99, 100).await;
    ends(store, &[(0, 7), (1, 900)], now()).await;
    let horizon = moved(store, &log(&[0, 1])).await;
    assert_eq!(horizon.held_back, behind(1));
    assert_eq!(
        horizon.moment,
        at(long_ago - 7 * 86_400 - 7_200).floor(Interval::Day)
    );
    // And when all is read that stands there now.
    read_on(store, 1, 100, 900).await;
    ends(store, &[(0, 7), (1, 900)], now()).await;
    let horizon = moved(store, &log(&[0, 1])).await;
    assert_eq!((horizon.moment, horizon.held_back), (due(), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_not_in_use_any_more_holds_nothing_back() {
    let history = History::new(Edition::Plain, &[]).await;
    let store = &history.site.store;
    let partition = [("telemetry".to_owned(), 0)];
    store.positions("an older kafka", &partition).await.unwrap();
    // Somebody has served it a moment ago, and may still do so.
    let held_back = moved(store, &LogInUse::default()).await.held_back;
    assert!(held_back.is_some());
    let served = "update log_position set served_at = now() - interval '7 days 1 minute'";
    sqlx::query(served)
        .execute(&history.site.world.database)
        .await
        .unwrap();
    let horizon = moved(store, &LogInUse::default()).await;
    assert_eq!((horizon.moment, horizon.held_back), (due(), None));
    // The one in use holds it back however long nobody has served it.
    let older = LogInUse {
        cluster: "an older kafka".to_owned(),
        partitions: partition.to_vec(),
    };
    let later = at(now());
    sqlx::query("update raw_horizon set moment = '-infinity'")
        .execute(&history.site.world.database)
        .await
        .unwrap();
    let horizon = store.move_raw_horizon(later, KEPT, &older).await.unwrap();
    assert!(horizon.held_back.is_some());
}

async fn a_running_service_moves_its_horizon(mode: Mode) {
    let world = World::new(crate::WATTLINE, mode).await;
    let serve = world.serve().await;
    let horizon = "wattline_aggregator_raw_horizon_seconds";
    eventually(async || match serve.metric(horizon).await {
        moment if moment == due().seconds() as f64 => Ok(()),
        moment => Err(moment),
    })
    .await;
    let overdue = "wattline_aggregator_retention_overdue_seconds";
    assert_eq!(serve.metric(overdue).await, 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_service_moves_its_horizon_over_kafka() {
    a_running_service_moves_its_horizon(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_service_moves_its_horizon_in_direct_mode() {
    a_running_service_moves_its_horizon(Mode::Direct).await;
}
