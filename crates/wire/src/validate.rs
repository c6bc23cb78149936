//! The hot validator: one pass over a realtime record's bytes, no allocation, no tree, no copy.
//!
//! It accepts only what it is certain of: every byte that it passes was compared with what the schema wants at that
//! place, so no text has to be unescaped and no UTF-8 checked. Whatever it is not certain of (escapes, exponents, `5.0`,
//! `-0`, doubled and unknown keys, and all that is wrong) is none of its business: `decode` asks the exact path then.
//!
//! Keys are expected in the schema's order; where one comes in another place, the rest of its object is read key by
//! key.

mod number;
#[cfg(target_arch = "x86_64")]
mod vector;

use domain::record::{Battery, MainMeter, Solar, Status, TelemetryRecord};
use number::{any, at_least_0, at_most_0, or_null, percent, time};

/// The record, if it is certain that the schema and the range allow all of it.
#[must_use]
#[inline]
pub fn telemetry(payload: &[u8]) -> Option<TelemetryRecord> {
    let record = vectors(payload);
    if record.is_some() {
        return record;
    }
    scan(payload)
}

/// What the vector path makes of it, where there is one.
#[inline]
fn vectors(payload: &[u8]) -> Option<TelemetryRecord> {
    #[cfg(target_arch = "x86_64")]
    return vector::telemetry_if_here(payload);
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// The portable scanner: any shape.
fn scan(payload: &[u8]) -> Option<TelemetryRecord> {
    let mut rest = payload;
    skip_space(&mut rest);
    let record = record(&mut rest)?;
    skip_space(&mut rest);
    if !rest.is_empty() {
        return None;
    }
    Some(TelemetryRecord {
        time: record.time?,
        main_meter: record.main_meter,
        battery: record.battery,
        solar: record.solar,
    })
}

/// A reader of one object: first the keys in this order, each at most once, then in any order.
macro_rules! object {
    ($name:ident -> $Fields:ident { $($key:literal: $field:ident = $read:ident -> $Value:ty,)+ }) => {
        #[derive(Default)]
        struct $Fields {
            $($field: Option<$Value>,)+
        }

        #[inline]
        fn $name(rest: &mut &[u8]) -> Option<$Fields> {
            let mut fields = $Fields::default();
            let mut more = open(rest)?;
            if rest.first() == Some(&b'"') {
                $(
                    if more && take(rest, concat!("\"", $key, "\":").as_bytes()) {
                        skip_space(rest);
                        fields.$field = Some($read(rest)?);
                        more = goes_on(rest)?;
                    }
                )+
            }
            while more {
                skip_space(rest);
                $(
                    if take(rest, concat!("\"", $key, "\"").as_bytes()) {
                        colon(rest)?;
                        if fields.$field.is_some() {
                            return None;
                        }
                        fields.$field = Some($read(rest)?);
                        more = goes_on(rest)?;
                        continue;
                    }
                )+
                return None;
            }
            Some(fields)
        }
    };
}

object!(record -> RecordFields {
    "time": time = time -> domain::time::Timestamp,
    "main_meter": main_meter = main_meter -> MainMeter,
    "battery": battery = battery -> Battery,
    "solar": solar = solar -> Solar,
});

object!(main_meter_fields -> MainMeterFields {
    "status": status = status -> Status,
    "active_power_w": active_power_w = any -> i32,
});

object!(battery_fields -> BatteryFields {
    "status": status = status -> Status,
    "active_power_w": active_power_w = any -> i32,
    "active_power_setpoint_w": active_power_setpoint_w = any -> i32,
    "baseline_power_w": baseline_power_w = or_null -> Option<i32>,
    "soc": soc_percent = percent -> f64,
    "charge_limit_w": charge_limit_w = at_least_0 -> i32,
    "remaining_charge_time_s": remaining_charge_time_s = at_least_0 -> i32,
    "discharge_limit_w": discharge_limit_w = at_least_0 -> i32,
    "remaining_discharge_time_s": remaining_discharge_time_s = at_least_0 -> i32,
});

object!(solar_fields -> SolarFields {
    "status": status = status -> Status,
    "active_power_w": active_power_w = any -> i32,
    "active_power_setpoint_w": active_power_setpoint_w = at_most_0 -> i32,
    "rated_power_w": rated_power_w = at_least_0 -> i32,
    "min_power_w": min_power_w = or_null -> Option<i32>,
    "max_power_w": max_power_w = or_null -> Option<i32>,
    "baseline_power_w": baseline_power_w = or_null -> Option<i32>,
});

fn main_meter(rest: &mut &[u8]) -> Option<MainMeter> {
    let fields = main_meter_fields(rest)?;
    Some(MainMeter {
        status: fields.status?,
        active_power_w: fields.active_power_w,
    })
}

fn battery(rest: &mut &[u8]) -> Option<Battery> {
    let fields = battery_fields(rest)?;
    Some(Battery {
        status: fields.status?,
        active_power_w: fields.active_power_w,
        active_power_setpoint_w: fields.active_power_setpoint_w,
        baseline_power_w: fields.baseline_power_w.flatten(),
        soc_percent: fields.soc_percent,
        charge_limit_w: fields.charge_limit_w,
        remaining_charge_time_s: fields.remaining_charge_time_s,
        discharge_limit_w: fields.discharge_limit_w,
        remaining_discharge_time_s: fields.remaining_discharge_time_s,
    })
}

fn solar(rest: &mut &[u8]) -> Option<Solar> {
    let fields = solar_fields(rest)?;
    Some(Solar {
        status: fields.status?,
        active_power_w: fields.active_power_w,
        active_power_setpoint_w: fields.active_power_setpoint_w,
        rated_power_w: fields.rated_power_w,
        min_power_w: fields.min_power_w.flatten(),
        max_power_w: fields.max_power_w.flatten(),
        baseline_power_w: fields.baseline_power_w.flatten(),
    })
}

fn status(rest: &mut &[u8]) -> Option<Status> {
    if take(rest, b"\"available\"") {
        Some(Status::Available)
    } else if take(rest, b"\"unavailable\"") {
        Some(Status::Unavailable)
    } else if take(rest, b"\"degraded\"") {
        Some(Status::Degraded)
    } else {
        None
    }
}

/// Passes over `expected` if it is next.
#[inline]
fn take(rest: &mut &[u8], expected: &[u8]) -> bool {
    match rest.strip_prefix(expected) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

#[inline]
fn skip_space(rest: &mut &[u8]) {
    // What is written for machines has none.
    if rest.first().is_some_and(|byte| *byte <= b' ') {
        skip_some_space(rest);
    }
}

/// Line ends one by one, indentation eight bytes at a time.
fn skip_some_space(rest: &mut &[u8]) {
    loop {
        match rest {
            [b' ', after @ ..] => {
                *rest = after;
                while let Some(chunk) = rest.first_chunk::<8>() {
                    let others = u64::from_le_bytes(*chunk) ^ 0x2020_2020_2020_2020;
                    let spaces = others.trailing_zeros() as usize / 8;
                    *rest = rest.get(spaces..).unwrap_or_default();
                    if spaces < 8 {
                        break;
                    }
                }
            }
            [b'\n' | b'\r' | b'\t', after @ ..] => *rest = after,
            _ => return,
        }
    }
}

/// Passes over the brace that opens an object; tells whether a member follows.
#[inline]
fn open(rest: &mut &[u8]) -> Option<bool> {
    *rest = rest.strip_prefix(b"{")?;
    skip_space(rest);
    Some(!take(rest, b"}"))
}

/// Passes over what follows a member; tells whether another one does.
#[inline]
fn goes_on(rest: &mut &[u8]) -> Option<bool> {
    skip_space(rest);
    let (more, after) = match rest {
        [b',', after @ ..] => (true, after),
        [b'}', after @ ..] => (false, after),
        _ => return None,
    };
    *rest = after;
    Some(more)
}

/// Passes over the colon behind a key, up to the value.
#[inline]
fn colon(rest: &mut &[u8]) -> Option<()> {
    skip_space(rest);
    *rest = rest.strip_prefix(b":")?;
    skip_space(rest);
    Some(())
}
