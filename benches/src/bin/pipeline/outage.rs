//! An outage of the aggregator: how fast what piled up is stored, while new records keep arriving.

use crate::latency::{self, Latency};
use crate::run::Context;
use crate::servers::Servers;
use crate::stored::{self, Stored};
use crate::targets;
use benches::Outcome;
use benches::figures::say;
use domain::time::Timestamp;
use serde::Serialize;
use simulator::{Fleet, Pace, Scenario};
use sqlx::Row as _;
use std::time::{Duration, Instant};

/// Longest wait for what piled up.
const PATIENCE: Duration = Duration::from_secs(900);
/// How much longer new records keep arriving than catching up may take.
const SPARE_S: u64 = 30;
/// Pause between two looks at how much of it is stored.
const LOOK: Duration = Duration::from_secs(1);

/// The figures of an outage.
#[derive(Debug, Serialize)]
pub(crate) struct Outage {
    pub(crate) seconds: u64,
    pub(crate) records_per_s: u32,
    /// What was published meanwhile, and what became of it.
    pub(crate) piled_up: Stored,
    /// From the aggregator's start until all of it was stored.
    pub(crate) caught_up_s: f64,
    /// Seconds of the outage made good in a second.
    pub(crate) times_real_time: f64,
    /// Of what was published after the outage, beside what piled up.
    pub(crate) latency: Latency,
    pub(crate) arrived_meanwhile: Stored,
    pub(crate) reached: bool,
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
    context: &mut Context,
    servers: &Servers,
    probes: &Fleet,
    paced: impl Fn(u64) -> Scenario,
    (seconds, records_per_s): (u64, u32),
) -> Outcome<Outage> {
    say(&format!(
        "outage: {seconds} s without an aggregator at {records_per_s} records/s"
    ))?;
    context.roles.end("aggregator");
    let during = paced(seconds);
    let piled_up = context.load.publish(during.clone(), Pace::Realtime).await?;
    let begun = Instant::now();
    context.roles.begin("aggregator").await?;
    let at_the_target = Duration::from_secs(seconds).div_f64(targets::TIMES_REAL_TIME);
    let goes_on = at_the_target.as_secs() + SPARE_S;
    say(&format!(
        "the aggregator is back; {goes_on} s at the same rate beside what piled up"
    ))?;
    let after = paced(goes_on);
    let end = Timestamp::from_micros(ops::clock::Clock::system().now_micros());
    let (caught_up, latency, meanwhile) = tokio::try_join!(
        until_stored(
            context,
            piled_up.start,
            end,
            piled_up.summary.telemetry.valid()
        ),
        latency::probe(&context.roles, servers, probes, goes_on),
        context.load.publish(after.clone(), Pace::Realtime),
    )?;
    let caught_up_s = caught_up.duration_since(begun).as_secs_f64();
    let times_real_time = seconds as f64 / caught_up_s;
    let piled_up = stored::compare(&context.database, &during, piled_up.start).await?;
    let arrived_meanwhile = settled(context, &after, meanwhile.start).await?;
    Ok(Outage {
        seconds,
        records_per_s,
        piled_up,
        caught_up_s,
        times_real_time,
        reached: times_real_time >= targets::TIMES_REAL_TIME && latency.reached,
        latency,
        arrived_meanwhile,
    })
}

/// When so many records between two times were stored.
async fn until_stored(
    context: &Context,
    start: Timestamp,
    end: Timestamp,
    records: u64,
) -> Outcome<Instant> {
    let count = "select count(*) from telemetry_record \
                 where time >= timestamptz 'epoch' + $1 * interval '1 microsecond' \
                   and time < timestamptz 'epoch' + $2 * interval '1 microsecond'";
    let begun = Instant::now();
    loop {
        let found: i64 = sqlx::query(count)
            .bind(start.micros())
            .bind(end.micros())
            .fetch_one(&context.database)
            .await?
            .try_get(0)?;
        if u64::try_from(found)? >= records {
            return Ok(Instant::now());
        }
        if begun.elapsed() > PATIENCE {
            return Err(
                format!("{found} of {records} records are stored after {PATIENCE:?}").into(),
            );
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What the database has of a scenario, once it has all of it or for some time no more.
async fn settled(context: &Context, scenario: &Scenario, start: Timestamp) -> Outcome<Stored> {
    let begun = Instant::now();
    loop {
        let found = stored::compare(&context.database, scenario, start).await?;
        if found.missing == 0 || begun.elapsed() > LOOK * 30 {
            return Ok(found);
        }
        tokio::time::sleep(LOOK).await;
    }
}
