//! Reads a Kafka topic from its beginning, as a downstream consumer would.

use crate::KafkaServer;
use rdkafka::ClientConfig;
use rdkafka::Message as _;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::message::Headers as _;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A record on Kafka as it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// Key as text.
    pub key: Option<String>,
    /// Payload.
    pub payload: Vec<u8>,
    /// Headers as text.
    pub headers: BTreeMap<String, String>,
    /// Kafka's own timestamp, milliseconds since the epoch.
    pub timestamp_ms: Option<i64>,
}

const ANSWER: Duration = Duration::from_secs(20);

/// All records of a topic at this moment, partition by partition. Blocks.
#[must_use]
pub fn read_topic(kafka: &KafkaServer, topic: &str) -> Vec<LogRecord> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", kafka.brokers())
        .set("group.id", "test-reader")
        .set("enable.auto.commit", "false")
        .create()
        .unwrap();
    let metadata = consumer.fetch_metadata(Some(topic), ANSWER).unwrap();
    let mut assigned = TopicPartitionList::new();
    let mut waiting = 0;
    for partition in metadata.topics()[0].partitions() {
        let (low, high) = consumer
            .fetch_watermarks(topic, partition.id(), ANSWER)
            .unwrap();
        waiting += high - low;
        assigned
            .add_partition_offset(topic, partition.id(), Offset::Beginning)
            .unwrap();
    }
    consumer.assign(&assigned).unwrap();
    let begun = Instant::now();
    let mut records = Vec::new();
    while waiting > 0 {
        assert!(
            begun.elapsed() < ANSWER,
            "{waiting} records of {topic} did not come"
        );
        let Some(record) = consumer.poll(Duration::from_millis(100)) else {
            continue;
        };
        let record = record.unwrap();
        let text =
            |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let headers = record.headers().map_or_else(BTreeMap::new, |headers| {
            headers
                .iter()
                .map(|header| {
                    (
                        header.key.to_owned(),
                        text(header.value).unwrap_or_default(),
                    )
                })
                .collect()
        });
        records.push(LogRecord {
            key: text(record.key()),
            payload: record.payload().unwrap_or_default().to_vec(),
            headers,
            timestamp_ms: record.timestamp().to_millis(),
        });
        waiting -= 1;
    }
    records
}
