//! Being told that there is something to be published.

use crate::{Store, StoreFailure};
use sqlx::postgres::PgListener;

/// Hears what transactions tell when they commit.
#[derive(Debug)]
pub struct Listener(PgListener);

impl Store {
    /// Listens on a connection of its own.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn listen_for_desired(&self) -> Result<Listener, StoreFailure> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.listen("wattline_desired").await?;
        Ok(Listener(listener))
    }
}

impl Listener {
    /// Waits until something was put into the outbox, or the connection was lost and made again: then
    /// something may have been missed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn heard(&mut self) -> Result<(), StoreFailure> {
        self.0.try_recv().await?;
        Ok(())
    }
}
