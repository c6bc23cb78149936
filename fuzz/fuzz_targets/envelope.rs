//! See `fuzz::envelope`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::envelope::check(input));
