//! Records that the service must refuse, and with which reason.

use crate::payload::{encode, time_text};
use bytes::Bytes;
use domain::record::TelemetryRecord;
use domain::rejection::Reason;
use domain::time::Timestamp;
use std::time::Duration;

/// Further ahead than any clock is wrong.
const AHEAD: Duration = Duration::from_secs(365 * 86_400);

/// A way to corrupt a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not one UTF-8 JSON document.
    NotJson,
    /// JSON that the schema refuses.
    Schema,
    /// Valid, but a number that cannot be stored.
    OutOfRange,
    /// A record of next year.
    TimeInFuture,
}

impl Fault {
    /// All of them, in the order in which reasons are told.
    pub const ALL: [Self; 4] = [
        Self::NotJson,
        Self::Schema,
        Self::OutOfRange,
        Self::TimeInFuture,
    ];

    /// The reason of the dead letter that this fault becomes.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::NotJson => Reason::NotJson,
            Self::Schema => Reason::Schema,
            Self::OutOfRange => Reason::OutOfRange,
            Self::TimeInFuture => Reason::TimeInFuture,
        }
    }

    /// Corrupts a record; `variant` chooses among the ways that have the same reason.
    pub(crate) fn corrupt(self, record: &TelemetryRecord, variant: usize) -> Bytes {
        let ways = match self {
            Self::NotJson => not_json(&encode(record)),
            Self::Schema => schema(&time_text(record.time)),
            Self::OutOfRange => out_of_range(&time_text(record.time)),
            Self::TimeInFuture => {
                let time = record.time.plus(AHEAD);
                vec![encode(&TelemetryRecord { time, ..*record })]
            }
        };
        ways[variant % ways.len()].clone()
    }

    /// Corrupts readings of `time`, which `good` writes for any time.
    pub(crate) fn corrupt_readings(
        self,
        time: Timestamp,
        good: impl Fn(Timestamp) -> Bytes,
        variant: usize,
    ) -> Bytes {
        let ways = match self {
            Self::NotJson => not_json(&good(time)),
            Self::Schema => with_section(&time_text(time), &BAD_READINGS),
            Self::OutOfRange => with_section(&time_text(time), &UNSTORABLE_READINGS),
            Self::TimeInFuture => vec![good(time.plus(AHEAD))],
        };
        ways[variant % ways.len()].clone()
    }
}

/// Readings that the schema refuses.
const BAD_READINGS: [&str; 6] = [
    r#""readings":{}"#,
    r#""readings":[{"value":20.5}]"#,
    r#""readings":[{"sensor_uuid":"main meter","value":20.5}]"#,
    r#""readings":[{"sensor_uuid":"00000000-0000-4000-8000-000000000000","meter_reading":-1}]"#,
    r#""readings":[{"sensor_uuid":"00000000-0000-4000-8000-000000000000","power_w":2.5}]"#,
    r#""values":{}"#,
];

/// Readings with a number that cannot be stored.
const UNSTORABLE_READINGS: [&str; 2] = [
    r#""readings":[{"sensor_uuid":"00000000-0000-4000-8000-000000000000","power_w":2147483648}]"#,
    r#""readings":[{"sensor_uuid":"00000000-0000-4000-8000-000000000000","value":1e400}]"#,
];

fn not_json(good: &Bytes) -> Vec<Bytes> {
    vec![
        good.slice(..good.len() / 2),
        [good.as_ref(), b","].concat().into(),
        [good.as_ref(), good.as_ref()].concat().into(),
        [b"\xef\xbb\xbf", good.as_ref()].concat().into(),
        Bytes::from_static(b"{\"time\":1,\"main_meter\":{\"status\":\"\xff\"}}"),
        Bytes::from_static(b"time=1;active_power_w=250"),
    ]
}

fn schema(time: &str) -> Vec<Bytes> {
    let sections = [
        r#""firmware":"2.4.1""#,
        r#""main_meter":{"status":"on"}"#,
        r#""main_meter":{"active_power_w":250}"#,
        r#""main_meter":{"status":"available","active_power_w":"250"}"#,
        r#""main_meter":{"status":"available","active_power_w":null}"#,
        r#""main_meter":{"status":"available","active_power_w":2.5}"#,
        r#""battery":{"status":"available","soc":100.5}"#,
        r#""battery":{"status":"available","charge_limit_w":-1}"#,
        r#""solar":{"status":"available","active_power_setpoint_w":1}"#,
        r#""solar":[]"#,
    ];
    let mut ways: Vec<Bytes> = with_section(time, &sections);
    ways.push(r#"{"main_meter":{"status":"available","active_power_w":250}}"#.into());
    ways.push(r#"{"time":"now","main_meter":{"status":"available"}}"#.into());
    ways.push("[]".into());
    ways
}

fn out_of_range(time: &str) -> Vec<Bytes> {
    let sections = [
        r#""main_meter":{"status":"available","active_power_w":2147483648}"#,
        r#""main_meter":{"status":"available","active_power_w":-3e9}"#,
        r#""main_meter":{"status":"available","active_power_w":250,"frequency_hz":1e400}"#,
        r#""battery":{"status":"available","remaining_charge_time_s":4294967295}"#,
    ];
    with_section(time, &sections)
}

fn with_section(time: &str, sections: &[&str]) -> Vec<Bytes> {
    let with = |section| Bytes::from(format!("{{\"time\":{time},{section}}}"));
    sections.iter().map(with).collect()
}
