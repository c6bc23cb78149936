//! One batch, one transaction: positions, records, marks, newest samples and dead letters.

mod accepted;
mod culprit;
mod effects;
mod key_values;
mod presence;
mod readings;
pub(crate) mod registers;
mod reported;
mod telemetry;
mod way;

use crate::dead_letter::{self, Letter, Outcome, Refused};
use crate::position::{self, Move};
use crate::stretch::{self, StretchMove};
use crate::whole::Whole;
use crate::{Store, StoreFailure};
use accepted::Accepted;
use domain::reading::Record;
use domain::rejection::{Reason, Rejection};
use effects::Effects;
use sqlx::{Connection as _, PgConnection};
use std::collections::BTreeMap;
use std::time::Duration;
use uuid::Uuid;
use way::Way;
pub(crate) use way::Ways;

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
    /// How far it moves the positions in it; empty in direct mode.
    pub moves: Vec<Move>,
    /// How far it moves the stretches that are read besides.
    pub stretches: Vec<StretchMove>,
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
    /// Of messages that were dead letters, those that are none any more.
    pub replayed: Vec<(i64, Outcome)>,
}

impl Batch {
    /// How many messages there are in it, whatever becomes of them, and the bytes of their payloads.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        let records = self.records.iter().map(|it| &it.letter);
        let refused = self.refused.iter().chain(&self.imported);
        let letters = records.chain(refused.map(|it| &it.letter));
        letters.fold((0, 0), |(messages, bytes), letter| {
            (messages + 1, bytes + letter.payload.len())
        })
    }

    /// Adds what arrived behind this batch, so that both are stored together.
    pub fn append(&mut self, later: Self) {
        self.records.extend(later.records);
        self.refused.extend(later.refused);
        self.imported.extend(later.imported);
        for moved in later.moves {
            let same = |it: &&mut Move| it.topic == moved.topic && it.partition == moved.partition;
            match self.moves.iter_mut().find(same) {
                Some(earlier) => earlier.to_offset = moved.to_offset,
                None => self.moves.push(moved),
            }
        }
        for moved in later.stretches {
            let same = |it: &&mut StretchMove| {
                it.stretch.topic == moved.stretch.topic
                    && it.stretch.partition == moved.stretch.partition
                    && it.stretch.end_offset == moved.stretch.end_offset
            };
            match self.stretches.iter_mut().find(same) {
                Some(earlier) => earlier.to_offset = moved.to_offset,
                None => self.stretches.push(moved),
            }
        }
    }
}

impl Store {
    /// Stores a batch in one transaction, all or nothing; the same batch again changes nothing.
    /// A record older than `raw_retention` at its receipt, of an unknown building, with a reading that its
    /// building has no sensor for, or with an outcome of an action that its building does not have,
    /// becomes a dead letter; and so does one that the database does not take while it takes others. One from before
    /// the raw horizon changes nothing and counts as a duplicate.
    ///
    /// # Errors
    /// [`StoreFailure::LostPosition`] when the log's position is not where the batch begins;
    /// [`StoreFailure::Refused`] when the database does not take it, and nothing shows that single messages are
    /// the cause: with more messages that may show; otherwise when the database does not take it.
    pub async fn ingest(
        &self,
        batch: &Batch,
        raw_retention: Duration,
    ) -> Result<Ingested, StoreFailure> {
        match self.ingest_whole(batch, raw_retention).await {
            Err(StoreFailure::Refused(_)) => self.ingest_around(batch, raw_retention).await,
            outcome => outcome,
        }
    }

    /// The first half of [`Store::ingest`]: whole, or refused whole.
    ///
    /// # Errors
    /// As [`Store::ingest`].
    pub async fn ingest_whole(
        &self,
        batch: &Batch,
        raw_retention: Duration,
    ) -> Result<Ingested, StoreFailure> {
        let mut way = self.ways.next();
        loop {
            let mut whole = Whole::from(&self.pool).await?;
            let outcome = ingest_by(way, whole.connection(), batch, raw_retention).await;
            whole.give_back();
            match (&outcome, way) {
                (Err(failure), Way::Copy) if failure.is_known() => {
                    self.ways.note(1);
                    way = Way::Insert;
                }
                (Ok(ingested), Way::Insert) => {
                    self.ways.note(ingested.duplicates);
                    return outcome;
                }
                (Ok(_) | Err(_), Way::Copy | Way::Insert) => return outcome,
            }
        }
    }

    /// The second half: stores all but the messages that the database does not take; these are found, and become
    /// dead letters. Still one transaction, so that the positions move with all of it. It takes two short attempts
    /// for each of them, and some more.
    ///
    /// # Errors
    /// As [`Store::ingest`].
    pub async fn ingest_around(
        &self,
        batch: &Batch,
        raw_retention: Duration,
    ) -> Result<Ingested, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        advance(&mut transaction, batch).await?;
        let (mut part, culprits) =
            culprit::store_others(&mut transaction, &batch.records, raw_retention).await?;
        let has_letters = !batch.refused.is_empty() || !batch.imported.is_empty();
        culprit::must_be_at_fault(&culprits, &part, has_letters)?;
        part.refused.extend(culprits.into_iter().map(Refused::from));
        let ingested = part.keep_refused(&mut transaction, batch).await?;
        transaction.commit().await?;
        Ok(ingested)
    }
}

