//! A short run with every kind of fault, as part of all tests.

use std::process::Command;

/// Long enough for every kind of fault to come at least once.
const SECONDS: &str = "75";

#[test]
fn whatever_is_broken_nothing_is_lost_and_nothing_is_doubled() {
    let output = Command::new(env!("CARGO_BIN_EXE_faults"))
        .args(["--binary", env!("CARGO_BIN_EXE_wattline-under-faults")])
        .args(["--seconds", SECONDS, "--per-second", "150"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
}
