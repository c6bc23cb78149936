//! Publishing: which documents are to go out, and that they have.

use crate::control::kept;
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::control::Desired;
use domain::time::Timestamp;
use sqlx::{PgConnection, Postgres, Row, Transaction};
use uuid::Uuid;

/// Documents that one transaction takes: as many as are on the way to the broker at once.
const PUBLISHED_AT_ONCE: i64 = 256;

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
    /// The last row of the outbox that it settles.
    settles: i64,
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
    /// Takes what is to be published at `now`, the oldest first, new documents before repetitions; none when there
    /// is nothing, or others are at work on it. A building of which something is due waits until that has
    /// happened, so that nothing is published that is over.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn begin_publishing(
        &self,
        now: Timestamp,
    ) -> Result<Option<Publishing>, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let claimed: Vec<Uuid> =
            sqlx::query_scalar(include_str!("../queries/claim_publications.sql"))
                .bind(PUBLISHED_AT_ONCE)
                .bind(Instant(now))
                .fetch_all(&mut *transaction)
                .await?;
        if claimed.is_empty() {
            return Ok(None);
        }
        let publications = read(&mut transaction, claimed).await?;
        Ok(Some(Publishing {
            transaction,
            publications,
            since: now,
        }))
    }
}

impl Publishing {
    /// What is to be published.
    #[must_use]
    pub fn publications(&self) -> &[Publication] {
        &self.publications
    }

    /// Notes what the broker has confirmed, by its place in [`Publishing::publications`]; the rest is put behind
    /// everything else, to be tried again.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn confirm(mut self, confirmed: &[bool], now: Timestamp) -> Result<(), Unconfirmed> {
        let noted = self.note(confirmed, now).await;
        let noted = match noted {
            Ok(()) => self.transaction.commit().await.map_err(StoreFailure::from),
            Err(failure) => Err(failure),
        };
        noted.map_err(|failure| Unconfirmed {
            buildings: self.publications.iter().map(|it| it.building).collect(),
            failure,
        })
    }

    async fn note(&mut self, confirmed: &[bool], now: Timestamp) -> Result<(), StoreFailure> {
        // Published twice at worst, should the database forget it: no need to wait for its disk.
        sqlx::query("set local synchronous_commit = off")
            .execute(&mut *self.transaction)
            .await?;
        let all = self.publications.iter().zip(confirmed);
        let (yes, no): (Vec<_>, Vec<_>) = all.partition(|(_, confirmed)| **confirmed);
        let buildings: Vec<Uuid> = yes.iter().map(|(it, _)| it.building).collect();
        let revisions: Vec<i64> = yes.iter().map(|(it, _)| it.revision).collect();
        let settled: Vec<i64> = yes.iter().map(|(it, _)| it.settles).collect();
        let lock = include_str!("../queries/lock_control_states.sql");
        let statements = [
            sqlx::query(lock).bind(&buildings),
            sqlx::query(include_str!("../queries/settle_outbox.sql"))
                .bind(&buildings)
                .bind(&revisions)
                .bind(&settled)
                .bind(Instant(now)),
            sqlx::query(include_str!("../queries/note_published.sql"))
                .bind(&buildings)
                .bind(&revisions)
                .bind(Instant(now))
                .bind(Instant(self.since)),
        ];
        for statement in statements {
            statement.execute(&mut *self.transaction).await?;
        }
        let refused: Vec<Uuid> = no.iter().map(|(it, _)| it.building).collect();
        if !refused.is_empty() {
            sqlx::query(include_str!("../queries/put_behind.sql"))
                .bind(refused)
                .execute(&mut *self.transaction)
                .await?;
        }
        Ok(())
    }
}

/// Reads the newest documents. A statement of its own, begun when the rows were locked: so it sees whatever
/// was published before, and what has been committed since.
async fn read(
    connection: &mut PgConnection,
    claimed: Vec<Uuid>,
) -> Result<Vec<Publication>, StoreFailure> {
    let rows = sqlx::query(include_str!("../queries/publications.sql"))
        .bind(claimed)
        .fetch_all(connection)
        .await?;
    let publication = |row: &sqlx::postgres::PgRow| {
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
        Ok(Publication {
            building,
            revision: revision.unwrap_or_default(),
            document,
            again: row.try_get("again")?,
            settles: row.try_get("settles")?,
        })
    };
    rows.iter().map(publication).collect()
}
