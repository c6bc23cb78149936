//! Readings of single sensors: stored once by building, time and sensor.

use crate::StoreFailure;
use crate::ingest::accepted::Accepted;
use crate::ingest::effects::Effects;
use crate::ingest::registers::{self, RegisterReading};
use crate::ingest::{Incoming, Ingested};
use crate::instant::Instant;
use crate::series::Series;
use domain::reading::SensorReading;
use domain::time::Timestamp;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use uuid::Uuid;

type Identity = (Uuid, Timestamp, i64);

/// One reading of a message.
#[derive(Clone, Copy)]
struct Item<'a> {
    /// Index of the message in the batch.
    message: usize,
    incoming: &'a Incoming,
    reading: &'a SensorReading,
}

pub(super) async fn store(
    connection: &mut PgConnection,
    accepted: &Accepted<'_>,
    effects: &mut Effects,
    ingested: &mut Ingested,
) -> Result<(), StoreFailure> {
    if accepted.readings.is_empty() {
        return Ok(());
    }
    let (first, mut again) = distinguish(accepted);
    let new = insert(connection, &first).await?;
    // A message without a reading has nothing that could be known.
    let mut stored: HashSet<usize> = empty_messages(accepted);
    let mut register_readings = Vec::new();
    for (identity, item) in first {
        if !new.contains(&identity) {
            again.push((identity, item));
            continue;
        }
        stored.insert(item.message);
        note(identity, item.reading, effects);
        register_readings.extend(register_reading(identity, item.reading));
    }
    registers::store(connection, &register_readings).await?;
    let differing = differing(connection, &again).await?;
    for (message, (incoming, _)) in accepted.readings.iter().enumerate() {
        let (new, differs) = (stored.contains(&message), differing.contains(&message));
        ingested.count(incoming, new, differs);
    }
    Ok(())
}

type Items<'a> = Vec<(Identity, Item<'a>)>;

/// The first of each identity, in one order of locks for all processes, and those that come again
/// within the batch.
fn distinguish<'a>(accepted: &Accepted<'a>) -> (BTreeMap<Identity, Item<'a>>, Items<'a>) {
    let mut first = BTreeMap::new();
    let mut again = Vec::new();
    for (message, (incoming, (readings, ids))) in accepted.readings.iter().enumerate() {
        for (reading, id) in readings.readings.iter().zip(ids) {
            let identity = (incoming.building, readings.time, *id);
            let item = Item {
                message,
                incoming,
                reading,
            };
            match first.entry(identity) {
                Entry::Occupied(_) => again.push((identity, item)),
                Entry::Vacant(vacant) => {
                    vacant.insert(item);
                }
            }
        }
    }
    (first, again)
}

fn empty_messages(accepted: &Accepted<'_>) -> HashSet<usize> {
    let messages = accepted.readings.iter().enumerate();
    let empty = messages.filter(|(_, (_, (readings, _)))| readings.readings.is_empty());
    empty.map(|(message, _)| message).collect()
}

/// What a new reading brings about.
fn note((building, time, sensor): Identity, reading: &SensorReading, effects: &mut Effects) {
    if let Some(power_w) = reading.power_w {
        effects.sampled(building, Series::Sensor(sensor), time, power_w);
    }
    if reading.value.is_some() {
        effects.valued(building, time);
    }
}

fn register_reading(
    (building, time, sensor): Identity,
    reading: &SensorReading,
) -> Option<RegisterReading> {
    Some(RegisterReading {
        building,
        sensor,
        time,
        reading: reading.meter_reading?,
    })
}

/// Readings as columns, one array a column.
#[derive(Default)]
struct Columns {
    messages: Vec<i64>,
    buildings: Vec<Uuid>,
    times: Vec<Instant>,
    sensors: Vec<i64>,
    received_at: Vec<Instant>,
    powers_w: Vec<Option<i32>>,
    meter_readings: Vec<Option<f64>>,
    values: Vec<Option<f64>>,
}

impl Columns {
    fn of<'a>(items: impl IntoIterator<Item = (&'a Identity, &'a Item<'a>)>) -> Self {
        let mut columns = Self::default();
        for ((building, time, sensor), item) in items {
            let message = i64::try_from(item.message).unwrap_or(i64::MAX);
            columns.messages.push(message);
            columns.buildings.push(*building);
            columns.times.push(Instant(*time));
            columns.sensors.push(*sensor);
            let received_at = item.incoming.letter.received_at;
            columns.received_at.push(Instant(received_at));
            columns.powers_w.push(item.reading.power_w);
            columns.meter_readings.push(item.reading.meter_reading);
            columns.values.push(item.reading.value);
        }
        columns
    }

    fn bind(&self, statement: &'static str) -> Query<'_, Postgres, PgArguments> {
        sqlx::query(statement)
            .bind(&self.buildings)
            .bind(&self.times)
            .bind(&self.sensors)
            .bind(&self.received_at)
            .bind(&self.powers_w)
            .bind(&self.meter_readings)
            .bind(&self.values)
    }
}

async fn insert(
    connection: &mut PgConnection,
    first: &BTreeMap<Identity, Item<'_>>,
) -> Result<HashSet<Identity>, StoreFailure> {
    let rows = Columns::of(first)
        .bind(include_str!("../queries/insert_readings.sql"))
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| {
            let time: Instant = row.try_get("time")?;
            Ok((
                row.try_get("building_uuid")?,
                time.0,
                row.try_get("sensor_id")?,
            ))
        })
        .collect()
}

/// The messages with a reading that differs from the one stored first.
async fn differing(
    connection: &mut PgConnection,
    again: &[(Identity, Item<'_>)],
) -> Result<HashSet<usize>, StoreFailure> {
    if again.is_empty() {
        return Ok(HashSet::new());
    }
    let columns = Columns::of(again.iter().map(|(identity, item)| (identity, item)));
    let rows = columns
        .bind(include_str!("../queries/differing_readings.sql"))
        .bind(&columns.messages)
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| {
            let message: i64 = row.try_get("message")?;
            Ok(usize::try_from(message).unwrap_or_default())
        })
        .collect()
}
