//! What is acknowledged is durable.

use crate::WATTLINE;
use crate::records::{meter, now};
use std::time::Duration;
use testkit::{Direction, Edition, KafkaServer, Proxy, World, eventually, eventually_within};

const PUBACK: u8 = 0x40;

/// The types of the MQTT packets in a stream of bytes.
fn packet_types(mut bytes: &[u8]) -> Vec<u8> {
    let mut types = Vec::new();
    while let Some((first, rest)) = bytes.split_first() {
        let (mut length, mut shift, mut rest) = (0_usize, 0, rest);
        loop {
            let Some((digit, after)) = rest.split_first() else {
                return types;
            };
            rest = after;
            length |= usize::from(digit & 0x7f) << shift;
            shift += 7;
            if digit & 0x80 == 0 {
                break;
            }
        }
        types.push(first & 0xf0);
        if rest.len() < length {
            return types;
        }
        bytes = &rest[length..];
    }
    types
}

fn acknowledgements(proxy: &Proxy) -> Vec<usize> {
    let connections = proxy.sent_to_server();
    connections
        .iter()
        .map(|bytes| {
            packet_types(bytes)
                .into_iter()
                .filter(|it| *it == PUBACK)
                .count()
        })
        .collect()
}

async fn kafka_of_its_own() -> KafkaServer {
    tokio::task::spawn_blocking(KafkaServer::start)
        .await
        .unwrap()
}

