//! Stretches of the log: what piled up in an outage keeps nothing new waiting, and what is read again changes nothing
//! that is right.

use crate::WATTLINE;
use crate::records::{meter, now};
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer as _, ThreadedProducer};
use serde_json::Value;
use std::time::Duration;
use testkit::{BuildingPlan, KafkaServer, Mode, Running, World, eventually, servers};
use uuid::Uuid;

/// Far more than an aggregator reads within a second, and in every partition more than it leaps over.
const PILED_UP: i64 = 40_000;

async fn kafka() -> &'static KafkaServer {
    tokio::task::spawn_blocking(servers::shared_kafka)
        .await
        .unwrap()
}

/// Buildings of one world, with all partitions among them.
fn buildings(world: &World) -> Vec<Uuid> {
    let plans: Vec<BuildingPlan> = (0..24).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    plans.into_iter().map(|plan| plan.uuid).collect()
}

/// Makes the topics, as the first process would.
async fn make_topics(world: &World) {
    let mut bridge = world.start(&["bridge"]);
    bridge.ready().await;
    assert!(bridge.stop().success());
}

/// Puts records of `count` consecutive seconds that end at `end` on Kafka, building by building in turn.
fn pile_up(kafka: &KafkaServer, world: &World, buildings: &[Uuid], count: i64, end: i64) {
    let producer: ThreadedProducer<DefaultProducerContext> = ClientConfig::new()
        .set("bootstrap.servers", kafka.brokers())
        .set("acks", "all")
        .set("linger.ms", "20")
        .create()
        .unwrap();
    let topic = world.topic("telemetry");
    for number in 0..count {
        let turn = usize::try_from(number).unwrap();
        let key = buildings[turn % buildings.len()].to_string();
        let payload = meter(end - count + number, 100);
        let mut record = BaseRecord::to(&topic).key(&key).payload(&payload);
        while let Err((_, again)) = producer.send(record) {
            std::thread::sleep(Duration::from_millis(10));
            record = again;
        }
    }
    producer.flush(Duration::from_secs(60)).unwrap();
}

async fn stored(world: &World) -> i64 {
    world.count("select count(*) from telemetry_record").await
}

async fn left(world: &World) -> i64 {
    let sum = "select coalesce(sum(end_offset - next_offset), 0)::bigint from log_stretch";
    world.count(sum).await
}

async fn until_stored(world: &World, wanted: i64) {
    eventually(async || match (stored(world).await, left(world).await) {
        (found, 0) if found == wanted => Ok(()),
        found => Err(found),
    })
    .await;
}

/// Everything that was made of records, but how often it was amended.
async fn made(world: &World) -> Vec<Vec<Value>> {
    let mut made = Vec::new();
    for table in [
        "telemetry_record",
        "minute_bucket",
        "quarter_bucket",
        "latest_sample",
    ] {
        let query = format!(
            "select to_jsonb(kept) - 'received_at' - 'revision' as row from {table} kept order by 1"
        );
        made.push(world.rows(&query).await);
    }
    made
}

