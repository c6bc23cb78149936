//! The aggregator alone: a topic that is full, PostgreSQL, and one program that brings the one into the other.

use crate::batch::Batch;
use crate::figures::Figures;
use crate::roles::Roles;
use crate::servers::Servers;
use crate::stored;
use benches::Outcome;
use domain::time::Timestamp;
use ops::clock::Clock;
use std::path::Path;
use std::time::Instant;

/// One run.
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
