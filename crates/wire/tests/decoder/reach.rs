//! The validator reads the payload's bytes, all of them and no others; and it takes vectors where there are some.

use crate::mutations::RECORDS;
use wire::validate::{has_vectors, portable, telemetry};

/// Every front and every back of the records, and runs of one byte in every length up to beyond a full record.
fn payloads() -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    for record in RECORDS {
        let record = record.as_bytes();
        for place in 0..=record.len() {
            let (front, back) = record.split_at(place);
            payloads.extend([front.to_vec(), back.to_vec()]);
        }
    }
    for byte in *b"{}\",:-1 .\0\xff" {
        payloads.extend((0..=700).map(|length| vec![byte; length]));
    }
    payloads
}

#[test]
#[cfg(unix)]
fn no_byte_before_or_behind_a_payload_is_touched() {
    let mut page = crate::page::Page::new();
    for payload in payloads() {
        let expected = portable(&payload);
        assert_eq!(telemetry(page.at_the_end(&payload)), expected);
        assert_eq!(telemetry(page.at_the_begin(&payload)), expected);
        assert_eq!(portable(page.at_the_end(&payload)), expected);
        assert_eq!(portable(page.at_the_begin(&payload)), expected);
    }
}

#[test]
fn what_stands_around_a_payload_does_not_count() {
    for payload in payloads() {
        let expected = portable(&payload);
        for around in [&[b'1'; 64][..], &[b'}'; 64], &[b' '; 64], &[0; 64]] {
            let whole = [around, &payload, around].concat();
            let within = &whole[around.len()..][..payload.len()];
            assert_eq!(telemetry(within), expected);
        }
    }
    // What was cut off stands behind it.
    for record in RECORDS {
        for length in 0..record.len() {
            let front = &record.as_bytes()[..length];
            assert_eq!(telemetry(front), portable(front));
        }
    }
}

/// The kernel's own list is what it is held to.
#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn vectors_are_taken_wherever_the_machine_has_them() {
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = processors.lines().find(|line| line.starts_with("flags"));
    let flags: Vec<&str> = flags.unwrap().split_whitespace().collect();
    let needed = [
        "avx512f",
        "avx512bw",
        "avx512vl",
        "avx512vbmi",
        "avx512_vbmi2",
        "popcnt",
    ];
    let listed = needed.iter().all(|it| flags.contains(it));
    assert_eq!(has_vectors(), listed);
}
