//! Replaying dead letters: judged anew and stored, and marked in the same transaction.

use super::{Filter, Letter, Outcome, refuse_again};
use crate::administration::Run;
use crate::ingest::{self, Batch, Ingested};
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::rejection::Rejection;
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use std::time::Duration;

/// Letters that one transaction replays: some tenths of a second, so that what else arrives for their
/// buildings is not held up.
pub const LETTERS_AT_ONCE: i64 = 500;
/// And their payloads, in bytes: bounds memory.
const BYTES_AT_ONCE: i64 = 2 * 1024 * 1024;
/// How often a transaction is tried that meets a batch head on.
const ATTEMPTS: usize = 5;

/// Which dead letters to replay; what is `None` does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedLetters {
    /// Only these numbers.
    pub ids: Option<Vec<i64>>,
    /// Only these.
    pub filter: Filter,
}

/// What became of some dead letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedPage {
    /// Whose record had something new.
    pub stored: u64,
    /// Whose record was there already.
    pub duplicates: u64,
    /// Refused again, and why.
    pub refused: Vec<(i64, Rejection)>,
    /// The last one that was looked at: where the next page begins.
    pub last: (Timestamp, i64),
    /// How many were looked at, those included that another process has replayed meanwhile.
    pub looked_at: usize,
}

impl Store {
    /// How many dead letters there are to replay.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count_dead_letters(&self, asked: &AskedLetters) -> Result<u64, StoreFailure> {
        let count: i64 = asked
            .filter
            .bind(include_str!("../queries/count_dead_letters.sql"))
            .bind(&asked.ids)
            .fetch_one(&self.pool)
            .await?
            .try_get(0)?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Those of these numbers that no dead letter has.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn missing_dead_letters(&self, ids: &[i64]) -> Result<Vec<i64>, StoreFailure> {
        let statement = "select id from unnest($1::bigint[]) as asked (id) \
                         where not exists (select from dead_letter kept where kept.id = asked.id)";
        Ok(sqlx::query_scalar(statement)
            .bind(ids)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Replays the next dead letters behind the one with this moment and number, at most
    /// [`LETTERS_AT_ONCE`], in one transaction: `judge` makes of them what a batch is made of that comes in, it is
    /// stored by the same rules, and those that are not refused again are marked as replayed at `now`. `None` when there are
    /// no more. Any number of processes may do so at once: a letter is replayed by one.
    ///
    /// # Errors
    /// When the database does not take it; nothing has happened then.
    pub async fn replay_dead_letters(
        &self,
        asked: &AskedLetters,
        after: Option<(Timestamp, i64)>,
        raw_retention: Duration,
        now: Timestamp,
        run: Run,
        judge: impl Fn(Vec<Letter>) -> Batch,
    ) -> Result<Option<ReplayedPage>, StoreFailure> {
        for _ in 1..ATTEMPTS {
            match self
                .replay_page(asked, after, raw_retention, now, run, &judge)
                .await
            {
                Err(failure) if failure.is_deadlock() => {}
                done => return done,
            }
        }
        self.replay_page(asked, after, raw_retention, now, run, &judge)
            .await
    }

    async fn replay_page(
        &self,
        asked: &AskedLetters,
        after: Option<(Timestamp, i64)>,
        raw_retention: Duration,
        now: Timestamp,
        run: Run,
        judge: &impl Fn(Vec<Letter>) -> Batch,
    ) -> Result<Option<ReplayedPage>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let page = next_page(&mut transaction, asked, after).await?;
        let Some(last) = page.last().copied() else {
            return Ok(None);
        };
        let letters = lock(&mut transaction, &page).await?;
        let batch = judge(letters);
        let (ingested, refused) =
            ingest::ingest_again(&mut transaction, &batch, raw_retention).await?;
        mark(&mut transaction, &ingested, now).await?;
        refuse_again(&mut transaction, &refused).await?;
        match run {
            Run::Real => transaction.commit().await?,
            Run::Dry => transaction.rollback().await?,
        }
        Ok(Some(ReplayedPage {
            stored: ingested.stored,
            duplicates: ingested.duplicates,
            refused,
            last,
            looked_at: page.len(),
        }))
    }
}

async fn next_page(
    connection: &mut PgConnection,
    asked: &AskedLetters,
    after: Option<(Timestamp, i64)>,
) -> Result<Vec<(Timestamp, i64)>, StoreFailure> {
    let rows = asked
        .filter
        .bind(include_str!("../queries/replay_page.sql"))
        .bind(&asked.ids)
        .bind(after.map(|(received_at, _)| Instant(received_at)))
        .bind(after.map(|(_, id)| id))
        .bind(LETTERS_AT_ONCE)
        .bind(BYTES_AT_ONCE)
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| {
            let Instant(received_at) = row.try_get("received_at")?;
            Ok((received_at, row.try_get("id")?))
        })
        .collect()
}

async fn lock(
    connection: &mut PgConnection,
    page: &[(Timestamp, i64)],
) -> Result<Vec<Letter>, StoreFailure> {
    let ids: Vec<i64> = page.iter().map(|(_, id)| *id).collect();
    let rows = sqlx::query(include_str!("../queries/lock_letters.sql"))
        .bind(&ids)
        .fetch_all(connection)
        .await?;
    rows.iter().map(letter).collect()
}

fn letter(row: &PgRow) -> Result<Letter, StoreFailure> {
    let Instant(received_at) = row.try_get("received_at")?;
    Ok(Letter {
        building: row.try_get("building_uuid")?,
        source: row.try_get("source")?,
        received_at,
        traceparent: row.try_get("traceparent")?,
        redelivered: false,
        payload: row.try_get("payload")?,
        kept_as: Some(row.try_get("id")?),
    })
}

async fn mark(
    connection: &mut PgConnection,
    ingested: &Ingested,
    now: Timestamp,
) -> Result<(), StoreFailure> {
    if ingested.replayed.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = ingested.replayed.iter().map(|(id, _)| *id).collect();
    let outcomes = ingested.replayed.iter().map(|(_, outcome)| *outcome);
    let outcomes: Vec<&str> = outcomes.map(Outcome::as_str).collect();
    sqlx::query(include_str!("../queries/mark_replayed.sql"))
        .bind(Instant(now))
        .bind(&ids)
        .bind(&outcomes)
        .execute(connection)
        .await?;
    Ok(())
}
