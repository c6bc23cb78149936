//! See `fuzz::token`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::token::check(input));
