//! From trees that their schema has accepted to what they say.

use super::time_of;
use crate::topic::RecordKind;
use domain::reading::{KeyValues, Readings, Scalar, SensorReading};
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
