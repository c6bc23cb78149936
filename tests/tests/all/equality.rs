//! The same stream gives the same answers, whatever carries and keeps it.

use crate::WATTLINE;
use crate::records::now;
use domain::time::Timestamp;
use serde_json::Value;
use simulator::{Fleet, Limit, Plan, Scenario, Shares};
use std::time::Duration;
use testkit::{Client, Edition, Mode, World, eventually};

const BUILDINGS: usize = 3;
const RECORDS: u64 = 900;
const PASSWORD: &str = "equal";

fn scenario() -> Scenario {
    let mut scenario = Scenario::new(11, BUILDINGS, Duration::from_secs(7));
    scenario.limit = Limit::Records(RECORDS);
    scenario.late_delay = Duration::from_secs(300);
    scenario.shares = Shares {
        duplicates: 0.1,
        late: 0.1,
        invalid: 0.05,
        gaps: 0.05,
    };
    scenario
}

/// Everything that a user can see, and everything that was refused.
async fn answers(mode: Mode, edition: Edition, start: Timestamp) -> Vec<(String, Value)> {
    let world = World::on(WATTLINE, mode, edition).await;
    let fleet = Fleet::new(scenario().seed, BUILDINGS);
    world.apply_fleet(&fleet.fleet_file(PASSWORD));
    let serve = world.serve().await;
    let controller = world.controller();
    let mut plan = Plan::new(&scenario(), start).unwrap();
    let mut published = 0.0;
    for publication in plan.by_ref() {
        controller
            .publish(&publication.topic, publication.payload.to_vec())
            .await;
        published += 1.0;
    }
    let summary = plan.summary();
    controller.confirmed().await;
    eventually(async || {
        let received = serve
            .metric("wattline_bridge_received_messages_total")
            .await;
        let kept = world.count("select count(*) from telemetry_record").await
            + world.count("select count(*) from dead_letter").await;
        // After the records, which come together with their marks; minutes before the quarters that
        // they mark.
        let waiting = world.count("select count(*) from touched_minute").await
            + world.count("select count(*) from touched_quarter").await;
        let expected =
            i64::try_from(summary.telemetry.valid() + summary.telemetry.refused()).unwrap();
        if received >= published && waiting == 0 && kept == expected {
            Ok(())
        } else {
            Err((received, waiting, kept, expected))
        }
    })
    .await;

    let client = Client::new(world.http_port).login("demo", PASSWORD).await;
    let mut all = vec![("buildings".to_owned(), client.get("/buildings/").await.1)];
    for building in fleet.buildings() {
        all.extend(reads(&client, &building.uuid.to_string()).await);
    }
    for table in ["minute_bucket", "quarter_bucket"] {
        let query = format!(
            "select (to_jsonb(bucket) - 'revision') as bucket from {table} bucket \
             order by building_uuid, series, start"
        );
        all.push((table.to_owned(), world.rows(&query).await.into()));
    }
    let letters = "select building_uuid, reason, pointer, detail, source, payload from dead_letter \
                   order by building_uuid, payload, reason";
    all.push(("dead letters".to_owned(), world.rows(letters).await.into()));
    all
}

async fn reads(client: &Client, building: &str) -> Vec<(String, Value)> {
    let (_, mut sensors) = client.get(&format!("/buildings/{building}/sensors/")).await;
    let mut uuids = Vec::new();
    for sensor in sensors.as_array_mut().unwrap() {
        // The electricity reads take no others.
        if sensor["unit"] == "W" {
            uuids.push(sensor["sensor_uuid"].as_str().unwrap().to_owned());
        }
        // The number of a sensor is the installation's own.
        sensor.as_object_mut().unwrap().remove("id");
    }
    let mut all = vec![(format!("{building} sensors"), sensors)];
    let uuids = uuids.join(",");
    for path in [
        "electricity/actual/".to_owned(),
        "electricity/latest/".to_owned(),
        format!("electricity/sensors/latest/?sensor_uuid={uuids}"),
        format!("electricity/sensors/latest/?sensor_uuid={uuids}&aggregate=minute"),
        format!("electricity/sensors/actual/?sensor_uuid={uuids}&aggregate=minute"),
    ] {
        let (status, body) = client.get(&format!("/buildings/{building}/{path}")).await;
        assert!(status == 200 || status == 204, "{path}: {status} {body}");
        all.push((format!("{building} {path} {status}"), body));
    }
    all
}

/// Names the first answer, and in a list the first item, that differs.
fn assert_same(one: &[(String, Value)], other: &[(String, Value)]) {
    assert_eq!(one.len(), other.len());
    for ((name, left), (other_name, right)) in one.iter().zip(other) {
        assert_eq!(name, other_name);
        if let (Some(left), Some(right)) = (left.as_array(), right.as_array()) {
            for (left, right) in left.iter().zip(right) {
                assert_eq!(left, right, "{name}");
            }
            assert_eq!(left.len(), right.len(), "{name}");
        }
        assert_eq!(left, right, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn direct_mode_and_kafka_mode_give_equal_answers() {
    let start = Timestamp::from_seconds(now() - 7_200);
    let kafka = answers(Mode::Kafka, Edition::Plain, start).await;
    let direct = answers(Mode::Direct, Edition::Plain, start).await;
    assert_same(&kafka, &direct);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgresql_and_timescaledb_give_equal_answers() {
    let start = Timestamp::from_seconds(now() - 7_200);
    let plain = answers(Mode::Direct, Edition::Plain, start).await;
    let timescale = answers(Mode::Direct, Edition::Timescale, start).await;
    assert_same(&plain, &timescale);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_in_a_hypertable_where_the_extension_is_found() {
    let world = World::on(WATTLINE, Mode::Direct, Edition::Timescale).await;
    let query = "select count(*) from timescaledb_information.hypertables \
                 where hypertable_name in ('telemetry_record', 'sensor_reading', 'key_value')";
    assert_eq!(world.count(query).await, 3);
    let told = world.command(&["migrate"]);
    assert!(told.contains("with TimescaleDB"), "{told}");
}
