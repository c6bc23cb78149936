//! Publishing again what a broker may have lost.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use uuid::Uuid;

impl Store {
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
