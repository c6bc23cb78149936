//! What is in the database, record by record, against what was published.

use benches::Outcome;
use domain::time::Timestamp;
use serde::Serialize;
use simulator::{Fleet, Plan, Scenario};
use sqlx::{PgPool, Row as _};
use std::collections::HashSet;
use uuid::Uuid;

/// The records of a stretch of time, in microseconds since the epoch.
const BETWEEN: &str = "
    select building_uuid, (extract(epoch from time) * 1000000)::bigint
    from telemetry_record
    where time between timestamptz 'epoch' + $1 * interval '1 microsecond'
                   and timestamptz 'epoch' + $2 * interval '1 microsecond'";

/// Records by identity: building and time.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Stored {
    /// Published and stored.
    pub(crate) records: u64,
    /// Published and not stored.
    pub(crate) missing: u64,
    /// Stored once more.
    pub(crate) doubled: u64,
    /// Stored for a building of the fleet and never published.
    pub(crate) unexpected: u64,
}

impl Stored {
    /// Whether each record that was published is stored once, and nothing else.
    pub(crate) const fn is_exact(&self) -> bool {
        self.missing == 0 && self.doubled == 0 && self.unexpected == 0
    }
}

/// Compares the scenario's records, which follow from the time of the first one, with the database.
pub(crate) async fn compare(
    database: &PgPool,
    scenario: &Scenario,
    start: Timestamp,
) -> Outcome<Stored> {
    let plan = Plan::new(scenario, start)?;
    let published = plan.map(|it| (it.building, it.time.micros()));
    let published: HashSet<(Uuid, i64)> = published.collect();
    let end = published.iter().map(|(_, time)| *time).max();
    let end = end.ok_or("nothing was published")?;
    let fleet = Fleet::new(scenario.seed, scenario.buildings);
    let buildings: HashSet<Uuid> = fleet.buildings().iter().map(|it| it.uuid).collect();
    let rows = sqlx::query(BETWEEN)
        .bind(start.micros())
        .bind(end)
        .fetch_all(database)
        .await?;

    let mut found = HashSet::with_capacity(rows.len());
    let mut stored = Stored::default();
    for row in rows {
        let identity = (row.try_get(0)?, row.try_get(1)?);
        match (
            published.contains(&identity),
            buildings.contains(&identity.0),
        ) {
            (true, _) if found.insert(identity) => stored.records += 1,
            (true, _) => stored.doubled += 1,
            (false, true) => stored.unexpected += 1,
            // A probe's.
            (false, false) => {}
        }
    }
    stored.missing = published.len() as u64 - stored.records;
    Ok(stored)
}
