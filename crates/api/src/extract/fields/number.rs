//! Numbers of bodies: doubles, and JSON Schema's integers.

use crate::limits::{LARGEST_INTEGER, LARGEST_NUMBER};
use serde_json::Number;

/// Why a number is no integer that a body may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OddNumber {
    Fraction,
    TooLarge,
}

/// JSON Schema's integer: `60.0` and `6e1` are the same as `60`.
pub(super) fn integer(number: &Number) -> Result<i32, OddNumber> {
    let integer = match number.as_i64() {
        Some(integer) => integer,
        None => {
            let float = number.as_f64().ok_or(OddNumber::TooLarge)?;
            if float.fract() != 0.0 {
                return Err(OddNumber::Fraction);
            }
            whole(float).ok_or(OddNumber::TooLarge)?
        }
    };
    let integer = i32::try_from(integer).ok();
    integer
        .filter(|it| *it >= -LARGEST_INTEGER)
        .ok_or(OddNumber::TooLarge)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a double without a fraction and within the bound is an integer"
)]
fn whole(float: f64) -> Option<i64> {
    (float.abs() <= f64::from(LARGEST_INTEGER)).then_some(float as i64)
}

/// A double; what no double can hold is read as one that is too large.
pub(super) fn double(number: &Number) -> Result<f64, OddNumber> {
    let float = number.as_f64().ok_or(OddNumber::TooLarge)?;
    if float.abs() < LARGEST_NUMBER {
        Ok(float)
    } else {
        Err(OddNumber::TooLarge)
    }
}
