//! Clearing away what is older than it is kept.

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;

/// Rows of a kind that one call deletes.
const CLEARED_AT_ONCE: i64 = 1_000;

impl Store {
    /// Deletes some of the actions that ended before this moment, with their steps, and of the reports and audit
    /// entries from before; answers how many, 0 when there are none left.
    /// Buildings that were removed before `removed_before` are forgotten.
    ///
    /// # Errors
    /// When the database does not take it.
    pub async fn clear_control(
        &self,
        before: Timestamp,
        removed_before: Timestamp,
    ) -> Result<u64, StoreFailure> {
        let mut cleared = 0;
        for statement in [
            include_str!("../queries/clear_actions.sql"),
            include_str!("../queries/clear_reports.sql"),
            include_str!("../queries/clear_audit.sql"),
        ] {
            let deleted = sqlx::query(statement)
                .bind(Instant(before))
                .bind(CLEARED_AT_ONCE)
                .execute(&self.pool)
                .await?;
            cleared += deleted.rows_affected();
        }
        sqlx::query(include_str!("../queries/clear_publications.sql"))
            .bind(Instant(removed_before))
            .execute(&self.pool)
            .await?;
        Ok(cleared)
    }
}
