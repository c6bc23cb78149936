//! Any topic and any headers of a Kafka record: what is read is written back the same.
//!
//! The lines of the input are the topic and the headers' values, in their order.

use bytes::Bytes;
use wire::envelope::{DeadLetter, Message};
use wire::topic::{MqttTopic, parse_topic};

const HEADERS: [&str; 7] = [
    "wattline-source",
    "wattline-received-at",
    "traceparent",
    "wattline-redelivered",
    "wattline-reason",
    "wattline-pointer",
    "wattline-detail",
];

/// Asserts it.
pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut lines = text.split('\n');
    let topic = lines.next().unwrap_or_default();
    let read = parse_topic(topic);
    if let (Some(kind), Ok(building)) = (read.kind, &read.building) {
        assert_eq!(MqttTopic::format(kind, *building), topic);
    }
    let values: Vec<&str> = lines.collect();
    let header = |name: &str| {
        let place = HEADERS.iter().position(|it| *it == name)?;
        values.get(place).copied().filter(|it| !it.is_empty())
    };
    if let Some(message) = Message::from_headers(header, Bytes::new()) {
        let written = message.headers();
        let again = |name: &str| {
            let found = written.iter().find(|(other, _)| *other == name);
            found.map(|(_, text)| text.as_str())
        };
        assert_eq!(
            Message::from_headers(again, Bytes::new()),
            Some(message.clone())
        );
        if let Some(dead) = DeadLetter::from_headers(header, Bytes::new()) {
            let written = dead.headers();
            let again = |name: &str| {
                let found = written.iter().find(|(other, _)| *other == name);
                found.map(|(_, text)| text.as_str())
            };
            assert_eq!(DeadLetter::from_headers(again, Bytes::new()), Some(dead));
        }
    }
}
