//! One batch, one transaction: positions, records, marks, newest samples and dead letters.

use crate::dead_letter::{self, Letter, Refused};
use crate::instant::Instant;
use crate::position::{self, Move};
use crate::record_columns::RecordColumns;
use crate::section::{bit, code};
use crate::{Store, StoreFailure, fleet};
use domain::record::{Section, TelemetryRecord};
use domain::rejection::{Reason, Rejection, refuse_old};
use domain::time::{Interval, Timestamp};
use sqlx::{PgConnection, Row};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;
use uuid::Uuid;

/// A record that the schema accepts, with the message that carried it.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The building that the message's key names.
    pub building: Uuid,
    /// The record.
    pub record: TelemetryRecord,
    /// The message, to be kept when the record is refused here.
    pub letter: Letter,
}

/// What is stored together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Records in order of arrival.
    pub records: Vec<Incoming>,
    /// Messages of the records' own topics that the aggregator itself refused.
    pub refused: Vec<Refused>,
    /// Dead letters that the bridge made.
    pub imported: Vec<Refused>,
    /// The log that these came from; empty in direct mode.
    pub cluster: String,
    /// The stretch of it; empty in direct mode.
    pub moves: Vec<Move>,
}

/// What became of a batch's messages; the conservation counters are made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ingested {
    /// Records that are new.
    pub stored: u64,
    /// Records whose identity was known, and messages that came again.
    pub duplicates: u64,
    /// Those among the duplicates whose content differs from what is stored.
    pub conflicts: u64,
    /// Refused by the aggregator, by reason.
    pub dead_lettered: BTreeMap<Reason, u64>,
    /// Dead letters of the bridge that are new in the database.
    pub imported: u64,
}

impl Store {
    /// Stores a batch in one transaction, all or nothing; the same batch again changes nothing.
    /// A record older than `raw_retention` at its receipt, or of an unknown building, becomes a
    /// dead letter.
    ///
    /// # Errors
    /// [`StoreFailure::LostPosition`] when the log's position is not where the batch begins;
    /// otherwise when the database does not take it.
    pub async fn ingest(
        &self,
        batch: &Batch,
        raw_retention: Duration,
    ) -> Result<Ingested, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        position::advance(&mut transaction, &batch.cluster, &batch.moves).await?;
        let known = lock_buildings(&mut transaction, batch).await?;
        let sorted = sort_out(&batch.records, &known, raw_retention);

        let mut ingested = Ingested::default();
        store_records(&mut transaction, &sorted, &known, &mut ingested).await?;
        for refused in batch.refused.iter().chain(&sorted.refused) {
            let new = dead_letter::keep(&mut transaction, refused).await?;
            if new {
                *ingested
                    .dead_lettered
                    .entry(refused.rejection.reason)
                    .or_default() += 1;
            } else {
                ingested.duplicates += 1;
            }
        }
        for refused in &batch.imported {
            ingested.imported += u64::from(dead_letter::keep(&mut transaction, refused).await?);
        }
        transaction.commit().await?;
        Ok(ingested)
    }
}

/// The batch's buildings that exist, with the sections that their telemetry has ever had.
type KnownBuildings = HashMap<Uuid, i16>;

async fn lock_buildings(
    connection: &mut PgConnection,
    batch: &Batch,
) -> Result<KnownBuildings, StoreFailure> {
    let buildings: BTreeSet<Uuid> = batch.records.iter().map(|it| it.building).collect();
    if buildings.is_empty() {
        return Ok(KnownBuildings::new());
    }
    let rows = sqlx::query(include_str!("queries/lock_buildings.sql"))
        .bind(buildings.into_iter().collect::<Vec<_>>())
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| Ok((row.try_get("uuid")?, row.try_get("reported_sections")?)))
        .collect()
}

/// A batch's records by what is to be done with them.
#[derive(Default)]
struct Sorted<'a> {
    /// The first of each identity, by building and time: one order of locks for all processes.
    first: BTreeMap<(Uuid, Timestamp), &'a Incoming>,
    /// The same identity again within the batch.
    again: Vec<&'a Incoming>,
    refused: Vec<Refused>,
}

fn sort_out<'a>(
    records: &'a [Incoming],
    known: &KnownBuildings,
    raw_retention: Duration,
) -> Sorted<'a> {
    let mut sorted = Sorted::default();
    for incoming in records {
        if let Err(rejection) = refuse(incoming, known, raw_retention) {
            sorted.refused.push(Refused {
                letter: incoming.letter.clone(),
                rejection,
            });
            continue;
        }
        match sorted
            .first
            .entry((incoming.building, incoming.record.time))
        {
            Entry::Occupied(_) => sorted.again.push(incoming),
            Entry::Vacant(vacant) => {
                vacant.insert(incoming);
            }
        }
    }
    sorted
}

fn refuse(
    incoming: &Incoming,
    known: &KnownBuildings,
    raw_retention: Duration,
) -> Result<(), Rejection> {
    if !known.contains_key(&incoming.building) {
        return Err(Rejection::new(
            Reason::UnknownBuilding,
            "",
            "the building is not in the database, or is disabled",
        ));
    }
    refuse_old(
        incoming.record.time,
        incoming.letter.received_at,
        raw_retention,
    )
}

