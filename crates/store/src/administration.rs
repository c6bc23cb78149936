//! What an operator changes: one transaction that can tell its difference, or only tell it.

mod change;
mod lock;
mod removal;
mod sensor;
mod snapshot;

pub use change::{Change, PutSensor};
pub use removal::TABLES_OF_A_BUILDING;
pub use snapshot::{KeptBuilding, KeptHub, KeptSensor, KeptToken, KeptUser, Snapshot};

use crate::{Store, StoreFailure};
use removal::SensorIds;
use snapshot::Scope;
pub(crate) use snapshot::{role, token};

/// How often a change is tried that meets a batch head on.
const ATTEMPTS: usize = 5;

/// Whether a change is made, or only told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// Made.
    Real,
    /// Made, told, and taken back.
    Dry,
}

/// What a change met, and what it left; equal when it changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Administered {
    /// Before the change: all that it could touch.
    pub before: Snapshot,
    /// After it.
    pub after: Snapshot,
}

impl Store {
    /// Makes a change, all or nothing, one administration at a time; the same again changes nothing.
    /// A dry run does the same and takes it back, so that it tells exactly what a real run would do.
    ///
    /// # Errors
    /// When the change names what does not exist, or the database does not take it.
    pub async fn administer(
        &self,
        change: &Change,
        run: Run,
    ) -> Result<Administered, StoreFailure> {
        // A batch whose telemetry has a section for the first time adds sensors, and locks what it
        // needs for that in another order: then the database ends one of the two.
        for _ in 1..ATTEMPTS {
            match self.attempt(change, run).await {
                Err(failure) if failure.is_deadlock() => {}
                done => return done,
            }
        }
        self.attempt(change, run).await
    }

    async fn attempt(&self, change: &Change, run: Run) -> Result<Administered, StoreFailure> {
        let mut transaction = self.pool.begin().await?;
        lock::one_at_a_time(&mut transaction).await?;
        let scope = Scope::of(&mut transaction, change).await?;
        lock::rows(&mut transaction, change, &scope).await?;
        let ids = SensorIds::of(&mut transaction, &scope).await?;
        let before = Snapshot::take(&mut transaction, &scope).await?;
        change::carry_out(&mut transaction, change).await?;
        let after = Snapshot::take(&mut transaction, &scope).await?;
        match run {
            Run::Dry => transaction.rollback().await?,
            Run::Real => {
                // Much, and not part of what is told: a dry run spares it.
                removal::forget(&mut transaction, &ids, &before, &after).await?;
                transaction.commit().await?;
            }
        }
        Ok(Administered { before, after })
    }
}
