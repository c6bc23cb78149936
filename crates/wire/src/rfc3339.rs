//! RFC 3339 dates and times, without a calendar library.

use domain::time::Timestamp;

const SECONDS_PER_DAY: i64 = 86_400;
const MICROS_PER_SECOND: i64 = 1_000_000;

/// Writes a point in time as RFC 3339 in UTC with microseconds: `2026-01-02T03:04:05.000006Z`.
///
/// Years outside 0 to 9999 have no such form; they come out with more digits or a sign.
#[must_use]
pub fn format_rfc3339(time: Timestamp) -> String {
    let seconds = time.micros().div_euclid(MICROS_PER_SECOND);
    let micros = time.micros().rem_euclid(MICROS_PER_SECOND);
    let (year, month, day) = date_of(seconds.div_euclid(SECONDS_PER_DAY));
    let of_day = seconds.rem_euclid(SECONDS_PER_DAY);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// Reads an RFC 3339 date and time with any offset; digits beyond microseconds are dropped.
///
/// None for anything else, a leap second (`:60`) included.
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<Timestamp> {
    let mut rest = text.as_bytes();
    let year = number(&mut rest, 4)?;
    literal(&mut rest, b"-")?;
    let month = number(&mut rest, 2)?;
    literal(&mut rest, b"-")?;
    let day = number(&mut rest, 2)?;
    literal(&mut rest, b"Tt ")?;
    let of_day = hours_and_minutes(&mut rest)? * 60;
    literal(&mut rest, b":")?;
    let second = number(&mut rest, 2).filter(|second| *second < 60)?;
    let micros = fraction(&mut rest)?;
    let offset = offset(&mut rest)? * 60;
    let days = days_of(year, month, day)?;
    // A date that does not exist (31 April) comes back as another one.
    if !rest.is_empty() || date_of(days) != (year, month, day) {
        return None;
    }
    let seconds = days * SECONDS_PER_DAY + of_day + second - offset;
    Some(Timestamp::from_micros(seconds * MICROS_PER_SECOND + micros))
}

/// Takes `digits` decimal digits off the front.
fn number(rest: &mut &[u8], digits: usize) -> Option<i64> {
    let (front, back) = rest.split_at_checked(digits)?;
    *rest = back;
    front.iter().try_fold(0, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + i64::from(byte - b'0'))
    })
}

/// Takes one of the bytes `any` off the front.
fn literal(rest: &mut &[u8], any: &[u8]) -> Option<u8> {
    let (first, back) = rest.split_first()?;
    *rest = back;
    any.contains(first).then_some(*first)
}

/// Takes `hh:mm` off the front, in minutes.
fn hours_and_minutes(rest: &mut &[u8]) -> Option<i64> {
    let hours = number(rest, 2).filter(|hours| *hours < 24)?;
    literal(rest, b":")?;
    let minutes = number(rest, 2).filter(|minutes| *minutes < 60)?;
    Some(hours * 60 + minutes)
}

/// Takes an optional fraction of a second off the front, in microseconds.
fn fraction(rest: &mut &[u8]) -> Option<i64> {
    let Some(mut digits) = rest.strip_prefix(b".") else {
        return Some(0);
    };
    let length = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if length == 0 {
        return None;
    }
    *rest = digits.split_at_checked(length)?.1;
    let kept = length.min(6);
    let scale = (kept..6).fold(1, |scale, _| scale * 10);
    Some(number(&mut digits, kept)? * scale)
}

/// Takes `Z` or a signed offset off the front, in minutes east of UTC.
fn offset(rest: &mut &[u8]) -> Option<i64> {
    match literal(rest, b"Zz+-")? {
        b'+' => hours_and_minutes(rest),
        b'-' => hours_and_minutes(rest).map(|minutes| -minutes),
        _ => Some(0),
    }
}

/// The date of a day counted from 1970-01-01, in the proleptic Gregorian calendar.
///
/// Years are taken to start in March, so that the leap day is the last one; 719,468 days lie
/// between 0000-03-01 and 1970-01-01, 146,097 days make 400 years.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

/// The day of a date, counted from 1970-01-01; none where the month is no month.
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let shifted = (month + 9) % 12;
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_time_is_read_back_from_its_text() {
        let check = |micros, text: &str| {
            let time = Timestamp::from_micros(micros);
            assert_eq!(format_rfc3339(time), text);
            assert_eq!(parse_rfc3339(text), Some(time));
        };
        check(0, "1970-01-01T00:00:00.000000Z");
        check(-1, "1969-12-31T23:59:59.999999Z");
        check(1_767_323_045_000_006, "2026-01-02T03:04:05.000006Z");
        check(951_782_400_000_000, "2000-02-29T00:00:00.000000Z");
        check(253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z");
    }

    #[test]
    fn every_day_of_eight_centuries_is_read_back() {
        for day in -150_000_i64..150_000 {
            let (year, month, date) = date_of(day);
            assert_eq!(days_of(year, month, date), Some(day));
        }
    }

    #[test]
    fn offsets_and_short_or_long_fractions_are_read() {
        let check = |text, micros| {
            assert_eq!(parse_rfc3339(text), Some(Timestamp::from_micros(micros)));
        };
        check("1970-01-01T01:00:00+01:00", 0);
        check("1969-12-31t18:30:00.5-05:30", 500_000);
        check("1970-01-01 00:00:00.123456789z", 123_456);
    }

    #[test]
    fn what_is_no_date_and_time_is_not_read() {
        for text in [
            "",
            "1970-01-01",
            "1970-01-01T00:00:00",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:00:60Z",
            "1970-13-01T00:00:00Z",
            "1970-00-01T00:00:00Z",
            "1970-04-31T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "1970-01-01T00:00:00Zx",
            "1970-01-01T00:00:00+1:00",
            "+970-01-01T00:00:00Z",
        ] {
            assert_eq!(parse_rfc3339(text), None, "{text}");
        }
    }
}
