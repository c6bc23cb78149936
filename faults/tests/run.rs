//! A short run with all kinds of fault, as part of all tests.

use std::process::Command;

/// With these every kind of fault comes at least once. Other seeds are for `make faults`, which draws one.
const SECONDS: &str = "75";
const SEED: &str = "2";

#[test]
fn whatever_is_broken_nothing_is_lost_and_nothing_is_doubled() {
    let output = Command::new(env!("CARGO_BIN_EXE_faults"))
        .args(["--binary", env!("CARGO_BIN_EXE_wattline-under-faults")])
        .args(["--seconds", SECONDS, "--seed", SEED, "--per-second", "150"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    // Only the small disk wants rights that not everybody has; all else is fetched with the servers.
    assert!(!said.contains("without libfaketime"), "{said}");
}
