//! Dead letters: what was refused, with its own bytes, in one place.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::rejection::{Reason, Rejection};
use domain::time::Timestamp;
use sha2::{Digest, Sha256};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

/// A message as it came in over MQTT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The building that its topic names, if it names one.
    pub building: Option<Uuid>,
    /// The MQTT topic.
    pub source: String,
    /// When the bridge received it.
    pub received_at: Timestamp,
    /// Trace context, where the controller sent one.
    pub traceparent: Option<String>,
    /// Whether the broker said that it may have delivered it before.
    pub redelivered: bool,
    /// Its own bytes.
    pub payload: Vec<u8>,
}

/// A message that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The message.
    pub letter: Letter,
    /// Why it was refused.
    pub rejection: Rejection,
}

/// A dead letter as the database keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptDeadLetter {
    /// Number by which it is shown and replayed.
    pub id: i64,
    /// Stable code of the reason.
    pub reason: String,
    /// JSON pointer to the place.
    pub pointer: String,
    /// The rule, for people.
    pub detail: String,
    /// The MQTT topic.
    pub source: String,
    /// The building that the topic names.
    pub building: Option<Uuid>,
    /// When the bridge received it.
    pub received_at: Timestamp,
    /// Bytes of the payload.
    pub size: i64,
    /// The payload, where it was asked for.
    pub payload: Option<Vec<u8>>,
}

/// Which dead letters to list; what is `None` does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of this reason.
    pub reason: Option<Reason>,
    /// Only of this building.
    pub building: Option<Uuid>,
    /// Only received at this moment or later.
    pub since: Option<Timestamp>,
    /// Only received before this moment.
    pub until: Option<Timestamp>,
}

/// Keeps a dead letter; answers whether it is new. One that the broker says it may have delivered
/// before is not kept twice.
pub(crate) async fn keep(
    connection: &mut PgConnection,
    refused: &Refused,
) -> Result<bool, StoreFailure> {
    let Refused { letter, rejection } = refused;
    let mut digest = Sha256::new();
    digest.update(&letter.source);
    // No topic contains it.
    digest.update(b"\0");
    digest.update(&letter.payload);
    let digest = digest.finalize();
    let kept = sqlx::query(include_str!("queries/keep_dead_letter.sql"))
        .bind(letter.building)
        .bind(rejection.reason.as_str())
        .bind(storable(&rejection.pointer))
        .bind(storable(&rejection.detail))
        .bind(storable(&letter.source))
        .bind(Instant(letter.received_at))
        .bind(letter.traceparent.as_deref().map(storable))
        .bind(&letter.payload)
        .bind(digest.as_slice())
        .bind(letter.redelivered)
        .execute(connection)
        .await?;
    Ok(kept.rows_affected() == 1)
}

/// PostgreSQL's text cannot hold U+0000, which a JSON key may contain: shown as the replacement character, so that
/// no message can stop those behind it.
fn storable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

impl Store {
    /// The dead letters after the one with the number `after`, oldest first, without payloads.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn dead_letters(
        &self,
        filter: &Filter,
        after: i64,
        limit: i64,
    ) -> Result<Vec<KeptDeadLetter>, StoreFailure> {
        let rows = sqlx::query(include_str!("queries/dead_letters.sql"))
            .bind(filter.reason.map(Reason::as_str))
            .bind(filter.building)
            .bind(filter.since.map(Instant))
            .bind(filter.until.map(Instant))
            .bind(after)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| kept(row, None)).collect()
    }

    /// One dead letter with its payload.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn dead_letter(&self, id: i64) -> Result<Option<KeptDeadLetter>, StoreFailure> {
        let row = sqlx::query(include_str!("queries/dead_letter.sql"))
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| kept(&row, Some(row.try_get("payload")?)))
            .transpose()
    }
}

fn kept(row: &PgRow, payload: Option<Vec<u8>>) -> Result<KeptDeadLetter, StoreFailure> {
    let received_at: Instant = row.try_get("received_at")?;
    Ok(KeptDeadLetter {
        id: row.try_get("id")?,
        reason: row.try_get("reason")?,
        pointer: row.try_get("pointer")?,
        detail: row.try_get("detail")?,
        source: row.try_get("source")?,
        building: row.try_get("building_uuid")?,
        received_at: received_at.0,
        size: row.try_get("size")?,
        payload,
    })
}
