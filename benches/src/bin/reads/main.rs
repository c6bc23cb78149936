//! `reads`: what reads over HTTP cost on a database with a month of history, in figures.
//!
//! The api runs as a process of its own against a private PostgreSQL, with every check that a request
//! meets: token, budget, membership. Requests are sent at a fixed rate whatever became of those before
//! (an open loop), so a slow answer shows in the figures and does not slow the load. A figure below its
//! target is told and is no failure; an answer that is none is one.

mod api;
mod history;
mod load;
mod options;
mod report;

use api::Api;
use clap::Parser as _;
use options::Options;
use report::Report;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Any error, with words that tell what went wrong.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> ExitCode {
    match measured() {
        Ok(report) if report.refused == 0 => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let told = writeln!(io::stderr().lock(), "reads: {error}");
            ExitCode::from(if told.is_ok() { 1 } else { 2 })
        }
    }
}

fn measured() -> Outcome<Report> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(measure(&options))?;
    let path = options.json()?;
    report.keep(&path)?;
    say(&report.text())?;
    say(&format!("written to {}", path.display()))?;
    Ok(report)
}

async fn measure(options: &Options) -> Outcome<Report> {
    say("starting PostgreSQL")?;
    let mut api = Api::prepare(options)?;
    let (buildings, days) = (options.buildings, options.days);
    say(&format!(
        "loading {buildings} buildings with {days} days of buckets and readings"
    ))?;
    let history = history::load(api.database_url(), options).await?;
    say(&format!(
        "loaded {} minute buckets; asking {} times a second for {} seconds",
        history.minute_buckets, options.rate, options.seconds
    ))?;
    api.start().await?;
    let figures = load::run(&api, &history, options).await?;
    Ok(Report::new(
        figures,
        &history,
        api.peak_memory_mb()?,
        options,
    ))
}

fn say(words: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{words}")
}
