//! Records on Kafka that somebody else wrote: whatever they are, what is behind them is stored.

use crate::WATTLINE;
use crate::records::{meter, now};
use rdkafka::ClientConfig;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::DefaultProducerContext;
use rdkafka::producer::{BaseRecord, Producer as _, ThreadedProducer};
use std::time::Duration;
use testkit::{KafkaServer, Mode, World, eventually, servers};
use uuid::Uuid;
use wire::topic::RecordKind;

/// A record as somebody writes it.
#[derive(Clone)]
struct Foreign {
    key: Option<Vec<u8>>,
    payload: Option<Vec<u8>>,
    headers: Vec<(&'static str, Option<Vec<u8>>)>,
    timestamp_ms: Option<i64>,
}

impl Foreign {
    fn new(key: &str, payload: &[u8]) -> Self {
        Self {
            key: Some(key.into()),
            payload: Some(payload.to_vec()),
            headers: Vec::new(),
            timestamp_ms: None,
        }
    }
}

/// What no bridge would write; the largest has so many bytes.
fn strange(building: Uuid, largest: usize) -> Vec<Foreign> {
    let key = building.to_string();
    let plain = Foreign::new(&key, b"{}");
    let header = |name, value: &[u8]| (name, Some(value.to_vec()));
    let source = format!("v1/buildings/{building}/telemetry").into_bytes();
    let with = |headers| Foreign {
        headers,
        ..plain.clone()
    };
    vec![
        Foreign::new(&key, b""),
        Foreign {
            payload: None,
            ..plain.clone()
        },
        Foreign {
            key: None,
            payload: None,
            ..plain.clone()
        },
        Foreign::new(&key, &vec![b'x'; largest]),
        Foreign::new("nobody", b"{}"),
        Foreign::new(&key.to_uppercase(), b"{}"),
        Foreign {
            key: Some(vec![0xff, 0xfe, 0]),
            ..plain.clone()
        },
        Foreign::new(
            &Uuid::new_v4().to_string(),
            br#"{"online": true, "time": 5}"#,
        ),
        Foreign {
            timestamp_ms: Some(1),
            ..plain.clone()
        },
        Foreign {
            timestamp_ms: Some(0),
            ..Foreign::new(&key, br#"{"time": 1e300, "values": {}, "readings": []}"#)
        },
        with(vec![
            header("wattline-source", b"a\0b"),
            header("wattline-received-at", b"never"),
        ]),
        with(vec![
            header("wattline-source", &[0xff]),
            header("wattline-received-at", b"0000-01-01T00:00:00Z"),
        ]),
        with(vec![
            header("wattline-source", b"v1/\0/x"),
            header("wattline-received-at", b"0000-01-01T00:00:00Z"),
            header("traceparent", b"\0"),
        ]),
        with(vec![
            header("wattline-source", &source),
            header("wattline-received-at", b"9999-12-31T23:59:59.999999Z"),
            header("wattline-reason", b"boredom"),
        ]),
        with(vec![
            header("wattline-source", &source),
            header("wattline-received-at", b"2026-01-01T00:00:00Z"),
            header("wattline-reason", b"schema"),
            header("wattline-pointer", b"/\0"),
            ("wattline-detail", None),
        ]),
    ]
}

fn write(kafka: &KafkaServer, topic: &str, records: &[Foreign]) {
    let producer: ThreadedProducer<DefaultProducerContext> = ClientConfig::new()
        .set("bootstrap.servers", kafka.brokers())
        .create()
        .unwrap();
    for record in records {
        let headers = record
            .headers
            .iter()
            .fold(OwnedHeaders::new(), |all, (key, value)| {
                all.insert(Header {
                    key,
                    value: value.as_deref(),
                })
            });
        // All on one partition, so that what is behind them is.
        let mut sent: BaseRecord<'_, [u8], [u8]> =
            BaseRecord::to(topic).partition(0).headers(headers);
        sent.key = record.key.as_deref();
        sent.payload = record.payload.as_deref();
        sent.timestamp = record.timestamp_ms;
        producer.send(sent).map_err(|(error, _)| error).unwrap();
    }
    producer.flush(Duration::from_secs(30)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn strange_records_of_every_kind_become_letters_and_what_is_behind_them_is_stored() {
    let world = World::new(WATTLINE, Mode::Kafka).await;
    let building = world.building();
    let serve = world.serve().await;
    let begin = now() - 1_000;
    let strange = |largest| strange(building, largest);
    let written = strange(900_000).len();
    let mut topics: Vec<String> = RecordKind::ALL
        .iter()
        .map(|kind| world.topic(kind.as_str()))
        .collect();
    topics.push(world.topic("dead-letters"));
    let (good_topic, good) = (world.topic("telemetry"), {
        let second = |second: i64| meter(begin + second, 5).into_bytes();
        let key = building.to_string();
        (0..50)
            .map(|it| Foreign::new(&key, &second(it)))
            .collect::<Vec<_>>()
    });
    // The topic of dead letters takes half a MiB.
    let (large, smaller) = (strange(900_000), strange(400_000));
    let dead_letters = topics.pop().unwrap();
    tokio::task::spawn_blocking(move || {
        let kafka = servers::shared_kafka();
        for topic in &topics {
            write(kafka, topic, &large);
        }
        write(kafka, &dead_letters, &smaller);
        write(kafka, &good_topic, &good);
    })
    .await
    .unwrap();

    let all = 6 * written + 50;
    eventually(async || {
        let read = "select coalesce(sum(next_offset), 0)::bigint from log_position";
        let read = usize::try_from(world.count(read).await).unwrap();
        if read == all {
            Ok(())
        } else {
            Err((read, all))
        }
    })
    .await;
    assert_eq!(
        world.count("select count(*) from telemetry_record").await,
        50
    );
    let scrape = serve.metrics().await;
    let sum = |series: &str| -> f64 {
        let of = scrape.iter().filter(|(name, _)| name.starts_with(series));
        of.map(|(_, value)| value).sum()
    };
    // Whatever stood on a record's own topic has one fate.
    #[expect(clippy::cast_precision_loss, reason = "some hundred messages")]
    let consumed = (5 * written + 50) as f64;
    assert_eq!(sum("wattline_aggregator_consumed_messages_total"), consumed);
    assert_eq!(serve.readiness().await.unwrap().0, 200);
    // Each of them can be listed, shown and replayed.
    let listed = world.command(&["dead-letters", "list", "--format", "json"]);
    let kept = world.count("select count(*) from dead_letter").await;
    assert_eq!(i64::try_from(listed.lines().count()).unwrap(), kept);
    assert!(kept >= 60, "{kept}");
    world.command(&["dead-letters", "replay"]);
    assert_eq!(
        world.count("select count(*) from telemetry_record").await,
        50
    );
}
