//! A message as it travels from MQTT over Kafka to the database, and the headers that carry it.

pub use crate::rfc3339::{format_rfc3339, parse_rfc3339};
use crate::topic::{RecordKind, parse_topic};
use bytes::Bytes;
use domain::rejection::{Reason, Rejection};
use domain::time::Timestamp;
use uuid::Uuid;

/// The MQTT topic on which the message came.
pub const SOURCE: &str = "wattline-source";
/// When the bridge received the message, RFC 3339.
pub const RECEIVED_AT: &str = "wattline-received-at";
/// The trace context, where the controller sent one.
pub const TRACEPARENT: &str = "traceparent";
/// `true` when MQTT marked the message as sent before; left out otherwise.
pub const REDELIVERED: &str = "wattline-redelivered";
/// Why the bridge refused the message: the reason's code.
pub const REASON: &str = "wattline-reason";
/// The place that was refused: a JSON pointer, empty for the whole payload.
pub const POINTER: &str = "wattline-pointer";
/// The rule that was broken, for people.
pub const DETAIL: &str = "wattline-detail";

/// Largest Kafka record of a dead letter: the largest message that the bridge takes (256 KiB) and room
/// for its headers.
pub const DEAD_LETTER_BYTES: u32 = 512 * 1024;

/// One message as it came in over MQTT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The MQTT topic.
    pub source: String,
    /// The building that the topic names; none where it names none.
    pub building: Option<Uuid>,
    /// The kind of record that the topic names; none where it names none.
    pub kind: Option<RecordKind>,
    /// When the bridge received it.
    pub received_at: Timestamp,
    /// The trace context, where the controller sent one.
    pub traceparent: Option<String>,
    /// Whether MQTT marked it as sent before.
    pub redelivered: bool,
    /// The payload's own bytes.
    pub payload: Bytes,
}

/// A message that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The message, unchanged.
    pub message: Message,
    /// Why it was refused.
    pub rejection: Rejection,
}

/// The name and the text of one header.
pub type Header = (&'static str, String);

impl Message {
    /// The headers of the message's Kafka record.
    #[must_use]
    pub fn headers(&self) -> Vec<Header> {
        let mut headers = vec![
            (SOURCE, self.source.clone()),
            (RECEIVED_AT, format_rfc3339(self.received_at)),
        ];
        headers.extend(self.traceparent.clone().map(|trace| (TRACEPARENT, trace)));
        headers.extend(self.redelivered.then(|| (REDELIVERED, "true".to_owned())));
        headers
    }

    /// The key of the message's Kafka record: the building in lower-case text, none without one.
    #[must_use]
    pub fn key(&self) -> Option<String> {
        self.building
            .map(|building| building.hyphenated().to_string())
    }

    /// Reads a message back from its Kafka record; `header` gives the text of a header by its name.
    ///
    /// None where the source or a readable moment of receipt is missing: then it is not the
    /// bridge's record.
    #[must_use]
    pub fn from_headers<'h>(
        header: impl Fn(&str) -> Option<&'h str>,
        payload: Bytes,
    ) -> Option<Self> {
        let source = header(SOURCE)?;
        let topic = parse_topic(source);
        Some(Self {
            source: source.to_owned(),
            building: topic.building.ok(),
            kind: topic.kind,
            received_at: parse_rfc3339(header(RECEIVED_AT)?)?,
            traceparent: header(TRACEPARENT).map(str::to_owned),
            redelivered: header(REDELIVERED) == Some("true"),
            payload,
        })
    }
}

impl DeadLetter {
    /// The headers of the dead letter's Kafka record: the message's own and the rejection's.
    #[must_use]
    pub fn headers(&self) -> Vec<Header> {
        let mut headers = self.message.headers();
        headers.extend([
            (REASON, self.rejection.reason.as_str().to_owned()),
            (POINTER, self.rejection.pointer.clone()),
            (DETAIL, self.rejection.detail.clone()),
        ]);
        headers
    }

    /// Reads a dead letter back from its Kafka record; `header` gives a header's text by its name.
    ///
    /// None where the message cannot be read back or the reason is none that is known.
    #[must_use]
    pub fn from_headers<'h>(
        header: impl Fn(&str) -> Option<&'h str>,
        payload: Bytes,
    ) -> Option<Self> {
        let rejection = Rejection::new(
            Reason::parse(header(REASON)?)?,
            header(POINTER).unwrap_or_default(),
            header(DETAIL).unwrap_or_default(),
        );
        let message = Message::from_headers(header, payload)?;
        Some(Self { message, rejection })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(source: &str) -> Message {
        let topic = parse_topic(source);
        Message {
            source: source.to_owned(),
            building: topic.building.ok(),
            kind: topic.kind,
            received_at: Timestamp::from_micros(1_700_000_000_000_001),
            traceparent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
            redelivered: true,
            payload: Bytes::from_static(b"{}"),
        }
    }

    fn find<'h>(headers: &'h [Header]) -> impl Fn(&str) -> Option<&'h str> {
        |name| {
            let found = headers.iter().find(|(other, _)| *other == name);
            found.map(|(_, text)| text.as_str())
        }
    }

    #[test]
    fn a_message_is_read_back_from_its_headers() {
        let sent = message("v1/buildings/6f1f0a0e-2c7c-4c67-9e0b-3a5d2a0f9b11/telemetry");
        let headers = sent.headers();
        let read = Message::from_headers(find(&headers), sent.payload.clone());
        assert_eq!(read.as_ref(), Some(&sent));

        let plain = Message {
            traceparent: None,
            redelivered: false,
            ..sent
        };
        let headers = plain.headers();
        assert_eq!(headers.len(), 2);
        let read = Message::from_headers(find(&headers), plain.payload.clone());
        assert_eq!(read, Some(plain));
    }

    #[test]
    fn a_dead_letter_is_read_back_from_its_headers() {
        let sent = DeadLetter {
            message: message("v1/buildings/NONE/telemetry"),
            rejection: Rejection::new(Reason::UnknownTopic, "", "no building"),
        };
        assert_eq!(sent.message.key(), None);
        let headers = sent.headers();
        let read = DeadLetter::from_headers(find(&headers), sent.message.payload.clone());
        assert_eq!(read, Some(sent));
    }

    #[test]
    fn a_foreign_record_is_no_message() {
        let headers = [(SOURCE, "v1/buildings/x/telemetry".to_owned())];
        assert_eq!(Message::from_headers(find(&headers), Bytes::new()), None);
    }
}
