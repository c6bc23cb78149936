//! What happens by itself.

use crate::control::report::{catch_up, catch_up_wholly};
use crate::control::{CONTROL_LIMIT, Kept, kept, save};
use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

/// What was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// Of how many buildings.
    pub buildings: usize,
    /// When the first of it was due; `None` when all of it was only to be looked at.
    pub first_due: Option<Timestamp>,
}

impl Store {
    /// Executes what is due at `now` of at most [`CONTROL_LIMIT`] buildings, the longest due first. Any number of
    /// processes may do so at once: each building is taken by one. What this process cannot read is passed over.
    ///
    /// # Errors
    /// When the database does not take it; nothing has happened then.
    pub async fn execute_due(&self, now: Timestamp) -> Result<Executed, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let rows = sqlx::query(include_str!("../queries/claim_due.sql"))
            .bind(Instant(now))
            .bind(CONTROL_LIMIT)
            .bind(self.aside.buildings(now))
            .fetch_all(&mut *transaction)
            .await?;
        if rows.is_empty() {
            return Ok(Executed::default());
        }
        let mut all = self.aside.sort(rows.iter().map(Kept::by_building), now)?;
        let first_due = first_due(&rows)?;
        kept::with_surroundings(&mut transaction, &mut all, now).await?;
        let until = catch_up(&mut transaction, &mut all, now).await?;
        save(&mut transaction, &all, until, now).await?;
        transaction.commit().await?;
        Ok(Executed {
            buildings: all.len(),
            first_due,
        })
    }
}

fn first_due(rows: &[PgRow]) -> Result<Option<Timestamp>, StoreFailure> {
    let mut first = None;
    for row in rows {
        let Instant(due_at) = row.try_get("due_at")?;
        let is_earlier = first.is_none_or(|first| due_at < first);
        // The epoch stands for "at once".
        if is_earlier && due_at > Timestamp::from_seconds(0) {
            first = Some(due_at);
        }
    }
    Ok(first)
}

/// Takes over a change of a building's surroundings, such as an occurrence of its grid limit schedule, in the
/// transaction that makes it; answers whether the document has room for it.
pub(crate) async fn surroundings_changed(
    connection: &mut PgConnection,
    building: Uuid,
    now: Timestamp,
) -> Result<bool, StoreFailure> {
    let Some((mut kept, now)) = Kept::lock(connection, building, || now).await? else {
        return Ok(true);
    };
    catch_up_wholly(connection, &mut kept, now).await?;
    save(connection, std::slice::from_ref(&kept), now, now).await?;
    Ok(kept.fits())
}
