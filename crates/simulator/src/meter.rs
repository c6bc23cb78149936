//! A register that turns with the rhythm of the day, and reads the same whoever asks when.

use domain::time::Timestamp;
use std::f64::consts::TAU;

/// When every meter was at 0: the beginning of 2025. From then on what a register reads follows from the
/// time alone, so a fleet that starts again goes on where it was.
pub(crate) const INSTALLED: Timestamp = Timestamp::from_seconds(1_735_689_600);
/// A meter that is replaced now and then lasts so long.
pub(crate) const LIFE_DAYS: u16 = 30;
const SECONDS_PER_DAY: f64 = 86_400.0;
const SECONDS_PER_HOUR: f64 = 3_600.0;

/// A meter of gas, heat or water.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meter {
    /// What passes in a day, in thousandths of the unit.
    pub(crate) daily_thousandths: u32,
    /// By how much more than the mean it turns at its busiest hour, in percent; below 100, so that it
    /// always turns.
    pub(crate) swing_percent: u8,
    /// The busiest hour of the day, UTC.
    pub(crate) busiest_hour: u8,
    /// Once every [`LIFE_DAYS`], from this day on, another meter takes its place and begins at 0.
    pub(crate) replaced_from_day: Option<u16>,
}

impl Meter {
    /// The register at `time` in thousandths of the unit; it falls only when the meter is replaced.
    pub(crate) fn reading_thousandths(self, time: Timestamp) -> i64 {
        let now_s = since_installation_s(time);
        let turned = self.turned(now_s) - self.turned(self.installed_s(now_s));
        whole(turned * 1_000.0)
    }

    /// How fast the register turns at `time`, in thousandths of the unit an hour.
    pub(crate) fn thousandths_per_hour(self, time: Timestamp) -> i64 {
        let angle = self.angle(since_installation_s(time));
        let factor = 1.0 + self.swing() * angle.cos();
        whole(self.units_per_s() * SECONDS_PER_HOUR * 1_000.0 * factor)
    }

    /// Units since the installation: the integral of a mean flow with a daily wave on it.
    fn turned(self, at_s: f64) -> f64 {
        let wave_s = SECONDS_PER_DAY / TAU * (self.angle(at_s).sin() - self.angle(0.0).sin());
        self.units_per_s() * (at_s + self.swing() * wave_s)
    }

    /// When the meter that is there now was put in.
    fn installed_s(self, now_s: f64) -> f64 {
        let Some(first_day) = self.replaced_from_day else {
            return 0.0;
        };
        let first_s = f64::from(first_day) * SECONDS_PER_DAY;
        let life_s = f64::from(LIFE_DAYS) * SECONDS_PER_DAY;
        if now_s < first_s {
            return 0.0;
        }
        first_s + ((now_s - first_s) / life_s).floor() * life_s
    }

    fn angle(self, at_s: f64) -> f64 {
        (at_s - f64::from(self.busiest_hour) * SECONDS_PER_HOUR) * TAU / SECONDS_PER_DAY
    }

    fn swing(self) -> f64 {
        f64::from(self.swing_percent) / 100.0
    }

    fn units_per_s(self) -> f64 {
        f64::from(self.daily_thousandths) / 1_000.0 / SECONDS_PER_DAY
    }
}

/// Seconds since [`INSTALLED`]; none before it.
fn since_installation_s(time: Timestamp) -> f64 {
    time.micros_since(INSTALLED).max(0) as f64 / 1e6
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a register of some years is far below the limit"
)]
fn whole(number: f64) -> i64 {
    number.floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    const METER: Meter = Meter {
        daily_thousandths: 4_000,
        swing_percent: 80,
        busiest_hour: 7,
        replaced_from_day: None,
    };

    fn at(seconds: u64) -> Timestamp {
        INSTALLED.plus(Duration::from_secs(seconds))
    }

    #[test]
    fn a_day_counts_what_passes_in_a_day_and_the_busiest_hour_most() {
        assert_eq!(METER.reading_thousandths(INSTALLED), 0);
        assert_eq!(METER.reading_thousandths(at(10 * 86_400 + 1)), 40_000);
        let hourly = |hour: u64| METER.thousandths_per_hour(at(hour * 3_600));
        assert_eq!(hourly(7), 300);
        assert_eq!(hourly(19), 33);
        assert_eq!(METER.reading_thousandths(Timestamp::from_seconds(0)), 0);
    }

    #[test]
    fn a_meter_that_is_replaced_begins_at_nothing() {
        let meter = Meter {
            replaced_from_day: Some(3),
            ..METER
        };
        let reading = |seconds| meter.reading_thousandths(at(seconds));
        assert_eq!(
            reading(3 * 86_400 - 1),
            METER.reading_thousandths(at(3 * 86_400 - 1))
        );
        assert_eq!(reading(3 * 86_400), 0);
        assert!(reading(33 * 86_400 - 1) > 119_000);
        assert_eq!(reading(33 * 86_400), 0);
    }

    proptest! {
        #[test]
        fn a_register_turns_as_fast_as_its_flow_and_never_backwards(
            daily_thousandths in 1_u32..100_000,
            swing_percent in 0_u8..=90,
            busiest_hour in 0_u8..24,
            second in 0_u64..200_000_000,
            step in 0_u64..3_600,
        ) {
            let meter = Meter { daily_thousandths, swing_percent, busiest_hour, replaced_from_day: None };
            let (first, then) = (at(second), at(second + step));
            let passed = meter.reading_thousandths(then) - meter.reading_thousandths(first);
            prop_assert!(passed >= 0);
            let flows = [first, then].map(|time| meter.thousandths_per_hour(time));
            // Within an hour the flow changes by at most a quarter of the swing around its mean.
            let most = (flows[0].max(flows[1]) + 1) as f64 + f64::from(daily_thousandths) / 24.0 * 0.3;
            prop_assert!(passed as f64 <= most * step as f64 / 3_600.0 + 2.0, "{passed} with {flows:?}");
        }
    }
}
