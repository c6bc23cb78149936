//! What is refused is kept, with its own bytes and its reason, and replayed after a correction.

#[path = "dead_letters/kept.rs"]
mod kept;
#[path = "dead_letters/many.rs"]
mod many;
#[path = "dead_letters/races.rs"]
mod races;
#[path = "dead_letters/replay.rs"]
mod replay;
#[path = "dead_letters/told.rs"]
mod told;

use crate::WATTLINE;
use crate::records::{meter, now};
use serde_json::Value;
use std::collections::BTreeSet;
use testkit::{Mode, World, eventually, read_topic, servers};
use uuid::Uuid;

/// What `dead-letters list` tells with these arguments.
fn list(world: &World, arguments: &[&str]) -> Vec<Value> {
    let list = ["dead-letters", "list", "--format", "json"];
    world
        .command(&[&list, arguments].concat())
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn listed(world: &World) -> Vec<Value> {
    list(world, &[])
}

/// Payload, reason, pointer.
fn refusals() -> Vec<(Vec<u8>, &'static str, &'static str)> {
    let far = now() + 3_600;
    let old = now() - 8 * 86_400;
    vec![
        (b"{".to_vec(), "not_json", ""),
        (b"\xff\xfe".to_vec(), "not_json", ""),
        (b"[]".to_vec(), "schema", ""),
        (b"{}".to_vec(), "schema", "/time"),
        (br#"{"time":true}"#.to_vec(), "schema", "/time"),
        (br#"{"time":1,"extra":2}"#.to_vec(), "schema", "/extra"),
        // U+0000 in a key reaches the pointer, and PostgreSQL's text cannot hold it.
        (
            br#"{"time":1,"a\u0000b":2}"#.to_vec(),
            "schema",
            "/a\u{FFFD}b",
        ),
        (
            br#"{"time":1,"main_meter":{"status":"on"}}"#.to_vec(),
            "schema",
            "/main_meter/status",
        ),
        (
            br#"{"time":1,"battery":{"status":"available","charge_limit_w":3000000000}}"#.to_vec(),
            "out_of_range",
            "/battery/charge_limit_w",
        ),
        (meter(far, 1).into_bytes(), "time_in_future", "/time"),
        (meter(old, 1).into_bytes(), "too_old", "/time"),
        (vec![b' '; 65_537], "too_large", ""),
    ]
}

async fn invalid_records_become_dead_letters(mode: Mode) {
    let world = World::new(WATTLINE, mode).await;
    let building = world.building();
    let _serve = world.serve().await;
    let controller = world.controller();
    let refusals = refusals();
    for (payload, _, _) in refusals.clone() {
        controller.telemetry(building, payload).await;
    }
    let stranger = Uuid::new_v4();
    let time = now();
    controller.telemetry(stranger, meter(time, 1)).await;
    controller
        .publish("v1/buildings/NOT-A-UUID/telemetry", meter(time, 2))
        .await;
    controller.confirmed().await;

    let expected = refusals.len() + 2;
    let letters = eventually(async || {
        let letters = listed(&world);
        if letters.len() >= expected {
            Ok(letters)
        } else {
            Err(letters.len())
        }
    })
    .await;
    assert_eq!(letters.len(), expected);

    let mut unseen: BTreeSet<usize> = (0..letters.len()).collect();
    let mut check =
        |payload: &[u8], reason: &str, pointer: &str, source: &str, of: Option<Uuid>| {
            let found = letters.iter().position(|letter| {
                letter["reason"] == reason
                    && letter["pointer"] == pointer
                    && letter["source"] == source
                    && letter["size"] == payload.len()
            });
            let found = found.unwrap_or_else(|| panic!("{reason} {pointer} not in {letters:?}"));
            unseen.remove(&found);
            let letter = &letters[found];
            assert_eq!(letter["building_uuid"], serde_json::to_value(of).unwrap());
            let shown = world.command(&["dead-letters", "show", &letter["id"].to_string()]);
            let shown: Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(
                shown["payload_base64"],
                base64(payload),
                "{reason}: its own bytes"
            );
            assert!(!shown["detail"].as_str().unwrap().is_empty());
        };
    let source = format!("v1/buildings/{building}/telemetry");
    for (payload, reason, pointer) in &refusals {
        check(payload, reason, pointer, &source, Some(building));
    }
    let strange = format!("v1/buildings/{stranger}/telemetry");
    check(
        meter(time, 1).as_bytes(),
        "unknown_building",
        "",
        &strange,
        Some(stranger),
    );
    let nowhere = "v1/buildings/NOT-A-UUID/telemetry";
    check(
        meter(time, 2).as_bytes(),
        "unknown_topic",
        "",
        nowhere,
        None,
    );
    assert_eq!(unseen, BTreeSet::new());

    if mode == Mode::Kafka {
        on_kafka_as_the_interface_says(&world, refusals.len()).await;
    }
    let only = world.command(&[
        "dead-letters",
        "list",
        "--format",
        "json",
        "--reason",
        "too_old",
    ]);
    assert_eq!(only.lines().count(), 1);
    let of_stranger = ["dead-letters", "list", "--building", &stranger.to_string()];
    assert_eq!(world.command(&of_stranger).lines().count(), 1);
}

/// The bridge's refusals are on the dead-letters topic; the aggregator's stay on the record's own.
async fn on_kafka_as_the_interface_says(world: &World, refused: usize) {
    let (dead, records) = (world.topic("dead-letters"), world.topic("telemetry"));
    let (dead, records) = tokio::task::spawn_blocking(move || {
        let kafka = servers::shared_kafka();
        (read_topic(kafka, &dead), read_topic(kafka, &records))
    })
    .await
    .unwrap();
    assert_eq!(records.len(), 2, "too_old and unknown_building");
    assert_eq!(dead.len(), refused);
    for letter in &dead {
        for header in ["source", "received-at", "reason", "pointer", "detail"]
            .map(|it| format!("wattline-{it}"))
        {
            assert!(
                letter.headers.contains_key(&header),
                "{header} in {:?}",
                letter.headers
            );
        }
        let nowhere = letter.headers["wattline-reason"] == "unknown_topic";
        assert_eq!(letter.key.is_none(), nowhere);
    }
}

fn base64(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().enumerate().fold(0_u32, |bits, (index, byte)| {
            bits | u32::from(*byte) << (16 - 8 * index)
        });
        for index in 0..4 {
            if index <= chunk.len() {
                let six = usize::try_from(bits >> (18 - 6 * index) & 63).unwrap();
                write!(text, "{}", char::from(ALPHABET[six])).unwrap();
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_record_becomes_a_dead_letter_with_its_own_bytes_and_the_right_pointer() {
    invalid_records_become_dead_letters(Mode::Kafka).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_record_becomes_a_dead_letter_in_direct_mode_too() {
    invalid_records_become_dead_letters(Mode::Direct).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_letter_that_does_not_exist_is_told_in_one_line() {
    let world = World::new(WATTLINE, Mode::Direct).await;
    let output = world.attempt(&["dead-letters", "show", "77"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told.trim_end(), "wattline: there is no dead letter 77");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_building_is_known_within_five_seconds() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let plan = testkit::BuildingPlan::new();
    let _serve = world.serve().await;
    let controller = world.controller();
    controller.telemetry(plan.uuid, meter(now(), 1)).await;
    eventually(async || match listed(&world).len() {
        1 => Ok(()),
        other => Err(other),
    })
    .await;
    world.apply(std::slice::from_ref(&plan));
    controller.telemetry(plan.uuid, meter(now() + 1, 1)).await;
    testkit::eventually_within(std::time::Duration::from_secs(5), async || {
        match world.count("select count(*) from telemetry_record").await {
            1 => Ok(()),
            other => Err(other),
        }
    })
    .await;
    assert_eq!(listed(&world).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_wrong_message_sent_twice_is_told_twice() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    let _serve = world.serve().await;
    let controller = world.controller();
    controller.telemetry(building, "wrong").await;
    controller.telemetry(building, "wrong").await;
    eventually(async || match listed(&world).len() {
        2 => Ok(()),
        other => Err(other),
    })
    .await;
}
