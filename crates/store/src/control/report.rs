//! What controllers report, made into fates.

use crate::control::fate::{Fates, Happened, fate};
use crate::control::{CONTROL_LIMIT, Kept, kept, save};
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::control::{Fate, Happening, Outcome};
use domain::time::Timestamp;
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use std::collections::HashMap;
use uuid::Uuid;

/// A report that is to be handled.
struct Report {
    building: Uuid,
    time: Instant,
    received_at: Timestamp,
    revision: i64,
    outcomes: Vec<(Uuid, Outcome, String)>,
}

/// An action whose controller has not answered.
struct Open {
    action_uuid: Uuid,
    revision: i64,
    fate: Fate,
}

/// Reports of some buildings that one transaction handles.
const REPORTS_AT_ONCE: i64 = 1_000;

impl Store {
    /// Handles the reports of at most [`CONTROL_LIMIT`] buildings; answers of how many. Any number of processes may
    /// do so at once: a building's reports are handled by one after the other.
    ///
    /// # Errors
    /// When the database does not take it; nothing has happened then.
    pub async fn handle_reports(&self, now: Timestamp) -> Result<usize, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let rows = sqlx::query(include_str!("../queries/claim_reported.sql"))
            .bind(Instant(now))
            .bind(CONTROL_LIMIT)
            .bind(self.aside.buildings(now))
            .fetch_all(&mut *transaction)
            .await?;
        if rows.is_empty() {
            return Ok(0);
        }
        let mut all = self.aside.sort(rows.iter().map(Kept::by_building), now)?;
        kept::with_surroundings(&mut transaction, &mut all, now).await?;
        let until = catch_up(&mut transaction, &mut all, now).await?;
        save(&mut transaction, &all, until, now).await?;
        transaction.commit().await?;
        Ok(all.len())
    }
}

/// Lets happen what has happened to these buildings until `now`: what was due, and what their controllers have
/// reported; in the order of time, whenever it is found. Answers until when: not until `now` where more reports
/// wait than are taken at once.
pub(crate) async fn catch_up(
    connection: &mut PgConnection,
    all: &mut [Kept],
    now: Timestamp,
) -> Result<Timestamp, StoreFailure> {
    let buildings: Vec<Uuid> = all.iter().map(|kept| kept.building).collect();
    let rows = sqlx::query(include_str!("../queries/reports_to_handle.sql"))
        .bind(&buildings)
        .bind(Instant(now))
        .bind(REPORTS_AT_ONCE)
        .fetch_all(&mut *connection)
        .await?;
    let reports: Vec<Report> = rows.iter().map(report).collect::<Result<_, _>>()?;
    let read = i64::try_from(reports.len()).unwrap_or(i64::MAX);
    let last = reports.last().filter(|_| read == REPORTS_AT_ONCE);
    let until = last.map_or(now, |last| last.received_at);
    let due = all.iter_mut().flat_map(|kept| {
        let until = until.max(kept.changed_at(now));
        kept.advance(until)
    });
    let due: Vec<Happened> = due.collect();
    let mut fates = Fates::of(connection, &due).await?;
    if !reports.is_empty() {
        let open = open(connection, &buildings, &mut fates).await?;
        settle(all, &reports, &due, &open, &mut fates);
        let (buildings, times): (Vec<Uuid>, Vec<Instant>) =
            reports.iter().map(|it| (it.building, it.time)).unzip();
        sqlx::query(include_str!("../queries/reports_are_handled.sql"))
            .bind(buildings)
            .bind(times)
            .execute(&mut *connection)
            .await?;
    }
    for happened in due {
        fates.apply(happened);
    }
    fates.write(connection).await?;
    Ok(until)
}

/// As [`catch_up`], of one building and until `now`, however many reports wait.
pub(crate) async fn catch_up_wholly(
    connection: &mut PgConnection,
    kept: &mut Kept,
    now: Timestamp,
) -> Result<(), StoreFailure> {
    while catch_up(connection, std::slice::from_mut(kept), now).await? < now {}
    Ok(())
}

