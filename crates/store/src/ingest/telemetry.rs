//! Realtime records: stored once by building and time.

use crate::binary_copy::Rows;
use crate::ingest::accepted::{Accepted, Of};
use crate::ingest::effects::Effects;
use crate::ingest::{Incoming, Ingested, Way};
use crate::instant::Instant;
use crate::record_columns::{ROW_BYTES, RecordColumns, put_row};
use crate::series::{Series, bit};
use crate::{StoreFailure, fleet};
use domain::record::{Section, TelemetryRecord};
use domain::time::Timestamp;
use sqlx::{PgConnection, Row};
use std::collections::{BTreeMap, HashMap, HashSet};
use uuid::Uuid;

type Identity = (Uuid, Timestamp);
type Message<'a> = Of<'a, &'a TelemetryRecord>;

pub(super) async fn store(
    connection: &mut PgConnection,
    accepted: &Accepted<'_>,
    way: Way,
    effects: &mut Effects,
    ingested: &mut Ingested,
) -> Result<(), StoreFailure> {
    if accepted.telemetry.is_empty() {
        return Ok(());
    }
    let (first, mut again) = distinguish(&accepted.telemetry);
    let stored = if way.copies(first.len()) {
        copy(connection, &first).await?;
        first
    } else {
        let new = insert(connection, &first).await?;
        let (stored, known): (Vec<_>, Vec<_>) = first
            .into_iter()
            .partition(|it| new.contains(&identity(it)));
        again.extend(known);
        stored
    };
    for (incoming, record) in &stored {
        ingested.add_stored(incoming);
        for section in Section::ALL {
            if let Some(power_w) = record.measurement(section) {
                let series = Series::Section(section);
                effects.sampled(incoming.building, series, record.time, power_w);
            }
        }
    }
    report_sections(connection, &stored, &accepted.reported_sections).await?;
    again
        .iter()
        .for_each(|(incoming, _)| ingested.add_duplicate(incoming));
    ingested.conflicts += conflicts(connection, &again).await?;
    Ok(())
}

fn identity((incoming, record): &Message<'_>) -> Identity {
    (incoming.building, record.time)
}

/// The first of each identity, by building and time (one order of locks for all processes), and those
/// that come again within the batch.
fn distinguish<'a>(messages: &[Message<'a>]) -> (Vec<Message<'a>>, Vec<Message<'a>>) {
    let mut messages = messages.to_vec();
    // Stable: of one identity the first stays first.
    messages.sort_by_key(identity);
    let mut last = None;
    messages
        .into_iter()
        .partition(|it| last.replace(identity(it)) != Some(identity(it)))
}

/// Puts in records of which none is known yet.
async fn copy(connection: &mut PgConnection, first: &[Message<'_>]) -> Result<(), StoreFailure> {
    let mut rows = Rows::with_capacity(first.len() * ROW_BYTES);
    for (incoming, record) in first {
        put_row(
            &mut rows,
            incoming.building,
            incoming.letter.received_at,
            record,
        );
    }
    let mut copy = connection
        .copy_in_raw(include_str!("../queries/copy_records.sql"))
        .await?;
    copy.send(rows.finish()).await?;
    copy.finish().await?;
    Ok(())
}

fn columns<'a>(messages: impl IntoIterator<Item = &'a Message<'a>>) -> RecordColumns {
    let mut columns = RecordColumns::default();
    for (incoming, record) in messages {
        columns.push(incoming.building, incoming.letter.received_at, record);
    }
    columns
}

async fn insert(
    connection: &mut PgConnection,
    first: &[Message<'_>],
) -> Result<HashSet<Identity>, StoreFailure> {
    let rows = columns(first)
        .bind(include_str!("../queries/insert_records.sql"))
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
    let conflicts: i64 = columns(again)
        .bind(include_str!("../queries/count_conflicts.sql"))
        .fetch_one(connection)
        .await?
        .try_get(0)?;
    Ok(u64::try_from(conflicts).unwrap_or_default())
}

/// Adds the sensors of sections that a building's telemetry has for the first time.
async fn report_sections(
    connection: &mut PgConnection,
    stored: &[(&Incoming, &TelemetryRecord)],
    before: &HashMap<Uuid, i16>,
) -> Result<(), StoreFailure> {
    let mut reported: BTreeMap<Uuid, i16> = BTreeMap::new();
    for (incoming, record) in stored {
        let bits = reported.entry(incoming.building).or_default();
        for section in Section::ALL {
            if record.has(section) {
                *bits |= bit(section);
            }
        }
    }
    for (building, bits) in reported {
        let before = before.get(&building).copied().unwrap_or_default();
        if bits & !before != 0 {
            fleet::report_sections(connection, building, bits).await?;
        }
    }
    Ok(())
}
