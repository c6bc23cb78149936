//! Storing, folding, moving the horizon and dropping, all at the same moment.

use super::fixture::{History, KEPT, at, fold, ingest};
use crate::records::now;
use crate::site::metered;
use domain::time::Interval;
use std::sync::atomic::{AtomicI64, Ordering};
use store::{LogEnd, LogInUse, Store};
use testkit::{Edition, eventually};

/// Records of each writer.
const RECORDS: i64 = 150;

async fn no_record_slips_below_the_horizon_while_it_moves(edition: Edition) {
    let history = History::new(edition, &[]).await;
    let building = history.site.building;
    let url = &history.site.world.settings["WATTLINE_DATABASE_URL"];
    let open = || Store::open(url, 1).unwrap();
    let stored = AtomicI64::new(0);
    // Days one behind the other, each of which falls behind the horizon while it is written.
    let first_day = at(now() - 40 * 86_400).floor(Interval::Day).seconds();
    let written = AtomicI64::new(0);
    let write = async |store: Store, writer: i64| {
        for number in 0..RECORDS {
            let time = first_day + (number / 10) * 86_400 + number * 60 + writer;
            let record = [(time, metered(at(time), 7))];
            let ingested = ingest(&store, building, &record).await;
            assert_eq!(ingested.stored + ingested.beyond_horizon, 1);
            stored.fetch_add(i64::try_from(ingested.stored).unwrap(), Ordering::SeqCst);
            written.fetch_max(number, Ordering::SeqCst);
        }
    };
    let keep = async |store: Store| {
        while written.load(Ordering::SeqCst) < RECORDS - 1 {
            // As if the days went by as they are written.
            let day = first_day + (written.load(Ordering::SeqCst) / 10) * 86_400;
            let then = at(day + 8 * 86_400);
            store.fold(at(now())).await.unwrap();
            let made = store.make_raw_partitions(at(day)).await;
            // Either may have to wait too long for those who store.
            let horizon = store
                .move_raw_horizon(then, KEPT, &LogInUse::default())
                .await;
            let failures = [made.err(), horizon.err(), store.drop_raw().await.err()];
            for failure in failures.into_iter().flatten() {
                assert!(failure.is_transient(), "{failure}");
            }
        }
    };
    tokio::join!(
        write(open(), 0),
        write(open(), 1),
        write(open(), 2),
        keep(open()),
        keep(open())
    );
    fold(&history.site.store).await;
    let world = &history.site.world;
    let count = async |query: &str| world.count(query).await;
    let in_buckets = count("select coalesce(sum(samples), 0)::bigint from minute_bucket").await;
    assert_eq!(in_buckets, stored.load(Ordering::SeqCst));
    let in_days = count("select coalesce(sum(samples), 0)::bigint from day_bucket").await;
    assert_eq!(in_days, stored.load(Ordering::SeqCst));
    let moved = "select count(*) from raw_horizon where moment > '2000-01-01Z'";
    assert_eq!(count(moved).await, 1, "the horizon has moved meanwhile");
    history.site.store.drop_raw().await.unwrap();
    assert_eq!(history.raw_rows("telemetry_record").await.0, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_record_slips_below_the_horizon_while_it_moves_on_postgresql() {
    no_record_slips_below_the_horizon_while_it_moves(Edition::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_record_slips_below_the_horizon_while_it_moves_on_timescaledb() {
    no_record_slips_below_the_horizon_while_it_moves(Edition::Timescale).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leap_in_the_same_moment_does_not_pass_for_what_was_read() {
    let history = History::new(Edition::Plain, &[]).await;
    let (store, world) = (&history.site.store, &history.site.world);
    let partition = ("telemetry".to_owned(), 0);
    let log = LogInUse {
        cluster: "kafka".to_owned(),
        partitions: vec![partition.clone()],
    };
    store
        .positions(&log.cluster, std::slice::from_ref(&partition))
        .await
        .unwrap();
    // What Store::leap does, up to the moment before it is true.
    let mut leap = world.database.begin().await.unwrap();
    let leaps = "update log_position set next_offset = 5000; \
                 insert into log_stretch (cluster, topic, partition, next_offset, end_offset) \
                 values ('kafka', 'telemetry', 0, 0, 5000)";
    sqlx::raw_sql(leaps).execute(&mut *leap).await.unwrap();
    let ends = [LogEnd {
        topic: partition.0,
        partition: partition.1,
        end_offset: 5_000,
    }];
    let noted = store.note_log_ends(&log.cluster, &ends, at(now()));
    let leapt = async {
        let waits = "select count(*) from pg_stat_activity \
                     where datname = current_database() and wait_event_type = 'Lock'";
        eventually(async || match world.count(waits).await {
            0 => Err(()),
            _ => Ok(()),
        })
        .await;
        leap.commit().await.unwrap();
    };
    let (noted, ()) = tokio::join!(noted, leapt);
    noted.unwrap();
    let horizon = store.move_raw_horizon(at(now()), KEPT, &log).await.unwrap();
    let behind = "telemetry/0 of the log is not read far enough";
    assert_eq!(horizon.held_back.as_deref(), Some(behind));
}
