//! Kafka: one idempotent producer, whose delivery reports go to the bridge's loop.

mod context;
mod settings;
mod watch;

use super::{Attempt, Deliveries, Letter};
use crate::config::Handles;
use crate::ledger::Ticket;
use context::{Known, ReportingContext};
use kafka::Cluster;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseRecord, Producer, PurgeConfig, ThreadedProducer};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;
use thiserror::Error;
use tokio::task::JoinSet;
use watch::Watch;
use wire::topic::KafkaTopics;

/// How long to wait before a full queue, or topics that are not known yet, are tried again.
const ROOM_WAIT: Duration = Duration::from_millis(20);

/// Which Kafka, which topics.
#[derive(Clone, Debug)]
pub struct KafkaConfig {
    /// Where Kafka is; the operator's options win over the bridge's.
    pub cluster: Cluster,
    /// The names of the topics.
    pub topics: KafkaTopics,
    /// The number of partitions of a topic that the bridge creates.
    pub partitions: i32,
    /// The bridge's receive maximum: the producer's queue holds a small multiple of it.
    pub receive_maximum: u16,
}

/// A setting that librdkafka refuses.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct WrongOption(pub String);

/// A producer of records and dead letters, and the topics that they go to.
#[derive(Clone)]
pub struct KafkaLog {
    /// Another one takes its place when it finds no broker any more (see [`watch`]).
    producer: Arc<RwLock<ThreadedProducer<ReportingContext>>>,
    known: Arc<Known>,
    config: Arc<KafkaConfig>,
}

impl KafkaLog {
    /// Makes the producer; it connects by itself, sooner or later.
    ///
    /// # Errors
    /// An option that librdkafka does not know, or a value that it does not take.
    pub fn new(config: KafkaConfig) -> Result<Self, WrongOption> {
        let known = Arc::default();
        let producer = producer(&config, &known)?;
        Ok(Self {
            producer: Arc::new(RwLock::new(producer)),
            known,
            config: Arc::new(config),
        })
    }

    /// Puts a fresh producer in the place of the present one. What that had not delivered comes back
    /// and is handed over again; what it had, without a report, is on Kafka twice then.
    pub(super) fn renew(&self) -> Result<(), WrongOption> {
        let fresh = producer(&self.config, &self.known)?;
        let mut place = self
            .producer
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        // Nothing for the fresh one before Kafka has answered it: what comes back from the old one
        // goes first.
        self.known.topics_known.store(false, Ordering::Release);
        let old = std::mem::replace(&mut *place, fresh);
        drop(place);
        // Waits for the old one's threads, and for nobody else.
        drop(old);
        Ok(())
    }

    pub(super) fn start(&self, tasks: &mut JoinSet<()>, handles: &Handles) {
        let condition = handles.health.condition("kafka");
        let watch = Watch::new(self.clone(), condition, handles.metrics.clone());
        tasks.spawn(watch.run());
    }

    pub(super) fn name(&self) -> String {
        self.config.cluster.name()
    }

    pub(super) fn tell(&self, cause: &str) -> String {
        self.config.cluster.tell(cause)
    }

    pub(super) fn hand_over(&self, ticket: Ticket, letter: &Letter) -> Attempt {
        let producer = self.producer();
        // Not before: an unknown topic would be created by the broker, with its own settings.
        if !self.known.topics_known.load(Ordering::Acquire) {
            return Attempt::Full;
        }
        let (message, headers) = match letter {
            Letter::Record(message) => (message, message.headers()),
            Letter::Dead(dead) => (&dead.message, dead.headers()),
        };
        let key = message.key();
        let record = BaseRecord {
            topic: self.topic(letter),
            // Without a key a message and its repetition would stand in any order.
            partition: key.is_none().then_some(0),
            payload: Some(message.payload.as_ref()),
            key: key.as_deref(),
            // The moment of receipt, never the record's own time: retention goes by it, and would
            // delete late data before anyone reads it.
            timestamp: Some(message.received_at.micros().div_euclid(1_000)),
            headers: Some(native(&headers)),
            delivery_opaque: ticket.0,
        };
        match producer.send(record) {
            Ok(()) => Attempt::Taken,
            Err((error, _record)) => refused(&error),
        }
    }

    pub(super) fn deliveries(&self) -> &Deliveries {
        &self.known.deliveries
    }

    /// Without waiting: a broker thread may be busy with a name that does not resolve. What is
    /// purged late, and by then belongs to the next connection, is reported as returned.
    pub(super) fn purge(&self) {
        self.producer()
            .purge(PurgeConfig::default().queue().non_blocking());
    }

    pub(super) fn fatal(&self) -> Option<String> {
        let (code, cause) = self.producer().client().fatal_error()?;
        Some(format!("kafka producer cannot go on: {code}: {cause}"))
    }

    fn topic(&self, letter: &Letter) -> &str {
        let topics = &self.config.topics;
        match letter {
            Letter::Record(message) => match message.kind {
                Some(kind) => topics.of(kind),
                // Cannot be: a message without a kind is refused.
                None => topics.dead_letters(),
            },
            Letter::Dead(_) => topics.dead_letters(),
        }
    }

    fn producer(&self) -> RwLockReadGuard<'_, ThreadedProducer<ReportingContext>> {
        self.producer.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn producer(
    config: &KafkaConfig,
    known: &Arc<Known>,
) -> Result<ThreadedProducer<ReportingContext>, WrongOption> {
    settings::producer(config)
        .create_with_context(ReportingContext::new(Arc::clone(known)))
        .map_err(|error| WrongOption(kafka::describe(&error)))
}

/// Waits before the next attempt; librdkafka has no word for "there is room".
pub(super) async fn room() {
    tokio::time::sleep(ROOM_WAIT).await;
}

fn refused(error: &KafkaError) -> Attempt {
    match error.rdkafka_error_code() {
        Some(RDKafkaErrorCode::QueueFull) => Attempt::Full,
        Some(_) | None => Attempt::Refused(format!("kafka: {error}")),
    }
}

fn native(headers: &[wire::envelope::Header]) -> OwnedHeaders {
    let empty = OwnedHeaders::new_with_capacity(headers.len());
    headers.iter().fold(empty, |native, (key, text)| {
        let value = Some(text.as_str());
        native.insert(Header { key, value })
    })
}

#[cfg(test)]
mod tests;
