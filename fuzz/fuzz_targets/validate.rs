//! See `fuzz::validate`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::validate::check(input));
