//! Key-value registrations: stored once by building, key and time.

use crate::StoreFailure;
use crate::ingest::accepted::Accepted;
use crate::ingest::{Incoming, Ingested};
use crate::instant::Instant;
use domain::reading::Scalar;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use uuid::Uuid;

/// Building, hash of the key, time.
type Identity = (Uuid, Vec<u8>, Timestamp);

/// Rows of one statement: a second of work, also where a batch is nothing but short keys.
const STATEMENT_ROWS: usize = 20_000;

/// One registration of a message.
#[derive(Clone, Copy)]
struct Item<'a> {
    /// Index of the message in the batch.
    message: usize,
    incoming: &'a Incoming,
    key: &'a str,
    value: &'a Scalar,
}

pub(super) async fn store(
    connection: &mut PgConnection,
    accepted: &Accepted<'_>,
    ingested: &mut Ingested,
) -> Result<(), StoreFailure> {
    if accepted.key_values.is_empty() {
        return Ok(());
    }
    let (first, mut again) = distinguish(accepted);
    let new = insert(connection, &first).await?;
    // A message without a key has nothing that could be known.
    let mut stored = empty_messages(accepted);
    let mut newest: BTreeMap<(Uuid, Vec<u8>), (Identity, Item<'_>)> = BTreeMap::new();
    for (identity, item) in first {
        if !new.contains(&identity) {
            again.push((identity, item));
            continue;
        }
        stored.insert(item.message);
        // The registrations of a key come by time, so the last one is its newest.
        newest.insert((identity.0, identity.1.clone()), (identity, item));
    }
    raise_latest(connection, newest.into_values().collect()).await?;
    let differing = differing(connection, &again).await?;
    for (message, (incoming, _)) in accepted.key_values.iter().enumerate() {
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
    for (message, (incoming, key_values)) in accepted.key_values.iter().enumerate() {
        for (key, value) in &key_values.values {
            let hash = Sha256::digest(key).to_vec();
            let identity = (incoming.building, hash, key_values.time);
            let item = Item {
                message,
                incoming,
                key,
                value,
            };
            match first.entry(identity) {
                Entry::Occupied(occupied) => again.push((occupied.key().clone(), item)),
                Entry::Vacant(vacant) => {
                    vacant.insert(item);
                }
            }
        }
    }
    (first, again)
}

fn empty_messages(accepted: &Accepted<'_>) -> HashSet<usize> {
    let messages = accepted.key_values.iter().enumerate();
    let empty = messages.filter(|(_, (_, key_values))| key_values.values.is_empty());
    empty.map(|(message, _)| message).collect()
}

/// Registrations as columns, one array a column.
#[derive(Default)]
struct Columns<'a> {
    messages: Vec<i64>,
    buildings: Vec<Uuid>,
    hashes: Vec<&'a [u8]>,
    times: Vec<Instant>,
    received_at: Vec<Instant>,
    keys: Vec<&'a str>,
    values: Vec<String>,
}

impl<'a> Columns<'a> {
    fn of(items: impl IntoIterator<Item = (&'a Identity, &'a Item<'a>)>) -> Self {
        let mut columns = Self::default();
        for ((building, hash, time), item) in items {
            let message = i64::try_from(item.message).unwrap_or(i64::MAX);
            columns.messages.push(message);
            columns.buildings.push(*building);
            columns.hashes.push(hash);
            columns.times.push(Instant(*time));
            let received_at = item.incoming.letter.received_at;
            columns.received_at.push(Instant(received_at));
            columns.keys.push(item.key);
            columns.values.push(json_text(item.value));
        }
        columns
    }

    fn bind(&self, statement: &'static str) -> Query<'_, Postgres, PgArguments> {
        sqlx::query(statement)
            .bind(&self.buildings)
            .bind(&self.hashes)
            .bind(&self.times)
            .bind(&self.received_at)
            .bind(&self.keys)
            .bind(&self.values)
    }
}

/// The value as JSON text; a whole number that a double holds exactly without a fraction.
fn json_text(value: &Scalar) -> String {
    /// 2^53: up to here every whole number is a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Scalar::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
        Scalar::Boolean(boolean) => boolean.to_string(),
        Scalar::Number(number) if number.fract() == 0.0 && number.abs() <= EXACT => {
            format!("{number:.0}")
        }
        Scalar::Number(number) => serde_json::Value::from(*number).to_string(),
    }
}

async fn insert(
    connection: &mut PgConnection,
    first: &BTreeMap<Identity, Item<'_>>,
) -> Result<HashSet<Identity>, StoreFailure> {
    let mut new = HashSet::new();
    let all: Vec<_> = first.iter().collect();
    for some in all.chunks(STATEMENT_ROWS) {
        let rows = Columns::of(some.iter().copied())
            .bind(include_str!("../queries/insert_key_values.sql"))
            .fetch_all(&mut *connection)
            .await?;
        for row in &rows {
            let time: Instant = row.try_get("time")?;
            let hash = row.try_get("key_sha256")?;
            new.insert((row.try_get("building_uuid")?, hash, time.0));
        }
    }
    Ok(new)
}

async fn raise_latest(
    connection: &mut PgConnection,
    newest: Items<'_>,
) -> Result<(), StoreFailure> {
    for some in newest.chunks(STATEMENT_ROWS) {
        Columns::of(some.iter().map(|(identity, item)| (identity, item)))
            .bind(include_str!("../queries/raise_latest_key_values.sql"))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// The messages with a registration that differs from the one stored first.
async fn differing(
    connection: &mut PgConnection,
    again: &[(Identity, Item<'_>)],
) -> Result<HashSet<usize>, StoreFailure> {
    let mut differing = HashSet::new();
    for some in again.chunks(STATEMENT_ROWS) {
        let columns = Columns::of(some.iter().map(|(identity, item)| (identity, item)));
        let rows = columns
            .bind(include_str!("../queries/differing_key_values.sql"))
            .bind(&columns.messages)
            .fetch_all(&mut *connection)
            .await?;
        for row in &rows {
            let message: i64 = row.try_get("message")?;
            differing.insert(usize::try_from(message).unwrap_or_default());
        }
    }
    Ok(differing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_as_the_json_that_it_was() {
        let check = |value: Scalar, text: &str| assert_eq!(json_text(&value), text);
        check(Scalar::Text("a\"b".to_owned()), r#""a\"b""#);
        check(Scalar::Boolean(true), "true");
        check(Scalar::Number(5.0), "5");
        check(Scalar::Number(-0.5), "-0.5");
        check(Scalar::Number(1.5e300), "1.5e+300");
        check(Scalar::Number(9_007_199_254_740_992.0), "9007199254740992");
    }
}
