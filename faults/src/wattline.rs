//! The `wattline` binary that the faults strike.

use std::process::ExitCode;

fn main() -> ExitCode {
    wattline::run(std::env::args_os())
}
