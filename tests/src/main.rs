//! The `wattline` binary as the tests start it.

use std::process::ExitCode;

fn main() -> ExitCode {
    wattline::run(std::env::args_os())
}
