//! One run: a fleet is published, and everything is waited for, counted and paid.

use crate::load::{Load, Published};
use crate::roles::Roles;
use crate::stored::{self, Stored};
use benches::Outcome;
use benches::cost::{Cost, Machine};
use serde::Serialize;
use simulator::{Pace, Scenario};
use sqlx::PgPool;
use std::time::{Duration, Instant};

/// Longest wait after the last publication for the last record to be stored.
const STORED_PATIENCE: Duration = Duration::from_secs(120);
/// Pause between two looks for the last record.
const STORED_LOOK: Duration = Duration::from_millis(10);
/// Pause between two looks at how much waits.
const WAITING_LOOK: Duration = Duration::from_millis(500);

/// What every run uses.
pub(crate) struct Context {
    pub(crate) machine: Machine,
    pub(crate) roles: Roles,
    pub(crate) database: PgPool,
    pub(crate) load: Load,
}

/// The figures of a run.
#[derive(Debug, Serialize)]
pub(crate) struct Figures {
    /// Publications that the broker had to confirm, and has.
    pub(crate) published: u64,
    pub(crate) confirmed: u64,
    /// Publications sent again after a lost connection.
    pub(crate) repeated: u64,
    pub(crate) published_s: f64,
    pub(crate) published_per_s: f64,
    pub(crate) stored: Stored,
    /// From the first publication until the last record was stored.
    pub(crate) stored_per_s: f64,
    pub(crate) last_stored_after_s: f64,
    /// The most that were published and not stored at a look; only where the pace is known.
    pub(crate) most_waiting: Option<u64>,
    pub(crate) duplicates: u64,
    pub(crate) retries: u64,
    /// Connections to the broker that the bridge has lost; what was in flight came again.
    pub(crate) bridge_reconnects: u64,
    pub(crate) costs: Vec<Cost>,
    /// Processor time of everything on the machine that is not ours; high values spoil a run.
    pub(crate) others_cpu_s: f64,
}

impl Figures {
    /// Whether each record that was published is stored exactly once.
    pub(crate) const fn is_lossless(&self) -> bool {
        self.stored.is_exact() && self.confirmed >= self.published
    }
}

/// Publishes a scenario and measures until the last of its records is stored.
pub(crate) async fn run(context: &Context, scenario: Scenario, pace: Pace) -> Outcome<Figures> {
    let before = context.roles.counted().await?;
    let spent = context.machine.spent()?;
    let (published, most_waiting) = publish(context, &scenario, pace, before.stored).await?;
    let due = published.summary.telemetry.valid();
    let (stored, last_stored_after) =
        until_stored(context, &scenario, &published, before.stored + due).await?;
    let (costs, others_cpu_s) = context.machine.spent()?.since(&spent, stored.records);
    let after = context.roles.counted().await?;
    let published_s = published.took.as_secs_f64();
    Ok(Figures {
        published: published.summary.published(),
        confirmed: published.summary.acknowledged,
        repeated: published.summary.repeated,
        published_s,
        published_per_s: published.summary.published() as f64 / published_s,
        stored,
        stored_per_s: stored.records as f64 / (published_s + last_stored_after.as_secs_f64()),
        last_stored_after_s: last_stored_after.as_secs_f64(),
        most_waiting,
        duplicates: after.duplicates - before.duplicates,
        retries: after.retries - before.retries,
        bridge_reconnects: after.bridge_reconnects - before.bridge_reconnects,
        costs,
        others_cpu_s,
    })
}

/// Publishes, and meanwhile looks how many records are on their way.
async fn publish(
    context: &Context,
    scenario: &Scenario,
    pace: Pace,
    stored_before: u64,
) -> Outcome<(Published, Option<u64>)> {
    let interval = scenario.interval.as_secs_f64();
    let per_s = match pace {
        Pace::Realtime => Some(scenario.buildings as f64 / interval),
        Pace::AsFastAsPossible { .. } => None,
    };
    let begun = Instant::now();
    let publishing = context.load.publish(scenario.clone(), pace);
    tokio::pin!(publishing);
    let mut look = tokio::time::interval(WAITING_LOOK);
    let mut most = 0.0_f64;
    loop {
        tokio::select! {
            biased;
            published = &mut publishing => {
                return Ok((published?, per_s.map(|_| whole(most))));
            }
            _ = look.tick() => {
                // Before the answer: what is published meanwhile does not wait yet.
                let elapsed = begun.elapsed().as_secs_f64();
                let stored = context.roles.counted().await?.stored - stored_before;
                most = most.max(per_s.unwrap_or_default() * elapsed - stored as f64);
            }
        }
    }
}

/// Waits for the last record, counted by identity once the counter says that it may be there.
async fn until_stored(
    context: &Context,
    scenario: &Scenario,
    published: &Published,
    counter_due: u64,
) -> Outcome<(Stored, Duration)> {
    loop {
        let waited = published.ended.elapsed();
        let out_of_patience = waited > STORED_PATIENCE;
        if context.roles.counted().await?.stored >= counter_due || out_of_patience {
            let stored = stored::compare(&context.database, scenario, published.start).await?;
            if stored.missing == 0 || out_of_patience {
                return Ok((stored, waited));
            }
        }
        tokio::time::sleep(STORED_LOOK).await;
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of records, never below zero"
)]
fn whole(records: f64) -> u64 {
    records.round() as u64
}
