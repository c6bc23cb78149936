//! See `fuzz::decoder`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::decoder::check(input));
