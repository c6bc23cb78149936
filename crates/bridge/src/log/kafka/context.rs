//! librdkafka's callbacks, turned into reports.

use crate::ledger::Ticket;
use crate::log::{Deliveries, Outcome};
use kafka::Trouble;
use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::ProducerContext;
use rdkafka::statistics::Statistics;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is known of the log, whichever producer tells it.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) deliveries: Deliveries,
    /// Whether all topics were there when last looked.
    pub(super) topics_known: AtomicBool,
    /// Why there is no answer.
    pub(super) trouble: Trouble,
    /// Requests that producers have repeated.
    pub(super) retries: AtomicU64,
}

/// Passes delivery reports on, on librdkafka's own thread: no future, no task and no allocation for
/// each message.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportingContext(pub(super) Arc<Known>, Arc<AtomicU64>);

impl ReportingContext {
    /// The context of a fresh producer, that tells what is known to all of them.
    pub(super) fn new(known: Arc<Known>) -> Self {
        Self(known, Arc::default())
    }
}

impl ClientContext for ReportingContext {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        // Outages are told once, by the conditions.
        tracing::debug!(?level, facility, line, "kafka client");
    }

    fn stats(&self, statistics: Statistics) {
        self.count_retries(&statistics);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "kafka client");
        self.0.trouble.note(&error, reason);
        // A fatal one is the loop's to find.
        self.0.deliveries.wake();
    }
}

impl ReportingContext {
    /// Adds what this producer has repeated since it told last.
    fn count_retries(&self, statistics: &Statistics) {
        let all = statistics
            .brokers
            .values()
            .map(|broker| broker.txretries)
            .sum();
        let before = self.1.swap(all, Ordering::AcqRel);
        let more = all.saturating_sub(before);
        self.0.retries.fetch_add(more, Ordering::AcqRel);
    }
}

impl ProducerContext for ReportingContext {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, ticket: usize) {
        let outcome = match result {
            Ok(_) => Outcome::Durable,
            Err((error, _)) => self.judge(error),
        };
        self.0.deliveries.report(Ticket(ticket), outcome);
    }
}

impl ReportingContext {
    fn judge(&self, error: &KafkaError) -> Outcome {
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::PurgeQueue | RDKafkaErrorCode::PurgeInflight) => {
                return Outcome::Returned;
            }
            Some(
                RDKafkaErrorCode::UnknownTopic
                | RDKafkaErrorCode::UnknownPartition
                | RDKafkaErrorCode::UnknownTopicOrPartition,
            ) => self.0.topics_known.store(false, Ordering::Release),
            Some(_) | None => {}
        }
        Outcome::Failed(format!("kafka: {error}"))
    }
}
