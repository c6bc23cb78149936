//! What controllers did with the desired state, from MQTT to the database, for control to handle.

use crate::WATTLINE;
use crate::readings::{send, until_fates};
use crate::records::{meter, now};
use domain::rejection::Reason;
use domain::time::Timestamp;
use serde_json::{Value, json};
use sqlx::Row as _;
use std::collections::BTreeSet;
use std::time::Duration;
use store::{Batch, Incoming, Ingested, Letter, Store};
use testkit::{BuildingPlan, Controller, Edition, Mode, World, eventually};
use uuid::Uuid;
use wire::decode::decode_record;
use wire::topic::{MqttTopic, RecordKind};

const REPORTED: RecordKind = RecordKind::Reported;

/// An action of a building as the api stores it, with nothing in force.
pub(crate) async fn insert_action(world: &World, building: Uuid) -> Uuid {
    sqlx::query(
        "insert into action (building_uuid, action_uuid, created_at, username, address, family, \
         body, revision, status) values ($1, gen_random_uuid(), now(), 'ada', '127.0.0.1', \
         'battery', '{}', 2, 'published') returning action_uuid",
    )
    .bind(building)
    .fetch_one(&world.database)
    .await
    .unwrap()
    .get(0)
}

/// A report with these outcomes: action and status.
pub(crate) fn report(time: i64, revision: i64, outcomes: &[(Uuid, &str)]) -> Value {
    let outcome =
        |(action, status): &(Uuid, &str)| json!({"action_uuid": action, "status": status});
    let outcomes: Vec<Value> = outcomes.iter().map(outcome).collect();
    json!({"time": time, "revision": revision, "outcomes": outcomes})
}

