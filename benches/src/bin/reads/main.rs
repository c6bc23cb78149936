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
use benches::Outcome;
use benches::figures::{self, say};
use clap::Parser as _;
use options::Options;
use report::Report;
use std::process::ExitCode;

fn main() -> ExitCode {
    figures::end("reads", measured().map(|it| it.refused == 0))
}

fn measured() -> Outcome<Report> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let report = runtime.block_on(measure(&options))?;
    let path = options.files.json()?;
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
    let machine = api.machine();
    let before = machine.spent()?;
    let figures = load::run(&api, &history, options).await?;
    let requests = u64::from(options.rate * options.seconds);
    let costs = machine.spent()?.since(&before, requests);
    let peak_mb = api.peak_memory_mb()?;
    Ok(Report::new(figures, &history, peak_mb, costs, options))
}
