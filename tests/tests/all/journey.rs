//! A record's way, end to end.

use crate::WATTLINE;
use crate::records::{full, now};
use serde_json::json;
use testkit::{Mode, World, eventually, read_topic, servers};
use uuid::Uuid;

async fn a_record_travels(mode: Mode) -> (World, Uuid, String) {
    let world = World::new(WATTLINE, mode).await;
    let building = world.building();
    let _serve = world.serve().await;
    let time = now() - 5;
    let payload = full(time, 700, 300, -1_500);
    let controller = world.controller();
    controller.telemetry(building, payload.clone()).await;
    controller.confirmed().await;

    let client = world.client().await;
    let path = format!("/buildings/{building}/electricity/actual/");
    let body = eventually(async || match client.get(&path).await {
        (200, body) => Ok(body),
        other => Err(other),
    })
    .await;
    let expected = json!({
        "datetime": time, "value": 700, "delivery": 700, "return_delivery": 0, "production": 1500,
        "charge": 300, "discharge": 0, "consumption": 1900,
    });
    assert_eq!(body, expected);
    assert_eq!(
        client.get(&path.replace("actual", "latest")).await,
        (200, expected)
    );

    let (status, sensors) = client.get(&format!("/buildings/{building}/sensors/")).await;
    assert_eq!(status, 200);
    for (kind, value) in [
        ("return_delivery", 0),
        ("production", 1500),
        ("consumption", 1900),
    ] {
        let sensor = sensors
            .as_array()
            .unwrap()
            .iter()
            .find(|it| it["kind"] == kind)
            .unwrap();
        let uuid = sensor["sensor_uuid"].as_str().unwrap();
        for read in ["actual", "latest"] {
            let path =
                format!("/buildings/{building}/electricity/sensors/{read}/?sensor_uuid={uuid}");
            let expected = json!([{
                "sensor_uuid": uuid, "energy_method": kind, "datetime": time, "value": value,
            }]);
            assert_eq!(client.get(&path).await, (200, expected), "{kind} {read}");
        }
    }
    (world, building, payload)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_travels_from_publish_to_read() {
    let (world, building, payload) = a_record_travels(Mode::Kafka).await;
    let topic = world.topic("telemetry");
    let records = tokio::task::spawn_blocking(move || read_topic(servers::shared_kafka(), &topic))
        .await
        .unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(
        records[0].payload,
        payload.as_bytes(),
        "the record's own bytes"
    );
    assert_eq!(records[0].key, Some(building.to_string()));
    let source = format!("v1/buildings/{building}/telemetry");
    assert_eq!(records[0].headers["wattline-source"], source);
    let received_at = wire::envelope::parse_rfc3339(&records[0].headers["wattline-received-at"]);
    assert!((received_at.unwrap().seconds() - now()).abs() < 120);
    assert!(
        (records[0].timestamp_ms.unwrap() / 1_000 - now()).abs() < 120,
        "kafka's own timestamp is the time of receipt"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_travels_from_publish_to_read_in_direct_mode() {
    a_record_travels(Mode::Direct).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_context_travels_with_its_record() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    let serve = world.serve().await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let controller = world.controller();
    controller
        .traced(building, full(now(), 1, 2, -3), trace)
        .await;
    eventually(async || {
        let stored = serve
            .metric("wattline_aggregator_stored_messages_total")
            .await;
        if stored >= 1.0 { Ok(()) } else { Err(stored) }
    })
    .await;
    let topic = world.topic("telemetry");
    let records = tokio::task::spawn_blocking(move || read_topic(servers::shared_kafka(), &topic))
        .await
        .unwrap();
    assert_eq!(records[0].headers["traceparent"], trace);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redelivered_record_changes_nothing() {
    for mode in [Mode::Kafka, Mode::Direct] {
        let world = World::new(WATTLINE, mode).await;
        let building = world.building();
        let serve = world.serve().await;
        // In a quarter that has ended.
        let time = now() - 3_600;
        let controller = world.controller();
        controller
            .telemetry(building, full(time, 700, 300, -1_500))
            .await;
        let consumed = async |expected: f64| {
            eventually(async || {
                let consumed = serve
                    .metric("wattline_aggregator_consumed_messages_total")
                    .await;
                if consumed >= expected {
                    Ok(())
                } else {
                    Err(consumed)
                }
            })
            .await;
        };
        consumed(1.0).await;
        eventually(
            async || match world.count("select count(*) from quarter_bucket").await {
                3 => Ok(()),
                other => Err(other),
            },
        )
        .await;
        let everything = async || {
            let mut tables = Vec::new();
            for table in [
                "telemetry_record",
                "latest_sample",
                "minute_bucket",
                "quarter_bucket",
            ] {
                tables.push(
                    world
                        .rows(&format!("select * from {table} order by 1, 2, 3"))
                        .await,
                );
            }
            tables
        };
        let before = everything().await;

        controller
            .telemetry(building, full(time, 700, 300, -1_500))
            .await;
        controller
            .telemetry(building, full(time, 999, 300, -1_500))
            .await;
        consumed(3.0).await;
        assert_eq!(
            serve
                .metric("wattline_aggregator_stored_messages_total")
                .await,
            1.0
        );
        assert_eq!(
            serve
                .metric("wattline_aggregator_duplicate_messages_total")
                .await,
            2.0
        );
        assert_eq!(
            serve
                .metric("wattline_aggregator_conflict_messages_total")
                .await,
            1.0,
            "only the one whose content differs"
        );
        assert_eq!(everything().await, before, "{mode:?}");
    }
}
