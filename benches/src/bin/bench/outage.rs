//! An outage of the aggregator: how fast what piled up is stored, while new records keep arriving.

use crate::batch::{Batch, Counted};
use crate::latency::{self, Latency};
use crate::load;
use crate::pipeline::{Pipeline, Rate};
use crate::roles::Roles;
use crate::servers::Site;
use crate::stored;
use benches::Outcome;
use benches::figures::say;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// After an outage, seconds of it that are to be made good in a second.
const TIMES_REAL_TIME: u64 = 5;
/// How much longer new records keep arriving than catching up may take.
const SPARE_S: u64 = 30;
/// Longest wait for what piled up.
const PATIENCE: Duration = Duration::from_secs(900);
/// Pause between two looks at how much of it is stored.
const LOOK: Duration = Duration::from_secs(1);

/// The figures of an outage.
#[derive(Debug, Serialize)]
pub(crate) struct Outage {
    pub(crate) seconds: u64,
    pub(crate) records_per_s: u32,
    /// What was published meanwhile, and what became of it.
    pub(crate) piled_up: Counted,
    /// From the aggregator's start until all of it was stored.
    pub(crate) caught_up_s: f64,
    /// Seconds of the outage made good in a second.
    pub(crate) times_real_time: f64,
    /// Of what was published after the outage, beside what piled up.
    pub(crate) latency: Latency,
    pub(crate) arrived_meanwhile: Counted,
}

impl Outage {
    pub(crate) const fn is_lossless(&self) -> bool {
        self.piled_up.is_exact()
            && self.arrived_meanwhile.is_exact()
            && self.latency.never_readable == 0
    }
}

/// Ends the aggregator, publishes for so long, starts it again, and publishes on.
pub(crate) async fn measure(
    pipeline: &Pipeline<'_>,
    site: &Site,
    roles: &mut Roles,
    rate: Rate,
) -> Outcome<Outage> {
    let port = site.mosquitto.port();
    roles.end("aggregator");
    let during = Arc::new(pipeline.paced(rate));
    load::publish(port, Arc::clone(&during)).await?;
    let begun = Instant::now();
    roles.begin("aggregator").await?;
    let goes_on = Rate {
        seconds: rate.seconds / TIMES_REAL_TIME + SPARE_S,
        ..rate
    };
    say(&format!(
        "the aggregator is back; {} s more",
        goes_on.seconds
    ))?;
    let after = Arc::new(pipeline.paced(goes_on));
    let (caught_up, latency, _) = tokio::try_join!(
        until_stored(site, &during),
        latency::probe(site, goes_on.seconds),
        load::publish(port, Arc::clone(&after)),
    )?;
    let caught_up_s = caught_up.duration_since(begun).as_secs_f64();
    Ok(Outage {
        seconds: rate.seconds,
        records_per_s: rate.per_s,
        piled_up: stored::count(site, &during).await?,
        caught_up_s,
        times_real_time: rate.seconds as f64 / caught_up_s,
        latency,
        arrived_meanwhile: stored::settled(site, &after).await?,
    })
}

/// When all of a batch was stored.
async fn until_stored(site: &Site, batch: &Batch) -> Outcome<Instant> {
    let begun = Instant::now();
    loop {
        let missing = stored::count(site, batch).await?.missing;
        if missing == 0 {
            return Ok(Instant::now());
        }
        if begun.elapsed() > PATIENCE {
            return Err(format!("{missing} records are not stored after {PATIENCE:?}").into());
        }
        tokio::time::sleep(LOOK).await;
    }
}
