//! Any bytes: the decoder and the schema's validator must agree on whether they are a record, why they are none, and
//! what every column holds.

#[path = "../../crates/wire/tests/decoder/judge.rs"]
pub(crate) mod judge;

/// Asserts that they agree.
pub fn check(payload: &[u8]) {
    judge::agree(payload);
}
