//! A record as bytes: compact, fields in the specification's order.

use bytes::Bytes;
use domain::record::{Battery, MainMeter, Solar, Status, TelemetryRecord};
use domain::time::Timestamp;

/// A record with all of its fields has about 480 bytes.
const USUAL_SIZE: usize = 512;

/// Writes the record; fields without a value are left out.
pub(crate) fn encode(record: &TelemetryRecord) -> Bytes {
    let mut text = Text(Vec::with_capacity(USUAL_SIZE));
    text.raw("{\"time\":");
    text.decimal(record.time.micros(), 6);
    if let Some(section) = &record.main_meter {
        text.main_meter(section);
    }
    if let Some(section) = &record.battery {
        text.battery(section);
    }
    if let Some(section) = &record.solar {
        text.solar(section);
    }
    text.raw("}");
    text.0.into()
}

/// A point in time as the number of seconds that a record carries.
pub(crate) fn time_text(time: Timestamp) -> String {
    let mut text = Text(Vec::new());
    text.decimal(time.micros(), 6);
    text.0.iter().copied().map(char::from).collect()
}

struct Text(Vec<u8>);

impl Text {
    fn main_meter(&mut self, section: &MainMeter) {
        self.open(",\"main_meter\":{\"status\":\"", section.status);
        self.field(",\"active_power_w\":", section.active_power_w);
        self.raw("}");
    }

    fn battery(&mut self, section: &Battery) {
        self.open(",\"battery\":{\"status\":\"", section.status);
        self.field(",\"active_power_w\":", section.active_power_w);
        self.field(
            ",\"active_power_setpoint_w\":",
            section.active_power_setpoint_w,
        );
        self.field(",\"baseline_power_w\":", section.baseline_power_w);
        if let Some(percent) = section.soc_percent {
            self.raw(",\"soc\":");
            self.decimal(thousandths(percent), 3);
        }
        self.field(",\"charge_limit_w\":", section.charge_limit_w);
        self.field(
            ",\"remaining_charge_time_s\":",
            section.remaining_charge_time_s,
        );
        self.field(",\"discharge_limit_w\":", section.discharge_limit_w);
        self.field(
            ",\"remaining_discharge_time_s\":",
            section.remaining_discharge_time_s,
        );
        self.raw("}");
    }

    fn solar(&mut self, section: &Solar) {
        self.open(",\"solar\":{\"status\":\"", section.status);
        self.field(",\"active_power_w\":", section.active_power_w);
        self.field(
            ",\"active_power_setpoint_w\":",
            section.active_power_setpoint_w,
        );
        self.field(",\"rated_power_w\":", section.rated_power_w);
        self.field(",\"min_power_w\":", section.min_power_w);
        self.field(",\"max_power_w\":", section.max_power_w);
        self.field(",\"baseline_power_w\":", section.baseline_power_w);
        self.raw("}");
    }

    fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn open(&mut self, key: &str, status: Status) {
        self.raw(key);
        self.raw(status.as_str());
        self.raw("\"");
    }

    fn field(&mut self, key: &str, value: Option<i32>) {
        if let Some(value) = value {
            self.raw(key);
            self.decimal(i64::from(value), 0);
        }
    }

    /// Writes `value` divided by ten to the power of `decimals`, without zeros at the end.
    fn decimal(&mut self, value: i64, decimals: usize) {
        let mut digits = [b'0'; 24];
        let mut first = digits.len();
        let mut rest = value.unsigned_abs();
        while rest > 0 || digits.len() - first <= decimals {
            first -= 1;
            digits[first] = b'0' + last_digit(rest);
            rest /= 10;
        }
        if value < 0 {
            self.0.push(b'-');
        }
        let point = digits.len() - decimals;
        self.0.extend_from_slice(&digits[first..point]);
        let fraction = &digits[point..];
        let kept = fraction.iter().rposition(|digit| *digit != b'0');
        if let Some(last) = kept {
            self.0.push(b'.');
            self.0.extend_from_slice(&fraction[..=last]);
        }
    }
}

const fn last_digit(number: u64) -> u8 {
    (number % 10) as u8
}

#[expect(clippy::cast_possible_truncation, reason = "percentages are small")]
fn thousandths(percent: f64) -> i64 {
    (percent * 1_000.0).round() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Controller;
    use crate::fleet::Fleet;
    use std::time::Duration;
    use wire::decode::decode_telemetry;

    #[test]
    fn a_number_is_written_as_short_as_it_can_be() {
        let check = |value, decimals, expected: &str| {
            let mut text = Text(Vec::new());
            text.decimal(value, decimals);
            assert_eq!(text.0, expected.as_bytes());
        };
        check(0, 0, "0");
        check(-120, 0, "-120");
        check(0, 3, "0");
        check(50, 3, "0.05");
        check(-1_500, 3, "-1.5");
        check(100_000, 3, "100");
        check(1_700_000_000_000_001, 6, "1700000000.000001");
        check(i64::MIN, 0, "-9223372036854775808");
    }

    #[test]
    fn the_service_reads_a_record_as_it_was_measured() {
        for building in Fleet::new(5, 100).buildings() {
            let mut controller = Controller::new(building, Duration::from_secs(1));
            let time = Timestamp::from_micros(1_750_000_000_250_001);
            let record = controller.measure(time).record;
            assert_eq!(decode_telemetry(&encode(&record)), Ok(record));
        }
    }
}
