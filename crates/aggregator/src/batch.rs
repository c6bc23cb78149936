//! Pure: messages as they arrived become a batch as the store takes it.

use domain::reading::Record;
use domain::rejection::{Reason, Rejection, refuse_future};
use domain::time::Timestamp;
use store::{Batch, Incoming, Letter, Move, Refused};
use uuid::Uuid;
use wire::decode::decode_record;
use wire::envelope::{DeadLetter, Message};
use wire::topic::{RecordKind, parse_topic};

/// Largest batch, in payload bytes: bounds memory when payloads are large, and what one transaction has
/// to store, since eight bytes of a payload can make a key-value registration.
pub const BATCH_BYTES: usize = 2 * 1024 * 1024;

/// What arrives at the aggregator, over Kafka or directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A record that the bridge accepted.
    Record(Message),
    /// A message that the bridge refused.
    Dead(DeadLetter),
}

/// Makes one batch of what arrived, in order of arrival.
#[must_use]
pub fn batch(arrivals: Vec<Arrival>, moves: Vec<Move>) -> Batch {
    let mut batch = Batch {
        moves,
        ..Batch::default()
    };
    for arrival in arrivals {
        match arrival {
            Arrival::Record(message) => push_record(&mut batch, message),
            Arrival::Dead(dead) => batch.imported.push(Refused {
                letter: letter(dead.message),
                rejection: dead.rejection,
            }),
        }
    }
    batch
}

/// The bridge has checked all of this; whoever else writes to the topic is checked here.
fn push_record(batch: &mut Batch, message: Message) {
    let accepted = accept(
        message.building,
        message.kind,
        &message.payload,
        message.received_at,
    );
    push(batch, accepted, letter(message));
}

/// Judges dead letters anew, by what a record is judged by on its way in: with the topic and the moment of
/// receipt that they came with.
#[must_use]
pub fn judge_again(letters: Vec<Letter>) -> Batch {
    let mut batch = Batch::default();
    for letter in letters {
        let topic = parse_topic(&letter.source);
        let accepted = topic.building.and_then(|building| {
            let payload = &letter.payload;
            accept(Some(building), topic.kind, payload, letter.received_at)
        });
        push(&mut batch, accepted, letter);
    }
    batch
}

fn push(batch: &mut Batch, accepted: Result<(Uuid, Record), Rejection>, letter: Letter) {
    match accepted {
        Ok((building, record)) => batch.records.push(Incoming {
            building,
            record,
            letter,
        }),
        Err(rejection) => batch.refused.push(Refused { letter, rejection }),
    }
}

fn accept(
    building: Option<Uuid>,
    kind: Option<RecordKind>,
    payload: &[u8],
    received_at: Timestamp,
) -> Result<(Uuid, Record), Rejection> {
    let unknown = |detail| Rejection::new(Reason::UnknownTopic, "", detail);
    let building = building.ok_or_else(|| unknown("the record names no building"))?;
    let kind = kind.ok_or_else(|| unknown("the topic names no kind of record"))?;
    let record = decode_record(kind, payload)?;
    if let Some(time) = record.time() {
        refuse_future(time, received_at)?;
    }
    Ok((building, record))
}

fn letter(message: Message) -> Letter {
    Letter {
        building: message.building,
        source: message.source,
        received_at: message.received_at,
        traceparent: message.traceparent,
        redelivered: message.redelivered,
        payload: message.payload.into(),
        kept_as: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(payload: &'static str) -> Message {
        Message {
            source: "v1/buildings/x/telemetry".to_owned(),
            building: Some(Uuid::from_u128(7)),
            kind: Some(RecordKind::Telemetry),
            received_at: Timestamp::from_seconds(1_700_000_000),
            traceparent: None,
            redelivered: false,
            payload: bytes::Bytes::from_static(payload.as_bytes()),
        }
    }

    #[test]
    fn each_arrival_ends_in_exactly_one_place() {
        let dead = DeadLetter {
            message: message("{"),
            rejection: Rejection::new(Reason::NotJson, "", "no"),
        };
        let anonymous = Message {
            building: None,
            ..message(r#"{"time":1700000000}"#)
        };
        let batch = batch(
            vec![
                Arrival::Record(message(r#"{"time":1700000000}"#)),
                Arrival::Record(message(r#"{"time":1700000301}"#)),
                Arrival::Record(message("{")),
                Arrival::Record(anonymous),
                Arrival::Dead(dead),
            ],
            Vec::new(),
        );
        assert_eq!(batch.records.len(), 1);
        let reasons: Vec<Reason> = batch.refused.iter().map(|it| it.rejection.reason).collect();
        assert_eq!(
            reasons,
            [Reason::TimeInFuture, Reason::NotJson, Reason::UnknownTopic]
        );
        assert_eq!(batch.imported.len(), 1);
    }
}
