//! Several at once, and killed on the way.

use super::kept::{RETENTION, refused, store};
use super::replay::replay;
use crate::WATTLINE;
use crate::records::{meter, now};
use aggregator::batch::judge_again;
use domain::rejection::Reason;
use domain::time::Timestamp;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::{Batch, Letter};
use testkit::{BuildingPlan, Mode, World, eventually_within};
use uuid::Uuid;

const LETTERS: i64 = 6_000;

/// Letters of a building that was unknown, each with a record of its own second, all of 5 W.
async fn keep_letters(world: &World, building: Uuid, begin: i64) {
    let store = store(world);
    let letters: Vec<i64> = (0..LETTERS).collect();
    for some in letters.chunks(2_000) {
        let refused = some.iter().map(|second| {
            let payload = meter(begin + second, 5);
            let received_at = Timestamp::from_seconds(begin + second + 1);
            refused(building, &payload, received_at, Reason::UnknownBuilding)
        });
        let batch = Batch {
            refused: refused.collect(),
            ..Batch::default()
        };
        store.ingest(&batch, RETENTION).await.unwrap();
    }
}

fn begin() -> i64 {
    (now() - 86_400) / 900 * 900
}

/// Every record once, every letter replayed, and the buckets say so.
async fn assert_exact(world: &World) {
    let count = async |query: &str| world.count(query).await;
    assert_eq!(
        count("select count(*) from telemetry_record").await,
        LETTERS
    );
    let open = "select count(*) from dead_letter where replayed_at is null";
    assert_eq!(count(open).await, 0);
    let now = Timestamp::from_seconds(now());
    let store = store(world);
    while store.fold(now).await.unwrap() != store::Folded::default() {}
    let samples = "select sum(samples)::bigint from quarter_bucket";
    assert_eq!(count(samples).await, LETTERS);
    let energy = "select sum(positive_sum_w)::bigint from quarter_bucket";
    assert_eq!(count(energy).await, 5 * LETTERS);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replays_at_once_replay_every_letter_once() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plan = BuildingPlan::new();
    keep_letters(&world, plan.uuid, begin()).await;
    world.apply(std::slice::from_ref(&plan));
    let start = || {
        Command::new(WATTLINE)
            .args(["dead-letters", "replay", "--format", "json"])
            .envs(&world.settings)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let running = [start(), start(), start()];
    let mut stored = 0;
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&told["duplicate"], &told["refused"]),
            (&0.into(), &serde_json::json!({}))
        );
        stored += told["stored"].as_i64().unwrap();
    }
    assert_eq!(stored, LETTERS);
    assert_exact(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_that_is_killed_anywhere_is_taken_up_again_and_doubles_nothing() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plan = BuildingPlan::new();
    keep_letters(&world, plan.uuid, begin()).await;
    world.apply(std::slice::from_ref(&plan));
    let replayed = "select count(*) from dead_letter where replayed_at is not null";
    let mut kills = 0;
    for target in [1, LETTERS / 3, LETTERS / 2] {
        let mut child = Command::new(WATTLINE)
            .args(["dead-letters", "replay"])
            .envs(&world.settings)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        eventually_within(Duration::from_secs(60), async || {
            match world.count(replayed).await {
                count if count >= target => Ok(()),
                other => Err(other),
            }
        })
        .await;
        child.kill().unwrap();
        child.wait().unwrap();
        kills += u32::from(world.count(replayed).await < LETTERS);
        let records = world.count("select count(*) from telemetry_record").await;
        let marked = world.count(replayed).await;
        // The server may still be committing what the killed process had asked for.
        assert!(records >= marked, "{records} records of {marked} letters");
    }
    assert!(kills > 0, "it was killed in the middle");
    let left = LETTERS - world.count(replayed).await;
    let told = replay(&world, &[]);
    assert!(told["stored"].as_i64().unwrap() <= left, "{told}");
    assert_eq!(told["duplicate"], 0);
    assert_exact(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_while_the_same_messages_arrive_again_stores_each_once() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plan = BuildingPlan::new();
    let begin = begin();
    keep_letters(&world, plan.uuid, begin).await;
    world.apply(std::slice::from_ref(&plan));
    let database = store(&world);
    let arriving = async {
        let mut stored = 0;
        let seconds: Vec<i64> = (0..LETTERS).rev().collect();
        for some in seconds.chunks(250) {
            let letter = |second: &i64| Letter {
                received_at: Timestamp::from_seconds(begin + second + 2),
                ..refused(
                    plan.uuid,
                    &meter(begin + second, 5),
                    Timestamp::from_seconds(0),
                    Reason::TooOld,
                )
                .letter
            };
            let batch = judge_again(some.iter().map(letter).collect());
            stored += database.ingest(&batch, RETENTION).await.unwrap().stored;
        }
        stored
    };
    let replaying = tokio::task::spawn_blocking({
        let settings = world.settings.clone();
        move || {
            let output = Command::new(WATTLINE)
                .args(["dead-letters", "replay", "--format", "json"])
                .envs(settings)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
        }
    });
    let (arrived, told) = tokio::join!(arriving, replaying);
    let told = told.unwrap();
    let of = |name: &str| told[name].as_u64().unwrap();
    assert_eq!(arrived + of("stored"), LETTERS.unsigned_abs());
    assert_eq!(of("stored") + of("duplicate"), LETTERS.unsigned_abs());
    assert_exact(&world).await;
}
