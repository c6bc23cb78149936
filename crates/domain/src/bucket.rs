//! Minute aggregates: the mean power of a minute, exact until it is rounded once.

use crate::electricity::{Read, Sample};
use crate::time::{Interval, Timestamp};
use num_bigint::BigInt;
use num_rational::BigRational;
use std::ops::Range;
use std::time::Duration;

/// The samples of one sensor in one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinuteSum {
    /// Start of the minute.
    pub start: Timestamp,
    /// How many.
    pub samples: i64,
    /// Their sum, watt.
    pub sum_w: i64,
}

/// The starts of the minutes that a read gives: those that have ended, and of an `actual` read those
/// that started within the last hour, inclusive.
#[must_use]
pub fn readable_starts(read: Read, now: Timestamp) -> Range<Timestamp> {
    let last = now.minus(Duration::from_micros(
        Interval::Minute.micros().unsigned_abs(),
    ));
    let first = match read {
        Read::Actual => now.minus(crate::electricity::ACTUAL_AGE),
        Read::Latest => Timestamp::from_micros(i64::MIN),
    };
    // A range ends before its end; the resolution of time is a microsecond.
    first..last.plus(Duration::from_micros(1))
}

/// The arithmetic mean of the minute's samples, rounded half away from zero; `None` without a sample.
#[must_use]
pub fn mean(minute: MinuteSum) -> Option<Sample> {
    Some(Sample {
        time: minute.start,
        power_w: rounded(&exact_mean(minute)?)?,
    })
}

/// The combined value of one minute: the contributors' exact means times their factors, added up,
/// never below 0, and rounded once, half away from zero. `None` without contributors, or when one
/// has no sample or is of another minute.
#[must_use]
pub fn combined_mean(contributors: &[(i32, MinuteSum)]) -> Option<Sample> {
    let start = contributors.first()?.1.start;
    let mut sum = BigRational::from_integer(BigInt::ZERO);
    for (factor, minute) in contributors {
        if minute.start != start {
            return None;
        }
        sum += exact_mean(*minute)? * BigInt::from(*factor);
    }
    Some(Sample {
        time: start,
        power_w: rounded(&sum)?.max(0),
    })
}

fn exact_mean(minute: MinuteSum) -> Option<BigRational> {
    let samples = (minute.samples > 0).then(|| BigInt::from(minute.samples))?;
    Some(BigRational::new(BigInt::from(minute.sum_w), samples))
}

fn rounded(power_w: &BigRational) -> Option<i64> {
    i64::try_from(power_w.round().to_integer()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_seconds(1_700_000_040);

    fn minute(sum_w: i64, samples: i64) -> MinuteSum {
        MinuteSum {
            start: START,
            samples,
            sum_w,
        }
    }

    #[test]
    fn a_mean_is_rounded_half_away_from_zero() {
        let check = |sum_w, samples, power_w| {
            let expected = Sample {
                time: START,
                power_w,
            };
            assert_eq!(
                mean(minute(sum_w, samples)),
                Some(expected),
                "{sum_w}/{samples}"
            );
        };
        check(0, 1, 0);
        check(7, 1, 7);
        check(5, 2, 3);
        check(-5, 2, -3);
        check(1, 2, 1);
        check(-1, 2, -1);
        check(4, 3, 1);
        check(5, 3, 2);
        check(49, 100, 0);
        check(50, 100, 1);
        check(9_007_199_254_740_993, 1, 9_007_199_254_740_993);
        check(i64::MAX, 1, i64::MAX);
    }

    #[test]
    fn a_minute_without_a_sample_has_no_mean() {
        assert_eq!(mean(minute(0, 0)), None);
        assert_eq!(combined_mean(&[]), None);
        assert_eq!(combined_mean(&[(1, minute(5, 1)), (1, minute(0, 0))]), None);
    }

    #[test]
    fn a_combined_mean_is_rounded_once_and_never_below_0() {
        let check = |parts: &[(i32, MinuteSum)], power_w| {
            let expected = Sample {
                time: START,
                power_w,
            };
            assert_eq!(combined_mean(parts), Some(expected), "{parts:?}");
        };
        // Rounded one by one the first three were 2, 0 and 0.
        check(&[(1, minute(1, 2)), (1, minute(1, 2))], 1);
        check(&[(1, minute(4, 3)), (-1, minute(5, 6))], 1);
        check(&[(1, minute(1, 3)), (1, minute(1, 6))], 1);
        check(
            &[(1, minute(1, 2)), (-1, minute(1, 4)), (1, minute(1, 4))],
            1,
        );
        check(&[(1, minute(1, 2)), (-1, minute(1, 2))], 0);
        check(&[(1, minute(10, 1)), (-1, minute(21, 2))], 0);
        check(&[(1, minute(10, 1)), (-1, minute(50, 1))], 0);
        let most = i64::MAX / 2;
        check(
            &[(1, minute(most, 1_000_003)), (1, minute(most, 999_983))],
            9_223_436_601_833,
        );
    }

    #[test]
    fn minutes_of_different_starts_do_not_combine() {
        let later = MinuteSum {
            start: START.plus(Duration::from_secs(60)),
            ..minute(1, 1)
        };
        assert_eq!(combined_mean(&[(1, minute(1, 1)), (1, later)]), None);
    }

    #[test]
    fn only_minutes_that_have_ended_are_read_and_actual_ones_of_the_last_hour() {
        let check = |now_us: i64, read, readable| {
            let now = Timestamp::from_micros(START.micros() + now_us);
            assert_eq!(
                readable_starts(read, now).contains(&START),
                readable,
                "{now_us}"
            );
        };
        check(59_999_999, Read::Latest, false);
        check(60_000_000, Read::Latest, true);
        check(i64::MAX / 2, Read::Latest, true);
        check(59_999_999, Read::Actual, false);
        check(60_000_000, Read::Actual, true);
        check(3_600_000_000, Read::Actual, true);
        check(3_600_000_001, Read::Actual, false);
    }
}
