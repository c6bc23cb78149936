//! The judge of the decoder: `serde_json`'s own tree and the schema's validator, nothing of ours.
//!
//! The property tests and the fuzz target share this file.

use domain::record::TelemetryRecord;
use domain::rejection::Reason;
use domain::time::Timestamp;
use jsonschema::Validator;
use serde_json::Value;
use std::sync::LazyLock;

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let (_, text) = wire::schema::SCHEMAS[0];
    jsonschema::draft202012::new(&serde_json::from_str(text).unwrap()).unwrap()
});

/// A field's pointer and its column, as a double.
type Column = (&'static str, fn(&TelemetryRecord) -> Option<f64>);

macro_rules! column {
    ($section:ident . $field:ident, $pointer:literal) => {
        ($pointer, |record| {
            Some(f64::from(record.$section.as_ref()?.$field?))
        })
    };
}

/// The integer fields.
const INTEGERS: [Column; 14] = [
    column!(main_meter.active_power_w, "/main_meter/active_power_w"),
    column!(battery.active_power_w, "/battery/active_power_w"),
    column!(
        battery.active_power_setpoint_w,
        "/battery/active_power_setpoint_w"
    ),
    column!(battery.baseline_power_w, "/battery/baseline_power_w"),
    column!(battery.charge_limit_w, "/battery/charge_limit_w"),
    column!(
        battery.remaining_charge_time_s,
        "/battery/remaining_charge_time_s"
    ),
    column!(battery.discharge_limit_w, "/battery/discharge_limit_w"),
    column!(
        battery.remaining_discharge_time_s,
        "/battery/remaining_discharge_time_s"
    ),
    column!(solar.active_power_w, "/solar/active_power_w"),
    column!(
        solar.active_power_setpoint_w,
        "/solar/active_power_setpoint_w"
    ),
    column!(solar.rated_power_w, "/solar/rated_power_w"),
    column!(solar.min_power_w, "/solar/min_power_w"),
    column!(solar.max_power_w, "/solar/max_power_w"),
    column!(solar.baseline_power_w, "/solar/baseline_power_w"),
];

const SOC: Column = column!(battery.soc_percent, "/battery/soc");

/// A section's pointer and the word of its status.
type Status = (&'static str, fn(&TelemetryRecord) -> Option<&'static str>);

const STATUSES: [Status; 3] = [
    ("/main_meter", |record| {
        Some(record.main_meter?.status.as_str())
    }),
    ("/battery", |record| Some(record.battery?.status.as_str())),
    ("/solar", |record| Some(record.solar?.status.as_str())),
];

/// Asserts that the decoder and the judge agree on a payload: whether it is a record, why it is
/// none, and what every column holds. Tells whether it is one.
#[track_caller]
pub(crate) fn agree(payload: &[u8]) -> bool {
    let decoded = wire::decode::decode_telemetry(payload);
    let accepted = decoded.is_ok();
    // Machines without vectors have the scanner alone.
    if payload.len() <= 65_536
        && let Some(record) = wire::validate::portable(payload)
    {
        assert_eq!(decoded.as_ref(), Ok(&record));
    }
    let shown = || -> String {
        String::from_utf8_lossy(payload)
            .chars()
            .take(2_000)
            .collect()
    };
    match (judged(payload), decoded) {
        (Ok(document), Ok(record)) => same_columns(&document, &record),
        (Err(Some(reason)), Err(rejection)) => {
            assert_eq!(rejection.reason, reason, "{rejection:?} of {}", shown());
        }
        // The judge's reader stops at a number that no double holds and cannot tell what follows.
        (Err(None), Err(rejection)) => assert!(
            (Reason::NotJson..=Reason::OutOfRange).contains(&rejection.reason),
            "{rejection:?} of {}",
            shown()
        ),
        (Ok(_), Err(rejection)) => panic!("wrongly refused, {rejection:?}: {}", shown()),
        (Err(reason), Ok(_)) => panic!("wrongly accepted, {reason:?}: {}", shown()),
    }
    accepted
}

/// The document, or why it is no record, where the judge can tell.
fn judged(payload: &[u8]) -> Result<Value, Option<Reason>> {
    if payload.len() > 65_536 {
        return Err(Some(Reason::TooLarge));
    }
    let document: Value = serde_json::from_slice(payload).map_err(|error| {
        let overflow = error.to_string().starts_with("number out of range");
        (!overflow).then_some(Reason::NotJson)
    })?;
    if !SCHEMA.is_valid(&document) {
        return Err(Some(Reason::Schema));
    }
    let beyond = |(pointer, _): &Column| {
        let value = document.pointer(pointer).and_then(Value::as_f64);
        value.is_some_and(|value| value.abs() > 2_147_483_647.0)
    };
    if INTEGERS.iter().any(beyond) {
        return Err(Some(Reason::OutOfRange));
    }
    Ok(document)
}

#[track_caller]
fn same_columns(document: &Value, record: &TelemetryRecord) {
    let number = |pointer| document.pointer(pointer).and_then(Value::as_f64);
    let time = number("/time").map(Timestamp::from_record_time);
    assert_eq!(Some(record.time), time, "/time of {document}");
    for (pointer, column) in INTEGERS.iter().chain([&SOC]) {
        assert_eq!(column(record), number(pointer), "{pointer} of {document}");
    }
    for (section, column) in STATUSES {
        let status = document.pointer(section).map(|section| &section["status"]);
        let status = status.and_then(Value::as_str);
        assert_eq!(column(record), status, "{section} of {document}");
    }
}
