//! Mutants of a few representative records: exhaustively by one byte, and at random by a seed.

use crate::judge;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// All fields, compact, in the specification's order.
const FULL: &str = r#"{"time":1700000000.25,"main_meter":{"status":"available","active_power_w":-1250},"battery":{"status":"degraded","active_power_w":-3000,"active_power_setpoint_w":-2999,"baseline_power_w":0,"soc":63.5,"charge_limit_w":10000,"remaining_charge_time_s":5400,"discharge_limit_w":9000,"remaining_discharge_time_s":7200},"solar":{"status":"unavailable","active_power_w":-8120,"active_power_setpoint_w":-9000,"rated_power_w":12000,"min_power_w":-12000,"max_power_w":null,"baseline_power_w":-8120}}"#;

/// Few fields, values at their bounds.
const BOUNDS: &str = r#"{"time":0,"main_meter":{"status":"available","active_power_w":2147483647},"battery":{"status":"available","soc":100}}"#;

/// Everything that is legal and rare: white space, escapes, duplicates, exponents, unknown keys.
const ODD: &str = "{ \"solar\" : {\"rated_power_w\":5.0e2, \"x\":[1,{\"\\u00e9\":\"\\\"é\"}],\n\"status\":\"\\u0061vailable\"},\"time\":1,\"time\":1.7E+9 }\n";

/// Keys in another order, for people to read.
const PRETTY: &str = "{\n  \"solar\": {\n    \"max_power_w\": -1,\n    \"status\": \"available\"\n  },\n  \"time\": 1700000000123,\n\
    \"battery\": {\r\n\t\"soc\": 0.1,\n    \"charge_limit_w\": 0,\n    \"baseline_power_w\": null,\n            \"status\": \"degraded\"\n  }\n}\n";

pub(crate) const RECORDS: [&str; 4] = [FULL, BOUNDS, ODD, PRETTY];

/// Four times as many are ten million.
const RANDOM_MUTANTS: usize = 2_500_000;

/// What a mutation may put in.
const TOKENS: [&str; 36] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "-0.0",
    "5.0",
    "5e0",
    "1e400",
    "-1e400",
    "1e-400",
    "2147483648",
    "-2147483648",
    "1e10",
    "100.5",
    "\"\"",
    "\"available\"",
    "\"\\u0061vailable\"",
    "\"\\ud800\"",
    "{}",
    "[]",
    "[[]]",
    ",",
    ":",
    "{",
    "}",
    "\"time\":1,",
    "\"time\":null,",
    "\"x\":1,",
    "\"status\":\"degraded\",",
    "\"soc\":1e400,",
    "\\",
    "\"",
    " ",
    "\u{feff}",
    "\0",
];

#[test]
fn every_byte_replaced_by_every_byte_has_the_judges_verdict() {
    let mut accepted = 0_u32;
    for record in RECORDS {
        let mut mutant = record.as_bytes().to_vec();
        for place in 0..mutant.len() {
            let original = mutant[place];
            for byte in 0..=u8::MAX {
                mutant[place] = byte;
                accepted += u32::from(judge::agree(&mutant));
            }
            mutant[place] = original;
        }
    }
    assert!(accepted > 10_000, "only {accepted} mutants were records");
}

#[test]
fn every_deletion_and_truncation_has_the_judges_verdict() {
    for record in RECORDS {
        assert!(judge::agree(record.as_bytes()));
        for place in 0..record.len() {
            let (front, back) = record.as_bytes().split_at(place);
            judge::agree(front);
            judge::agree(back);
            for length in 1..=back.len().min(8) {
                judge::agree(&[front, &back[length..]].concat());
            }
        }
    }
}

/// Mutants of every record, the same ones every time.
fn random_mutants(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut accepted = 0_usize;
    for _ in 0..RANDOM_MUTANTS {
        let record = RECORDS[below(&mut random, RECORDS.len())];
        let mut mutant = record.as_bytes().to_vec();
        for _ in 0..=below(&mut random, 3) {
            mutate(&mut random, &mut mutant, &TOKENS);
        }
        accepted += usize::from(judge::agree(&mutant));
    }
    assert!(
        accepted > RANDOM_MUTANTS / 100,
        "only {accepted} mutants were records"
    );
}

#[test]
fn random_mutants_have_the_judges_verdict() {
    random_mutants(20_260_102);
}

#[test]
fn a_second_quarter_of_them_has_too() {
    random_mutants(20_260_103);
}

#[test]
fn a_third_quarter_of_them_has_too() {
    random_mutants(20_260_104);
}

#[test]
fn the_last_quarter_of_them_has_too() {
    random_mutants(20_260_105);
}

/// Puts in, takes out, replaces or repeats a few bytes at a place.
pub(crate) fn mutate(random: &mut ChaCha8Rng, mutant: &mut Vec<u8>, tokens: &[&str]) {
    let start = below(random, mutant.len() + 1);
    let end = (start + below(random, 12)).min(mutant.len());
    let token = tokens[below(random, tokens.len())];
    match below(random, 4) {
        0 => drop(mutant.splice(start..end, token.bytes())),
        1 => drop(mutant.splice(start..start, token.bytes())),
        2 => drop(mutant.drain(start..end)),
        _ => {
            let copy = mutant[start..end].to_vec();
            let place = below(random, mutant.len() + 1);
            drop(mutant.splice(place..place, copy));
        }
    }
}

/// A number below `bound`; that small bounds make it slightly uneven does not matter here.
pub(crate) fn below(random: &mut ChaCha8Rng, bound: usize) -> usize {
    usize::try_from(random.next_u32()).unwrap() % bound
}