async fn reports_are_stored_once_however_often_and_in_whatever_order_they_come(mode: Mode) {
    let world = World::new(WATTLINE, mode).await;
    let plans = [BuildingPlan::new(), BuildingPlan::new()];
    world.apply(&plans);
    let [building, other] = plans.map(|plan| plan.uuid);
    let (one, two) = (
        insert_action(&world, building).await,
        insert_action(&world, building).await,
    );
    let serve = world.serve().await;
    let controller = world.controller();
    let time = now() - 600;
    let first = |action: String, detail: &str, unknown: &str| {
        json!({"time": time, "revision": 7.0, unknown: 1, "outcomes": [
            {"action_uuid": action, "status": "accepted", unknown: {}},
            {"action_uuid": two, "status": "partial", "detail": detail},
        ]})
    };
    let messages = [
        first(one.to_string().to_uppercase(), "at its limit", "x"),
        // An older one comes later.
        report(time - 60, 6, &[]),
        // The same in other spellings.
        first(one.to_string().to_uppercase(), "at its limit", "x"),
        first(one.to_string(), "at its limit", "y"),
        report(time - 60, 6, &[]),
        // The same moment with another content.
        first(one.to_string(), "", "x"),
        report(time - 60, 5, &[]),
        report(time - 60, 6, &[(one, "rejected")]),
        report((time - 60) * 1_000, 6, &[]),
    ];
    for message in messages {
        send(&controller, REPORTED, building, message).await;
    }
    // Another building's moment is another one.
    send(&controller, REPORTED, other, report(time, 1, &[])).await;
    until_fates(&serve, (3.0, 7.0, 3.0, 0.0)).await;

    let stored = world
        .rows(
            "select building_uuid, extract(epoch from time)::bigint as time, revision, outcomes, \
             received_at > time as received_later from report order by revision",
        )
        .await;
    let row = |of: Uuid, time: i64, revision: i64, outcomes: Value| json!({"building_uuid": of, "time": time, "revision": revision, "outcomes": outcomes, "received_later": true});
    let outcomes = json!([
        {"action_uuid": one, "status": "accepted"},
        {"action_uuid": two, "status": "partial", "detail": "at its limit"},
    ]);
    let expected = [
        row(other, time, 1, json!([])),
        row(building, time - 60, 6, json!([])),
        row(building, time, 7, outcomes),
    ];
    assert_eq!(stored, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_are_stored_once_however_often_and_in_whatever_order_they_come_over_kafka() {
    reports_are_stored_once_however_often_and_in_whatever_order_they_come(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_are_stored_once_however_often_and_in_whatever_order_they_come_directly() {
    reports_are_stored_once_however_often_and_in_whatever_order_they_come(Mode::Direct).await;
}

/// Reason, pointer and payload of every dead letter, once there are so many.
async fn refused(world: &World, expected: usize) -> BTreeSet<(String, String, Vec<u8>)> {
    eventually(async || {
        let rows = sqlx::query("select reason, pointer, payload from dead_letter")
            .fetch_all(&world.database)
            .await
            .unwrap();
        if rows.len() == expected {
            Ok(rows
                .iter()
                .map(|row| (row.get(0), row.get(1), row.get(2)))
                .collect())
        } else {
            Err(rows.len())
        }
    })
    .await
}

async fn an_outcome_of_an_action_that_the_building_does_not_have_refuses_the_whole_report(
    mode: Mode,
) {
    let world = World::new(WATTLINE, mode).await;
    let plans = [BuildingPlan::new(), BuildingPlan::new()];
    world.apply(&plans);
    let [building, other] = plans.map(|plan| plan.uuid);
    let (ours, theirs) = (
        insert_action(&world, building).await,
        insert_action(&world, other).await,
    );
    let serve = world.serve().await;
    let controller = world.controller();
    let (stranger, unknown) = (Uuid::new_v4(), Uuid::new_v4());
    let time = now() - 600;
    let (old, future) = (time - 8 * 86_400, time + 7_200);
    let both = [(ours, "accepted"), (unknown, "accepted")];
    let cases = [
        (
            building,
            report(time, 2, &both),
            "unknown_action",
            "/outcomes/1/action_uuid",
        ),
        (
            building,
            report(time + 1, 2, &[(ours, "accepted"), (theirs, "rejected")]),
            "unknown_action",
            "/outcomes/1/action_uuid",
        ),
        // Of several the first one is told.
        (
            building,
            report(time + 2, 2, &[(theirs, "partial"), (unknown, "accepted")]),
            "unknown_action",
            "/outcomes/0/action_uuid",
        ),
        // What else is wrong comes before.
        (building, report(old, 2, &both), "too_old", "/time"),
        (
            building,
            report(future, 2, &both),
            "time_in_future",
            "/time",
        ),
        (stranger, report(time, 2, &both), "unknown_building", ""),
        (
            building,
            report(time, 2, &[(unknown, "done")]),
            "schema",
            "/outcomes/0/status",
        ),
    ];
    for (of, payload, _, _) in &cases {
        send(&controller, REPORTED, *of, payload.clone()).await;
    }
    let told = refused(&world, cases.len()).await;
    let expected = cases.map(|(_, payload, reason, pointer)| {
        (
            reason.to_owned(),
            pointer.to_owned(),
            payload.to_string().into_bytes(),
        )
    });
    assert_eq!(told, BTreeSet::from(expected));
    let counted = "wattline_aggregator_dead_lettered_messages_total{reason=\"unknown_action\"}";
    assert_eq!(serve.metric(counted).await, 3.0);
    assert_eq!(world.count("select count(*) from report").await, 0);

    // As soon as there is such an action, it is taken.
    let new = insert_action(&world, building).await;
    send(
        &controller,
        REPORTED,
        building,
        report(time, 2, &[(new, "accepted")]),
    )
    .await;
    until_fates(&serve, (1.0, 0.0, 0.0, 0.0)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_of_an_action_that_the_building_does_not_have_refuses_the_report_over_kafka() {
    an_outcome_of_an_action_that_the_building_does_not_have_refuses_the_whole_report(Mode::Kafka)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outcome_of_an_action_that_the_building_does_not_have_refuses_the_report_directly() {
    an_outcome_of_an_action_that_the_building_does_not_have_refuses_the_whole_report(Mode::Direct)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_of_a_disabled_building_is_a_dead_letter() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let action = insert_action(&world, building).await;
    let serve = world.serve().await;
    let controller = world.controller();
    let administer = |verb| world.command(&["admin", "building", verb, &building.to_string()]);
    let payload = report(now() - 60, 2, &[(action, "accepted")]);
    administer("disable");
    send(&controller, REPORTED, building, payload.clone()).await;
    let told = refused(&world, 1).await.pop_first().unwrap();
    assert_eq!((&*told.0, &*told.1), ("unknown_building", ""));
    administer("enable");
    send(&controller, REPORTED, building, payload).await;
    until_fates(&serve, (1.0, 0.0, 0.0, 0.0)).await;
}

/// A message as the aggregator hands it to the store.
fn incoming(kind: RecordKind, building: Uuid, payload: &str) -> Incoming {
    Incoming {
        building,
        record: decode_record(kind, payload.as_bytes()).unwrap(),
        letter: Letter {
            building: Some(building),
            source: MqttTopic::format(kind, building),
            received_at: Timestamp::from_seconds(now()),
            traceparent: None,
            redelivered: false,
            payload: payload.as_bytes().to_vec(),
            kept_as: None,
        },
    }
}

async fn a_batch_with_all_kinds_is_stored_whole_and_changes_nothing_the_second_time(
    edition: Edition,
) {
    let world = World::on(WATTLINE, Mode::Direct, edition).await;
    let building = world.building();
    let action = insert_action(&world, building).await;
    let store = Store::open(&world.settings["WATTLINE_DATABASE_URL"], 2).unwrap();
    let time = now() - 60;
    let unknown = report(
        time + 1,
        2,
        &[(action, "accepted"), (Uuid::new_v4(), "accepted")],
    );
    let payloads = [
        (RecordKind::Telemetry, meter(time, 5)),
        (
            RecordKind::Readings,
            json!({"time": time, "readings": []}).to_string(),
        ),
        (
            RecordKind::KeyValues,
            json!({"time": time, "values": {"a": 1}}).to_string(),
        ),
        (
            REPORTED,
            report(time, 2, &[(action, "accepted")]).to_string(),
        ),
        (
            REPORTED,
            report(time, 2, &[(action, "rejected")]).to_string(),
        ),
        (REPORTED, unknown.to_string()),
        (RecordKind::Presence, json!({"online": true}).to_string()),
    ];
    let batch = Batch {
        records: payloads
            .iter()
            .map(|(kind, payload)| incoming(*kind, building, payload))
            .collect(),
        ..Batch::default()
    };
    let kept = Duration::from_secs(86_400);
    let first = Ingested {
        stored: 5,
        duplicates: 1,
        conflicts: 1,
        dead_lettered: [(Reason::UnknownAction, 1)].into(),
        ..Ingested::default()
    };
    assert_eq!(store.ingest(&batch, kept).await.unwrap(), first);
    let again = Ingested {
        // A message without readings has nothing that could be known.
        stored: 1,
        duplicates: 6,
        conflicts: 1,
        ..Ingested::default()
    };
    assert_eq!(store.ingest(&batch, kept).await.unwrap(), again);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_with_all_kinds_is_stored_once() {
    for edition in [Edition::Plain, Edition::Timescale] {
        a_batch_with_all_kinds_is_stored_whole_and_changes_nothing_the_second_time(edition).await;
    }
}

/// Reports that have every end that a message can have, five a round.
pub(crate) async fn send_of_every_fate(
    controller: &Controller,
    building: Uuid,
    action: Uuid,
    start: i64,
    rounds: i64,
) {
    for time in start..start + rounds {
        let stored = report(time, 2, &[(action, "accepted")]);
        let wrong = report(time, 2, &[(action, "done")]);
        let unknown = report(time, 2, &[(Uuid::new_v4(), "accepted")]);
        let conflict = report(time, 3, &[(action, "accepted")]);
        for payload in [stored.clone(), wrong, unknown, conflict, stored] {
            send(controller, REPORTED, building, payload).await;
        }
    }
    controller.confirmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_go_with_their_building() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let plans = [BuildingPlan::new(), BuildingPlan::new()];
    world.apply(&plans);
    let [building, other] = plans.map(|plan| plan.uuid);
    let mut serve = world.serve().await;
    let controller = world.controller();
    for of in [building, other] {
        let action = insert_action(&world, of).await;
        let payload = report(now() - 60, 2, &[(action, "accepted")]);
        send(&controller, REPORTED, of, payload).await;
    }
    until_fates(&serve, (2.0, 0.0, 0.0, 0.0)).await;
    assert!(serve.stop().success());
    world.command(&[
        "admin",
        "building",
        "remove",
        &building.to_string(),
        "--yes",
    ]);
    for table in ["report", "action", "control_state"] {
        let left = world
            .rows(&format!("select building_uuid from {table}"))
            .await;
        assert_eq!(left, [json!({"building_uuid": other})], "{table}");
    }
}
