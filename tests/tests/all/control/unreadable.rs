//! A control state that cannot be read holds up its own building only.

use crate::WATTLINE;
use serde_json::json;
use std::time::Duration;
use testkit::{BuildingPlan, DesiredDocuments, Mode, World, eventually};
use uuid::Uuid;

/// States that this binary cannot read: corrupt, and of a newer one.
const UNREADABLE: [&str; 3] = [
    r#"{"desired": 5}"#,
    r#"{"tariff_window": {"until": 5}}"#,
    r#"{"desired": {"heat_pump": null}}"#,
];

async fn make_due(world: &World, buildings: &[Uuid]) {
    for statement in [
        "update control_state set due_at = 'epoch' where building_uuid = any($1)",
        "update control_state set watched_since = '2026-01-01Z' where building_uuid = any($1)",
        "insert into desired_outbox (building_uuid, revision) select unnest($1::uuid[]), 1",
    ] {
        sqlx::query(statement)
            .bind(buildings)
            .execute(&world.database)
            .await
            .unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_cannot_be_read_is_set_aside_told_once_and_holds_up_no_other() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plans: Vec<BuildingPlan> = (0..6).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    let all: Vec<Uuid> = plans.iter().map(|plan| plan.uuid).collect();
    let (broken, good) = all.split_at(UNREADABLE.len());
    for (building, state) in broken.iter().zip(UNREADABLE) {
        sqlx::query("update control_state set state = $2::jsonb where building_uuid = $1")
            .bind(building)
            .bind(state.parse::<serde_json::Value>().unwrap())
            .execute(&world.database)
            .await
            .unwrap();
    }
    let documents = DesiredDocuments::subscribe(world.mqtt_port()).await;
    let control = world.start(&["control"]);
    control.ready().await;
    for building in good {
        documents.revision(*building, 1).await;
    }
    eventually(
        async || match control.metric("wattline_control_unreadable_states").await {
            3.0 => Ok(()),
            other => Err(other),
        },
    )
    .await;

    assert_eq!(control.readiness().await.unwrap().0, 200);
    let told = |log: String| log.matches("the control state cannot be read").count();
    assert_eq!(told(control.log()), 3, "{}", control.log());

    // What is due goes on likewise; nothing of what cannot be read is overwritten.
    drop(control);
    make_due(&world, &all).await;
    let control = world.start(&["control"]);
    let waiting = "select count(*) from control_state where due_at is not null";
    eventually(async || match world.count(waiting).await {
        3 => Ok(()),
        other => Err(other),
    })
    .await;
    control.ready().await;
    assert_eq!(told(control.log()), 3, "{}", control.log());
    for (building, state) in broken.iter().zip(UNREADABLE) {
        let kept = world
            .rows(&format!(
                "select state from control_state where building_uuid = '{building}'"
            ))
            .await;
        let state: serde_json::Value = state.parse().unwrap();
        assert_eq!(kept, [json!({"state": state})]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_was_mended_is_taken_up_again_within_a_minute() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let store = store::Store::open(&world.settings["WATTLINE_DATABASE_URL"], 2).unwrap();
    let break_it = "update control_state set state = '5', due_at = 'epoch'";
    let mend_it = "update control_state set state = '{}'";
    let now = domain::time::Timestamp::from_seconds(1_780_000_000);
    let after = |seconds| now.plus(Duration::from_secs(seconds));
    sqlx::query(break_it)
        .execute(&world.database)
        .await
        .unwrap();
    assert_eq!(store.execute_due(now).await.unwrap().buildings, 0);
    assert_eq!(store.unreadable_states(), 1);
    assert!(store.begin_publishing(10, now).await.unwrap().is_none());
    sqlx::query(mend_it).execute(&world.database).await.unwrap();
    assert_eq!(store.execute_due(after(59)).await.unwrap().buildings, 0);
    assert_eq!(store.execute_due(after(60)).await.unwrap().buildings, 1);
    assert_eq!(store.unreadable_states(), 0);
    let publishing = store
        .begin_publishing(10, after(60))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(publishing.publications()[0].building, building);
}
