//! Numbers that no double can hold: `1e400` is `out_of_range` wherever it stands.
//!
//! JSON's reader stops at such a number, so it is replaced by a harmless one and the document is
//! read again: what is then still wrong comes first in the order of reasons.

use crate::json;
use crate::json::overflow::{ONE, neutralized};
use domain::rejection::{Reason, Rejection};
use serde_json::Value;

/// The refusal at the first overflowing number; `document` is the payload neutralized by `ZERO`.
///
/// Without a place where a later duplicate of the key hides the number.
pub(super) fn refusal(payload: &[u8], document: &Value) -> Rejection {
    let pointer = neutralized(payload, ONE)
        .and_then(|neutral| json::parse(&neutral).ok())
        .and_then(|other| difference(document, &other))
        .unwrap_or_default();
    let detail = "number is beyond what a double can hold";
    Rejection::new(Reason::OutOfRange, super::exact::storable(&pointer), detail)
}

/// The pointer to the first place where two trees of one shape differ.
fn difference(one: &Value, other: &Value) -> Option<String> {
    if let (Value::Object(one), Value::Object(other)) = (one, other) {
        let mut pairs = one.iter().zip(other.values());
        return pairs.find_map(|((key, one), other)| {
            let below = difference(one, other)?;
            Some(format!("/{}{below}", super::exact::escaped(key)))
        });
    }
    if let (Value::Array(one), Value::Array(other)) = (one, other) {
        let mut pairs = one.iter().zip(other).enumerate();
        return pairs.find_map(|(index, (one, other))| {
            let below = difference(one, other)?;
            Some(format!("/{index}{below}"))
        });
    }
    (one != other).then(String::new)
}
