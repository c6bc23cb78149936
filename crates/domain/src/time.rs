//! Points in time, in whole microseconds since the epoch, and the intervals that buckets have.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A point in time: microseconds since 1970-01-01T00:00:00Z, negative before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(i64);

const MICROS_PER_SECOND: i64 = 1_000_000;

/// A `time` of this value or more is taken as milliseconds (`decisions.md`, what controllers send).
const FIRST_MILLISECONDS: f64 = 1e11;

impl Timestamp {
    /// The point that is `micros` microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The point that is `seconds` seconds after the epoch; saturates at the ends of the range.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(MICROS_PER_SECOND))
    }

    /// Reads the `time` of a record: epoch seconds, or milliseconds from 1e11 on, rounded to the
    /// nearest microsecond; saturates at the ends of the range.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float to integer cast saturates, which is what is promised"
    )]
    pub fn from_record_time(time: f64) -> Self {
        let micros_per_unit = if time >= FIRST_MILLISECONDS { 1e3 } else { 1e6 };
        Self((time * micros_per_unit).round() as i64)
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down: what an HTTP body shows.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(MICROS_PER_SECOND)
    }

    /// The start of the interval of the given kind that holds this point.
    #[must_use]
    pub const fn floor(self, interval: Interval) -> Self {
        Self(self.0 - self.0.rem_euclid(interval.micros()))
    }

    /// Microseconds from `earlier` to this point; negative when this point is the earlier one.
    #[must_use]
    pub const fn micros_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Whole seconds from `now` until this point, rounded up; 0 when it is past.
    #[must_use]
    pub fn seconds_from(self, now: Self) -> u64 {
        let micros = u64::try_from(self.micros_since(now)).unwrap_or(0);
        micros.div_ceil(MICROS_PER_SECOND.unsigned_abs())
    }

    /// This point moved later by `duration`.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(micros_of(duration)))
    }

    /// This point moved earlier by `duration`.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(micros_of(duration)))
    }
}

fn micros_of(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// The kinds of interval that buckets have; the same everywhere, whatever the timezone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interval {
    /// Sixty seconds.
    Minute,
    /// Fifteen minutes.
    Quarter,
    /// Twenty-four hours from midnight UTC.
    Day,
}

impl Interval {
    /// Length in microseconds.
    #[must_use]
    pub const fn micros(self) -> i64 {
        match self {
            Self::Minute => 60 * MICROS_PER_SECOND,
            Self::Quarter => 900 * MICROS_PER_SECOND,
            Self::Day => 86_400 * MICROS_PER_SECOND,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_time_is_seconds_below_1e11_and_milliseconds_from_there_on() {
        let check = |time, micros| assert_eq!(Timestamp::from_record_time(time).micros(), micros);
        check(1_700_000_000.5, 1_700_000_000_500_000);
        check(99_999_999_999.0, 99_999_999_999_000_000);
        check(1e11, 100_000_000_000_000);
        check(1_700_000_000_123.0, 1_700_000_000_123_000);
        check(-1.0, -1_000_000);
        check(1e300, i64::MAX);
        check(-1e300, i64::MIN);
    }

    #[test]
    fn seconds_that_are_left_are_rounded_up_and_never_negative() {
        let check = |left_us, seconds| {
            let now = Timestamp::from_seconds(7);
            let end = Timestamp::from_micros(now.micros() + left_us);
            assert_eq!(end.seconds_from(now), seconds, "{left_us}");
        };
        check(1, 1);
        check(1_000_000, 1);
        check(1_000_001, 2);
        check(0, 0);
        check(-1, 0);
    }

    #[test]
    fn an_interval_starts_at_or_before_each_of_its_points_also_before_the_epoch() {
        let check = |seconds, interval, start| {
            assert_eq!(
                Timestamp::from_seconds(seconds).floor(interval),
                Timestamp::from_seconds(start)
            );
        };
        check(59, Interval::Minute, 0);
        check(60, Interval::Minute, 60);
        check(1_799, Interval::Quarter, 900);
        check(-1, Interval::Quarter, -900);
    }
}
