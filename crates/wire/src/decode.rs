//! The seam between bytes and records: payload in, verdict out.
//!
//! What needs a clock or a database (`time_in_future`, `too_old`, the unknown ones) is decided
//! elsewhere.

mod documents;
mod exact;
mod overflow;
mod walk;

use crate::json::overflow::{ZERO, neutralized};
use crate::topic::RecordKind;
use crate::{json, validate};
use domain::reading::Record;
use domain::record::TelemetryRecord;
use domain::rejection::{Reason, Rejection};
use domain::time::Timestamp;
use serde_json::Value;

/// The longest payload that is accepted, in bytes (`decisions.md`: over 64 KiB is `too_large`).
pub const LONGEST_PAYLOAD: usize = 65_536;

/// What is known of an accepted payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accepted {
    /// The record's `time`; none for presence, which has none.
    pub time: Option<Timestamp>,
    /// The record itself, of realtime telemetry only.
    pub telemetry: Option<TelemetryRecord>,
}

/// Reads a realtime telemetry record.
///
/// # Errors
/// The first of `too_large`, `not_json`, `schema` and `out_of_range` that holds.
pub fn decode_telemetry(payload: &[u8]) -> Result<TelemetryRecord, Rejection> {
    if payload.len() <= LONGEST_PAYLOAD
        && let Some(record) = validate::telemetry(payload)
    {
        return Ok(record);
    }
    let document = parse(RecordKind::Telemetry, payload)?;
    walk::telemetry(&document).ok_or_else(|| {
        exact::refusal(RecordKind::Telemetry, &document).unwrap_or_else(|| {
            // Cannot be: whatever the schema and the range take, the walk takes. Tests hold this.
            Rejection::new(Reason::OutOfRange, "", "a number is out of range")
        })
    })
}

/// Reads a record of any kind.
///
/// # Errors
/// The first of `too_large`, `not_json`, `schema` and `out_of_range` that holds.
pub fn verdict(kind: RecordKind, payload: &[u8]) -> Result<Accepted, Rejection> {
    match kind {
        RecordKind::Telemetry => decode_telemetry(payload).map(|record| Accepted {
            time: Some(record.time),
            telemetry: Some(record),
        }),
        RecordKind::Readings
        | RecordKind::KeyValues
        | RecordKind::Reported
        | RecordKind::Presence => decode_document(kind, payload).map(|document| Accepted {
            time: time_of(kind, &document),
            telemetry: None,
        }),
    }
}

/// Reads a record of any kind as what it says.
///
/// # Errors
/// The first of `too_large`, `not_json`, `schema` and `out_of_range` that holds.
pub fn decode_record(kind: RecordKind, payload: &[u8]) -> Result<Record, Rejection> {
    let record = match kind {
        RecordKind::Telemetry => return decode_telemetry(payload).map(Record::Telemetry),
        RecordKind::Readings => {
            documents::readings(&decode_document(kind, payload)?).map(Record::Readings)
        }
        RecordKind::KeyValues => {
            documents::key_values(&decode_document(kind, payload)?).map(Record::KeyValues)
        }
        RecordKind::Reported => {
            documents::report(&decode_document(kind, payload)?).map(Record::Reported)
        }
        RecordKind::Presence => documents::online(&decode_document(kind, payload)?)
            .map(|online| Record::Presence { online }),
    };
    // Cannot be: what the schema takes can be read. Tests hold this.
    record.ok_or_else(|| Rejection::new(Reason::OutOfRange, "", "a number is out of range"))
}

/// Reads a record of any kind as a JSON tree that its schema accepts.
///
/// # Errors
/// The first of `too_large`, `not_json`, `schema` and `out_of_range` that holds.
pub fn decode_document(kind: RecordKind, payload: &[u8]) -> Result<Value, Rejection> {
    let document = parse(kind, payload)?;
    match exact::refusal(kind, &document) {
        Some(rejection) => Err(rejection),
        None => Ok(document),
    }
}

/// The `time` of a tree that its schema accepts; presence has none, whatever its unknown keys say.
fn time_of(kind: RecordKind, document: &Value) -> Option<Timestamp> {
    if kind == RecordKind::Presence {
        return None;
    }
    let time = document.get("time").and_then(Value::as_f64)?;
    Some(Timestamp::from_record_time(time))
}

fn parse(kind: RecordKind, payload: &[u8]) -> Result<Value, Rejection> {
    if payload.len() > LONGEST_PAYLOAD {
        let detail = format!("payload is longer than {LONGEST_PAYLOAD} bytes");
        return Err(Rejection::new(Reason::TooLarge, "", detail));
    }
    json::parse(payload).map_err(|error| unreadable(kind, payload, &error))
}

/// The refusal of a payload that JSON's reader stumbled over: perhaps only over a number too large.
#[cold]
fn unreadable(kind: RecordKind, payload: &[u8], error: &serde_json::Error) -> Rejection {
    let not_json =
        |error: &serde_json::Error| Rejection::new(Reason::NotJson, "", error.to_string());
    let Some(neutral) = neutralized(payload, ZERO) else {
        return not_json(error);
    };
    let document = match json::parse(&neutral) {
        Ok(document) => document,
        Err(error) => return not_json(&error),
    };
    let schema = exact::refusal(kind, &document).filter(|other| other.reason == Reason::Schema);
    schema.unwrap_or_else(|| overflow::refusal(payload, &document))
}
