//! The bridge alone: Mosquitto, Kafka, the load and one program between them.

use crate::batch::Batch;
use crate::contender::Contender;
use crate::figures::Figures;
use crate::load;
use crate::servers::{Servers, Site};
use benches::Outcome;
use benches::cost::{Machine, Spent};
use benches::figures::say;
use benches::role::Role;
use domain::time::Timestamp;
use ops::clock::Clock;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest wait until a record gets through a program that was started.
const READY_PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two probes.
const PROBE_PAUSE: Duration = Duration::from_millis(100);
/// Without another record for so long all probes have come, and all that could be doubled.
const QUIET: Duration = Duration::from_secs(1);
/// Without another record for so long those that are missing do not come.
const PATIENCE: Duration = Duration::from_secs(15);
/// Pause between two looks at the topic: how exact the end of a run is.
const LOOK: Duration = Duration::from_millis(20);
/// How often it is looked at what was spent before all records are there.
const SPENT_LOOK: Duration = Duration::from_millis(500);

/// Who takes the bridge's place.
#[derive(Clone, Debug)]
pub(crate) enum Entrant {
    /// This build of wattline.
    Ours(PathBuf),
    /// A shell's command.
    Command(String),
}

enum Running {
    Ours(Role),
    Other(Contender),
}

/// One run.
pub(crate) async fn run(
    servers: &Servers,
    entrant: &Entrant,
    buildings: usize,
    records: usize,
) -> Outcome<Figures> {
    let site = servers.site().await?;
    let now = Timestamp::from_micros(Clock::system().now_micros());
    let batch = Arc::new(Batch::at_once(buildings, records, now));
    let mut running = entrant.start(&site)?;
    let probes = get_through(&site, &batch, &mut running).await?;
    let machine = servers.machine(Some(&site), &[("bridge", running.id())]);

    let before = machine.spent()?;
    let begun = Instant::now();
    let publishing = load::publish(site.mosquitto.port(), Arc::clone(&batch));
    let due = probes + batch.records as u64;
    let (published, arrived) = tokio::join!(publishing, last_arrival(&site, &machine, due));
    let (published, arrived) = (published?, arrived?);
    if let Some(words) = running.last_words()? {
        say(&words)?;
    }
    drop(running);
    let counted = site.topic.count(&batch)?;
    let took = arrived.at - begun;
    let figures = Figures::new(counted, took, (&before, &arrived.spent));
    servers.clear(site).await?;
    Ok(figures.published(published.took()))
}

impl Entrant {
    /// What reports call it.
    pub(crate) const fn name(&self) -> &str {
        match self {
            Self::Ours(_) => "ours",
            Self::Command(command) => command.as_str(),
        }
    }

    fn start(&self, site: &Site) -> Outcome<Running> {
        Ok(match self {
            Self::Ours(program) => Running::Ours(site.wattline(program).start("bridge")?),
            Self::Command(command) => Running::Other(Contender::start(command, site)?),
        })
    }
}

impl Running {
    fn id(&self) -> u32 {
        match self {
            Self::Ours(role) => role.id(),
            Self::Other(contender) => contender.id(),
        }
    }

    fn last_words(&mut self) -> Outcome<Option<String>> {
        match self {
            Self::Ours(role) => role.last_words(),
            Self::Other(contender) => contender.last_words(),
        }
    }
}

/// Publishes single records until one is in the topic, whoever is to bring it there, and all others are; tells how
/// many came.
async fn get_through(site: &Site, batch: &Batch, running: &mut Running) -> Outcome<u64> {
    let begun = Instant::now();
    let mut probe = 0;
    while site.topic.records()? == 0 {
        if let Some(words) = running.last_words()? {
            return Err(words.into());
        }
        if begun.elapsed() > READY_PATIENCE {
            return Err(format!("no record got through within {READY_PATIENCE:?}").into());
        }
        let payload = batch.probe(probe);
        load::publish_one(site.mosquitto.port(), batch.topic(0), &payload)?;
        probe += 1;
        tokio::time::sleep(PROBE_PAUSE).await;
    }
    let mut records = site.topic.records()?;
    let mut changed = Instant::now();
    while changed.elapsed() < QUIET {
        tokio::time::sleep(LOOK).await;
        let found = site.topic.records()?;
        if found != records {
            (records, changed) = (found, Instant::now());
        }
    }
    Ok(records)
}

/// When the last record came to the topic, and what was spent until then.
struct Arrival {
    at: Instant,
    spent: Spent,
}

/// Watches the topic until no more records can be expected.
async fn last_arrival(site: &Site, machine: &Machine, due: u64) -> Outcome<Arrival> {
    let mut records = site.topic.records()?;
    let mut newest = Arrival {
        at: Instant::now(),
        spent: machine.spent()?,
    };
    let mut looked = Instant::now();
    loop {
        tokio::time::sleep(LOOK).await;
        let found = site.topic.records()?;
        if found != records {
            records = found;
            newest.at = Instant::now();
            if records >= due || looked.elapsed() > SPENT_LOOK {
                newest.spent = machine.spent()?;
                looked = Instant::now();
            }
        }
        let patience = if records >= due { QUIET } else { PATIENCE };
        if newest.at.elapsed() > patience {
            return Ok(newest);
        }
    }
}
