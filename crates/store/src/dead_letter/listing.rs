//! What dead letters there are: listed, shown, counted.

use super::Outcome;
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::rejection::Reason;
use domain::time::Timestamp;
use futures_util::TryStreamExt as _;
use sqlx::Row;
use sqlx::postgres::{PgArguments, PgRow, Postgres};
use sqlx::query::Query;
use uuid::Uuid;

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
    /// That it was replayed, if it was.
    pub replayed: Option<Replayed>,
    /// The payload, where it was asked for.
    pub payload: Option<Vec<u8>>,
}

/// That a dead letter is none any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// When.
    pub at: Timestamp,
    /// What became of its record.
    pub outcome: Outcome,
}

/// Which of the dead letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Those that are refused still.
    Refused,
    /// Those that were replayed.
    Replayed,
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

/// The dead letters of one building for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Stable code of the reason.
    pub reason: String,
    /// The building that their topics name, if they name one.
    pub building: Option<Uuid>,
    /// How many.
    pub count: i64,
    /// When the first was received.
    pub first: Timestamp,
    /// When the last was received.
    pub last: Timestamp,
}

impl Filter {
    /// A statement with the filter bound as `$1` to `$4`. It is planned each time, with what is bound: a
    /// prepared statement would have one plan for all filters, without their indexes.
    pub(super) fn bind<'q>(&'q self, statement: &'static str) -> Query<'q, Postgres, PgArguments> {
        sqlx::query(statement)
            .persistent(false)
            .bind(self.reason.map(Reason::as_str))
            .bind(self.building)
            .bind(self.since.map(Instant))
            .bind(self.until.map(Instant))
    }
}

impl Store {
    /// The dead letters received after the one with this moment and number, oldest first, without payloads.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn dead_letters(
        &self,
        filter: &Filter,
        standing: Standing,
        after: Option<(Timestamp, i64)>,
        limit: i64,
    ) -> Result<Vec<KeptDeadLetter>, StoreFailure> {
        let rows = filter
            .bind(include_str!("../queries/dead_letters.sql"))
            .bind(standing == Standing::Replayed)
            .bind(after.map(|(received_at, _)| Instant(received_at)))
            .bind(after.map(|(_, id)| id))
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
        let row = sqlx::query(include_str!("../queries/dead_letter.sql"))
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| kept(&row, Some(row.try_get("payload")?)))
            .transpose()
    }

    /// Counts dead letters by reason and building, and tells each count to `each`: senders may name any number
    /// of buildings.
    ///
    /// # Errors
    /// When the database does not answer, or `each` fails.
    pub async fn tally_dead_letters<E: From<StoreFailure>>(
        &self,
        filter: &Filter,
        standing: Standing,
        mut each: impl FnMut(Tally) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = filter
            .bind(include_str!("../queries/tally_dead_letters.sql"))
            .bind(standing == Standing::Replayed)
            .fetch(&self.pool);
        while let Some(row) = rows.try_next().await.map_err(StoreFailure::from)? {
            each(tally(&row)?)?;
        }
        Ok(())
    }
}

fn kept(row: &PgRow, payload: Option<Vec<u8>>) -> Result<KeptDeadLetter, StoreFailure> {
    let Instant(received_at) = row.try_get("received_at")?;
    let replayed_at: Option<Instant> = row.try_get("replayed_at")?;
    let outcome: Option<&str> = row.try_get("outcome")?;
    let replayed = replayed_at.zip(outcome.and_then(Outcome::parse));
    Ok(KeptDeadLetter {
        id: row.try_get("id")?,
        reason: row.try_get("reason")?,
        pointer: row.try_get("pointer")?,
        detail: row.try_get("detail")?,
        source: row.try_get("source")?,
        building: row.try_get("building_uuid")?,
        received_at,
        size: row.try_get("size")?,
        replayed: replayed.map(|(Instant(at), outcome)| Replayed { at, outcome }),
        payload,
    })
}

fn tally(row: &PgRow) -> Result<Tally, StoreFailure> {
    let (Instant(first), Instant(last)) = (row.try_get("first")?, row.try_get("last")?);
    Ok(Tally {
        reason: row.try_get("reason")?,
        building: row.try_get("building_uuid")?,
        count: row.try_get("count")?,
        first,
        last,
    })
}