fn settle(
    all: &mut [Kept],
    reports: &[Report],
    due: &[Happened],
    open: &HashMap<Uuid, Vec<Open>>,
    fates: &mut Fates,
) {
    for kept in all {
        let building = kept.building;
        let open = open.get(&building).map_or(&[][..], Vec::as_slice);
        for report in reports.iter().filter(|it| it.building == building) {
            // What was over when the report came does not change by it.
            let over = |it: &&Happened| it.building == building && it.at <= report.received_at;
            due.iter().filter(over).for_each(|happened| {
                fates.apply(happened.clone());
            });
            delivered(kept, open, report, fates);
            answered(kept, report, fates);
        }
    }
}

/// What the report's revision tells of the actions that came with it or before.
fn delivered(kept: &mut Kept, open: &[Open], report: &Report, fates: &mut Fates) {
    for open in open.iter().filter(|it| it.revision <= report.revision) {
        let happened = |happening, detail| Happened {
            building: kept.building,
            action_uuid: open.action_uuid,
            happening,
            at: report.received_at,
            detail,
        };
        let revision = report.revision;
        let detail = format!("the controller reported revision {revision}");
        fates.apply(happened(Happening::Delivered, detail));
        if kept.without_entry.contains(&open.action_uuid) {
            let detail = "the controller has the document without it".to_owned();
            fates.apply(happened(Happening::Done, detail));
            let new = kept.state.withdraw(open.action_uuid);
            kept.raise_if(new);
        }
    }
}

/// What the report says of single actions.
fn answered(kept: &mut Kept, report: &Report, fates: &mut Fates) {
    for (action_uuid, outcome, detail) in &report.outcomes {
        let happened = |happening| Happened {
            building: kept.building,
            action_uuid: *action_uuid,
            happening,
            at: report.received_at,
            detail: detail.clone(),
        };
        let changed = fates.apply(happened(Happening::Reported(*outcome)));
        // What is refused is not desired any more: nothing fires later that was told to be over. Of
        // what has no entry nothing is left once it is answered.
        let stays = *outcome != Outcome::Rejected && !kept.without_entry.contains(action_uuid);
        if changed && !stays {
            fates.apply(happened(Happening::Done));
            let new = kept.state.withdraw(*action_uuid);
            kept.raise_if(new);
        }
    }
}

async fn open(
    connection: &mut PgConnection,
    buildings: &[Uuid],
    fates: &mut Fates,
) -> Result<HashMap<Uuid, Vec<Open>>, StoreFailure> {
    let rows = sqlx::query(include_str!("../queries/open_actions.sql"))
        .bind(buildings)
        .fetch_all(connection)
        .await?;
    let mut open: HashMap<Uuid, Vec<Open>> = HashMap::new();
    for row in &rows {
        let building = row.try_get("building_uuid")?;
        let one = Open {
            action_uuid: row.try_get("action_uuid")?,
            revision: row.try_get("revision")?,
            fate: fate(row)?,
        };
        fates.know((building, one.action_uuid), one.fate);
        open.entry(building).or_default().push(one);
    }
    Ok(open)
}

fn report(row: &PgRow) -> Result<Report, StoreFailure> {
    let Instant(received_at) = row.try_get("received_at")?;
    let outcomes: Value = row.try_get("outcomes")?;
    let outcomes = outcomes.as_array().map_or(&[][..], Vec::as_slice);
    Ok(Report {
        building: row.try_get("building_uuid")?,
        time: row.try_get("time")?,
        received_at,
        revision: row.try_get("revision")?,
        outcomes: outcomes.iter().filter_map(outcome).collect(),
    })
}

/// The schema has accepted it on the way in.
fn outcome(item: &Value) -> Option<(Uuid, Outcome, String)> {
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let outcome = Outcome::parse(text("status")?)?;
    let word = outcome.as_str();
    let detail = match text("detail") {
        Some(detail) => format!("the controller reported {word}: {detail}"),
        None => format!("the controller reported {word}"),
    };
    Some((Uuid::try_parse(text("action_uuid")?).ok()?, outcome, detail))
}
