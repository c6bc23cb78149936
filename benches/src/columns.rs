//! A record as columns, taken from what each reader makes of it: so much of the work is the same for all.

use crate::typed::{Record, Status};
use domain::record::TelemetryRecord;
use domain::time::Timestamp;
use serde_json::Value;

/// One record's fields in the order of the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fields {
    /// Microseconds.
    pub time_us: i64,
    /// Of the grid connection, the batteries, the inverters.
    pub statuses: [Option<i16>; 3],
    /// Percent.
    pub soc: Option<f64>,
    /// All integer fields.
    pub integers: [Option<i32>; 14],
}

/// Many records' fields: an array for each.
#[derive(Debug, Default)]
pub struct Columns {
    time_us: Vec<i64>,
    statuses: [Vec<Option<i16>>; 3],
    soc: Vec<Option<f64>>,
    integers: [Vec<Option<i32>>; 14],
}

impl Columns {
    /// Appends one record.
    pub fn push(&mut self, fields: &Fields) {
        self.time_us.push(fields.time_us);
        self.soc.push(fields.soc);
        for (column, status) in self.statuses.iter_mut().zip(fields.statuses) {
            column.push(status);
        }
        for (column, integer) in self.integers.iter_mut().zip(fields.integers) {
            column.push(integer);
        }
    }

    /// Forgets all records, and keeps the memory.
    pub fn clear(&mut self) {
        self.time_us.clear();
        self.soc.clear();
        self.statuses.iter_mut().for_each(Vec::clear);
        self.integers.iter_mut().for_each(Vec::clear);
    }
}

/// The fourteen integers of a record whose sections may be left out; the two kinds of structs have the same names.
macro_rules! integers {
    ($record:ident) => {{
        let (meter, battery, solar) = (
            $record.main_meter.as_ref(),
            $record.battery.as_ref(),
            $record.solar.as_ref(),
        );
        [
            meter.and_then(|it| it.active_power_w),
            battery.and_then(|it| it.active_power_w),
            battery.and_then(|it| it.active_power_setpoint_w),
            battery.and_then(|it| it.baseline_power_w),
            battery.and_then(|it| it.charge_limit_w),
            battery.and_then(|it| it.remaining_charge_time_s),
            battery.and_then(|it| it.discharge_limit_w),
            battery.and_then(|it| it.remaining_discharge_time_s),
            solar.and_then(|it| it.active_power_w),
            solar.and_then(|it| it.active_power_setpoint_w),
            solar.and_then(|it| it.rated_power_w),
            solar.and_then(|it| it.min_power_w),
            solar.and_then(|it| it.max_power_w),
            solar.and_then(|it| it.baseline_power_w),
        ]
    }};
}

impl From<&TelemetryRecord> for Fields {
    fn from(record: &TelemetryRecord) -> Self {
        let code = |status: domain::record::Status| status as i16;
        Self {
            time_us: record.time.micros(),
            statuses: [
                record.main_meter.map(|it| code(it.status)),
                record.battery.map(|it| code(it.status)),
                record.solar.map(|it| code(it.status)),
            ],
            soc: record.battery.and_then(|it| it.soc_percent),
            integers: integers!(record),
        }
    }
}

impl From<&Record> for Fields {
    fn from(record: &Record) -> Self {
        let code = |status: &Status| *status as i16;
        Self {
            time_us: Timestamp::from_record_time(record.time).micros(),
            statuses: [
                record.main_meter.as_ref().map(|it| code(&it.status)),
                record.battery.as_ref().map(|it| code(&it.status)),
                record.solar.as_ref().map(|it| code(&it.status)),
            ],
            soc: record.battery.as_ref().and_then(|it| it.soc),
            integers: integers!(record),
        }
    }
}

/// The integer fields' places in a tree.
const INTEGERS: [(&str, &str); 14] = [
    ("main_meter", "active_power_w"),
    ("battery", "active_power_w"),
    ("battery", "active_power_setpoint_w"),
    ("battery", "baseline_power_w"),
    ("battery", "charge_limit_w"),
    ("battery", "remaining_charge_time_s"),
    ("battery", "discharge_limit_w"),
    ("battery", "remaining_discharge_time_s"),
    ("solar", "active_power_w"),
    ("solar", "active_power_setpoint_w"),
    ("solar", "rated_power_w"),
    ("solar", "min_power_w"),
    ("solar", "max_power_w"),
    ("solar", "baseline_power_w"),
];

impl From<&Value> for Fields {
    fn from(record: &Value) -> Self {
        let field = |(section, key): (&str, &str)| record.get(section)?.get(key);
        let integer = |place| field(place)?.as_i64().and_then(|it| i32::try_from(it).ok());
        let status = |section| match field((section, "status"))?.as_str()? {
            "available" => Some(0),
            "degraded" => Some(1),
            _ => Some(2),
        };
        let time = record.get("time").and_then(Value::as_f64);
        Self {
            time_us: Timestamp::from_record_time(time.unwrap_or_default()).micros(),
            statuses: ["main_meter", "battery", "solar"].map(status),
            soc: field(("battery", "soc")).and_then(Value::as_f64),
            integers: INTEGERS.map(integer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::{Shape, set};

    #[test]
    fn every_reader_gives_the_same_fields() {
        for shape in Shape::ALL {
            for record in set(shape, 100) {
                let ours = Fields::from(&wire::decode::decode_telemetry(&record).unwrap());
                let typed: Record = serde_json::from_slice(&record).unwrap();
                let tree: Value = serde_json::from_slice(&record).unwrap();
                assert_eq!(Fields::from(&typed), ours);
                assert_eq!(Fields::from(&tree), ours);
            }
        }
    }
}
