//! `bench`: what the whole processes take and give, in figures.
//!
//! Each run has private servers that write to the disk before they confirm, a broker, a topic and a database of its own,
//! and a load that is counted by identity where it arrives. Figures are medians of several runs and go to one file, each
//! work in its place, and to a table. A figure below its target is told and is no failure; a record that was confirmed and
//! is not where it belongs exactly once is one.

mod aggregator;
mod batch;
mod bridge;
mod contender;
mod figures;
mod functions;
mod latency;
mod load;
mod options;
mod outage;
mod pipeline;
mod results;
mod roles;
mod servers;
mod stored;
mod table;
mod topic;
mod works;

use benches::Outcome;
use benches::figures::{end, say};
use clap::Parser as _;
use ops::shutdown::Shutdown;
use options::Options;
use results::Results;
use std::process::ExitCode;

fn main() -> ExitCode {
    end("bench", measured())
}

/// Whether nothing of ours was lost.
fn measured() -> Outcome<bool> {
    let options = Options::parse();
    let mut results = Results::open(options.files.json_named("results")?)?;
    // This thread starts the processes, and the kernel ends them when it ends.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let is_lossless = runtime.block_on(async {
        let shutdown = Shutdown::on_signals();
        tokio::select! {
            measured = works::measure(&options, &mut results) => measured,
            () = shutdown.requested() => Err("told to stop".into()),
        }
    })?;
    let table = table::markdown(results.document());
    say(&format!(
        "\n{table}\nwritten to {}",
        results.path().display()
    ))?;
    if let Some(path) = &options.write_readme {
        table::write_between_markers(path, &table)?;
    }
    Ok(is_lossless)
}