async fn store_records(
    connection: &mut PgConnection,
    sorted: &Sorted<'_>,
    known: &KnownBuildings,
    ingested: &mut Ingested,
) -> Result<(), StoreFailure> {
    if sorted.first.is_empty() {
        return Ok(());
    }
    let new = insert(connection, sorted).await?;
    let stored: Vec<&Incoming> = sorted
        .first
        .iter()
        .filter(|(identity, _)| new.contains(*identity))
        .map(|(_, incoming)| *incoming)
        .collect();
    ingested.stored += stored.len() as u64;
    mark_minutes(connection, &stored).await?;
    raise_latest(connection, &stored).await?;
    report_sections(connection, &stored, known).await?;

    let mut again = RecordColumns::default();
    let repeated = sorted
        .first
        .iter()
        .filter(|(identity, _)| !new.contains(*identity));
    for incoming in repeated.map(|(_, incoming)| incoming).chain(&sorted.again) {
        again.push(
            incoming.building,
            incoming.letter.received_at,
            &incoming.record,
        );
        ingested.duplicates += 1;
    }
    if !again.is_empty() {
        let conflicts: i64 = again
            .bind(include_str!("queries/count_conflicts.sql"))
            .fetch_one(connection)
            .await?
            .try_get(0)?;
        ingested.conflicts += u64::try_from(conflicts).unwrap_or_default();
    }
    Ok(())
}

async fn insert(
    connection: &mut PgConnection,
    sorted: &Sorted<'_>,
) -> Result<HashSet<(Uuid, Timestamp)>, StoreFailure> {
    let mut columns = RecordColumns::default();
    for incoming in sorted.first.values() {
        columns.push(
            incoming.building,
            incoming.letter.received_at,
            &incoming.record,
        );
    }
    let rows = columns
        .bind(include_str!("queries/insert_records.sql"))
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| {
            let time: Instant = row.try_get("time")?;
            Ok((row.try_get("building_uuid")?, time.0))
        })
        .collect()
}

/// Marks the minutes of the new records that measure something.
async fn mark_minutes(
    connection: &mut PgConnection,
    stored: &[&Incoming],
) -> Result<(), StoreFailure> {
    let touched: BTreeSet<(Uuid, Timestamp)> = stored
        .iter()
        .filter(|it| {
            Section::ALL
                .iter()
                .any(|section| it.record.measurement(*section).is_some())
        })
        .map(|it| (it.building, it.record.time.floor(Interval::Minute)))
        .collect();
    if touched.is_empty() {
        return Ok(());
    }
    let (buildings, starts): (Vec<Uuid>, Vec<Instant>) = touched
        .into_iter()
        .map(|(building, start)| (building, Instant(start)))
        .unzip();
    sqlx::query(include_str!("queries/mark_minutes.sql"))
        .bind(buildings)
        .bind(starts)
        .execute(connection)
        .await?;
    Ok(())
}

async fn raise_latest(
    connection: &mut PgConnection,
    stored: &[&Incoming],
) -> Result<(), StoreFailure> {
    let mut newest: BTreeMap<(Uuid, i16), (Timestamp, i32)> = BTreeMap::new();
    // The records come by time, so the last one of a section is its newest.
    for incoming in stored {
        for section in Section::ALL {
            if let Some(power_w) = incoming.record.measurement(section) {
                newest.insert(
                    (incoming.building, code(section)),
                    (incoming.record.time, power_w),
                );
            }
        }
    }
    if newest.is_empty() {
        return Ok(());
    }
    let mut buildings = Vec::with_capacity(newest.len());
    let mut sections = Vec::with_capacity(newest.len());
    let mut times = Vec::with_capacity(newest.len());
    let mut powers = Vec::with_capacity(newest.len());
    for ((building, section), (time, power_w)) in newest {
        buildings.push(building);
        sections.push(section);
        times.push(Instant(time));
        powers.push(power_w);
    }
    sqlx::query(include_str!("queries/raise_latest.sql"))
        .bind(buildings)
        .bind(sections)
        .bind(times)
        .bind(powers)
        .execute(connection)
        .await?;
    Ok(())
}

/// Adds the sensors of sections that a building's telemetry has for the first time.
async fn report_sections(
    connection: &mut PgConnection,
    stored: &[&Incoming],
    known: &KnownBuildings,
) -> Result<(), StoreFailure> {
    let mut reported: BTreeMap<Uuid, i16> = BTreeMap::new();
    for incoming in stored {
        let bits = reported.entry(incoming.building).or_default();
        for section in Section::ALL {
            if incoming.record.has(section) {
                *bits |= bit(section);
            }
        }
    }
    for (building, bits) in reported {
        let before = known.get(&building).copied().unwrap_or_default();
        if bits & !before != 0 {
            fleet::report_sections(connection, building, bits).await?;
        }
    }
    Ok(())
}
