//! End to end: bridge, aggregator and api at once.

use crate::batch::Batch;
use crate::figures::Figures;
use crate::latency::{self, Latency};
use crate::load;
use crate::outage::{self, Outage};
use crate::roles::Roles;
use crate::servers::{Servers, Site};
use crate::stored;
use benches::Outcome;
use domain::time::Timestamp;
use ops::clock::Clock;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The processes of a run end to end.
pub(crate) struct Pipeline<'a> {
    pub(crate) servers: &'a Servers,
    pub(crate) program: &'a Path,
    pub(crate) buildings: usize,
}

/// So many records a second, for so long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    pub(crate) per_s: u32,
    pub(crate) seconds: u64,
}

/// Probes beside a moderate rate, and what that rate itself came to.
#[derive(Debug, Serialize)]
pub(crate) struct Readable {
    pub(crate) latency: Latency,
    pub(crate) load: Figures,
}

impl Pipeline<'_> {
    /// Everything at once: the broker queues what the bridge does not take.
    pub(crate) async fn full_speed(&self, records: usize) -> Outcome<Figures> {
        let (site, mut roles) = self.begin(&["bridge", "aggregator"]).await?;
        let now = Timestamp::from_micros(Clock::system().now_micros());
        let batch = Batch::at_once(self.buildings, records, now);
        let figures = self.publish(&site, &mut roles, batch).await?;
        drop(roles);
        self.servers.clear(site).await?;
        Ok(figures)
    }

    /// A fixed rate, to see whether anything piles up.
    pub(crate) async fn sustained(&self, rate: Rate) -> Outcome<Figures> {
        let (site, mut roles) = self.begin(&["bridge", "aggregator", "api"]).await?;
        let figures = self.publish(&site, &mut roles, self.paced(rate)).await?;
        drop(roles);
        self.servers.clear(site).await?;
        Ok(figures)
    }

    /// How soon a record is read, beside a fixed rate and around the end of a minute.
    pub(crate) async fn readable(&self, rate: Rate) -> Outcome<Readable> {
        let (site, mut roles) = self.begin(&["bridge", "aggregator", "api"]).await?;
        latency::wait_for_half_a_minute(rate.seconds).await;
        let batch = self.paced(rate);
        let (latency, load) = tokio::try_join!(
            latency::probe(&site, rate.seconds),
            self.publish(&site, &mut roles, batch),
        )?;
        drop(roles);
        self.servers.clear(site).await?;
        Ok(Readable { latency, load })
    }

    /// An outage of the aggregator, so many seconds at this rate.
    pub(crate) async fn outage(&self, rate: Rate) -> Outcome<Outage> {
        let (site, mut roles) = self.begin(&["bridge", "aggregator", "api"]).await?;
        let outage = outage::measure(self, &site, &mut roles, rate).await?;
        drop(roles);
        self.servers.clear(site).await?;
        Ok(outage)
    }

    /// A batch that begins now.
    pub(crate) fn paced(&self, rate: Rate) -> Batch {
        let now = Timestamp::from_micros(Clock::system().now_micros());
        Batch::paced(self.buildings, rate.per_s, rate.seconds, now)
    }

    async fn begin(&self, names: &[&'static str]) -> Outcome<(Site, Roles)> {
        let site = self
            .servers
            .site_with_database(self.program, self.buildings);
        let site = site.await?;
        let mut roles = Roles::start(self.program, &site, names)?;
        roles.ready().await?;
        Ok((site, roles))
    }

    /// Publishes a batch and waits until all of it is stored. Buckets are waited for when all of their minutes have
    /// ended.
    async fn publish(&self, site: &Site, roles: &mut Roles, batch: Batch) -> Outcome<Figures> {
        let batch = Arc::new(batch);
        let machine = self.servers.machine(Some(site), &roles.processes());
        let due = batch.records as u64;
        let before = machine.spent()?;
        let begun = Instant::now();
        let publishing = load::publish(site.mosquitto.port(), Arc::clone(&batch));
        let storing = async {
            if batch.due(0).is_some() {
                stored::until_stored(roles, &machine, due).await
            } else {
                stored::until_in_buckets(site, roles, &machine, due).await
            }
        };
        let (published, done) = tokio::try_join!(publishing, storing)?;
        let counted = stored::settled(site, &batch).await?;
        let figures = Figures::new(counted, done.stored - begun, (&before, &done.spent));
        Ok(figures.published(published.took()).with_buckets(&done))
    }
}
