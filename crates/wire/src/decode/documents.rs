//! From trees that their schema has accepted to what they say.

use super::time_of;
use crate::topic::RecordKind;
use domain::control::Outcome;
use domain::reading::{KeyValues, Readings, Report, ReportedOutcome, Scalar, SensorReading};
use serde_json::{Map, Value};
use uuid::Uuid;

/// The readings of an accepted tree.
pub(super) fn readings(document: &Value) -> Option<Readings> {
    let items = document.get("readings")?.as_array()?;
    Some(Readings {
        time: time_of(RecordKind::Readings, document)?,
        readings: items.iter().map(reading).collect::<Option<_>>()?,
    })
}

fn reading(item: &Value) -> Option<SensorReading> {
    let item = item.as_object()?;
    Some(SensorReading {
        sensor_uuid: Uuid::try_parse(item.get("sensor_uuid")?.as_str()?).ok()?,
        power_w: integer(item, "power_w")?,
        meter_reading: number(item, "meter_reading")?,
        value: number(item, "value")?,
    })
}

/// The key-values of an accepted tree.
pub(super) fn key_values(document: &Value) -> Option<KeyValues> {
    let values = document.get("values")?.as_object()?;
    let pair = |(key, value): (&String, &Value)| Some((key.clone(), scalar(value)?));
    Some(KeyValues {
        time: time_of(RecordKind::KeyValues, document)?,
        values: values.iter().map(pair).collect::<Option<_>>()?,
    })
}

/// What the controller of an accepted tree did with the desired state.
pub(super) fn report(document: &Value) -> Option<Report> {
    let outcomes = document.get("outcomes")?.as_array()?;
    Some(Report {
        time: time_of(RecordKind::Reported, document)?,
        revision: super::walk::integer(document.get("revision")?)?.into(),
        outcomes: outcomes.iter().map(outcome).collect::<Option<_>>()?,
    })
}

fn outcome(item: &Value) -> Option<ReportedOutcome> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    Some(ReportedOutcome {
        action_uuid: Uuid::try_parse(text("action_uuid")?).ok()?,
        outcome: Outcome::parse(text("status")?)?,
        detail: text("detail").map(str::to_owned),
    })
}

/// Whether an accepted tree says that the controller is connected.
pub(super) fn online(document: &Value) -> Option<bool> {
    document.get("online")?.as_bool()
}

fn integer(item: &Map<String, Value>, key: &str) -> Option<Option<i32>> {
    match item.get(key) {
        None => Some(None),
        Some(value) => super::walk::integer(value).map(Some),
    }
}

fn number(item: &Map<String, Value>, key: &str) -> Option<Option<f64>> {
    match item.get(key) {
        None => Some(None),
        Some(value) => value.as_f64().map(Some),
    }
}

fn scalar(value: &Value) -> Option<Scalar> {
    match value {
        Value::String(text) => Some(Scalar::Text(text.clone())),
        Value::Bool(boolean) => Some(Scalar::Boolean(*boolean)),
        Value::Number(number) => number.as_f64().map(Scalar::Number),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
