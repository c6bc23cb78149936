//! One Kafka record read back as what arrived over MQTT.

use crate::batch::Arrival;
use bytes::Bytes;
use domain::rejection::{Reason, Rejection};
use domain::time::Timestamp;
use rdkafka::Message as _;
use rdkafka::message::{BorrowedMessage, Headers as _};
use wire::envelope::{DeadLetter, Message};
use wire::topic::{KafkaTopics, MqttTopic, RecordKind, parse_building};

/// The end of the year 9999, milliseconds: what RFC 3339 can write. Kafka's own timestamp may be anything.
const LAST_MILLIS: i64 = 253_402_300_799_999;

/// Reads a Kafka record. One without the bridge's headers is taken by its key and Kafka's own
/// timestamp; one that names no building either becomes a dead letter, never silence.
pub(crate) fn arrival(record: &BorrowedMessage<'_>, topics: &KafkaTopics) -> Arrival {
    let payload = Bytes::copy_from_slice(record.payload().unwrap_or_default());
    let header = |name: &str| {
        let headers = record.headers()?;
        let found = headers.iter().find(|header| header.key == name)?;
        std::str::from_utf8(found.value?).ok()
    };
    match topics.kind_of(record.topic()) {
        Some(kind) => Arrival::Record(
            Message::from_headers(header, payload.clone())
                .unwrap_or_else(|| foreign(record, Some(kind), payload)),
        ),
        None => Arrival::Dead(
            DeadLetter::from_headers(header, payload.clone()).unwrap_or_else(|| DeadLetter {
                message: foreign(record, None, payload),
                rejection: Rejection::new(
                    Reason::UnknownTopic,
                    "",
                    "a record among the dead letters that the bridge did not write",
                ),
            }),
        ),
    }
}

fn foreign(record: &BorrowedMessage<'_>, kind: Option<RecordKind>, payload: Bytes) -> Message {
    let key = record.key().and_then(|key| std::str::from_utf8(key).ok());
    let building = key.and_then(parse_building);
    let source = match (kind, building) {
        (Some(kind), Some(building)) => MqttTopic::format(kind, building),
        _ => format!(
            "{}/{}/{}",
            record.topic(),
            record.partition(),
            record.offset()
        ),
    };
    let millis = record.timestamp().to_millis().unwrap_or_default();
    let millis = millis.clamp(0, LAST_MILLIS);
    Message {
        source,
        building,
        kind,
        received_at: Timestamp::from_micros(millis.saturating_mul(1_000)),
        traceparent: None,
        redelivered: false,
        payload,
    }
}
