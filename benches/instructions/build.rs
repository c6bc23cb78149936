//! Tells the program which compiler builds it: counts are of one compiler.

use std::env::var_os;
use std::process::Command;

fn main() {
    let compiler = var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler).arg("--version").output();
    let said = said.map_or_else(|_| Vec::new(), |it| it.stdout);
    let version = String::from_utf8_lossy(&said);
    writeln_to_cargo(&format!("rustc-env=COMPILER={}", version.trim()));
    writeln_to_cargo("rerun-if-changed=build.rs");
}

#[expect(clippy::print_stdout, reason = "cargo reads it there")]
fn writeln_to_cargo(instruction: &str) {
    println!("cargo::{instruction}");
}
