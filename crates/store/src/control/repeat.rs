//! Publishing again what a broker may have lost.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::Row;
use uuid::Uuid;

/// By how much revisions are put ahead: more than any building has changes between two backups, and few
/// enough of it for a long life.
const AHEAD: i64 = 1_000_000;

impl Store {
    /// After the database was restored from a backup: controllers may have seen revisions that it does not know
    /// any more, and pass over what is older. Gives every building a revision above them, with the same content,
    /// and has it published; answers how many.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn put_revisions_ahead(&self, now: Timestamp) -> Result<u64, StoreFailure> {
        let buildings: i64 = sqlx::query(include_str!("../queries/put_revisions_ahead.sql"))
            .bind(AHEAD)
            .bind(Instant(now))
            .fetch_one(&self.pool)
            .await?
            .try_get(0)?;
        Ok(buildings.unsigned_abs())
    }

    /// Has the documents published again that were published after `since`; answers how many. Those that
    /// wait in the outbox anyway are not meant.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn publish_again_since(&self, since: Timestamp) -> Result<u64, StoreFailure> {
        let queued = sqlx::query(include_str!("../queries/publish_again_since.sql"))
            .bind(Instant(since))
            .execute(&self.pool)
            .await?;
        Ok(queued.rows_affected())
    }

    /// Has the documents of these buildings published again.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn publish_again(&self, buildings: &[Uuid]) -> Result<(), StoreFailure> {
        sqlx::query(include_str!("../queries/publish_again.sql"))
            .bind(buildings)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
