//! The walk over a tree that accepts a realtime record only where every field is certain.
//!
//! It says nothing about why a record is not accepted; that is the exact path's to tell.

use super::exact::LARGEST_INTEGER;
use domain::record::{Battery, MainMeter, Solar, Status, TelemetryRecord};
use domain::time::Timestamp;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// The record, unless some field of it is not certain to be what the schema and the range allow.
pub(super) fn telemetry(document: &Value) -> Option<TelemetryRecord> {
    let fields = document.as_object()?;
    let mut time = None;
    let mut main_meter = None;
    let mut battery = None;
    let mut solar = None;
    for (key, value) in fields {
        match key.as_str() {
            "time" => time = Some(Timestamp::from_record_time(value.as_f64()?)),
            "main_meter" => main_meter = Some(self::main_meter(value.as_object()?)?),
            "battery" => battery = Some(self::battery(value.as_object()?)?),
            "solar" => solar = Some(self::solar(value.as_object()?)?),
            _ => return None,
        }
    }
    Some(TelemetryRecord {
        time: time?,
        main_meter,
        battery,
        solar,
    })
}

fn main_meter(section: &Object) -> Option<MainMeter> {
    Some(MainMeter {
        status: status(section)?,
        active_power_w: Bounds::ANY.of(section, "active_power_w")?,
    })
}

fn battery(section: &Object) -> Option<Battery> {
    let any = |key| Bounds::ANY.of(section, key);
    let at_least_0 = |key| Bounds::AT_LEAST_0.of(section, key);
    Some(Battery {
        status: status(section)?,
        active_power_w: any("active_power_w")?,
        active_power_setpoint_w: any("active_power_setpoint_w")?,
        baseline_power_w: Bounds::OR_NULL.of(section, "baseline_power_w")?,
        soc_percent: percent(section, "soc")?,
        charge_limit_w: at_least_0("charge_limit_w")?,
        remaining_charge_time_s: at_least_0("remaining_charge_time_s")?,
        discharge_limit_w: at_least_0("discharge_limit_w")?,
        remaining_discharge_time_s: at_least_0("remaining_discharge_time_s")?,
    })
}

fn solar(section: &Object) -> Option<Solar> {
    let or_null = |key| Bounds::OR_NULL.of(section, key);
    Some(Solar {
        status: status(section)?,
        active_power_w: Bounds::ANY.of(section, "active_power_w")?,
        active_power_setpoint_w: Bounds::AT_MOST_0.of(section, "active_power_setpoint_w")?,
        rated_power_w: Bounds::AT_LEAST_0.of(section, "rated_power_w")?,
        min_power_w: or_null("min_power_w")?,
        max_power_w: or_null("max_power_w")?,
        baseline_power_w: or_null("baseline_power_w")?,
    })
}

fn status(section: &Object) -> Option<Status> {
    Status::parse(section.get("status")?.as_str()?)
}

fn percent(section: &Object, key: &str) -> Option<Option<f64>> {
    let Some(value) = section.get(key) else {
        return Some(None);
    };
    let percent = value
        .as_f64()
        .filter(|value| (0.0..=100.0).contains(value))?;
    Some(Some(percent))
}

/// What an integer field may hold.
struct Bounds {
    least: i32,
    most: i32,
    or_null: bool,
}

impl Bounds {
    const ANY: Self = Self {
        least: -LARGEST_INTEGER,
        most: LARGEST_INTEGER,
        or_null: false,
    };
    const OR_NULL: Self = Self {
        or_null: true,
        ..Self::ANY
    };
    const AT_LEAST_0: Self = Self {
        least: 0,
        ..Self::ANY
    };
    const AT_MOST_0: Self = Self {
        most: 0,
        ..Self::ANY
    };

    /// The field's value: `Some(None)` where it is absent or a null that is allowed, none where it
    /// is not certain.
    fn of(&self, section: &Object, key: &str) -> Option<Option<i32>> {
        let Some(value) = section.get(key) else {
            return Some(None);
        };
        if value.is_null() {
            return self.or_null.then_some(None);
        }
        let integer = integer(value)?;
        (self.least..=self.most)
            .contains(&integer)
            .then_some(Some(integer))
    }
}

/// An integer by JSON Schema (`5`, `5.0`, `5e0`) that fits.
#[expect(
    clippy::cast_possible_truncation,
    reason = "without a fraction and within the bounds of i32 nothing is cut off"
)]
pub(super) fn integer(value: &Value) -> Option<i32> {
    if let Some(integer) = value.as_i64() {
        return i32::try_from(integer).ok();
    }
    let whole = value.as_f64().filter(|value| value.fract() == 0.0)?;
    let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&whole);
    fits.then_some(whole as i32)
}
