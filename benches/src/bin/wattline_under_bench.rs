//! The `wattline` binary as the tests of the bench start it.

use std::process::ExitCode;

fn main() -> ExitCode {
    wattline::run(std::env::args_os())
}
