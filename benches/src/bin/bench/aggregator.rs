//! The aggregator alone: a topic that is full, PostgreSQL, and one program that brings the one into the other.

use crate::batch::Batch;
use crate::contender::Contender;
use crate::figures::Figures;
use crate::roles::Roles;
use crate::servers::Servers;
use crate::stored;
use benches::Outcome;
use benches::figures::say;
use domain::time::Timestamp;
use ops::clock::Clock;
use std::path::Path;
use std::time::Instant;

/// One run with a shell's command in its place.
pub(crate) async fn run_contender(
    servers: &Servers,
    (program, command): (&Path, &str),
    buildings: usize,
    records: usize,
) -> Outcome<Figures> {
    let site = servers.site_with_database(program, buildings).await?;
    stored::make_contenders_table(&site).await?;
    let now = Timestamp::from_micros(Clock::system().now_micros());
    let batch = Batch::at_once(buildings, records, now);
    site.topic.fill(&batch)?;

    let begun = Instant::now();
    let mut contender = Contender::start(command, &site)?;
    let machine = servers.machine(None, &[("aggregator", contender.id())]);
    let before = machine.spent()?;
    let (done, counted) = stored::until_contender_stored(&site, &machine, &batch).await?;
    if let Some(words) = contender.last_words()? {
        say(&words)?;
    }
    drop(contender);
    servers.clear(site).await?;
    let spent = (&before, &done.spent);
    Ok(Figures::new(counted, done.stored - begun, spent))
}

/// One run of ours.
pub(crate) async fn run(
    servers: &Servers,
    program: &Path,
    buildings: usize,
    records: usize,
) -> Outcome<Figures> {
    let site = servers.site_with_database(program, buildings).await?;
    let now = Timestamp::from_micros(Clock::system().now_micros());
    let batch = Batch::at_once(buildings, records, now);
    site.topic.fill(&batch)?;

    let begun = Instant::now();
    let mut roles = Roles::start(program, &site, &["aggregator"])?;
    let machine = servers.machine(None, &roles.processes());
    let before = machine.spent()?;
    let due = batch.records as u64;
    let done = stored::until_in_buckets(&site, &mut roles, &machine, due).await?;
    drop(roles);
    let counted = stored::count(&site, &batch).await?;
    servers.clear(site).await?;
    let figures = Figures::new(counted, done.stored - begun, (&before, &done.spent));
    Ok(figures.with_buckets(&done))
}
