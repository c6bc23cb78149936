//! See `fuzz::action`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::action::check(input));
