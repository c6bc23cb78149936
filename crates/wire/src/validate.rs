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
    portable(payload)
}

/// What the vector path makes of it, where there is one.
#[inline]
fn vectors(payload: &[u8]) -> Option<TelemetryRecord> {
    #[cfg(target_arch = "x86_64")]
    return vector::telemetry_if_here(payload);
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Whether this machine has the vector path, which full compact records in order take then. Public for tests and benches.
#[must_use]
pub fn has_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return vector::is_here();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The same by the portable scanner alone, which machines without these vectors have; it takes whatever they take. Public, so
/// that tests and benches see both.
#[must_use]
pub fn portable(payload: &[u8]) -> Option<TelemetryRecord> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{"time":1700000000.25,"main_meter":{"status":"available","active_power_w":-1250},"battery":{"status":"degraded","active_power_w":-3000,"active_power_setpoint_w":2147483647,"baseline_power_w":0,"soc":63.5,"charge_limit_w":10000,"remaining_charge_time_s":5400,"discharge_limit_w":9000,"remaining_discharge_time_s":7200},"solar":{"status":"unavailable","active_power_w":-8120,"active_power_setpoint_w":-9000,"rated_power_w":12000,"min_power_w":-12000,"max_power_w":null,"baseline_power_w":-8120}}"#;

    #[test]
    fn a_full_record_in_order_goes_through_vectors_where_the_machine_has_them() {
        let by_scanner = portable(FULL.as_bytes());
        assert!(by_scanner.is_some());
        #[cfg(target_arch = "x86_64")]
        if vector::is_here() {
            assert_eq!(vector::telemetry_if_here(FULL.as_bytes()), by_scanner);
        }
    }

    #[test]
    fn whatever_the_vectors_take_the_scanner_takes_and_reads_alike() {
        let check = |from: &str, to: &str| {
            let changed = FULL.replacen(from, to, 1);
            assert!(FULL.contains(from), "{from}");
            if let Some(record) = vectors(changed.as_bytes()) {
                assert_eq!(portable(changed.as_bytes()), Some(record), "{changed}");
            }
        };
        for time in [
            "0",
            "1",
            "1700000000",
            "1700000000123",
            "99999999999",
            "1700000000.123456",
            "1.5",
            "0.000001",
            "01",
            "-1",
            "1.",
            ".5",
            "1..5",
        ] {
            check("1700000000.25", time);
        }
        for soc in [
            "0",
            "100",
            "0.1",
            "99.999999999999",
            "100.1",
            "-0",
            "00",
            "5e1",
            "1.2.3",
            "\"1\"",
        ] {
            check("63.5", soc);
        }
        for power in [
            "0",
            "-0",
            "-",
            "null",
            "nul",
            "2147483647",
            "-2147483647",
            "2147483648",
            "-2147483648",
            "00",
            "-01",
            "1.0",
            "12345678901",
            "9999999999999999",
        ] {
            check("-1250", power);
            check(":0,", &format!(":{power},"));
            check(":10000,", &format!(":{power},"));
            check(":-9000,", &format!(":{power},"));
        }
        for status in [
            "Available",
            "availabl",
            "availablee",
            "degraded",
            "unavailable",
            "",
        ] {
            check("available", status);
        }
    }
}
