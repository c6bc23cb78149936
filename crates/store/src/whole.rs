//! A connection that goes back to the pool only when nothing is halfway done on it.

use sqlx::pool::PoolConnection;
use sqlx::{PgConnection, PgPool, Postgres};

/// In the middle of a copy nobody can tell which of the server's answers belongs to what: a connection that is
/// dropped there is closed.
pub(crate) struct Whole {
    connection: PoolConnection<Postgres>,
    is_done: bool,
}

impl Whole {
    /// Takes one from the pool.
    pub(crate) async fn from(pool: &PgPool) -> Result<Self, sqlx::Error> {
        Ok(Self {
            connection: pool.acquire().await?,
            is_done: false,
        })
    }

    /// To be worked with.
    pub(crate) fn connection(&mut self) -> &mut PgConnection {
        &mut self.connection
    }

    /// Gives it back: whatever was begun on it has ended, well or not.
    pub(crate) fn give_back(mut self) {
        self.is_done = true;
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if !self.is_done {
            self.connection.close_on_drop();
        }
    }
}
