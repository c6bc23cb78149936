//! The Kafka topic of a run: made, filled, watched, and counted by identity.

use crate::batch::{Batch, Counted, Tally, time_of};
use benches::Outcome;
use domain::time::Timestamp;
use kafka::{Cluster, WantedTopic};
use ops::clock::Clock;
use rdkafka::admin::{AdminClient, AdminOptions};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseRecord, DefaultProducerContext, Producer as _, ThreadedProducer};
use rdkafka::{Message as _, Offset, TopicPartitionList};
use std::time::Duration;
use wire::envelope::{RECEIVED_AT, SOURCE, format_rfc3339};

/// Partitions of the topic of every run.
pub(crate) const PARTITIONS: i32 = 6;
/// Longest wait for an answer of Kafka.
const ANSWER: Duration = Duration::from_secs(20);
/// How long a consumer waits for records before it is asked whether there are any left.
const POLL: Duration = Duration::from_millis(100);

/// A topic that is a run's own.
pub(crate) struct Topic {
    pub(crate) name: String,
    cluster: Cluster,
    reader: BaseConsumer,
}

impl Topic {
    /// Makes it.
    pub(crate) async fn make(brokers: String, name: String) -> Outcome<Self> {
        let cluster = Cluster {
            brokers,
            options: Vec::new(),
        };
        let wanted = WantedTopic {
            name: &name,
            partitions: PARTITIONS,
            max_message_bytes: None,
        };
        cluster.create_missing(&[wanted]).await?;
        let reader = cluster.client(&[
            ("group.id", "bench-counting"),
            ("enable.auto.commit", "false"),
            ("auto.offset.reset", "error"),
        ]);
        Ok(Self {
            reader: reader.create()?,
            name,
            cluster,
        })
    }

    /// How many records it has, as Kafka tells it: one question.
    pub(crate) fn records(&self) -> Outcome<u64> {
        let ends = self
            .reader
            .offsets_for_times(self.at(Offset::End)?, ANSWER)?;
        let ends = ends.elements();
        let ends = ends.iter().filter_map(|it| match it.offset() {
            Offset::Offset(end) => u64::try_from(end).ok(),
            Offset::Beginning
            | Offset::End
            | Offset::Stored
            | Offset::Invalid
            | Offset::OffsetTail(_) => None,
        });
        Ok(ends.sum())
    }

    /// Reads the whole topic. Probes are older than the batch and count for nothing. Blocks.
    pub(crate) fn count(&self, batch: &Batch) -> Outcome<Counted> {
        let mut tally = Tally::new(batch);
        self.reader.assign(&self.at(Offset::Beginning)?)?;
        let mut left = self.records()?;
        let mut silent = Duration::ZERO;
        while left > 0 {
            let Some(record) = self.reader.poll(POLL) else {
                silent += POLL;
                // What a transaction writes besides its records is no record.
                if silent >= ANSWER {
                    break;
                }
                continue;
            };
            silent = Duration::ZERO;
            left -= 1;
            let payload = record?;
            match payload.payload().and_then(time_of) {
                Some(time) if time < batch.time(0) => {}
                Some(time) => tally.note(time, None),
                None => tally.note(batch.end(), None),
            }
        }
        self.reader.unassign()?;
        Ok(tally.counted())
    }

    /// Fills it with a batch as the bridge would. Blocks until Kafka has confirmed all of it.
    pub(crate) fn fill(&self, batch: &Batch) -> Outcome<()> {
        let producer: ThreadedProducer<DefaultProducerContext> = self
            .cluster
            .client(&[
                ("acks", "all"),
                ("enable.idempotence", "true"),
                ("compression.type", "lz4"),
                ("linger.ms", "25"),
                ("batch.size", "491520"),
            ])
            .create()?;
        let received_at = Timestamp::from_micros(Clock::system().now_micros());
        let text = format_rfc3339(received_at);
        let mut payload = Vec::new();
        for number in 0..batch.records {
            payload.clear();
            batch.write(number, &mut payload);
            let key = batch.building(number).hyphenated().to_string();
            let header = |key, value| Header {
                key,
                value: Some(value),
            };
            let headers = OwnedHeaders::new_with_capacity(2)
                .insert(header(SOURCE, batch.topic(number)))
                .insert(header(RECEIVED_AT, text.as_str()));
            let mut record = BaseRecord::to(&self.name)
                .key(&key)
                .payload(&payload)
                .headers(headers);
            while let Err((error, unsent)) = producer.send(record) {
                if error != KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull) {
                    return Err(error.into());
                }
                record = unsent;
                std::thread::sleep(POLL / 100);
            }
        }
        Ok(producer.flush(ANSWER)?)
    }

    /// Removes it with all that it holds.
    pub(crate) async fn remove(self) -> Outcome<()> {
        let admin: AdminClient<DefaultClientContext> = self.cluster.client(&[]).create()?;
        let options = AdminOptions::new().operation_timeout(Some(ANSWER));
        admin.delete_topics(&[&self.name], &options).await?;
        Ok(())
    }

    /// All of its partitions at this offset.
    fn at(&self, offset: Offset) -> Outcome<TopicPartitionList> {
        let mut partitions = TopicPartitionList::new();
        for partition in 0..PARTITIONS {
            partitions.add_partition_offset(&self.name, partition, offset)?;
        }
        Ok(partitions)
    }
}
