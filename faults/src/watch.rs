//! Looks all the while for what may never be, whatever is broken.

use crate::arena::{Arena, name};
use crate::fault::Role;
use crate::ledger::{FactKind, Ledger, Micros};
use sqlx::postgres::PgPoolOptions;
use sqlx::{PgPool, Row as _};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{sleep, timeout};

const LOOK: Duration = Duration::from_millis(700);
/// How long a look may take; something is broken most of the time.
const PATIENCE: Duration = Duration::from_secs(1);
const MINUTE: Micros = 60_000_000;
/// Things that may never be are told so often; one is enough to fail.
const TOLD: usize = 20;

/// What was seen that may never be; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Violations(Arc<Mutex<Vec<String>>>);

impl Violations {
    pub(crate) fn add(&self, what: impl Into<String>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < TOLD {
            all.push(what.into());
        }
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// How often what was looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Looks {
    pub(crate) scrapes: u64,
    pub(crate) bucket_reads: u64,
}

/// Looks for ever; ends when dropped.
pub(crate) async fn watch(
    arena: &Arena,
    ledger: &Ledger,
    violations: &Violations,
    looks: &Mutex<Looks>,
) {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(PATIENCE)
        .connect_lazy(&arena.database_url());
    let Ok(pool) = pool else { return };
    let mut building = 0;
    loop {
        for role in arena.roles() {
            if look_at(arena, role, violations).await {
                looks.lock().unwrap_or_else(PoisonError::into_inner).scrapes += 1;
            }
        }
        building = (building + 1) % arena.buildings.len();
        let read = timeout(
            PATIENCE,
            no_bucket_is_doubled(arena, &pool, ledger, building),
        );
        if let Ok(Ok(doubled)) = read.await {
            looks
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .bucket_reads += 1;
            for what in doubled {
                violations.add(what);
            }
        }
        sleep(LOOK).await;
    }
}

/// A process that is struck at the moment is left alone. Answers whether its metrics were read.
async fn look_at(arena: &Arena, role: Role, violations: &Violations) -> bool {
    let Ok(mut process) = arena.role(role).try_lock() else {
        return false;
    };
    if let Some(how) = process.ended() {
        violations.add(format!("{} ended by itself: {how}", name(role)));
        if let Err(error) = process.begin() {
            violations.add(format!("{}: {error}", name(role)));
        }
        return false;
    }
    let Some(running) = process.running() else {
        return false;
    };
    let Ok(Ok(series)) = timeout(PATIENCE, running.scrape()).await else {
        return false;
    };
    if let Some(wrong) = conservation(role, &series) {
        violations.add(format!("{}: {wrong}", name(role)));
    }
    true
}

/// What comes in is what comes out, at every moment.
pub(crate) fn conservation(role: Role, series: &BTreeMap<String, f64>) -> Option<String> {
    let sum = |names: &[&str]| -> f64 {
        let of = |name: &&str| total(series, name);
        names.iter().map(of).sum()
    };
    let (came, went) = match role {
        Role::Bridge(_) => (
            sum(&["wattline_bridge_received_messages_total"]),
            sum(&[
                "wattline_bridge_forwarded_messages_total",
                "wattline_bridge_dead_lettered_messages_total",
                "wattline_bridge_abandoned_messages_total",
                "wattline_bridge_in_flight_messages",
            ]),
        ),
        Role::Aggregator(_) => (
            sum(&["wattline_aggregator_consumed_messages_total"]),
            sum(&[
                "wattline_aggregator_stored_messages_total",
                "wattline_aggregator_duplicate_messages_total",
                "wattline_aggregator_dead_lettered_messages_total",
            ]),
        ),
        Role::Control | Role::Api => (0.0, 0.0),
    };
    ((came - went).abs() > 0.5).then(|| format!("{came} came in, {went} went somewhere"))
}

/// A series, or all of a name with labels.
pub(crate) fn total(series: &BTreeMap<String, f64>, name: &str) -> f64 {
    let labelled = format!("{name}{{");
    let of = |(key, _): &(&String, &f64)| *key == name || key.starts_with(&labelled);
    series.iter().filter(of).map(|(_, value)| value).sum()
}

/// A bucket never holds more samples than there are records with its time in the book.
async fn no_bucket_is_doubled(
    arena: &Arena,
    pool: &PgPool,
    ledger: &Ledger,
    building: usize,
) -> Result<Vec<String>, sqlx::Error> {
    let rows = sqlx::query(
        "select start, (extract(epoch from start) * 1000000)::bigint as at, max(samples) as samples \
         from minute_bucket where building_uuid = $1 and series <= 0 group by start",
    )
    .bind(arena.buildings[building].uuid)
    .fetch_all(pool)
    .await?;
    let mut doubled = Vec::new();
    for row in rows {
        let (start, samples): (Micros, i32) = (row.try_get("at")?, row.try_get("samples")?);
        let published = ledger.count(building, FactKind::Telemetry, start, start + MINUTE);
        if usize::try_from(samples).unwrap_or_default() > published {
            doubled.push(format!(
                "building {building}, minute {start}: {samples} samples of {published} records"
            ));
        }
    }
    Ok(doubled)
}
