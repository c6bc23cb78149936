//! The guard: nothing hot takes more instructions than were accepted.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]
#![expect(
    clippy::unwrap_used,
    reason = "tests stop where something is not as it should be"
)]

use std::io::Write as _;
use std::process::{Command, Output};

fn check(file: Option<&str>) -> Output {
    let program = env!("CARGO_BIN_EXE_instructions");
    Command::new(program)
        .arg("check")
        .args(file)
        .output()
        .unwrap()
}

#[test]
fn no_hot_function_takes_more_instructions_than_were_accepted() {
    let output = check(None);
    let told = String::from_utf8_lossy(&output.stderr);
    let counted = String::from_utf8_lossy(&output.stdout);
    // Not captured: that the compiler is another one, everybody is to see.
    std::io::stderr().write_all(told.as_bytes()).unwrap();
    assert!(output.status.success(), "{told}\n{counted}");
}
