//! Folding: marked minutes into minute buckets, quarters from minutes, days from quarters.

mod level;

use crate::instant::Instant;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use level::{Level, Mark};
use sqlx::{Connection as _, PgConnection, Row};
use std::time::Duration;

/// Marks that one transaction takes: some tenths of a second of work, so that marks are not held long.
pub const FOLD_LIMIT: i64 = 2_000;

/// When what could not be folded is tried again.
const SET_ASIDE_FOR: Duration = Duration::from_secs(300);

/// So many marks may be set aside though no other could be folded: more, and it is the database that is at
/// fault.
const FEW: usize = 10;

/// How many marks a call took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Building-minutes.
    pub minutes: usize,
    /// Building-quarters.
    pub quarters: usize,
    /// Building-days.
    pub days: usize,
    /// Those among them that cannot be folded, and wait for the next attempt.
    pub set_aside: usize,
}

/// What a transaction took of one level.
struct Taken {
    marks: usize,
    set_aside: usize,
}

impl Store {
    /// Folds at most [`FOLD_LIMIT`] marked minutes, and as many quarters and days, that have ended at `now`.
    /// Any number of processes may do so at once: each mark is taken by one of them. What the database
    /// cannot fold (a number out of range) is set aside and holds up nothing else.
    ///
    /// # Errors
    /// When the database does not take it; nothing is lost then.
    pub async fn fold(&self, now: Timestamp) -> Result<Folded, StoreFailure> {
        // One that fails does not keep the others from going on.
        let minutes = self.fold_level(Level::Minute, now).await;
        let quarters = self.fold_level(Level::Quarter, now).await;
        let days = self.fold_level(Level::Day, now).await;
        let (minutes, quarters, days) = (minutes?, quarters?, days?);
        Ok(Folded {
            minutes: minutes.marks,
            quarters: quarters.marks,
            days: days.marks,
            set_aside: minutes.set_aside + quarters.set_aside + days.set_aside,
        })
    }

    async fn fold_level(&self, level: Level, now: Timestamp) -> Result<Taken, StoreFailure> {
        match self.fold_whole(level, now).await {
            Err(StoreFailure::Refused(_)) => self.fold_around(level, now).await,
            outcome => outcome,
        }
    }

    async fn fold_whole(&self, level: Level, now: Timestamp) -> Result<Taken, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let claimed = claim(&mut transaction, level, now).await?;
        if !claimed.is_empty() {
            if let Err(failure) = level.fold(&mut transaction, &claimed).await {
                // Now, not some time later: who claims next passes over what is locked still.
                transaction.rollback().await?;
                return Err(failure);
            }
            transaction.commit().await?;
        }
        Ok(Taken {
            marks: claimed.len(),
            set_aside: 0,
        })
    }

    /// Folds all but the marks that the database cannot fold: these are found, and put back for later.
    async fn fold_around(&self, level: Level, now: Timestamp) -> Result<Taken, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        let claimed = claim(&mut transaction, level, now).await?;
        let refused = fold_others(&mut transaction, level, &claimed).await?;
        if let Some((mark, words)) = refused.first() {
            if refused.len() > FEW && refused.len() == claimed.len() {
                transaction.rollback().await?;
                return Err(StoreFailure::Refused(words.clone()));
            }
            tracing::warn!(
                level = level.name(),
                intervals = refused.len(),
                first_building = %mark.0,
                first_start_s = mark.1.seconds(),
                cause = words,
                "cannot be folded: set aside for five minutes"
            );
            let marks: Vec<Mark> = refused.iter().map(|(mark, _)| *mark).collect();
            let until = Instant(now.plus(SET_ASIDE_FOR));
            level::bind(level.set_aside(), &marks)
                .bind(until)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(Taken {
            marks: claimed.len(),
            set_aside: refused.len(),
        })
    }
}

/// Takes marks of what has ended, by building and start: one order of locks for all processes.
async fn claim(
    connection: &mut PgConnection,
    level: Level,
    now: Timestamp,
) -> Result<Vec<Mark>, StoreFailure> {
    let rows = sqlx::query(level.claim())
        .bind(Instant(now.floor(level.interval())))
        .bind(FOLD_LIMIT)
        .bind(Instant(now))
        .fetch_all(&mut *connection)
        .await?;
    let mut claimed = Vec::with_capacity(rows.len());
    for row in &rows {
        let Instant(start) = row.try_get("start")?;
        claimed.push((row.try_get("building_uuid")?, start));
    }
    claimed.sort_unstable();
    if !claimed.is_empty() {
        level.lock(connection, &claimed).await?;
    }
    Ok(claimed)
}

/// Folds what can be folded, and answers what cannot, with the database's words: what is refused together is
/// tried in halves, each behind a savepoint, down to the single mark.
async fn fold_others(
    connection: &mut PgConnection,
    level: Level,
    claimed: &[Mark],
) -> Result<Vec<(Mark, String)>, StoreFailure> {
    let mut refused = Vec::new();
    let mut waiting = vec![claimed];
    while let Some(some) = waiting.pop() {
        let mut savepoint = connection.begin().await?;
        match (level.fold(&mut savepoint, some).await, some) {
            (Ok(()), _) => savepoint.commit().await?,
            (Err(StoreFailure::Refused(words)), [_, ..]) => {
                savepoint.rollback().await?;
                match some {
                    [mark] => refused.push((*mark, words)),
                    _ => {
                        let (first, second) = some.split_at(some.len() / 2);
                        waiting.extend([second, first]);
                    }
                }
            }
            (Err(failure), _) => return Err(failure),
        }
    }
    Ok(refused)
}
