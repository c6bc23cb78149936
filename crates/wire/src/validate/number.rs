//! Numbers, as far as they can be read with certainty in integers: no exponent, no leading or negative zero.
//!
//! What follows a number is not looked at: it is no comma, brace or white space where the number goes on, and then the
//! caller is not certain.

use domain::time::Timestamp;

/// The largest magnitude of an integer field (`decisions.md`: beyond it is `out_of_range`).
const LARGEST: i64 = 2_147_483_647;

/// Whole milliseconds begin here (`Timestamp::from_record_time`).
const FIRST_MILLISECONDS: u64 = 100_000_000_000;
/// And these are looked at no more.
const END_OF_MILLISECONDS: u64 = 1 << 41;
/// Seconds from here on neither.
const END_OF_SECONDS: u64 = 1 << 31;

/// Powers of ten, as integers.
const TENS: [u64; 16] = {
    let mut tens = [1; 16];
    let mut power = 1;
    while power < 16 {
        tens[power] = tens[power - 1] * 10;
        power += 1;
    }
    tens
};

/// The same as doubles, each exact.
#[expect(
    clippy::cast_precision_loss,
    reason = "up to 10^15 every power is a double"
)]
const TENS_F64: [f64; 16] = {
    let mut tens = [1.0; 16];
    let mut power = 1;
    while power < 16 {
        tens[power] = TENS[power] as f64;
        power += 1;
    }
    tens
};

/// An integer of any sign.
#[inline]
pub(super) fn any(rest: &mut &[u8]) -> Option<i32> {
    integer::<{ -LARGEST }, LARGEST>(rest)
}

/// An integer that is not negative.
#[inline]
pub(super) fn at_least_0(rest: &mut &[u8]) -> Option<i32> {
    integer::<0, LARGEST>(rest)
}

/// An integer that is not positive.
#[inline]
pub(super) fn at_most_0(rest: &mut &[u8]) -> Option<i32> {
    integer::<{ -LARGEST }, 0>(rest)
}

/// An integer or `null`.
#[inline]
pub(super) fn or_null(rest: &mut &[u8]) -> Option<Option<i32>> {
    if super::take(rest, b"null") {
        return Some(None);
    }
    any(rest).map(Some)
}

#[inline]
fn integer<const LEAST: i64, const MOST: i64>(rest: &mut &[u8]) -> Option<i32> {
    let is_negative = super::take(rest, b"-");
    let (magnitude, _) = digits(rest)?;
    let magnitude = i64::try_from(magnitude).ok()?;
    let value = if is_negative { -magnitude } else { magnitude };
    let is_negative_zero = is_negative && magnitude == 0;
    if is_negative_zero || !(LEAST..=MOST).contains(&value) {
        return None;
    }
    i32::try_from(value).ok()
}

/// A `time`, as [`time_of`] has it.
#[inline]
pub(super) fn time(rest: &mut &[u8]) -> Option<Timestamp> {
    let (whole, _) = digits(rest)?;
    let (fraction, decimals) = fraction(rest)?;
    if whole >= END_OF_MILLISECONDS || decimals > 6 {
        return None;
    }
    time_of(whole * TENS.get(decimals)? + fraction, decimals)
}

/// Whole seconds before the year 2038 with at most six decimals, or whole milliseconds before 2039, from all digits and
/// the number of those behind the point. There the integer is the one that rounding the double gives: its error is
/// below a quarter of a microsecond.
#[inline]
pub(super) fn time_of(digits: u64, decimals: usize) -> Option<Timestamp> {
    let micros = if decimals <= 6 && digits < END_OF_SECONDS * TENS.get(decimals)? {
        digits * TENS.get(6 - decimals)?
    } else if decimals == 0 && (FIRST_MILLISECONDS..END_OF_MILLISECONDS).contains(&digits) {
        digits * 1_000
    } else {
        return None;
    };
    Some(Timestamp::from_micros(i64::try_from(micros).ok()?))
}

/// A percentage, as [`percent_of`] has it.
#[inline]
pub(super) fn percent(rest: &mut &[u8]) -> Option<f64> {
    let (whole, _) = digits(rest)?;
    let (fraction, decimals) = fraction(rest)?;
    if whole > 100 || decimals > 12 {
        return None;
    }
    percent_of(whole * TENS.get(decimals)? + fraction, decimals)
}

