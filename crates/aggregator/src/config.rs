//! What the role is told.

use domain::time::Timestamp;
use kafka::Cluster;
use ops::clock::Clock;
use ops::health::Health;
use ops::metrics::Metrics;
use std::time::Duration;
use wire::topic::{KafkaTopics, RecordKind};

/// Checked values of the aggregator's settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The log.
    pub cluster: Cluster,
    /// The log's topics.
    pub topics: KafkaTopics,
    /// Which kinds of record to take; at least one.
    pub kinds: Vec<RecordKind>,
    /// Partitions of a topic that has to be made.
    pub partitions: i32,
    /// Consumer group.
    pub group: String,
    /// How long single records are kept; what is older at its receipt is refused.
    pub raw_retention: Duration,
    /// From when on what is in the log is to be read again.
    pub read_again_from: Option<Timestamp>,
}

/// What the process lends to the role.
#[derive(Clone)]
pub struct Handles {
    /// Where to count.
    pub metrics: Metrics,
    /// Where to tell readiness.
    pub health: Health,
    /// What time it is.
    pub clock: Clock,
}
