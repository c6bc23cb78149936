//! See `fuzz::fleet_file`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::fleet_file::check(input));
