//! Control states that this process cannot read: set aside, so that they hold up nobody else.

use super::kept::NotRead;
use crate::{Store, StoreFailure};
use domain::time::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

/// When it is looked at again whether a state can be read: somebody may have mended it.
const AGAIN_AFTER: Duration = Duration::from_secs(60);

/// The buildings whose state could not be read, and when they are looked at again. Only in memory: the state may
/// be what a newer binary wrote, and processes of that one go on with it.
#[derive(Debug, Default)]
pub(crate) struct Aside(Mutex<HashMap<Uuid, Timestamp>>);

impl Aside {
    /// The buildings that are to be passed over.
    pub(crate) fn buildings(&self, now: Timestamp) -> Vec<Uuid> {
        let entries = self.entries();
        // A clock that was set back does not make anybody wait for longer.
        let waits = |until: &Timestamp| now < *until && *until <= now.plus(AGAIN_AFTER);
        let waiting = entries.iter().filter(|(_, until)| waits(until));
        waiting.map(|(building, _)| *building).collect()
    }

    /// What was read of each building; those that cannot be read are set aside.
    ///
    /// # Errors
    /// When the database's answer is none.
    pub(crate) fn sort<T>(
        &self,
        read: impl Iterator<Item = Result<(Uuid, T), NotRead>>,
        now: Timestamp,
    ) -> Result<Vec<T>, StoreFailure> {
        let mut readable = Vec::new();
        for read in read {
            match read {
                Ok((building, of_building)) => {
                    self.forget(building);
                    readable.push(of_building);
                }
                Err(NotRead::Unreadable { building, cause }) => self.note(building, &cause, now),
                Err(NotRead::Failure(failure)) => return Err(failure),
            }
        }
        Ok(readable)
    }

    fn note(&self, building: Uuid, cause: &str, now: Timestamp) {
        let until = now.plus(AGAIN_AFTER);
        if self.entries().insert(building, until).is_none() {
            tracing::error!(
                %building,
                cause,
                "the control state cannot be read: nothing is done for this building"
            );
        }
    }

    fn forget(&self, building: Uuid) {
        if self.entries().remove(&building).is_some() {
            tracing::info!(%building, "the control state can be read again");
        }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Uuid, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Of how many buildings this process cannot read the control state.
    #[must_use]
    pub fn unreadable_states(&self) -> usize {
        self.aside.entries().len()
    }
}
