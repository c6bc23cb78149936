//! What happens by itself.

use crate::control::{CONTROL_LIMIT, Kept, fate, kept, save};
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;

impl Store {
    /// Executes what is due at `now` of at most [`CONTROL_LIMIT`] buildings, the longest due first; answers
    /// of how many. Any number of processes may do so at once: each building is taken by one.
    ///
    /// # Errors
    /// When the database does not take it; nothing has happened then.
    pub async fn execute_due(&self, now: Timestamp) -> Result<usize, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let rows = sqlx::query(include_str!("../queries/claim_due.sql"))
            .bind(Instant(now))
            .bind(CONTROL_LIMIT)
            .fetch_all(&mut *transaction)
            .await?;
        if rows.is_empty() {
            return Ok(0);
        }
        let mut all: Vec<Kept> = rows.iter().map(Kept::of).collect::<Result<_, _>>()?;
        kept::with_grid_limits(&mut transaction, &mut all, now).await?;
        let happened = all.iter_mut().flat_map(|kept| kept.advance(now)).collect();
        save(&mut transaction, &all, now).await?;
        fate::happen(&mut transaction, happened).await?;
        transaction.commit().await?;
        Ok(all.len())
    }
}
