//! What a message wears between MQTT and Kafka and back: key and headers beside a document around the payload.

use benches::records::{Shape, set};
use benches::side_by_side::{Report, row};
use bytes::Bytes;
use criterion::Criterion;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::hint::black_box;
use wire::envelope::{Header, Message, format_rfc3339};
use wire::topic::parse_topic;

const MESSAGES: usize = 1_000;
const RECEIVED_AT: Timestamp = Timestamp::from_micros(1_750_000_000_123_456);

/// All of a message as one document, as one would do without headers.
#[derive(Deserialize, Serialize)]
struct Whole {
    source: String,
    received_at: String,
    payload: Value,
}

fn message(number: usize, payload: Vec<u8>) -> Message {
    let source = format!("v1/buildings/6f1f0a0e-2c7c-4c67-9e0b-3a5d2a{number:06x}/telemetry");
    let topic = parse_topic(&source);
    Message {
        building: topic.building.ok(),
        kind: topic.kind,
        source,
        received_at: RECEIVED_AT,
        traceparent: None,
        redelivered: false,
        payload: Bytes::from(payload),
    }
}

fn whole(message: &Message) -> Vec<u8> {
    let whole = Whole {
        source: message.source.clone(),
        received_at: format_rfc3339(message.received_at),
        payload: serde_json::from_slice(&message.payload).unwrap(),
    };
    serde_json::to_vec(&whole).unwrap()
}

fn read_back(headers: &[Header], payload: &Bytes) -> Option<Message> {
    let header = |name: &str| {
        let found = headers.iter().find(|(other, _)| *other == name);
        found.map(|(_, text)| text.as_str())
    };
    Message::from_headers(header, payload.clone())
}

pub(crate) fn measure(criterion: &mut Criterion, report: &mut Report) {
    let payloads = set(Shape::Compact, MESSAGES).into_iter().enumerate();
    let messages: Vec<Message> = payloads.map(|(number, it)| message(number, it)).collect();
    let rows = vec![
        row("key and headers", || {
            for message in &messages {
                let message = black_box(message);
                black_box((message.key(), message.headers()));
            }
        }),
        row("a document around the payload", || {
            for message in &messages {
                black_box((message.key(), whole(black_box(message))));
            }
        }),
    ];
    report.measure(criterion, "to Kafka", MESSAGES, 1, rows);
    let headers: Vec<Vec<Header>> = messages.iter().map(Message::headers).collect();
    let documents: Vec<Vec<u8>> = messages.iter().map(whole).collect();
    let rows = vec![
        row("headers", || {
            for (headers, message) in headers.iter().zip(&messages) {
                black_box(read_back(black_box(headers), &message.payload));
            }
        }),
        row("a document around the payload", || {
            for document in &documents {
                let whole: Whole = serde_json::from_slice(black_box(document)).unwrap();
                black_box((parse_topic(&whole.source), whole));
            }
        }),
    ];
    report.measure(criterion, "from Kafka", MESSAGES, 1, rows);
    measure_time(criterion, report);
}

/// A moment as text.
fn measure_time(criterion: &mut Criterion, report: &mut Report) {
    let moments = || (0..1_000_i64).map(|it| RECEIVED_AT.micros() + it * 86_400_123_457);
    let rows = vec![
        row("format_rfc3339", || {
            for micros in moments() {
                black_box(format_rfc3339(Timestamp::from_micros(black_box(micros))));
            }
        }),
        row("jiff", || {
            for micros in moments() {
                let moment = jiff::Timestamp::from_microsecond(black_box(micros)).unwrap();
                black_box(moment.to_string());
            }
        }),
    ];
    report.measure(criterion, "moment to text", 1_000, 1, rows);
}
