//! A backup that was made while records came in, restored: `docs/operations/backup.md`, done by a test.

use crate::WATTLINE;
use crate::records::{full, now};
use crate::retention::tables::client_program;
use serde_json::{Value, json};
use sqlx::PgPool;
use std::collections::BTreeMap;
use testkit::{DesiredDocuments, Edition, Method, Mode, Running, World, eventually, servers};
use uuid::Uuid;

/// Records that are published around the dump, one in two in each part.
const RECORDS: i64 = 600;

fn dump(world: &World) -> String {
    let file = world.folder().join("wattline.dump").display().to_string();
    let source = &world.settings["WATTLINE_DATABASE_URL"];
    client_program("pg_dump", &["--format=custom", "--file", &file, source]);
    file
}

/// Restores into a fresh database, which takes the place of the one that was lost.
async fn restore(world: &mut World, file: &str) {
    let target = servers::fresh_database(Edition::Plain).await;
    client_program(
        "pg_restore",
        &["--no-owner", "--exit-on-error", "--dbname", &target, file],
    );
    world.database = PgPool::connect(&target).await.unwrap();
    world
        .settings
        .insert("WATTLINE_DATABASE_URL".to_owned(), target);
    world.command(&["migrate"]);
}

async fn publish(world: &World, building: Uuid, base: i64, numbers: std::ops::Range<i64>) {
    let controller = world.controller();
    for number in numbers {
        let watts = i32::try_from(number).unwrap();
        controller
            .telemetry(building, full(base + number, watts, -watts, watts))
            .await;
    }
    controller.confirmed().await;
}

async fn until_stored(world: &World, records: i64) {
    eventually(async || {
        let stored = world.count("select count(*) from telemetry_record").await;
        let marked =
            "select (select count(*) from touched_minute) + (select count(*) from touched_quarter)";
        match (stored, world.count(marked).await) {
            (stored, 0) if stored == records => Ok(()),
            other => Err(other),
        }
    })
    .await;
}

/// What is stored and made of it, but when it was received and how often it was amended.
async fn contents(world: &World) -> BTreeMap<&'static str, Vec<Value>> {
    let mut contents = BTreeMap::new();
    for table in [
        "telemetry_record",
        "latest_sample",
        "minute_bucket",
        "quarter_bucket",
    ] {
        let rows = format!(
            "select to_jsonb(row) - 'revision' as row from {table} row order by to_jsonb(row)::text"
        );
        contents.insert(table, world.rows(&rows).await);
    }
    contents
}

async fn stop(running: Running) {
    drop(running);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_made_under_load_is_restored_and_the_log_brings_the_rest_exactly_once() {
    let mut world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    // Two quarters that have ended.
    let base = (now() / 900 - 4) * 900;
    let serve = world.serve().await;
    let (file, ()) = tokio::join!(
        async {
            eventually(
                async || match world.count("select count(*) from telemetry_record").await {
                    0..100 => Err(()),
                    _ => Ok(()),
                },
            )
            .await;
            tokio::task::block_in_place(|| dump(&world))
        },
        publish(&world, building, base, 0..RECORDS),
    );
    publish(&world, building, base, RECORDS..RECORDS + 100).await;
    until_stored(&world, RECORDS + 100).await;
    let lost = contents(&world).await;
    stop(serve).await;

    restore(&mut world, &file).await;
    let dumped = world.count("select count(*) from telemetry_record").await;
    assert!(
        (100..RECORDS + 100).contains(&dumped),
        "{dumped} records are in the dump"
    );
    let read: i64 = world
        .count("select sum(next_offset)::bigint from log_position")
        .await;
    assert!(read >= dumped, "positions and records are of one moment");
    let serve = world.serve().await;
    until_stored(&world, RECORDS + 100).await;
    assert_eq!(contents(&world).await, lost);
    let duplicates = serve
        .metric("wattline_aggregator_duplicate_messages_total")
        .await;
    assert_eq!(
        duplicates, 0.0,
        "the log is read from where the dump stands"
    );
    assert!(
        world
            .command(&["admin", "rebuild"])
            .contains("everything is what the stored records make")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restore_controllers_obey_again() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let desired = DesiredDocuments::subscribe(world.mqtt_port()).await;
    let act = async |world: &World, watts: i64| {
        let wish =
            json!({"battery_set_power_charge_watts": watts, "battery_set_power_timeout": 600});
        let path = format!("/buildings/{building}/actions/");
        let answer = world
            .client()
            .await
            .send(Method::POST, &path, Some(&wish))
            .await;
        assert_eq!(answer.status, 204, "{}", answer.text);
    };
    let serve = world.serve().await;
    act(&world, 1).await;
    let in_dump = desired.revision(building, 2).await.revision();
    let file = dump(&world);
    for watts in 2..5 {
        act(&world, watts).await;
    }
    let seen = desired.revision(building, in_dump + 3).await.revision();
    stop(serve).await;

    restore(&mut world, &file).await;
    let told = world.command(&["admin", "restored"]);
    assert!(told.starts_with("1 buildings"), "{told}");
    let _serve = world.serve().await;
    // What is desired is what was in the backup, and newer than all that a controller has seen.
    let document = desired.revision(building, seen + 1).await;
    assert_eq!(
        document.body["battery"]["charge_watts"], 1,
        "{}",
        document.body
    );
    act(&world, 9).await;
    let document = desired.revision(building, document.revision() + 1).await;
    assert_eq!(
        document.body["battery"]["charge_watts"], 9,
        "{}",
        document.body
    );
}
