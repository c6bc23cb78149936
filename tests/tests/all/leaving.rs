//! A bridge that leaves a share group for good.

use crate::WATTLINE;
use crate::records::{meter, now};
use std::time::Duration;
use testkit::{BuildingPlan, Controller, Mode, Running, World, eventually};

const BUILDINGS: usize = 10;

fn bridge(world: &mut World, number: usize, arguments: &[&str]) -> Running {
    let key = "WATTLINE_MQTT_CLIENT_ID".to_owned();
    world.settings.insert(key, format!("bridge-{number}"));
    world.start(&[&["bridge"], arguments].concat())
}

/// Each building publishes so many records, and the broker acknowledges them all.
async fn publish(controller: &Controller, plans: &[BuildingPlan], times: std::ops::Range<i64>) {
    for time in times {
        for plan in plans {
            controller.telemetry(plan.uuid, meter(time, 100)).await;
        }
    }
    controller.confirmed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridge_that_leaves_for_good_carries_over_what_waits_for_it_and_gets_no_share_any_more() {
    const STORED: &str = "select count(*) from telemetry_record";
    let mut world = World::new(WATTLINE, Mode::Kafka).await;
    let group = "WATTLINE_MQTT_SHARE_GROUP".to_owned();
    world.settings.insert(group, "bridges".to_owned());
    let plans: Vec<BuildingPlan> = (0..BUILDINGS).map(|_| BuildingPlan::new()).collect();
    world.apply(&plans);
    let stays = bridge(&mut world, 0, &[]);
    let mut leaves = bridge(&mut world, 1, &[]);
    let aggregator = world.start(&["aggregator"]);
    for process in [&stays, &leaves, &aggregator] {
        process.ready().await;
    }
    let controller = world.controller();
    let begin = now() - 3_600;

    // It is away, and the broker goes on giving it its share.
    assert!(leaves.stop().success());
    publish(&controller, &plans, begin..begin + 40).await;
    let carried = "wattline_bridge_forwarded_messages_total";
    eventually(async || {
        // What the other one has of them, and it gets no more.
        let of_others = stays.metric(carried).await;
        if of_others > 0.0 && world.count(STORED).await >= 1 {
            Ok(())
        } else {
            Err(of_others)
        }
    })
    .await;

    let mut leaving = bridge(&mut world, 1, &["--leave"]);
    assert!(leaving.wait(Duration::from_secs(30)).success());
    assert!(
        leaving.log().contains("the session has ended"),
        "{}",
        leaving.log()
    );
    let stored = async |wanted: i64| {
        eventually(async || match world.count(STORED).await {
            found if found == wanted => Ok(()),
            found => Err((found, wanted)),
        })
        .await;
    };
    stored(400).await;
    let share = stays.metric(carried).await;
    assert!(share < 400.0, "nothing waited for the one that left");

    publish(&controller, &plans, begin + 40..begin + 80).await;
    stored(800).await;
    assert!((stays.metric(carried).await - share - 400.0).abs() < 0.5);
}

#[tokio::test(flavor = "multi_thread")]
async fn leaving_waits_for_kafka_and_a_bridge_without_a_session_leaves_at_once() {
    let mut world = World::new(WATTLINE, Mode::Kafka).await;
    let mut never_was_there = bridge(&mut world, 7, &["--leave"]);
    assert!(never_was_there.wait(Duration::from_secs(30)).success());

    let plans = [BuildingPlan::new()];
    world.apply(&plans);
    let aggregator = world.start(&["aggregator"]);
    aggregator.ready().await;
    let mut first = bridge(&mut world, 0, &[]);
    first.ready().await;
    assert!(first.stop().success());
    let controller = world.controller();
    let begin = now() - 3_600;
    publish(&controller, &plans, begin..begin + 100).await;

    let brokers = "WATTLINE_KAFKA_BROKERS".to_owned();
    let kafka = world
        .settings
        .insert(brokers.clone(), "127.0.0.1:1".to_owned());
    let mut without_kafka = bridge(&mut world, 0, &["--leave"]);
    eventually(async || {
        let (_, told) = without_kafka.readiness().await?;
        let told = told.to_string();
        if told.contains("kafka 127.0.0.1:1") {
            Ok(())
        } else {
            Err(told)
        }
    })
    .await;
    assert_eq!(without_kafka.ended(), None);
    assert!(without_kafka.stop().success());
    assert!(!without_kafka.log().contains("the session has ended"));

    world.settings.insert(brokers, kafka.unwrap());
    let mut leaving = bridge(&mut world, 0, &["--leave"]);
    assert!(leaving.wait(Duration::from_secs(30)).success());
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            100 => Ok(()),
            found => Err(found),
        },
    )
    .await;
}
