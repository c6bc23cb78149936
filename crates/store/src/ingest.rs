//! One batch, one transaction: positions, records, marks, newest samples and dead letters.

mod accepted;
mod effects;
mod key_values;
mod presence;
mod readings;
pub(crate) mod registers;
mod reported;
mod telemetry;

use crate::dead_letter::{self, Letter, Refused};
use crate::position::{self, Move};
use crate::{Store, StoreFailure};
use accepted::Accepted;
use domain::reading::Record;
use domain::rejection::Reason;
use effects::Effects;
use sqlx::PgConnection;
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;

/// A record that the schema accepts, with the message that carried it.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// The building that the message's key names.
    pub building: Uuid,
    /// What the message says.
    pub record: Record,
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
    /// Messages with something new.
    pub stored: u64,
    /// Messages of which every identity was known, and refused ones that came again.
    pub duplicates: u64,
    /// Those among the duplicates whose content differs from what is stored.
    pub conflicts: u64,
    /// Those among the duplicates that are from before the raw horizon: their minute is final, and whether they
    /// are the same as what was stored cannot be told any more.
    pub beyond_horizon: u64,
    /// Refused by the aggregator, by reason.
    pub dead_lettered: BTreeMap<Reason, u64>,
    /// Dead letters of the bridge that are new in the database.
    pub imported: u64,
}

impl Store {
    /// Stores a batch in one transaction, all or nothing; the same batch again changes nothing.
    /// A record older than `raw_retention` at its receipt, of an unknown building, with a reading that its
    /// building has no sensor for, or with an outcome of an action that its building does not have,
    /// becomes a dead letter. One from before the raw horizon changes nothing and counts as a duplicate.
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
        let accepted = Accepted::of(&mut transaction, &batch.records, raw_retention).await?;
        let mut ingested = Ingested {
            duplicates: accepted.beyond_horizon,
            beyond_horizon: accepted.beyond_horizon,
            ..Ingested::default()
        };
        store_accepted(&mut transaction, &accepted, &mut ingested).await?;
        for refused in batch.refused.iter().chain(&accepted.refused) {
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

/// Kinds in one order for all processes, what they mark after all of them.
async fn store_accepted(
    connection: &mut PgConnection,
    accepted: &Accepted<'_>,
    ingested: &mut Ingested,
) -> Result<(), StoreFailure> {
    let mut effects = Effects::default();
    telemetry::store(connection, accepted, &mut effects, ingested).await?;
    readings::store(connection, accepted, &mut effects, ingested).await?;
    key_values::store(connection, accepted, ingested).await?;
    reported::store(connection, accepted, ingested).await?;
    presence::store(connection, accepted, ingested).await?;
    effects.write(connection).await
}

impl Ingested {
    /// Counts a message by what became of its identities.
    fn count(&mut self, new: bool, differs: bool) {
        if new {
            self.stored += 1;
        } else {
            self.duplicates += 1;
            self.conflicts += u64::from(differs);
        }
    }
}
