//! Several aggregators on one log.

use crate::WATTLINE;
use crate::records::{meter, now};
use testkit::{BuildingPlan, Mode, World, eventually};

const BUILDINGS: usize = 24;

#[tokio::test(flavor = "multi_thread")]
async fn two_aggregators_share_the_partitions_and_a_lost_partition_cannot_commit() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let buildings: Vec<BuildingPlan> = (0..BUILDINGS).map(|_| BuildingPlan::new()).collect();
    world.apply(&buildings);
    let bridge = world.start(&["bridge"]);
    let first = world.start(&["aggregator"]);
    let second = world.start(&["aggregator"]);
    for role in [&bridge, &first, &second] {
        role.ready().await;
    }
    let controller = world.controller();
    let mut published = 0;
    let mut publish = async |rounds: i64| {
        for _ in 0..rounds {
            for building in &buildings {
                controller
                    .telemetry(building.uuid, meter(now() - 3_600 + published, 5))
                    .await;
            }
            published += 1;
        }
        published * i64::try_from(BUILDINGS).unwrap()
    };
    let stored = async |expected: i64| {
        eventually(
            async || match world.count("select count(*) from telemetry_record").await {
                count if count == expected => Ok(()),
                other => Err((other, expected)),
            },
        )
        .await;
    };
    let consumed = "wattline_aggregator_consumed_messages_total";
    // Until the group has settled one of them may have all partitions.
    eventually(async || {
        stored(publish(2).await).await;
        let shares = (first.metric(consumed).await, second.metric(consumed).await);
        if shares.0 > 0.0 && shares.1 > 0.0 {
            Ok(())
        } else {
            Err(shares)
        }
    })
    .await;

    // The first one stands still, with a batch in hand or about to take one, until the group has
    // given its partitions away; then it goes on as if nothing had happened.
    let mid_way = publish(3).await;
    first.signal("STOP");
    let expected = publish(10).await;
    stored(expected).await;
    assert!(mid_way < expected);
    first.signal("CONT");
    let expected = publish(10).await;
    stored(expected).await;
    first.ready().await;

    let count = async |series: &str| first.metric(series).await + second.metric(series).await;
    #[expect(clippy::cast_precision_loss, reason = "some thousand records")]
    let expected = expected as f64;
    eventually(async || {
        let total = count("wattline_aggregator_stored_messages_total").await;
        if (total - expected).abs() < 0.5 {
            Ok(())
        } else {
            Err((total, expected))
        }
    })
    .await;
    assert_eq!(
        count("wattline_aggregator_duplicate_messages_total").await,
        0.0,
        "no stretch of the log was committed twice"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stretch_of_the_log_is_committed_by_one_process_only() {
    use store::{Batch, Move, Store, StoreFailure};
    let world = World::new(WATTLINE, Mode::Direct).await;
    let store = Store::open(&world.settings["WATTLINE_DATABASE_URL"], 4).unwrap();
    store
        .positions("kafka", &[("log".to_owned(), 0)])
        .await
        .unwrap();
    let stretch = |from_offset, to_offset| Batch {
        cluster: "kafka".to_owned(),
        moves: vec![Move {
            topic: "log".to_owned(),
            partition: 0,
            from_offset,
            to_offset,
        }],
        ..Batch::default()
    };
    let retention = std::time::Duration::from_secs(604_800);
    let (batch, other) = (stretch(0, 10), stretch(0, 7));
    let (one, two) = tokio::join!(
        store.ingest(&batch, retention),
        store.ingest(&other, retention)
    );
    assert_ne!(
        one.is_ok(),
        two.is_ok(),
        "exactly one of them moved the position"
    );
    let lost = one.err().or(two.err()).unwrap();
    assert!(matches!(lost, StoreFailure::LostPosition), "{lost}");
    let position = store
        .positions("kafka", &[("log".to_owned(), 0)])
        .await
        .unwrap()[0]
        .next_offset;
    assert!(position == 10 || position == 7);
    let behind = store.ingest(&stretch(3, 20), retention).await;
    assert!(matches!(behind, Err(StoreFailure::LostPosition)));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_bridges_of_a_share_group_take_each_message_once() {
    let mut world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    world
        .settings
        .insert("WATTLINE_MQTT_SHARE_GROUP".to_owned(), "night".to_owned());
    let first = world.start(&["bridge", "--mqtt-client-id", "bridge-1"]);
    let second = world.start(&["bridge", "--mqtt-client-id", "bridge-2"]);
    let aggregator = world.start(&["aggregator"]);
    for role in [&first, &second, &aggregator] {
        role.ready().await;
    }
    let controller = world.controller();
    for second in 0..200 {
        controller
            .telemetry(building, meter(now() - 1_000 + second, 5))
            .await;
    }
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            200 => Ok(()),
            other => Err(other),
        },
    )
    .await;
    let received = "wattline_bridge_received_messages_total";
    let shares = (first.metric(received).await, second.metric(received).await);
    assert!(shares.0 > 0.0 && shares.1 > 0.0, "{shares:?}");
    assert_eq!(shares.0 + shares.1, 200.0);
    let duplicates = "wattline_aggregator_duplicate_messages_total";
    assert_eq!(aggregator.metric(duplicates).await, 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_joins_a_share_group_takes_each_message_once() {
    let mut world = World::new(WATTLINE, Mode::Direct).await;
    let building = world.building();
    let mut plain = world.serve().await;
    assert!(plain.stop().success());
    world
        .settings
        .insert("WATTLINE_MQTT_SHARE_GROUP".to_owned(), "night".to_owned());
    let shared = world.serve().await;
    let controller = world.controller();
    for second in 0..20 {
        let record = meter(now() - 1_000 + second, 5);
        controller.telemetry(building, record).await;
    }
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            20 => Ok(()),
            other => Err(other),
        },
    )
    .await;
    let received = "wattline_bridge_received_messages_total";
    assert_eq!(shared.metric(received).await, 20.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebalance_while_the_database_is_slow_leaves_nobody_standing() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let buildings: Vec<BuildingPlan> = (0..BUILDINGS).map(|_| BuildingPlan::new()).collect();
    world.apply(&buildings);
    let bridge = world.start(&["bridge"]);
    let first = world.start(&["aggregator"]);
    bridge.ready().await;
    first.ready().await;
    let controller = world.controller();
    let mut published = 0;
    let mut publish = async |rounds: i64| {
        for _ in 0..rounds {
            for building in &buildings {
                let record = meter(now() - 3_600 + published, 5);
                controller.telemetry(building.uuid, record).await;
            }
            published += 1;
            // Several batches, so that one waits for the other and the consumer is paused.
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        }
        published * i64::try_from(BUILDINGS).unwrap()
    };
    let mut lock = world.database.begin().await.unwrap();
    sqlx::query("lock table telemetry_record in exclusive mode")
        .execute(&mut *lock)
        .await
        .unwrap();
    publish(12).await;
    eventually(async || match first.readiness().await {
        Ok((503, body)) if body["conditions"]["database"] != "ready" => Ok(()),
        other => Err(other),
    })
    .await;
    let second = world.start(&["aggregator"]);
    publish(12).await;
    lock.rollback().await.unwrap();
    let expected = publish(4).await;
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            count if count == expected => Ok(()),
            other => Err((other, expected)),
        },
    )
    .await;
    first.ready().await;
    second.ready().await;
    let duplicates = "wattline_aggregator_duplicate_messages_total";
    assert_eq!(
        first.metric(duplicates).await + second.metric(duplicates).await,
        0.0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_told_to_stop_does_not_wait_for_a_database_that_hangs() {
    for mode in [Mode::Kafka, Mode::Direct] {
        let world = World::new(WATTLINE, mode).await;
        let building = world.building();
        let mut serve = world.serve().await;
        let mut lock = world.database.begin().await.unwrap();
        sqlx::query("lock table telemetry_record in exclusive mode")
            .execute(&mut *lock)
            .await
            .unwrap();
        let controller = world.controller();
        controller.telemetry(building, meter(now(), 5)).await;
        eventually(async || match serve.readiness().await {
            Ok((503, body)) if body["conditions"]["database"] != "ready" => Ok(()),
            other => Err(other),
        })
        .await;
        serve.signal("TERM");
        let status = serve.wait(std::time::Duration::from_secs(12));
        assert_eq!(status.code(), Some(0), "{mode:?}");
        lock.rollback().await.unwrap();
        let _serve = world.serve().await;
        eventually(
            async || match world.count("select count(*) from telemetry_record").await {
                1 => Ok(()),
                other => Err(other),
            },
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn replaying_the_whole_log_changes_nothing() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    let bridge = world.start(&["bridge"]);
    let mut aggregator = world.start(&["aggregator"]);
    bridge.ready().await;
    let controller = world.controller();
    for second in 0..100 {
        let time = now() - 7_200 + second;
        controller.telemetry(building, meter(time, 5)).await;
        // Refused by the bridge, and by the aggregator.
        controller
            .telemetry(building, format!("no record {second}"))
            .await;
        controller
            .telemetry(
                uuid::Uuid::from_u128(second.unsigned_abs().into()),
                meter(time, 5),
            )
            .await;
    }
    let everything = async || {
        let mut tables = Vec::new();
        for table in [
            "telemetry_record",
            "latest_sample",
            "minute_bucket",
            "quarter_bucket",
            "dead_letter",
        ] {
            tables.push(
                world
                    .rows(&format!("select * from {table} order by 1, 2, 3"))
                    .await,
            );
        }
        tables
    };
    eventually(async || {
        let counts = (
            world.count("select count(*) from telemetry_record").await,
            world.count("select count(*) from dead_letter").await,
            world.count("select count(*) from touched_minute").await,
            world.count("select count(*) from touched_quarter").await,
        );
        if counts == (100, 200, 0, 0) {
            Ok(())
        } else {
            Err(counts)
        }
    })
    .await;
    let before = everything().await;
    aggregator.kill();
    sqlx::query("update log_position set next_offset = 0")
        .execute(&world.database)
        .await
        .unwrap();
    let aggregator = world.start(&["aggregator"]);
    eventually(async || {
        let duplicates = aggregator
            .metric("wattline_aggregator_duplicate_messages_total")
            .await;
        if duplicates == 200.0 {
            Ok(())
        } else {
            Err(duplicates)
        }
    })
    .await;
    eventually(async || {
        let unread = "select count(*) from log_position where topic like '%dead-letters' \
                      having sum(next_offset) = 100";
        match world.rows(unread).await.len() {
            1 => Ok(()),
            other => Err(other),
        }
    })
    .await;
    assert!(everything().await == before, "something has changed");
}