async fn ingest_by(
    way: Way,
    connection: &mut PgConnection,
    batch: &Batch,
    raw_retention: Duration,
) -> Result<Ingested, StoreFailure> {
    let mut transaction = connection.begin().await?;
    advance(&mut transaction, batch).await?;
    let part = match Part::store(&mut transaction, &batch.records, raw_retention, way).await {
        Ok(part) => part,
        Err(failure) if failure.is_known() => {
            // Now, not some time later: the next attempt needs the same rows.
            transaction.rollback().await?;
            return Err(failure);
        }
        Err(failure) => return Err(failure),
    };
    let ingested = part.keep_refused(&mut transaction, batch).await?;
    transaction.commit().await?;
    Ok(ingested)
}

/// Moves the log's positions and stretches, or finds that the batch is somebody else's.
async fn advance(connection: &mut PgConnection, batch: &Batch) -> Result<(), StoreFailure> {
    position::advance(connection, &batch.cluster, &batch.moves).await?;
    stretch::advance(connection, &batch.cluster, &batch.stretches).await
}

/// Stores dead letters that are judged anew; answers which are refused again, and why.
pub(crate) async fn ingest_again(
    connection: &mut PgConnection,
    batch: &Batch,
    raw_retention: Duration,
) -> Result<(Ingested, Vec<(i64, Rejection)>), StoreFailure> {
    let (mut part, culprits) =
        culprit::store_others(connection, &batch.records, raw_retention).await?;
    part.refused.extend(culprits.into_iter().map(Refused::from));
    let refused = batch.refused.iter().chain(&part.refused);
    let refused = refused.filter_map(|it| Some((it.letter.kept_as?, it.rejection.clone())));
    let refused = refused.collect();
    Ok((part.ingested, refused))
}

/// What became of a part of a batch's records.
#[derive(Default)]
struct Part {
    ingested: Ingested,
    /// Refused by the rules, or not taken by the database.
    refused: Vec<Refused>,
    /// How many the database took, by kind.
    taken: [usize; Record::KINDS],
}

impl Part {
    /// Stores some records of a batch.
    async fn store(
        connection: &mut PgConnection,
        records: &[Incoming],
        raw_retention: Duration,
        way: Way,
    ) -> Result<Self, StoreFailure> {
        let accepted = Accepted::of(connection, records, raw_retention).await?;
        let mut ingested = Ingested {
            duplicates: accepted.beyond_horizon,
            beyond_horizon: accepted.beyond_horizon,
            ..Ingested::default()
        };
        store_accepted(connection, &accepted, way, &mut ingested).await?;
        Ok(Self {
            ingested,
            taken: accepted.by_kind(),
            refused: accepted.refused,
        })
    }

    /// Keeps what was refused of the batch, and what the bridge refused.
    async fn keep_refused(
        self,
        connection: &mut PgConnection,
        batch: &Batch,
    ) -> Result<Ingested, StoreFailure> {
        let Self {
            mut ingested,
            refused,
            ..
        } = self;
        let own: Vec<&Refused> = batch.refused.iter().chain(&refused).collect();
        let new = dead_letter::keep_all(connection, &own).await?;
        for (refused, new) in own.iter().zip(new) {
            if new {
                let reason = refused.rejection.reason;
                *ingested.dead_lettered.entry(reason).or_default() += 1;
            } else {
                ingested.duplicates += 1;
            }
        }
        let imported: Vec<&Refused> = batch.imported.iter().collect();
        let new = dead_letter::keep_all(connection, &imported).await?;
        ingested.imported = new.into_iter().map(u64::from).sum();
        Ok(ingested)
    }
}

/// Kinds in one order for all processes, what they mark after all of them.
async fn store_accepted(
    connection: &mut PgConnection,
    accepted: &Accepted<'_>,
    way: Way,
    ingested: &mut Ingested,
) -> Result<(), StoreFailure> {
    let mut effects = Effects::default();
    telemetry::store(connection, accepted, way, &mut effects, ingested).await?;
    readings::store(connection, accepted, &mut effects, ingested).await?;
    key_values::store(connection, accepted, ingested).await?;
    reported::store(connection, accepted, ingested).await?;
    presence::store(connection, accepted, ingested).await?;
    effects.write(connection).await
}

impl Ingested {
    /// Counts a message with something new.
    fn add_stored(&mut self, incoming: &Incoming) {
        self.stored += 1;
        let replayed = incoming.letter.kept_as;
        self.replayed
            .extend(replayed.map(|id| (id, Outcome::Stored)));
    }

    /// Counts a message of which every identity was known.
    fn add_duplicate(&mut self, incoming: &Incoming) {
        self.duplicates += 1;
        let replayed = incoming.letter.kept_as;
        self.replayed
            .extend(replayed.map(|id| (id, Outcome::Duplicate)));
    }

    /// Counts a message by what became of its identities.
    fn count(&mut self, incoming: &Incoming, new: bool, differs: bool) {
        if new {
            self.add_stored(incoming);
        } else {
            self.add_duplicate(incoming);
            self.conflicts += u64::from(differs);
        }
    }
}