async fn world_behind(kafka: &KafkaServer) -> (World, Proxy) {
    let mut world = World::with_kafka(WATTLINE, Some(kafka), Edition::Plain).await;
    let proxy = Proxy::recording(world.mqtt_port()).await;
    let url = format!("mqtt://127.0.0.1:{}", proxy.port());
    world.settings.insert("WATTLINE_MQTT_URL".to_owned(), url);
    (world, proxy)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_acknowledged_while_kafka_is_away_and_everything_arrives_once_when_it_is_back() {
    const RECORDS: i64 = 300;
    let kafka = kafka_of_its_own().await;
    let (world, proxy) = world_behind(&kafka).await;
    let building = world.building();
    let bridge = world.start(&["bridge"]);
    let aggregator = world.start(&["aggregator"]);
    bridge.ready().await;
    aggregator.ready().await;

    kafka.control().kill();
    let controller = world.controller();
    for second in 0..RECORDS {
        controller
            .telemetry(building, meter(now() - 1_000 + second, 5))
            .await;
    }
    controller.confirmed().await;
    for role in [&bridge, &aggregator] {
        eventually_within(Duration::from_secs(8), async || {
            match role.readiness().await {
                Ok((503, body)) if body["conditions"]["kafka"] != "ready" => Ok(()),
                other => Err(other),
            }
        })
        .await;
    }
    eventually(async || {
        let in_flight = bridge.metric("wattline_bridge_in_flight_messages").await;
        if in_flight >= 300.0 {
            Ok(())
        } else {
            Err(in_flight)
        }
    })
    .await;
    assert_eq!(acknowledgements(&proxy), [0]);
    assert_eq!(
        bridge
            .metric("wattline_bridge_forwarded_messages_total")
            .await,
        0.0
    );
    assert_eq!(
        bridge
            .log()
            .matches("not ready condition=\"kafka\"")
            .count(),
        1,
        "an outage is told once"
    );

    tokio::task::block_in_place(|| kafka.control().restart().unwrap());
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            RECORDS => Ok(()),
            other => Err(other),
        },
    )
    .await;
    bridge.ready().await;
    aggregator.ready().await;
    eventually(async || match acknowledgements(&proxy)[..] {
        [300] => Ok(()),
        ref other => Err(other.to_vec()),
    })
    .await;
    assert_eq!(
        bridge
            .metric("wattline_bridge_forwarded_messages_total")
            .await,
        300.0
    );
    assert_eq!(
        aggregator
            .metric("wattline_aggregator_stored_messages_total")
            .await,
        300.0
    );
    assert_eq!(
        aggregator
            .metric("wattline_aggregator_duplicate_messages_total")
            .await,
        0.0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledgement_of_an_old_connection_never_reaches_a_new_one() {
    let kafka = kafka_of_its_own().await;
    let (world, proxy) = world_behind(&kafka).await;
    let building = world.building();
    let bridge = world.start(&["bridge"]);
    bridge.ready().await;
    let controller = world.controller();
    let in_flight = async |expected: f64| {
        eventually(async || {
            let in_flight = bridge.metric("wattline_bridge_in_flight_messages").await;
            if (in_flight - expected).abs() < 0.5 {
                Ok(())
            } else {
                Err(in_flight)
            }
        })
        .await;
    };
    // Twenty are durable, but the broker never hears of it; twenty more are not durable yet.
    proxy.hold(Direction::ToServer);
    for second in 0..20 {
        controller
            .telemetry(building, meter(now() - 1_000 + second, 5))
            .await;
    }
    eventually(async || match acknowledgements(&proxy)[..] {
        [20] => Ok(()),
        ref other => Err(other.to_vec()),
    })
    .await;
    kafka.control().freeze();
    for second in 20..40 {
        controller
            .telemetry(building, meter(now() - 1_000 + second, 5))
            .await;
    }
    in_flight(20.0).await;

    proxy.cut();
    proxy.release();
    // The broker sends all forty again, under packet identifiers that the old connection used too.
    in_flight(40.0).await;
    assert_eq!(
        bridge
            .metric("wattline_bridge_abandoned_messages_total")
            .await,
        20.0
    );
    assert_eq!(acknowledgements(&proxy), [20, 0]);

    kafka.control().thaw();
    eventually(async || match acknowledgements(&proxy)[..] {
        [20, 40] => Ok(()),
        ref other => Err(other.to_vec()),
    })
    .await;
    in_flight(0.0).await;
    let aggregator = world.start(&["aggregator"]);
    eventually(
        async || match world.count("select count(*) from telemetry_record").await {
            40 => Ok(()),
            other => Err(other),
        },
    )
    .await;
    assert_eq!(
        aggregator
            .metric("wattline_aggregator_conflict_messages_total")
            .await,
        0.0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn no_more_is_in_flight_than_the_receive_maximum_whatever_waits_at_the_broker() {
    let kafka = kafka_of_its_own().await;
    let (mut world, proxy) = world_behind(&kafka).await;
    let receive_maximum = "WATTLINE_MQTT_RECEIVE_MAXIMUM".to_owned();
    world.settings.insert(receive_maximum, "10".to_owned());
    let building = world.building();
    let bridge = world.start(&["bridge"]);
    bridge.ready().await;
    kafka.control().freeze();
    let controller = world.controller();
    for second in 0..200 {
        let record = meter(now() - 1_000 + second, 5);
        controller.telemetry(building, record).await;
    }
    controller.confirmed().await;
    let in_flight = "wattline_bridge_in_flight_messages";
    eventually(async || match bridge.metric(in_flight).await {
        10.0 => Ok(()),
        other => Err(other),
    })
    .await;
    // The same after a reconnect, with all the rest waiting at the broker.
    proxy.cut();
    eventually(async || match bridge.metrics().await {
        all if all["wattline_bridge_abandoned_messages_total"] == 10.0
            && all[in_flight] == 10.0 =>
        {
            Ok(())
        }
        other => Err(other),
    })
    .await;
    let all = bridge.metrics().await;
    assert_eq!(all["wattline_bridge_received_messages_total"], 20.0);
    kafka.control().thaw();
    eventually(async || match bridge.metrics().await {
        all if all["wattline_bridge_forwarded_messages_total"] == 200.0 => Ok(()),
        other => Err(other),
    })
    .await;
    assert_eq!(bridge.metric("wattline_bridge_reconnects_total").await, 1.0);
}

#[test]
fn packets_are_told_apart_in_a_stream() {
    let stream = [
        0x10, 2, 9, 9, 0x40, 2, 0, 1, 0x40, 0x84, 0x00, 0, 1, 0, 0, 0xc0, 0,
    ];
    assert_eq!(packet_types(&stream), [0x10, 0x40, 0x40, 0xc0]);
}
