//! An interval that cannot be folded holds up no other.

use super::execute;
use crate::WATTLINE;
use domain::reading::Record;
use domain::record::{MainMeter, Status, TelemetryRecord};
use domain::time::Timestamp;
use std::time::Duration;
use store::{Batch, Folded, Incoming, Letter, Store};
use testkit::{BuildingPlan, Mode, World};
use uuid::Uuid;

const BEGIN: i64 = 1_780_000_200;
const BUILDINGS: usize = 8;

fn sample(building: Uuid, second: i64, power_w: i32) -> Incoming {
    let time = Timestamp::from_seconds(second);
    Incoming {
        building,
        record: Record::Telemetry(TelemetryRecord {
            time,
            main_meter: Some(MainMeter {
                status: Status::Available,
                active_power_w: Some(power_w),
            }),
            battery: None,
            solar: None,
        }),
        letter: Letter {
            building: Some(building),
            source: format!("v1/buildings/{building}/telemetry"),
            received_at: time,
            traceparent: None,
            redelivered: false,
            payload: Vec::new(),
            kept_as: None,
        },
    }
}

/// A day of quarters with a sample each; building 3 has a value that the levels' constraints refuse.
async fn world_with_marks() -> (World, Store) {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plans: Vec<BuildingPlan> = (0..BUILDINGS).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    let store = Store::open(&world.settings["WATTLINE_DATABASE_URL"], 2).unwrap();
    let mut batch = Batch::default();
    for (number, plan) in plans.iter().enumerate() {
        for quarter in 0..8 {
            let power_w = if number == 3 && quarter == 5 { 13 } else { 60 };
            let second = BEGIN + 900 * quarter;
            batch.records.push(sample(plan.uuid, second, power_w));
        }
    }
    store
        .ingest(&batch, Duration::from_secs(7 * 86_400))
        .await
        .unwrap();
    (world, store)
}

async fn fold_all(store: &Store, now: Timestamp) -> Folded {
    let mut all = Folded::default();
    loop {
        let folded = store.fold(now).await.unwrap();
        if folded == Folded::default() {
            return all;
        }
        all.minutes += folded.minutes;
        all.quarters += folded.quarters;
        all.days += folded.days;
        all.set_aside += folded.set_aside;
    }
}

/// With one bucket of this table refused, all others are there; when the cause is gone, it follows.
async fn one_bucket_is_set_aside(table: &str, condition: &str) {
    let (world, store) = world_with_marks().await;
    let refuse = format!("alter table {table} add constraint no_poison check ({condition})");
    execute(&world, &refuse).await;
    let now = Timestamp::from_seconds(BEGIN + 2 * 86_400);
    let folded = fold_all(&store, now).await;
    assert_eq!(folded.set_aside, 1, "{table}: {folded:?}");
    let count = format!("select count(*) from {table}");
    let rows = world.count(&count).await;
    assert!(
        rows >= i64::try_from(BUILDINGS).unwrap() - 1,
        "{table}: {rows}"
    );

    // It waits, and costs nothing meanwhile.
    let soon = now.plus(Duration::from_secs(299));
    assert_eq!(store.fold(soon).await.unwrap(), Folded::default());
    let later = now.plus(Duration::from_secs(300));
    assert_eq!(fold_all(&store, later).await.set_aside, 1);
    let mend = format!("alter table {table} drop constraint no_poison");
    execute(&world, &mend).await;
    let last = later.plus(Duration::from_secs(300));
    assert_eq!(fold_all(&store, last).await.set_aside, 0);
    assert_eq!(world.count(&count).await, rows + 1);
    let samples = "select sum(samples)::bigint from day_bucket";
    let all = i64::try_from(8 * BUILDINGS).unwrap();
    assert_eq!(world.count(samples).await, all);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_minute_that_cannot_be_folded_holds_up_no_other() {
    one_bucket_is_set_aside("minute_bucket", "positive_sum_w <> 13").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quarter_that_cannot_be_folded_holds_up_no_other() {
    one_bucket_is_set_aside("quarter_bucket", "positive_sum_w <> 13").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_that_cannot_be_folded_holds_up_no_other() {
    let (world, store) = world_with_marks().await;
    let building =
        "select building_uuid from telemetry_record where main_meter_active_power_w = 13";
    let of = world.rows(&format!("select ({building}) as uuid")).await[0]["uuid"].clone();
    let refuse = format!(
        "alter table day_bucket add constraint no_poison check (building_uuid <> '{}')",
        of.as_str().unwrap()
    );
    execute(&world, &refuse).await;
    let now = Timestamp::from_seconds(BEGIN + 2 * 86_400);
    assert_eq!(fold_all(&store, now).await.set_aside, 1);
    let others = i64::try_from(BUILDINGS).unwrap() - 1;
    assert_eq!(world.count("select count(*) from day_bucket").await, others);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_folds_nothing_is_a_failure_and_sets_nothing_aside() {
    let (world, store) = world_with_marks().await;
    execute(
        &world,
        "alter table minute_bucket add constraint none check (false)",
    )
    .await;
    let now = Timestamp::from_seconds(BEGIN + 2 * 86_400);
    assert!(store.fold(now).await.is_err());
    execute(&world, "alter table minute_bucket drop constraint none").await;
    assert_eq!(store.fold(now).await.unwrap().minutes, 8 * BUILDINGS);
}
