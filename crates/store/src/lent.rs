//! Connections that were used a moment ago, kept for who comes next.
//!
//! The pool asks the server for a sign of life when it gives a connection out and again when it takes it back: two ways to
//! the server and back beside the one of a read. A connection that has answered a moment ago needs no asking. So who reads
//! lends one from here, and a few of the pool's connections stay here while there is much to read.

use crate::{ACQUIRE_TIMEOUT, Store, StoreFailure};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Connection as _, PgConnection, Postgres};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// For how long an answer is a sign of life: less than a server needs to go away and come back.
const FRESH: Duration = Duration::from_millis(100);

/// For how long a connection is kept before the pool has it again, which looks how old it is.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// The connections that are kept, the one that was used last on top.
#[derive(Debug)]
pub(crate) struct Lender {
    kept: Mutex<Kept>,
    /// Fewer than the pool has: whoever asks the pool itself must find one.
    most: usize,
}

#[derive(Debug, Default)]
struct Kept {
    idle: Vec<Idle>,
    closed: bool,
}

#[derive(Debug)]
struct Idle {
    connection: PoolConnection<Postgres>,
    /// When the pool gave it out.
    taken: Instant,
    /// When its server answered last.
    answered: Instant,
}

/// A connection for one statement after the other, none in a transaction. Goes back to the pool, which looks whether it can
/// still be used, unless [`Lent::give_back`] says that all went well.
#[derive(Debug)]
pub(crate) struct Lent<'store> {
    connection: PoolConnection<Postgres>,
    taken: Instant,
    lender: &'store Lender,
}

impl Lender {
    /// Of a pool with so many connections half are kept at most.
    pub(crate) fn new(connections: u32) -> Self {
        Self {
            kept: Mutex::default(),
            most: usize::try_from(connections / 2).unwrap_or(usize::MAX),
        }
    }

    fn take(&self) -> Option<Idle> {
        self.lock().idle.pop()
    }

    fn keep(&self, connection: PoolConnection<Postgres>, taken: Instant) {
        let answered = Instant::now();
        let mut kept = self.lock();
        let full = kept.closed || kept.idle.len() >= self.most;
        if full || answered.duration_since(taken) > KEPT_FOR {
            // The pool is told without the lock.
            drop(kept);
            drop(connection);
        } else {
            kept.idle.push(Idle {
                connection,
                taken,
                answered,
            });
        }
    }

    /// Gives everything back to the pool, and keeps nothing from now on.
    pub(crate) fn close(&self) {
        let mut kept = self.lock();
        kept.closed = true;
        let idle = std::mem::take(&mut kept.idle);
        drop(kept);
        drop(idle);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lender {
    /// The pool cannot be told any more, which would need a runtime: the connections end.
    fn drop(&mut self) {
        for idle in std::mem::take(&mut self.lock().idle) {
            drop(idle.connection.detach());
        }
    }
}

impl Lent<'_> {
    /// Keeps the connection for who comes next: its last statement was answered wholly.
    pub(crate) fn give_back(self) {
        self.lender.keep(self.connection, self.taken);
    }
}

impl Deref for Lent<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Store {
    /// Lends a connection that was used a moment ago, or one of the pool.
    pub(crate) async fn lend(&self) -> Result<Lent<'_>, StoreFailure> {
        let kept = match self.lender.take() {
            // The pool gives out none while the schema is too new, and says why.
            Some(_) if self.too_new.load(Ordering::Acquire) => None,
            Some(idle) if idle.answered.elapsed() < FRESH => Some(idle),
            Some(idle) => living(idle).await,
            None => None,
        };
        let (connection, taken) = match kept {
            Some(idle) => (idle.connection, idle.taken),
            None => (self.pool.acquire().await?, Instant::now()),
        };
        Ok(Lent {
            connection,
            taken,
            lender: &self.lender,
        })
    }

    /// Every row that a statement answers; the statement stands for itself.
    pub(crate) async fn rows(
        &self,
        statement: Query<'_, Postgres, PgArguments>,
    ) -> Result<Vec<PgRow>, StoreFailure> {
        let mut lent = self.lend().await?;
        let rows = statement.fetch_all(&mut *lent).await?;
        lent.give_back();
        Ok(rows)
    }

    /// The row that a statement answers, if it does; the statement stands for itself.
    pub(crate) async fn row(
        &self,
        statement: Query<'_, Postgres, PgArguments>,
    ) -> Result<Option<PgRow>, StoreFailure> {
        let mut lent = self.lend().await?;
        let row = statement.fetch_optional(&mut *lent).await?;
        lent.give_back();
        Ok(row)
    }
}

/// The connection, if its server gives a sign of life; closed otherwise.
async fn living(mut idle: Idle) -> Option<Idle> {
    match timeout(ACQUIRE_TIMEOUT, idle.connection.ping()).await {
        Ok(Ok(())) => Some(idle),
        Ok(Err(_)) | Err(_) => {
            idle.connection.close_on_drop();
            None
        }
    }
}
