//! One batch, one transaction, repeated until it is committed or needs company.

use crate::Handles;
use domain::rejection::Reason;
use ops::health::Condition;
use ops::metrics::{Counter, Histogram, Metrics};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{Batch, Ingested, Store, StoreFailure};

/// A batch takes a second at most; one that takes longer is told, within 5 seconds.
const SLOW_AFTER: Duration = Duration::from_secs(3);
/// Longer than the database may take for a statement: then the connection is dead.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(90);
/// A line of the log a minute, however many messages the database does not take.
const TOLD_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// How long finding the messages that the database does not take may go on: two attempts for each message of the
/// largest batch, of some milliseconds where the database is far away.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(600);
/// How long a batch in hand may still take when the process is told to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(7);

/// Writes batches and counts what became of them.
pub struct Writer {
    store: Store,
    raw_retention: Duration,
    metrics: Metrics,
    database: Condition,
    /// When it was told last that the database does not take single messages.
    told_at: Mutex<Option<Instant>>,
}

/// Why a batch was not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// Another process has moved the log's position: the batch is its business now.
    LostPosition,
    /// The database refuses what it was given, and nothing shows yet whether single messages are the cause
    /// or the database is. With more messages that shows: see [`store::Batch::append`].
    Refused,
    /// The process was told to stop while the database was away.
    Stopped,
}

impl Writer {
    /// A writer to `store`, that refuses records older than `raw_retention` at their receipt.
    #[must_use]
    pub fn new(store: Store, raw_retention: Duration, handles: &Handles) -> Self {
        Self {
            store,
            raw_retention,
            metrics: handles.metrics.clone(),
            database: handles.health.condition("database"),
            told_at: Mutex::default(),
        }
    }

    /// Writes a batch whose first message came at `begun`; returns when it is committed. While the database
    /// is away the same batch is tried again: nothing is dropped.
    ///
    /// # Errors
    /// When the batch belongs to another process by now, when it is refused as a whole, or when told to stop.
    pub async fn write(
        &self,
        batch: &Batch,
        begun: Instant,
        shutdown: &Shutdown,
    ) -> Result<(), Unwritten> {
        let mut backoff = Backoff::default();
        loop {
            let attempted_at = Instant::now();
            let Some(outcome) = self.ingest(batch, shutdown).await else {
                return Err(Unwritten::Stopped);
            };
            match outcome {
                Ok(ingested) => {
                    self.database.ready();
                    self.tell_refused(&ingested);
                    self.count(batch, &ingested, begun);
                    return Ok(());
                }
                Err(StoreFailure::LostPosition) => return Err(Unwritten::LostPosition),
                Err(StoreFailure::Refused(words)) => {
                    self.fail(words);
                    // Finding out may have cost the database much: it rests as long as it took.
                    tokio::select! {
                        () = tokio::time::sleep(attempted_at.elapsed()) => {}
                        () = shutdown.requested() => {}
                    }
                    return Err(Unwritten::Refused);
                }
                Err(failure @ (StoreFailure::Transient(_) | StoreFailure::Permanent(_))) => {
                    self.fail(self.store.tell(&failure));
                }
            }
            tokio::select! {
                () = tokio::time::sleep(backoff.next_wait()) => {}
                () = shutdown.requested() => return Err(Unwritten::Stopped),
            }
        }
    }

    fn fail(&self, cause: String) {
        self.database.not_ready(cause);
        self.metrics
            .update(|update| update.add(Counter::AggregatorRetries, 1));
    }

    /// The batch whole; where the database refuses that, all but what it does not take.
    async fn ingest(
        &self,
        batch: &Batch,
        shutdown: &Shutdown,
    ) -> Option<Result<Ingested, StoreFailure>> {
        let whole = self.store.ingest_whole(batch, self.raw_retention);
        match self.attempt(whole, ATTEMPT_TIMEOUT, shutdown).await {
            Some(Err(StoreFailure::Refused(_))) => {
                let around = self.store.ingest_around(batch, self.raw_retention);
                self.attempt(around, SEARCH_TIMEOUT, shutdown).await
            }
            outcome => outcome,
        }
    }

    /// One attempt; nothing when told to stop and the database does not answer in time. One that was
    /// given up has either taken effect or not, and the log's positions know.
    async fn attempt(
        &self,
        ingest: impl Future<Output = Result<Ingested, StoreFailure>>,
        patience: Duration,
        shutdown: &Shutdown,
    ) -> Option<Result<Ingested, StoreFailure>> {
        let stopped = async {
            shutdown.requested().await;
            tokio::time::sleep(STOP_PATIENCE).await;
        };
        let slow = async {
            tokio::time::sleep(SLOW_AFTER).await;
            self.database.not_ready(format!(
                "{}: a batch has had no answer for {} s",
                self.store.server(),
                SLOW_AFTER.as_secs()
            ));
            std::future::pending::<()>().await;
        };
        tokio::select! {
            outcome = ingest => Some(outcome),
            () = stopped => None,
            () = slow => None,
            () = self.store.given_up_after(patience) => Some(Err(StoreFailure::Transient(
                "the database does not answer".to_owned(),
            ))),
        }
    }

    /// Asks for a sign of life when there is nothing to write.
    pub async fn probe(&self) {
        match tokio::time::timeout(SLOW_AFTER, self.store.ping()).await {
            Ok(Ok(())) => self.database.ready(),
            Ok(Err(failure)) => self.database.not_ready(self.store.tell(&failure)),
            Err(_) => self.database.not_ready(format!(
                "{}: no answer within {} s",
                self.store.server(),
                SLOW_AFTER.as_secs()
            )),
        }
    }

    /// That the database does not take a message is a fault of ours, in its schema or in what we let in: told,
    /// and not once for each.
    fn tell_refused(&self, ingested: &Ingested) {
        let Some(messages) = ingested.dead_lettered.get(&Reason::NotStorable) else {
            return;
        };
        let mut told_at = self.told_at.lock().unwrap_or_else(PoisonError::into_inner);
        if told_at.is_none_or(|at| at.elapsed() >= TOLD_AGAIN_AFTER) {
            *told_at = Some(Instant::now());
            tracing::warn!(
                messages,
                "the database does not take single messages: `wattline dead-letters list --reason \
                 not_storable` tells why"
            );
        }
    }

    /// Dead letters of the bridge are counted by the bridge; here only as imported.
    fn count(&self, batch: &Batch, ingested: &Ingested, begun: Instant) {
        let consumed = batch.records.len() + batch.refused.len();
        self.metrics.update(|update| {
            update.add(Counter::AggregatorConsumedMessages, consumed as u64);
            update.add(Counter::AggregatorStoredMessages, ingested.stored);
            update.add(Counter::AggregatorDuplicateMessages, ingested.duplicates);
            update.add(Counter::AggregatorConflictMessages, ingested.conflicts);
            for (reason, count) in &ingested.dead_lettered {
                update.add_labelled(
                    Counter::AggregatorDeadLetteredMessages,
                    reason.as_str(),
                    *count,
                );
            }
            update.add(Counter::AggregatorImportedDeadLetters, ingested.imported);
            #[expect(
                clippy::cast_precision_loss,
                reason = "a batch is far below 2^52 messages"
            )]
            update.observe(
                Histogram::AggregatorBatchMessages,
                (consumed + batch.imported.len()) as f64,
            );
            update.observe(
                Histogram::AggregatorBatchSeconds,
                begun.elapsed().as_secs_f64(),
            );
        });
    }
}
