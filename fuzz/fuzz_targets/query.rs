//! See `fuzz::query`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::query::check(input));
