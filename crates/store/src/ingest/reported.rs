//! What controllers did with the desired state: stored once by building and time, for control to handle.

use crate::StoreFailure;
use crate::ingest::Ingested;
use crate::ingest::accepted::{Accepted, Of};
use crate::instant::Instant;
use domain::reading::{Report, ReportedOutcome};
use domain::time::Timestamp;
use serde_json::{Value, json};
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use uuid::Uuid;

type Identity = (Uuid, Timestamp);
type Message<'a> = Of<'a, &'a Report>;

/// Stores the batch's reports, for control to handle.
pub(super) async fn store(
    connection: &mut PgConnection,
    accepted: &Accepted<'_>,
    ingested: &mut Ingested,
) -> Result<(), StoreFailure> {
    if accepted.reports.is_empty() {
        return Ok(());
    }
    let (first, mut again) = distinguish(&accepted.reports);
    let new = insert(connection, &first).await?;
    for (identity, message) in first {
        if new.contains(&identity) {
            ingested.add_stored(message.0);
        } else {
            again.push(message);
        }
    }
    again
        .iter()
        .for_each(|(incoming, _)| ingested.add_duplicate(incoming));
    ingested.conflicts += conflicts(connection, &again).await?;
    Ok(())
}

/// The first of each identity, by building and time (one order of locks for all processes), and those
/// that come again within the batch.
fn distinguish<'a>(
    messages: &[Message<'a>],
) -> (BTreeMap<Identity, Message<'a>>, Vec<Message<'a>>) {
    let mut first = BTreeMap::new();
    let mut again = Vec::new();
    for message @ (incoming, report) in messages {
        match first.entry((incoming.building, report.time)) {
            Entry::Occupied(_) => again.push(*message),
            Entry::Vacant(vacant) => {
                vacant.insert(*message);
            }
        }
    }
    (first, again)
}

/// Reports as columns, one array a column.
#[derive(Default)]
struct Columns {
    buildings: Vec<Uuid>,
    times: Vec<Instant>,
    received_at: Vec<Instant>,
    revisions: Vec<i64>,
    outcomes: Vec<String>,
}

impl Columns {
    fn of<'a>(messages: impl IntoIterator<Item = &'a Message<'a>>) -> Self {
        let mut columns = Self::default();
        for (incoming, report) in messages {
            columns.buildings.push(incoming.building);
            columns.times.push(Instant(report.time));
            let received_at = incoming.letter.received_at;
            columns.received_at.push(Instant(received_at));
            columns.revisions.push(report.revision);
            let outcomes: Vec<Value> = report.outcomes.iter().map(outcome).collect();
            columns.outcomes.push(Value::from(outcomes).to_string());
        }
        columns
    }

    fn bind(&self, statement: &'static str) -> Query<'_, Postgres, PgArguments> {
        sqlx::query(statement)
            .bind(&self.buildings)
            .bind(&self.times)
            .bind(&self.received_at)
            .bind(&self.revisions)
            .bind(&self.outcomes)
    }
}

/// An outcome as the column `outcomes` has it: the schema's names, without unknown keys.
fn outcome(it: &ReportedOutcome) -> Value {
    let mut outcome = json!({"action_uuid": it.action_uuid, "status": it.outcome.as_str()});
    if let Some(detail) = &it.detail {
        outcome["detail"] = Value::from(detail.as_str());
    }
    outcome
}

async fn insert(
    connection: &mut PgConnection,
    first: &BTreeMap<Identity, Message<'_>>,
) -> Result<HashSet<Identity>, StoreFailure> {
    let rows = Columns::of(first.values())
        .bind(include_str!("../queries/insert_reports.sql"))
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| {
            let time: Instant = row.try_get("time")?;
            Ok((row.try_get("building_uuid")?, time.0))
        })
        .collect()
}

async fn conflicts(
    connection: &mut PgConnection,
    again: &[Message<'_>],
) -> Result<u64, StoreFailure> {
    if again.is_empty() {
        return Ok(0);
    }
    let conflicts: i64 = Columns::of(again)
        .bind(include_str!("../queries/count_report_conflicts.sql"))
        .fetch_one(connection)
        .await?
        .try_get(0)?;
    Ok(u64::try_from(conflicts).unwrap_or_default())
}
