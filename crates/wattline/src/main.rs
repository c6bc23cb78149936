//! The one binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    wattline::run(std::env::args_os())
}
