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
use snapshot::Scope;
pub(crate) use snapshot::{role, token};

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
        let mut transaction = self.pool.begin().await?;
        lock::one_at_a_time(&mut transaction).await?;
        let scope = Scope::of(&mut transaction, change).await?;
        lock::rows(&mut transaction, change, &scope).await?;
        let before = Snapshot::take(&mut transaction, &scope).await?;
        change::carry_out(&mut transaction, change).await?;
        let after = Snapshot::take(&mut transaction, &scope).await?;
        let administered = Administered { before, after };
        match run {
            Run::Dry => transaction.rollback().await?,
            Run::Real => {
                // Much, and not part of what is told: a dry run spares it.
                removal::forget(&mut transaction, &administered.removed_buildings()).await?;
                transaction.commit().await?;
            }
        }
        Ok(administered)
    }
}

impl Administered {
    fn removed_buildings(&self) -> Vec<uuid::Uuid> {
        let before = self.before.buildings.keys();
        before
            .filter(|uuid| !self.after.buildings.contains_key(uuid))
            .copied()
            .collect()
    }
}
