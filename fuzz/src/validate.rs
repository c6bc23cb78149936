//! Any bytes: what the hot validator takes, the schema's validator takes and reads alike; the vector path and the scanner
//! take the same; and nothing counts that stands before or behind a payload in memory.

use crate::decoder::judge;
use wire::validate::{portable, telemetry};

/// Asserts it.
pub fn check(input: &[u8]) {
    judge::agree(input);
    alike(input);
    // What was cut off stands behind what is left.
    for length in input.len().saturating_sub(3)..input.len() {
        alike(&input[..length]);
    }
    for byte in [b'0', b'}', b' ', 0] {
        let around = [byte; 64];
        let whole = [&around, input, &around].concat();
        alike(&whole[around.len()..][..input.len()]);
    }
}

/// The scanner has no `unsafe`: it sees the payload and nothing else.
fn alike(payload: &[u8]) {
    assert_eq!(telemetry(payload), portable(payload));
}
