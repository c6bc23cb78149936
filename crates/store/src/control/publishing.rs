//! Publishing: which documents are to go out, and that they have.

use crate::control::kept::{self, NotRead};
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::control::Desired;
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Postgres, Row, Transaction};
use std::time::Duration;
use uuid::Uuid;

/// When a document that the broker has refused is tried again.
const REFUSED_AGAIN: Duration = Duration::from_secs(10);

/// When nothing that another process had sent can arrive any more: longer than a broker keeps a connection that
/// has fallen silent, one and a half times the keep-alive of control.
const NOTHING_ARRIVES: Duration = Duration::from_secs(20);

/// What is to be published of a building.
#[derive(Clone, Debug, PartialEq)]
pub struct Publication {
    /// The building.
    pub building: Uuid,
    /// The newest revision; 0 when the building is no more.
    pub revision: i64,
    /// When it came about, and what it says; `None` when the building is no more.
    pub document: Option<(Timestamp, Desired)>,
    /// Whether it is published again without any change.
    pub again: bool,
    /// The rows of the outbox that it settles.
    settles: Vec<i64>,
}

/// Documents on their way to the broker. Until it is confirmed or dropped nobody else publishes for
/// these buildings.
#[derive(Debug)]
pub struct Publishing {
    transaction: Transaction<'static, Postgres>,
    publications: Vec<Publication>,
    /// From when on controllers may know of them.
    since: Timestamp,
}

/// Publications of which it is not known whether the database has noted them, and so whether somebody
/// else has published for their buildings meanwhile.
#[derive(Debug)]
pub struct Unconfirmed {
    /// The buildings.
    pub buildings: Vec<Uuid>,
    /// Why.
    pub failure: StoreFailure,
}

impl Store {
    /// Takes what is to be published at `now`, of `at_most` buildings, the oldest first, new documents before repetitions; none when there
    /// is nothing, or others are at work on it. A building of which something is due waits until that has
    /// happened, so that nothing is published that is over.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin_publishing(
        &self,
        at_most: u16,
        now: Timestamp,
    ) -> Result<Option<Publishing>, StoreFailure> {
        loop {
            let mut transaction = self.pool.begin().await?;
            let claimed: Vec<Uuid> =
                sqlx::query_scalar(include_str!("../queries/claim_publications.sql"))
                    .bind(i64::from(at_most))
                    .bind(Instant(now))
                    .bind(self.aside.buildings(now))
                    .fetch_all(&mut *transaction)
                    .await?;
            if claimed.is_empty() {
                return Ok(None);
            }
            sqlx::query(include_str!("../queries/insert_attempts.sql"))
                .bind(&claimed)
                .execute(&self.pool)
                .await?;
            let read = read(&mut transaction, claimed, now).await?;
            let publications = self.aside.sort(read.into_iter(), now)?;
            // All of them may have been set aside: there are others.
            if !publications.is_empty() {
                return Ok(Some(Publishing {
                    transaction,
                    publications,
                    since: now,
                }));
            }
        }
    }
}

impl Publishing {
    /// What is to be published.
    #[must_use]
    pub fn publications(&self) -> &[Publication] {
        &self.publications
    }

    /// Notes what the broker has answered, by the place in [`Publishing::publications`]: what it confirmed is settled,
    /// what it refused is put behind everything else, and what it did not answer to stays as it was.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn confirm(
        mut self,
        answers: &[Option<bool>],
        now: Timestamp,
    ) -> Result<(), Unconfirmed> {
        let noted = self.note(answers, now).await;
        let noted = match noted {
            Ok(()) => self.transaction.commit().await.map_err(StoreFailure::from),
            Err(failure) => Err(failure),
        };
        noted.map_err(|failure| Unconfirmed {
            buildings: self.publications.iter().map(|it| it.building).collect(),
            failure,
        })
    }

    async fn note(&mut self, answers: &[Option<bool>], now: Timestamp) -> Result<(), StoreFailure> {
        // Published twice at worst, should the database forget it: no need to wait for its disk.
        sqlx::query("set local synchronous_commit = off")
            .execute(&mut *self.transaction)
            .await?;
        let answered = |with: bool| {
            let all = self.publications.iter().zip(answers);
            all.filter(move |(_, answer)| **answer == Some(with))
                .map(|(it, _)| it)
        };
        let buildings: Vec<Uuid> = answered(true).map(|it| it.building).collect();
        let revisions: Vec<i64> = answered(true).map(|it| it.revision).collect();
        let settled = answered(true).flat_map(|it| it.settles.iter().copied());
        let settled: Vec<i64> = settled.collect();
        let refused = answered(false).flat_map(|it| it.settles.iter().copied());
        let refused: Vec<i64> = refused.collect();
        let statements = [
            sqlx::query(include_str!("../queries/lock_control_states.sql")).bind(&buildings),
            sqlx::query(include_str!("../queries/settle_outbox.sql"))
                .bind(&buildings)
                .bind(&revisions)
                .bind(&settled)
                .bind(Instant(now))
                .bind(Instant(now.plus(NOTHING_ARRIVES))),
            sqlx::query(include_str!("../queries/note_published.sql"))
                .bind(&buildings)
                .bind(&revisions)
                .bind(Instant(now))
                .bind(Instant(self.since)),
            sqlx::query(include_str!("../queries/put_behind.sql"))
                .bind(&refused)
                .bind(Instant(now.plus(REFUSED_AGAIN))),
        ];
        for statement in statements {
            statement.execute(&mut *self.transaction).await?;
        }
        Ok(())
    }
}

/// Reads the newest documents. A statement of its own, begun when the rows were locked: so it sees whatever
/// was published before, and what has been committed since.
async fn read(
    connection: &mut PgConnection,
    claimed: Vec<Uuid>,
    now: Timestamp,
) -> Result<Vec<Result<(Uuid, Publication), NotRead>>, StoreFailure> {
    let rows = sqlx::query(include_str!("../queries/publications.sql"))
        .bind(claimed)
        .bind(Instant(now))
        .fetch_all(connection)
        .await?;
    Ok(rows.iter().map(publication).collect())
}

fn publication(row: &PgRow) -> Result<(Uuid, Publication), NotRead> {
    let building = row.try_get("building_uuid")?;
    let revision: Option<i64> = row.try_get("revision")?;
    let document = match revision {
        Some(_) => {
            let Instant(issued_at) = row.try_get("issued_at")?;
            let state = kept::state(building, row.try_get("state")?)?;
            Some((issued_at, state.desired().clone()))
        }
        None => None,
    };
    let publication = Publication {
        building,
        revision: revision.unwrap_or_default(),
        document,
        again: row.try_get("again")?,
        settles: row.try_get("settles")?,
    };
    Ok((building, publication))
}
