//! SIGKILL at the worst moment loses nothing and doubles nothing.

use crate::WATTLINE;
use crate::records::{meter, now};
use testkit::{Direction, Mode, Proxy, World, eventually};

const RECORDS: i64 = 200;

async fn stored(world: &World, expected: i64) {
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            count if count == expected => Ok(()),
            other => Err(other),
        },
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_bridge_between_produce_and_acknowledge_loses_and_doubles_nothing() {
    let mut world = World::new(WATTLINE, Mode::Kafka).await;
    let proxy = Proxy::open(world.mqtt_port()).await;
    let url = format!("mqtt://127.0.0.1:{}", proxy.port());
    world.settings.insert("WATTLINE_MQTT_URL".to_owned(), url);
    let building = world.building();
    let mut bridge = world.start(&["bridge"]);
    let aggregator = world.start(&["aggregator"]);
    bridge.ready().await;

    // Everything is on Kafka, and the broker has not heard of it.
    proxy.hold(Direction::ToServer);
    let controller = world.controller();
    let begin = now() - 1_000;
    for second in 0..RECORDS {
        controller
            .telemetry(building, meter(begin + second, 5))
            .await;
    }
    controller.telemetry(building, "no record").await;
    stored(&world, RECORDS).await;
    bridge.kill();
    proxy.cut();
    proxy.release();

    let bridge = world.start(&["bridge"]);
    eventually(async || {
        let consumed = aggregator
            .metric("wattline_aggregator_consumed_messages_total")
            .await;
        if consumed >= 400.0 {
            Ok(())
        } else {
            Err(consumed)
        }
    })
    .await;
    bridge.ready().await;
    assert_eq!(
        aggregator
            .metric("wattline_aggregator_stored_messages_total")
            .await,
        200.0
    );
    assert_eq!(
        aggregator
            .metric("wattline_aggregator_duplicate_messages_total")
            .await,
        200.0
    );
    assert_eq!(
        aggregator
            .metric("wattline_aggregator_conflict_messages_total")
            .await,
        0.0
    );
    stored(&world, RECORDS).await;
    let refused = r#"wattline_bridge_dead_lettered_messages_total{reason="not_json"}"#;
    eventually(async || match bridge.metric(refused).await {
        count if count >= 1.0 => Ok(()),
        other => Err(other),
    })
    .await;
    // One more message, so that whatever the bridge sent before it has been taken in.
    controller.telemetry(building, "another").await;
    eventually(
        async || match world.count("select count(*) from dead_letter").await {
            2 => Ok(()),
            other => Err(other),
        },
    )
    .await;
    let payloads = world
        .rows("select count(distinct payload) as n from dead_letter")
        .await;
    assert_eq!(payloads[0]["n"], 2, "the one that came again is kept once");
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_aggregator_between_commit_and_kafka_loses_and_doubles_nothing() {
    let mut world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    let bridge = world.start(&["bridge"]);
    bridge.ready().await;
    let controller = world.controller();
    let begin = now() - 1_000;
    let mut aggregator = world.start(&["aggregator"]);
    aggregator.ready().await;
    for second in 0..RECORDS {
        controller
            .telemetry(building, meter(begin + second, 5))
            .await;
    }
    stored(&world, RECORDS).await;
    aggregator.kill();

    // A group that Kafka knows no offset of: as if the last commit had never reached it.
    let group = format!("{}-anew", world.settings["WATTLINE_KAFKA_GROUP"]);
    world
        .settings
        .insert("WATTLINE_KAFKA_GROUP".to_owned(), group);
    let aggregator = world.start(&["aggregator"]);
    aggregator.ready().await;
    controller
        .telemetry(building, meter(begin + RECORDS, 5))
        .await;
    stored(&world, RECORDS + 1).await;
    assert_eq!(
        aggregator
            .metric("wattline_aggregator_consumed_messages_total")
            .await,
        1.0,
        "the database knows what is stored, whatever Kafka says"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_both_again_and_again_under_load_loses_and_doubles_nothing() {
    const MANY: i64 = 3_000;
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    let mut bridge = world.start(&["bridge"]);
    let mut aggregator = world.start(&["aggregator"]);
    bridge.ready().await;
    let controller = world.controller();
    let begin = (now() - 86_400) / 900 * 900;
    for second in 0..MANY {
        controller
            .telemetry(building, meter(begin + second, 7))
            .await;
        // Each time at another distance from the last batch.
        if second % 500 == 250 {
            bridge.kill();
            bridge = world.start(&["bridge"]);
        }
        if second % 700 == 600 {
            aggregator.kill();
            aggregator = world.start(&["aggregator"]);
        }
    }
    controller.confirmed().await;
    stored(&world, MANY).await;
    eventually(async || {
        let rows = world
            .rows("select sum(samples) as samples, sum(positive_sum_w) as w from quarter_bucket")
            .await;
        if rows[0]["samples"] == MANY && rows[0]["w"] == 7 * MANY {
            Ok(())
        } else {
            Err(rows)
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killing_the_direct_process_under_load_loses_and_doubles_nothing() {
    const MANY: i64 = 2_000;
    let world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let mut serve = world.serve().await;
    let controller = world.controller();
    let begin = (now() - 86_400) / 900 * 900;
    for second in 0..MANY {
        controller
            .telemetry(building, meter(begin + second, 7))
            .await;
        if second % 400 == 150 {
            serve.kill();
            serve = world.start(&["serve"]);
        }
    }
    controller.confirmed().await;
    stored(&world, MANY).await;
    assert_eq!(world.count("select count(*) from dead_letter").await, 0);
}
