use super::*;
use bytes::Bytes;
use rumqttc::v5::mqttbytes::QoS;
use wire::topic::RecordKind;

const BUILDING: &str = "6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11";
const NOW_S: i64 = 1_700_000_000;

fn unlimited(publish: Publish, received_at: Timestamp) -> Letter {
    receive(publish, received_at, &mut Limit::new(0), Instant::now())
}

fn receive_on(topic: &str, payload: impl Into<Bytes>) -> Letter {
    let publish = Publish::new(topic, QoS::AtLeastOnce, payload, None);
    unlimited(publish, Timestamp::from_seconds(NOW_S))
}

fn telemetry(payload: impl Into<Bytes>) -> Letter {
    receive_on(&format!("v1/buildings/{BUILDING}/telemetry"), payload)
}

#[test]
fn an_accepted_record_keeps_its_bytes_and_tells_where_it_came_from() {
    let topic = format!("v1/buildings/{BUILDING}/presence");
    let payload = Bytes::from_static(b" {\"online\": true} ");
    let mut publish = Publish::new(&topic, QoS::AtLeastOnce, payload.clone(), None);
    publish.dup = true;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let other = ("tracestate".to_owned(), "x".to_owned());
    publish.properties = Some(PublishProperties {
        user_properties: vec![other, (TRACEPARENT.to_owned(), trace.to_owned())],
        ..PublishProperties::default()
    });
    let Letter::Record(message) = unlimited(publish, Timestamp::from_micros(5)) else {
        panic!("refused");
    };
    assert_eq!(message.source, topic);
    assert_eq!(message.key().as_deref(), Some(BUILDING));
    assert_eq!(message.kind, Some(RecordKind::Presence));
    assert_eq!(message.received_at, Timestamp::from_micros(5));
    assert_eq!(message.traceparent.as_deref(), Some(trace));
    assert!(message.redelivered);
    assert_eq!(message.payload, payload);
}

#[test]
fn a_refused_message_is_a_dead_letter_with_its_bytes_and_the_first_reason_that_holds() {
    let check = |letter: Letter, reason| {
        let Letter::Dead(dead) = letter else {
            panic!("accepted, not {reason:?}");
        };
        assert_eq!(dead.rejection.reason, reason);
        dead
    };
    let dead = check(telemetry("no json"), Reason::NotJson);
    assert_eq!(dead.message.payload, "no json");
    check(telemetry(vec![b' '; 65_537]), Reason::TooLarge);
    check(telemetry("{}"), Reason::Schema);
    let future = |kind| {
        let topic = format!("v1/buildings/{BUILDING}/{kind}");
        let payload = format!(r#"{{"time": {}, "values": {{"a": 1}}}}"#, NOW_S + 301);
        receive_on(&topic, payload)
    };
    let dead = check(future("keyvalues"), Reason::TimeInFuture);
    assert_eq!(dead.rejection.pointer, "/time");
    let dead = check(
        receive_on("v1/buildings/X/telemetry", vec![0; 70_000]),
        Reason::UnknownTopic,
    );
    assert_eq!(dead.message.key(), None);
    check(future("desired"), Reason::UnknownTopic);
}

#[test]
fn a_topic_that_is_not_utf_8_is_a_dead_letter() {
    let mut publish = Publish::new("", QoS::AtLeastOnce, "{}", None);
    publish.topic = Bytes::from_static(b"v1/\xff");
    let letter = unlimited(publish, Timestamp::from_micros(0));
    assert!(matches!(letter, Letter::Dead(_)));
}

#[test]
fn what_is_beyond_the_limit_is_a_dead_letter_with_its_bytes_whatever_it_says() {
    let mut limit = Limit::new(1);
    let now = Instant::now();
    let mut check = |topic: String, payload: &'static str, reason| {
        let publish = Publish::new(topic, QoS::AtLeastOnce, payload, None);
        let letter = receive(publish, Timestamp::from_seconds(NOW_S), &mut limit, now);
        let found = match letter {
            Letter::Record(_) => None,
            Letter::Dead(dead) => {
                assert_eq!(dead.message.payload, payload);
                Some(dead.rejection.reason)
            }
        };
        assert_eq!(found, reason, "{payload}");
    };
    let good = r#"{"online": true}"#;
    let topic = |kind| format!("v1/buildings/{BUILDING}/{kind}");
    for _ in 0..3_600 {
        check(topic("presence"), good, None);
    }
    check(topic("presence"), good, Some(Reason::OverLimit));
    check(topic("telemetry"), "no json", Some(Reason::OverLimit));
    check(BUILDING.to_owned(), good, Some(Reason::UnknownTopic));
    let other = format!("v1/buildings/{}/presence", uuid::Uuid::from_u128(5));
    check(other, good, None);
}
