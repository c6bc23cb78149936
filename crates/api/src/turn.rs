//! A request's turn: the service works on a bounded number of requests at once, and what it waits for
//! clients is no work.

use crate::error::Problem;
use axum::http::Extensions;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// One of the places for requests that are worked on; cheap to clone, and the clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    places: Arc<Semaphore>,
    place: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Turn {
    /// Waits for a place, which is held until the last clone is dropped.
    pub(crate) async fn wait(places: Arc<Semaphore>) -> Result<Self, Problem> {
        let turn = Self {
            places,
            place: Arc::default(),
        };
        turn.take().await?;
        Ok(turn)
    }

    /// Waits for something of the client while others have the place, then waits for one again.
    pub(crate) async fn aside<T>(
        extensions: &Extensions,
        waited_for: impl Future<Output = T>,
    ) -> Result<T, Problem> {
        let turn = extensions.get::<Self>();
        if let Some(turn) = turn {
            drop(turn.hold(None));
        }
        let value = waited_for.await;
        if let Some(turn) = turn {
            turn.take().await?;
        }
        Ok(value)
    }

    async fn take(&self) -> Result<(), Problem> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|error| Problem::Internal(error.to_string()))?;
        drop(self.hold(Some(place)));
        Ok(())
    }

    /// Puts a place in the place of the one that is held, and gives that one.
    fn hold(&self, place: Option<OwnedSemaphorePermit>) -> Option<OwnedSemaphorePermit> {
        let mut held = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut held, place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_place_is_free_while_its_request_waits_for_the_client_and_at_the_end() {
        let places = Arc::new(Semaphore::new(1));
        let turn = Turn::wait(Arc::clone(&places)).await.unwrap();
        let mut extensions = Extensions::new();
        extensions.insert(turn.clone());
        assert_eq!(places.available_permits(), 0);
        let free = Turn::aside(&extensions, async { places.available_permits() });
        assert_eq!(free.await, Ok(1));
        assert_eq!(places.available_permits(), 0);
        drop(extensions);
        assert_eq!(places.available_permits(), 0);
        drop(turn);
        assert_eq!(places.available_permits(), 1);
    }
}
