//! `make faults`: breaks everything for a while, and tells whether anything was lost or doubled.
#![expect(clippy::print_stdout, reason = "a program for people")]
#![expect(clippy::print_stderr, reason = "a program for people")]

use clap::Parser;
use faults::Outcome;
use faults::arena::Release;
use faults::run::{Plan, run};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Breaks everything that the service consists of and stands on, and compares what is stored with what was published.
#[derive(Debug, Parser)]
#[command(name = "faults")]
struct Arguments {
    /// From it follow the faults and the messages; drawn when left out.
    #[arg(long)]
    seed: Option<u64>,
    /// For how long things are broken; 3600 for an hour.
    #[arg(long, default_value_t = 120)]
    seconds: u64,
    /// One fault so often on average, in milliseconds.
    #[arg(long, default_value_t = 1_500)]
    every_ms: u64,
    /// Bridges that share a subscription.
    #[arg(long, default_value_t = 2)]
    bridges: usize,
    /// Aggregators in one consumer group.
    #[arg(long, default_value_t = 2)]
    aggregators: usize,
    /// Buildings that publish.
    #[arg(long, default_value_t = 40)]
    buildings: usize,
    /// Messages a second, all buildings together.
    #[arg(long, default_value_t = 200)]
    per_second: u32,
    /// The `wattline` to strike; the one beside this program when left out.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// An older `wattline` to begin with: the schema is brought up to date in the middle, and processes as they are
    /// started again.
    #[arg(long)]
    upgrade_from: Option<PathBuf>,
    /// Where to write the summary as JSON.
    #[arg(long)]
    summary: Option<PathBuf>,
    /// Mounts stay among ourselves.
    #[arg(long, hide = true)]
    unshared: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = if may_unshare(&arguments) {
        again_unshared()
    } else {
        go(arguments)
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("faults: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The small disk that the database gets is mounted where nobody else sees it, and goes with this process.
fn may_unshare(arguments: &Arguments) -> bool {
    !arguments.unshared && rustix::process::geteuid().is_root()
}

fn again_unshared() -> Outcome<bool> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "--"]);
    command.arg(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).arg("--unshared");
    Ok(command.status()?.success())
}

#[tokio::main]
async fn go(arguments: Arguments) -> Outcome<bool> {
    let seed = arguments
        .seed
        .unwrap_or_else(|| u64::from(rand::random::<u32>()));
    let plan = Plan {
        seed,
        length: Duration::from_secs(arguments.seconds),
        every: Duration::from_millis(arguments.every_ms),
        shape: Plan::possible(arguments.bridges, arguments.aggregators),
        buildings: arguments.buildings,
        per_second: arguments.per_second,
    };
    if !plan.shape.small_disk {
        println!("without root the database's disk is not filled");
    }
    if !plan.shape.clocks {
        println!("without libfaketime no clock is stepped");
    }
    println!("seed {seed}");
    let binary = match arguments.binary {
        Some(binary) => binary,
        None => std::env::current_exe()?.with_file_name("wattline"),
    };
    let release = Release::new(binary, arguments.upgrade_from);
    let summary = run(&plan, release, |line| println!("{line}")).await?;
    print!("{summary}");
    if let Some(path) = arguments.summary {
        std::fs::write(path, format!("{:#}\n", summary.json()))?;
    }
    Ok(summary.is_clean())
}