/// From 0 to 100, from all digits and the number of those behind the point; with so few digits that the quotient of two
/// exact doubles is the nearest one.
#[inline]
pub(super) fn percent_of(digits: u64, decimals: usize) -> Option<f64> {
    if digits >= *TENS.get(15)? {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 15 digits: below 2^53")]
    let value = digits as f64 / TENS_F64.get(decimals)?;
    (value <= 100.0).then_some(value)
}

/// The digits behind a point, if there is one: their value and their number.
#[inline]
fn fraction(rest: &mut &[u8]) -> Option<(u64, usize)> {
    if !super::take(rest, b".") {
        return Some((0, 0));
    }
    run(rest)
}

/// A whole number without a leading zero: its value and the number of its digits, at most 15.
#[inline]
fn digits(rest: &mut &[u8]) -> Option<(u64, usize)> {
    let starts_with_zero = rest.first() == Some(&b'0');
    let (value, count) = run(rest)?;
    (!starts_with_zero || count == 1).then_some((value, count))
}

/// One to fifteen digits: their value and their number.
#[inline]
fn run(rest: &mut &[u8]) -> Option<(u64, usize)> {
    let (value, count) = up_to_eight(rest);
    if count == 0 {
        return None;
    }
    if count < 8 {
        return Some((value, count));
    }
    let (more, further) = up_to_eight(rest);
    if further == 8 {
        return None;
    }
    Some((value * TENS.get(further)? + more, count + further))
}

/// Passes over at most eight digits: their value and their number.
#[inline]
fn up_to_eight(rest: &mut &[u8]) -> (u64, usize) {
    let Some(chunk) = rest.first_chunk::<8>() else {
        return one_by_one(rest);
    };
    // Each byte becomes its digit; of the others the first is found, since no byte before it carries.
    let word = u64::from_le_bytes(*chunk) ^ 0x3030_3030_3030_3030;
    let others = (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() / 8;
    if count == 0 {
        return (0, 0);
    }
    let length = count as usize;
    *rest = rest.get(length..).unwrap_or_default();
    // Zeros before the first digit instead of what follows the last.
    (value_of(word << (64 - 8 * count)), length)
}

/// Eight digits, the first in the lowest byte: pairs, then fours, then all of them.
#[inline]
const fn value_of(digits: u64) -> u64 {
    const LOWS: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let upper = (pairs & LOWS).wrapping_mul(100 + (1_000_000 << 32));
    let lower = ((pairs >> 16) & LOWS).wrapping_mul(1 + (10_000 << 32));
    upper.wrapping_add(lower) >> 32
}

/// The same at the end of a payload.
#[cold]
fn one_by_one(rest: &mut &[u8]) -> (u64, usize) {
    let mut value = 0;
    let mut length = 0;
    while let Some((digit, after)) = rest.split_first().filter(|(byte, _)| byte.is_ascii_digit()) {
        value = value * 10 + u64::from(digit - b'0');
        length += 1;
        *rest = after;
    }
    (value, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_digits_are_their_value() {
        for text in ["00000000", "12345678", "99999999", "00000001", "90000000"] {
            let mut rest = text.as_bytes();
            assert_eq!(up_to_eight(&mut rest), (text.parse().unwrap(), 8));
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn a_run_ends_at_the_first_byte_that_is_no_digit_wherever_it_stands() {
        for end in 0..=u8::MAX {
            if end.is_ascii_digit() {
                continue;
            }
            for length in 0..15 {
                for behind in [0, 9] {
                    let digits: Vec<u8> = (0..length).map(|it| b'1' + it % 9).collect();
                    let text = [&digits[..], &[end], &vec![0xff; behind]].concat();
                    let mut rest = &text[..];
                    let expected = std::str::from_utf8(&digits).unwrap().parse();
                    let expected = expected.ok().map(|value: u64| (value, usize::from(length)));
                    assert_eq!(run(&mut rest), expected, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn sixteen_digits_are_too_many() {
        assert_eq!(run(&mut &b"1234567890123456,........"[..]), None);
        assert!(run(&mut &b"123456789012345,........"[..]).is_some());
    }

    #[test]
    fn a_time_is_what_the_double_rounds_to() {
        for text in [
            "0",
            "0.000001",
            "1700000000.25",
            "2147483647.999999",
            "1700000000.123456",
            "100000000000",
            "1700000000123",
            "2199023255551",
        ] {
            let rounded = Timestamp::from_record_time(text.parse().unwrap());
            assert_eq!(time(&mut text.as_bytes()), Some(rounded), "{text}");
        }
        for text in [
            "2147483648",
            "99999999999",
            "2199023255552",
            "1700000000.1234567",
            "1.",
            "-1",
            "01",
            "1700000000123.5",
        ] {
            assert_eq!(time(&mut text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_percentage_is_the_nearest_double() {
        for text in [
            "0",
            "100",
            "63.5",
            "0.1",
            "99.999999999999",
            "33.333333333333",
            "0.000000000001",
            "100.0",
        ] {
            assert_eq!(percent(&mut text.as_bytes()), text.parse().ok(), "{text}");
        }
        for text in ["100.1", "101", "-0", "1.0000000000001", ".5", "00", "1."] {
            assert_eq!(percent(&mut text.as_bytes()), None, "{text}");
        }
    }
}
