//! What outlives the raw records, and what becomes of those that come again.

use super::fixture::{History, RAW, at, fold, incoming, ingest};
use crate::records::now;
use crate::site::metered;
use domain::reading::Record;
use domain::rejection::Reason;
use domain::time::Interval;
use std::time::Duration;
use store::Batch;
use testkit::Edition;

async fn raw_records_go_and_every_answer_stays(edition: Edition) {
    // The building has been silent for nine days: all of it goes but what was made of it.
    let history = History::new(edition, &[40, 12, 11, 9]).await;
    let (kept, answers) = (history.kept().await, history.answers().await);
    assert!(
        answers
            .iter()
            .filter(|(_, status, _)| *status == 200)
            .count()
            > 20
    );
    let horizon = history.retain().await;
    assert_eq!(horizon.held_back, None);
    assert_eq!(
        horizon.moment,
        at(now() - 7 * 86_400 - 7_200).floor(Interval::Day)
    );
    for table in RAW {
        assert_eq!(history.raw_rows(table).await, (0, 0), "{table}");
    }
    assert_eq!(history.kept().await, kept);
    assert_eq!(history.answers().await, answers);
    // Again there is nothing to drop.
    let dropped = history.site.store.drop_raw().await.unwrap();
    assert_eq!(dropped, store::Dropped::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_records_go_and_every_answer_stays_on_postgresql() {
    raw_records_go_and_every_answer_stays(Edition::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_records_go_and_every_answer_stays_on_timescaledb() {
    raw_records_go_and_every_answer_stays(Edition::Timescale).await;
}

async fn what_comes_again_after_it_was_dropped_changes_nothing(edition: Edition) {
    let history = History::new(edition, &[12, 9, 8, 2]).await;
    let (store, building) = (&history.site.store, history.site.building);
    let horizon = history.retain().await.moment;
    let from_before = |(time, _): &&(i64, Record)| at(*time) < horizon;
    let gone = history.records.iter().filter(from_before).count() as u64;
    assert!(gone > 0 && gone < history.records.len() as u64);
    for table in ["telemetry_record", "sensor_reading", "key_value"] {
        let (before, after) = history.raw_rows(table).await;
        assert!(before == 0 && after > 0, "{table}: {before} {after}");
    }
    let kept = history.kept().await;
    let raw = history.raw_rows("telemetry_record").await;
    let again = ingest(store, building, &history.records).await;
    fold(store).await;
    assert_eq!(again.stored, 0);
    assert_eq!(again.duplicates, history.records.len() as u64);
    assert_eq!((again.conflicts, again.beyond_horizon), (0, gone));
    // Nor does what was never there: its minute is final.
    let (time, _) = history.records[0];
    let new = [
        (time, crate::site::metered(at(time + 5), 1)),
        (time, Record::Presence { online: true }),
    ];
    let late = ingest(store, building, &new).await;
    fold(store).await;
    assert_eq!(
        (late.stored, late.duplicates, late.beyond_horizon),
        (0, 2, 2)
    );
    assert_eq!(history.kept().await, kept);
    assert_eq!(history.raw_rows("telemetry_record").await, raw);
    assert_eq!(history.raw_rows("presence").await, (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_again_after_it_was_dropped_changes_nothing_on_postgresql() {
    what_comes_again_after_it_was_dropped_changes_nothing(Edition::Plain).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_again_after_it_was_dropped_changes_nothing_on_timescaledb() {
    what_comes_again_after_it_was_dropped_changes_nothing(Edition::Timescale).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_new_but_final_since_records_are_taken_longer_now_is_refused_and_kept() {
    let history = History::new(Edition::Plain, &[]).await;
    let store = &history.site.store;
    history.retain().await;
    // Ten days late: too old when records were taken for a week.
    let time = now() - 10 * 86_400;
    let batch = Batch {
        records: vec![incoming(
            history.site.building,
            metered(at(time), 5),
            at(now()),
        )],
        ..Batch::default()
    };
    let month = Duration::from_secs(30 * 86_400);
    let refused = store.ingest(&batch, month).await.unwrap();
    assert_eq!(refused.dead_lettered, [(Reason::TooOld, 1)].into());
    assert_eq!((refused.stored, refused.duplicates), (0, 0));
    let again = store.ingest(&batch, month).await.unwrap();
    assert_eq!((again.stored, again.duplicates), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn since_when_a_controller_is_there_or_away_is_told_for_good() {
    // Each history of presence in its own building would be slow; they take turns.
    let old = now() - 20 * 86_400;
    let day = 86_400;
    for (said, expected_rows) in [
        // The run began long ago, and went on until today.
        (vec![(0, false), (1, true), (2, true), (19, true)], 2),
        // It began long ago, with nothing since.
        (vec![(0, true), (1, false), (2, false)], 1),
        // It began yesterday: all that is old goes.
        (vec![(0, true), (1, false), (2, true), (19, false)], 1),
        (vec![(0, true)], 1),
    ] {
        let history = History::new(Edition::Plain, &[]).await;
        let said: Vec<(i64, Record)> = said
            .into_iter()
            .map(|(days, online)| (old + days * day, Record::Presence { online }))
            .collect();
        ingest(&history.site.store, history.site.building, &said).await;
        let answer = history.site.get("").await;
        history.retain().await;
        assert_eq!(history.site.get("").await, answer);
        let left = history
            .site
            .world
            .count("select count(*) from presence")
            .await;
        assert_eq!(left, expected_rows, "{said:?}");
    }
}
