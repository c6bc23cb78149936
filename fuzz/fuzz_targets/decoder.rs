//! Any bytes: the decoder and the schema's validator must agree on whether they are a record, why
//! they are none, and what every column holds.

#![no_main]

#[path = "../../crates/wire/tests/decoder/judge.rs"]
mod judge;

libfuzzer_sys::fuzz_target!(|payload: &[u8]| {
    judge::agree(payload);
});
