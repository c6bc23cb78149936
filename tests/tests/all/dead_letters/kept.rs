//! What is kept once, however it comes again.

use crate::WATTLINE;
use crate::records::{meter, now};
use aggregator::batch::judge_again;
use domain::rejection::{Reason, Rejection};
use domain::time::Timestamp;
use std::time::{Duration, Instant};
use store::{Batch, Ingested, Letter, Refused, Store};
use testkit::{Mode, World};
use uuid::Uuid;

pub(super) const RETENTION: Duration = Duration::from_secs(7 * 86_400);

pub(super) fn store(world: &World) -> Store {
    Store::open(&world.settings["WATTLINE_DATABASE_URL"], 2).unwrap()
}

/// A message of a building's telemetry as it was refused.
pub(super) fn refused(
    building: Uuid,
    payload: &str,
    received_at: Timestamp,
    reason: Reason,
) -> Refused {
    Refused {
        letter: Letter {
            building: Some(building),
            source: format!("v1/buildings/{building}/telemetry"),
            received_at,
            traceparent: None,
            redelivered: false,
            payload: payload.into(),
            kept_as: None,
        },
        rejection: Rejection::new(reason, "", "in a test"),
    }
}

fn again(mut refused: Refused) -> Refused {
    refused.letter.redelivered = true;
    refused
}

async fn ingest(store: &Store, refused: Vec<Refused>, imported: Vec<Refused>) -> Ingested {
    let batch = Batch {
        refused,
        imported,
        ..Batch::default()
    };
    store.ingest(&batch, RETENTION).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_has_one_letter_within_a_batch_and_over_batches_and_is_counted_by_reason_once() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let store = store(&world);
    let building = Uuid::new_v4();
    let at = |second: i64| Timestamp::from_seconds(now() - 1_000 + second);
    let letter = |payload, second, reason| refused(building, payload, at(second), reason);
    let first = vec![
        letter("a", 1, Reason::UnknownBuilding),
        letter("b", 2, Reason::TooOld),
        letter("a", 3, Reason::UnknownBuilding),
        again(letter("a", 4, Reason::UnknownBuilding)),
        letter("b", 2, Reason::TooOld),
    ];
    let bridge = vec![
        letter("{", 5, Reason::NotJson),
        again(letter("{", 6, Reason::NotJson)),
    ];
    let ingested = ingest(&store, first.clone(), bridge.clone()).await;
    let reasons: Vec<(Reason, u64)> = ingested.dead_lettered.clone().into_iter().collect();
    assert_eq!(reasons, [(Reason::UnknownBuilding, 2), (Reason::TooOld, 1)]);
    assert_eq!((ingested.duplicates, ingested.imported), (2, 1));

    // Read again, whatever the judgement says by now; and a copy that the broker says it may have sent before.
    let mut later = first;
    for refused in &mut later {
        refused.rejection.reason = Reason::UnknownSensor;
    }
    later.push(again(letter("b", 9, Reason::TooOld)));
    let ingested = ingest(&store, later, bridge).await;
    assert_eq!(ingested.dead_lettered.len(), 0);
    assert_eq!((ingested.duplicates, ingested.imported), (6, 0));
    assert_eq!(super::listed(&world).len(), 4);

    // The same again later is told again.
    let ingested = ingest(&store, vec![letter("b", 10, Reason::TooOld)], Vec::new()).await;
    assert_eq!(ingested.dead_lettered[&Reason::TooOld], 1);
    let order: Vec<_> = super::listed(&world)
        .iter()
        .map(|letter| letter["received_at"].as_str().unwrap().to_owned())
        .collect();
    assert!(order.is_sorted(), "{order:?}");
}

/// A full batch: what the aggregator stores in one transaction.
const MESSAGES: i64 = 5_000;

/// The quicker of two batches, the second read of which is of another hour.
async fn quickest(store: &Store, batch: impl Fn(i64) -> Batch) -> Duration {
    let mut quickest = Duration::MAX;
    for round in 0..2 {
        let batch = batch(round);
        let begun = Instant::now();
        store.ingest(&batch, RETENTION).await.unwrap();
        quickest = quickest.min(begun.elapsed());
    }
    quickest
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_bad_messages_costs_little_more_than_one_of_good_ones() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let store = store(&world);
    let begin = now() - 86_400;
    let of = |building: Uuid, round: i64| -> Vec<Refused> {
        let letter = |second: i64| {
            let second = begin + 10_000 * round + second;
            let payload = meter(second, 5);
            refused(
                building,
                &payload,
                Timestamp::from_seconds(second),
                Reason::TooOld,
            )
        };
        (0..MESSAGES).map(letter).collect()
    };
    let messages = |round: i64| {
        let letters = of(building, round).into_iter().map(|it| it.letter);
        judge_again(letters.collect())
    };
    // After one with known records batches are inserted and not copied, as letters are: that is what they are held to.
    for _ in 0..2 {
        store.ingest(&messages(3), RETENTION).await.unwrap();
    }
    let good = quickest(&store, messages).await;
    let bad = quickest(&store, |round| Batch {
        refused: of(building, round),
        ..Batch::default()
    })
    .await;
    tell("good", good);
    tell("bad", bad);
    assert!(bad < 3 * good, "{bad:?} and {good:?}");

    // Every second one is what the database does not take.
    sqlx::query(
        "alter table telemetry_record add check (extract(epoch from time)::bigint % 2 = 0) \
         not valid",
    )
    .execute(&world.database)
    .await
    .unwrap();
    let batch = judge_again(of(building, 2).into_iter().map(|it| it.letter).collect());
    let begun = Instant::now();
    let ingested = store.ingest(&batch, RETENTION).await.unwrap();
    tell("good and poisonous", begun.elapsed());
    assert_eq!(ingested.stored, MESSAGES.unsigned_abs() / 2);
    assert_eq!(
        ingested.dead_lettered[&Reason::NotStorable],
        MESSAGES.unsigned_abs() / 2
    );
}

#[expect(
    clippy::print_stdout,
    reason = "measured figures, shown with --nocapture"
)]
fn tell(which: &str, took: Duration) {
    println!("{MESSAGES} {which} messages in {took:?}");
}