async fn until_folded(world: &World, before: i64) {
    let marks = format!(
        "select (select count(*) from touched_minute where start < to_timestamp({before})) \
         + (select count(*) from touched_quarter where start < to_timestamp({before}))"
    );
    eventually(async || match world.count(&marks).await {
        0 => Ok(()),
        marks => Err(marks),
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_new_does_not_wait_behind_what_piled_up() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let (kafka, buildings) = (kafka().await, buildings(&world));
    make_topics(&world).await;
    let end = now() - 60;
    tokio::task::block_in_place(|| pile_up(kafka, &world, &buildings, PILED_UP, end));
    let bridge = world.start(&["bridge"]);
    let aggregator = world.start(&["aggregator"]);
    bridge.ready().await;
    // The outage is over when the first of what piled up is stored.
    eventually(async || match stored(&world).await {
        0 => Err(()),
        _ => Ok(()),
    })
    .await;
    eventually(async || match left(&world).await {
        0 => Err("nothing is left to be read besides"),
        _ => Ok(()),
    })
    .await;
    let controller = world.controller();
    let fresh = now();
    controller.telemetry(buildings[0], meter(fresh, 7)).await;
    let is_there =
        format!("select count(*) from telemetry_record where time = to_timestamp({fresh})");
    eventually(async || match world.count(&is_there).await {
        1 => Ok(()),
        count => Err(count),
    })
    .await;
    let behind = left(&world).await;
    assert!(
        behind > 0,
        "all that piled up was stored before the new record"
    );
    until_stored(&world, PILED_UP + 1).await;
    let metrics = aggregator.metrics().await;
    let count = |name: &str| metrics[&format!("wattline_aggregator_{name}")];
    assert_eq!(
        count("consumed_messages_total"),
        count("stored_messages_total")
    );
    assert_eq!(count("duplicate_messages_total"), 0.0);
    eventually(
        async || match aggregator.metric("wattline_aggregator_lag_messages").await {
            0.0 => Ok(()),
            lag => Err(lag),
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stretch_is_read_exactly_once_whoever_dies_while_reading_it() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let (kafka, buildings) = (kafka().await, buildings(&world));
    make_topics(&world).await;
    tokio::task::block_in_place(|| pile_up(kafka, &world, &buildings, PILED_UP, now() - 60));
    let mut other = world.start(&["aggregator"]);
    for part in 1..4 {
        let mut aggregator = world.start(&["aggregator"]);
        eventually(async || match stored(&world).await {
            found if found > PILED_UP * part / 5 => Ok(()),
            found => Err(found),
        })
        .await;
        aggregator.kill();
        if part == 2 {
            // Its own stretches are somebody else's from now on, and come back.
            other.kill();
            other = world.start(&["aggregator"]);
        }
    }
    until_stored(&world, PILED_UP).await;
    assert_eq!(world.count("select count(*) from dead_letter").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_again_changes_nothing_that_is_right_and_brings_back_what_is_missing() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let (kafka, buildings) = (kafka().await, buildings(&world));
    let begun = now() - 5;
    make_topics(&world).await;
    let end = now() - 3_600;
    let count = 6_000;
    tokio::task::block_in_place(|| pile_up(kafka, &world, &buildings, count, end));
    let mut aggregator = world.start(&["aggregator"]);
    until_stored(&world, count).await;
    until_folded(&world, end).await;
    let right = made(&world).await;
    assert!(aggregator.stop().success());

    let from = begun.to_string();
    let again = world.start(&["aggregator", "--from", &from]);
    until_read_again(&again, count).await;
    until_folded(&world, end).await;
    assert_eq!(made(&world).await, right);
    drop(again);

    for table in [
        "telemetry_record",
        "minute_bucket",
        "quarter_bucket",
        "latest_sample",
    ] {
        let lost = format!(
            "delete from {table} where building_uuid = '{}'",
            buildings[3]
        );
        sqlx::query(&lost).execute(&world.database).await.unwrap();
    }
    let again = world.start(&["aggregator", "--from", &from]);
    until_read_again(&again, count).await;
    until_folded(&world, end).await;
    assert_eq!(made(&world).await, right);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stretch_that_cannot_be_read_holds_up_no_other() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let (kafka, buildings) = (kafka().await, buildings(&world));
    make_topics(&world).await;
    let count = 3_000;
    tokio::task::block_in_place(|| pile_up(kafka, &world, &buildings, count, now() - 3_600));
    let mut aggregator = world.start(&["aggregator"]);
    until_stored(&world, count).await;
    assert!(aggregator.stop().success());
    // Of the first partition the log was cut: it ends before its stretch does.
    let topic = world.topic("telemetry");
    let again = format!(
        "delete from telemetry_record; \
         insert into log_stretch (cluster, topic, partition, next_offset, end_offset) \
         select cluster, topic, partition, 0, \
                next_offset + case when row_number() over (order by partition) = 1 then 1000 else 0 end \
         from log_position where topic = '{topic}' and next_offset > 0"
    );
    sqlx::raw_sql(&again)
        .execute(&world.database)
        .await
        .unwrap();
    let whole = format!(
        "select sum(stretch.end_offset)::bigint from log_stretch stretch \
         join log_position position using (cluster, topic, partition) \
         where topic = '{topic}' and stretch.end_offset = position.next_offset"
    );
    let whole = world.count(&whole).await;
    assert!(whole > 0 && whole < count, "{whole}");
    let _aggregator = world.start(&["aggregator"]);
    eventually(async || match stored(&world).await {
        found if found == whole => Ok(()),
        found => Err((found, whole)),
    })
    .await;
    assert_eq!(left(&world).await, count - whole + 1_000);
}

/// Waits until a process has gone through that many messages and nothing is left to be read.
async fn until_read_again(aggregator: &Running, count: i64) {
    eventually(async || {
        let metrics = aggregator.metrics().await;
        let consumed = metrics["wattline_aggregator_consumed_messages_total"];
        let left = metrics["wattline_aggregator_stretch_messages"];
        #[expect(clippy::cast_precision_loss, reason = "some thousands")]
        let wanted = count as f64;
        if consumed >= wanted && left == 0.0 {
            Ok(())
        } else {
            Err((consumed, left))
        }
    })
    .await;
}
