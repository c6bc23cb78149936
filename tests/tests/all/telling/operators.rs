//! What an operator's command tells when it cannot do its work.

use crate::WATTLINE;
use std::process::{Command, Output};

/// Nobody listens there.
const AWAY: &str = "postgres://ada:sesame@127.0.0.1:1/none";

fn wattline(arguments: &[&str]) -> Output {
    Command::new(WATTLINE)
        .args(arguments)
        .env("WATTLINE_DATABASE_URL", AWAY)
        .output()
        .unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_database_that_is_away_is_told_with_its_address_and_why() {
    for arguments in [
        &["dead-letters", "stats"][..],
        &["admin", "building", "list"],
        &["admin", "rebuild"],
    ] {
        let output = wattline(arguments);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(
            told.contains("database 127.0.0.1:1: ") && told.contains("refused"),
            "{arguments:?}: {told}"
        );
        assert!(
            !told.contains("sesame") && told.lines().count() == 1,
            "{told}"
        );
    }
}

#[test]
fn a_period_that_ends_before_it_begins_is_wrong_usage() {
    let (since, until) = ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z");
    let output = wattline(&["admin", "rebuild", "--since", since, "--until", until]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
}
