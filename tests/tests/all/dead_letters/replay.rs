//! Again after a correction.

use super::{list, listed};
use crate::WATTLINE;
use crate::readings::send;
use crate::records::{meter, now};
use crate::reported::{insert_action, report};
use serde_json::{Value, json};
use testkit::{BuildingPlan, Mode, World, eventually};
use uuid::Uuid;
use wire::topic::RecordKind;

/// What a replay told, as JSON.
pub(super) fn replay(world: &World, arguments: &[&str]) -> Value {
    let replay = ["dead-letters", "replay", "--format", "json"];
    serde_json::from_str(&world.command(&[&replay, arguments].concat())).unwrap()
}

async fn until_listed(world: &World, expected: usize) {
    eventually(async || match listed(world).len() {
        count if count == expected => Ok(()),
        other => Err(other),
    })
    .await;
}

fn plan() -> (BuildingPlan, Uuid) {
    let (mut plan, sensor) = (BuildingPlan::new(), Uuid::new_v4());
    plan.sensor_hubs = json!([{"uuid": Uuid::new_v4(), "name": "Hub", "kind": "hub", "sensors": [
        {"sensor_uuid": sensor, "name": "Hall", "kind": "temperature"}]}]);
    (plan, sensor)
}

async fn every_kind_is_replayed_when_its_building_is_known(mode: Mode) {
    let world = World::new(WATTLINE, mode).await;
    let (plan, sensor) = plan();
    let building = plan.uuid;
    let mut serve = world.serve().await;
    let controller = world.controller();
    let time = now() - 7_200;
    let action = Uuid::new_v4();
    let messages = [
        (
            RecordKind::Telemetry,
            serde_json::from_str(&meter(time, 700)).unwrap(),
        ),
        (
            RecordKind::Readings,
            json!({"time": time, "readings": [{"sensor_uuid": sensor, "value": 20.5}]}),
        ),
        (
            RecordKind::KeyValues,
            json!({"time": time, "values": {"mode": "eco"}}),
        ),
        (
            RecordKind::Reported,
            report(time, 1, &[(action, "accepted")]),
        ),
        (RecordKind::Presence, json!({"online": true})),
        (RecordKind::Telemetry, json!({"time": time, "wrong": 1})),
    ];
    for (kind, message) in &messages {
        send(&controller, *kind, building, message.clone()).await;
    }
    until_listed(&world, 6).await;

    let by_building = ["--building", &building.to_string()];
    let refused =
        json!({"stored": 0, "duplicate": 0, "refused": {"schema": 1, "unknown_building": 5}});
    assert_eq!(
        replay(&world, &by_building),
        refused,
        "nothing was corrected"
    );
    world.apply(std::slice::from_ref(&plan));
    let expected =
        json!({"stored": 4, "duplicate": 0, "refused": {"schema": 1, "unknown_action": 1}});
    let dry = replay(&world, &[&by_building[..], &["--dry-run"]].concat());
    assert_eq!(dry, expected);
    assert_eq!(listed(&world).len(), 6, "only told");
    assert_eq!(
        world.count("select count(*) from telemetry_record").await,
        0
    );
    assert_eq!(replay(&world, &by_building), expected);

    let still = listed(&world);
    let reasons: Vec<(&str, &str)> = still
        .iter()
        .map(|it| {
            (
                it["reason"].as_str().unwrap(),
                it["pointer"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        reasons,
        [
            ("unknown_action", "/outcomes/0/action_uuid"),
            ("schema", "/wrong")
        ]
    );
    let all_is_there = "select (select count(*) from telemetry_record) + (select count(*) from \
        sensor_reading) + (select count(*) from key_value) + (select count(*) from presence)";
    assert_eq!(world.count(all_is_there).await, 4);
    eventually(async || {
        match world
            .count("select coalesce(sum(positive_sum_w), 0)::bigint from quarter_bucket")
            .await
        {
            700 => Ok(()),
            other => Err(other),
        }
    })
    .await;

    // Once more changes nothing; the action is known at last.
    let rest = json!({"stored": 0, "duplicate": 0, "refused": {"schema": 1, "unknown_action": 1}});
    assert_eq!(replay(&world, &[]), rest);
    let known = insert_action(&world, building).await;
    sqlx::query("update action set action_uuid = $1 where action_uuid = $2")
        .bind(action)
        .bind(known)
        .execute(&world.database)
        .await
        .unwrap();
    let of_reason = replay(&world, &["--reason", "unknown_action"]);
    assert_eq!(
        of_reason,
        json!({"stored": 1, "duplicate": 0, "refused": {}})
    );
    assert_eq!(world.count("select count(*) from report").await, 1);
    assert_replayed_are_told_apart(&world);

    if mode == Mode::Kafka {
        reading_the_log_again_brings_nothing_back(&world, &mut serve).await;
    }
}

fn assert_replayed_are_told_apart(world: &World) {
    assert_eq!(listed(world).len(), 1);
    let replayed = list(world, &["--replayed"]);
    assert_eq!(replayed.len(), 5);
    for letter in &replayed {
        assert_eq!(letter["outcome"], "stored");
        assert!(letter["replayed_at"].is_string());
        let id = letter["id"].to_string();
        let shown: Value =
            serde_json::from_str(&world.command(&["dead-letters", "show", &id])).unwrap();
        assert_eq!(shown["outcome"], "stored");
        let again = replay(world, &[&id]);
        assert_eq!(again, json!({"stored": 0, "duplicate": 0, "refused": {}}));
    }
}

async fn reading_the_log_again_brings_nothing_back(world: &World, serve: &mut testkit::Running) {
    serve.stop();
    let end = "select coalesce(sum(next_offset), 0)::bigint from log_position";
    let read = world.count(end).await;
    sqlx::query("delete from log_position")
        .execute(&world.database)
        .await
        .unwrap();
    let serve = world.serve().await;
    eventually(async || match world.count(end).await {
        count if count == read => Ok(()),
        other => Err((other, read)),
    })
    .await;
    assert_eq!(
        serve
            .metric("wattline_aggregator_stored_messages_total")
            .await,
        0.0
    );
    assert_eq!(
        serve
            .metric("wattline_aggregator_duplicate_messages_total")
            .await,
        5.0
    );
    assert_eq!(world.count("select count(*) from dead_letter").await, 6);
    assert_eq!(listed(world).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_of_every_kind_are_replayed_when_their_building_is_known() {
    every_kind_is_replayed_when_its_building_is_known(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_of_every_kind_are_replayed_in_direct_mode_too() {
    every_kind_is_replayed_when_its_building_is_known(Mode::Direct).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_whose_record_is_there_already_is_a_duplicate_and_none_any_more() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plan = BuildingPlan::new();
    let _serve = world.serve().await;
    let controller = world.controller();
    let time = now() - 600;
    for power_w in [1, 1, 2] {
        controller.telemetry(plan.uuid, meter(time, power_w)).await;
    }
    until_listed(&world, 3).await;
    world.apply(std::slice::from_ref(&plan));
    let expected = json!({"stored": 1, "duplicate": 2, "refused": {}});
    assert_eq!(replay(&world, &["--dry-run"]), expected);
    assert_eq!(replay(&world, &[]), expected);
    let kept = world
        .rows("select main_meter_active_power_w as w from telemetry_record")
        .await;
    assert_eq!(kept, [json!({"w": 1})], "the one that was received first");
    let outcomes: Vec<Value> = list(&world, &["--replayed"])
        .iter()
        .map(|letter| letter["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["stored", "duplicate", "duplicate"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_correction_mends_stays_refused_whatever_time_it_is_by_then() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let _serve = world.serve().await;
    let controller = world.controller();
    controller.telemetry(building, meter(now() + 302, 1)).await;
    controller
        .telemetry(building, meter(now() - 7 * 86_400 - 60, 1))
        .await;
    controller
        .publish("v1/buildings/X/telemetry", meter(now(), 1))
        .await;
    controller.telemetry(building, vec![b' '; 65_537]).await;
    until_listed(&world, 4).await;
    let before = listed(&world);
    let refused = json!({"time_in_future": 1, "too_old": 1, "unknown_topic": 1, "too_large": 1});
    let told = replay(&world, &[]);
    assert_eq!(
        told,
        json!({"stored": 0, "duplicate": 0, "refused": refused})
    );
    assert_eq!(listed(&world), before);
    // Kept for longer, and what was too old is not.
    let longer = replay(&world, &["--raw-retention", "8d"]);
    assert_eq!(longer["stored"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_from_before_the_raw_horizon_is_not_replayed_and_told_so() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plan = BuildingPlan::new();
    let _serve = world.serve().await;
    let controller = world.controller();
    let time = now() - 3 * 86_400;
    controller.telemetry(plan.uuid, meter(time, 1)).await;
    controller
        .telemetry(plan.uuid, meter(time + 86_400, 1))
        .await;
    until_listed(&world, 2).await;
    world.apply(std::slice::from_ref(&plan));
    sqlx::query("update raw_horizon set moment = to_timestamp($1)")
        .bind(time + 60)
        .execute(&world.database)
        .await
        .unwrap();
    let told = replay(&world, &[]);
    assert_eq!(
        told,
        json!({"stored": 1, "duplicate": 0, "refused": {"too_old": 1}})
    );
    let still = listed(&world);
    assert_eq!(still.len(), 1);
    let detail = still[0]["detail"].as_str().unwrap();
    assert!(detail.contains("its minute is final"), "{detail}");
    assert_eq!(still[0]["pointer"], "/time");
}

#[tokio::test(flavor = "multi_thread")]
async fn replay_says_what_it_wants_and_which_letters_it_refuses() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let told = |arguments: &[&str], code| {
        let output = world.attempt(&[&["dead-letters", "replay"], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    told(&["--reason", "boredom"], 2);
    assert!(told(&["77"], 1).contains("there is no dead letter 77"));
    assert_eq!(told(&[], 0), "stored  0\nduplicate  0\nrefused  0\n");

    let _serve = world.serve().await;
    let controller = world.controller();
    controller.telemetry(Uuid::new_v4(), meter(now(), 1)).await;
    until_listed(&world, 1).await;
    let id = listed(&world)[0]["id"].to_string();
    let told = told(&[&id], 0);
    let detail = "the building is not in the database, or is disabled";
    let first = format!("{id}  unknown_building  -  {detail}\n");
    assert!(told.starts_with(&first), "{told}");
    assert!(
        told.ends_with("refused  1\nrefused  1  unknown_building\n"),
        "{told}"
    );
}
