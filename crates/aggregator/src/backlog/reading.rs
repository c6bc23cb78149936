//! One consumer over some stretches, at most one of each partition.

use crate::Config;
use crate::batch::{Arrival, BATCH_BYTES};
use crate::fetch::BATCH_MESSAGES;
use crate::log_message;
use rdkafka::Message as _;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use store::{Stretch, StretchMove};

/// How long a question to Kafka may take.
const KAFKA_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait for a message, so that a stop is noticed.
const POLL: Duration = Duration::from_millis(50);
/// How long a piece may wait to become full.
const LINGER: Duration = Duration::from_millis(200);
/// Without a message for so long the stretches are looked at anew.
const SILENCE: Duration = Duration::from_secs(10);

/// A partition of a topic.
type Key = (String, i32);

/// What was read and is not handed over.
pub(super) struct Read {
    pub(super) arrivals: Vec<Arrival>,
    pub(super) moves: Vec<StretchMove>,
    pub(super) begun: Instant,
}

/// A stretch and how far it is read; what is written of it is in the stretch itself.
struct Open {
    stretch: Stretch,
    read_to: i64,
}

/// Reads some stretches.
pub(super) struct Reading {
    consumer: BaseConsumer,
    config: Config,
    open: BTreeMap<Key, Open>,
}

impl Reading {
    pub(super) fn begin(config: &Config, stretches: Vec<Stretch>) -> Result<Self, String> {
        let consumer = consumer(config)?;
        let mut open = BTreeMap::new();
        let mut assigned = TopicPartitionList::new();
        for stretch in stretches {
            // One that cannot be read now holds up no other.
            let Some(read_to) = first_kept(&consumer, &stretch)? else {
                continue;
            };
            if read_to < stretch.end_offset {
                assigned
                    .add_partition_offset(
                        &stretch.topic,
                        stretch.partition,
                        Offset::Offset(read_to),
                    )
                    .map_err(|error| error.to_string())?;
            }
            let key = (stretch.topic.clone(), stretch.partition);
            open.insert(key, Open { stretch, read_to });
        }
        if open.is_empty() {
            return Err("the log ends before the stretches do".to_owned());
        }
        consumer
            .assign(&assigned)
            .map_err(|error| error.to_string())?;
        Ok(Self {
            consumer,
            config: config.clone(),
            open,
        })
    }

    /// Reads until a batch is full, or until nothing more is to be read; nothing when all is written.
    pub(super) fn next_piece(&mut self) -> Result<Option<Read>, String> {
        let begun = Instant::now();
        let mut arrivals = Vec::new();
        let mut bytes = 0;
        let mut heard = Instant::now();
        while self.is_reading() && arrivals.len() < BATCH_MESSAGES && bytes < BATCH_BYTES {
            if !arrivals.is_empty() && begun.elapsed() > LINGER {
                break;
            }
            match self.consumer.poll(POLL) {
                Some(Ok(record)) => {
                    heard = Instant::now();
                    let key = (record.topic().to_owned(), record.partition());
                    let Some(open) = self.open.get_mut(&key) else {
                        continue;
                    };
                    if record.offset() < open.read_to {
                        continue;
                    }
                    if record.offset() < open.stretch.end_offset {
                        bytes += record.payload_len();
                        arrivals.push(log_message::arrival(&record, &self.config.topics));
                    }
                    // What is missing in between the log has lost.
                    open.read_to = (record.offset() + 1).min(open.stretch.end_offset);
                    if open.read_to == open.stretch.end_offset {
                        self.leave(&key);
                    }
                }
                Some(Err(error)) => tracing::debug!(%error, "kafka consumer of stretches"),
                None if heard.elapsed() > SILENCE => return Err("kafka is silent".to_owned()),
                None => {}
            }
        }
        let moved = self.open.values();
        let moves: Vec<StretchMove> = moved
            .filter(|it| it.read_to > it.stretch.next_offset)
            .map(|it| StretchMove {
                stretch: it.stretch.clone(),
                to_offset: it.read_to,
            })
            .collect();
        Ok((!moves.is_empty()).then_some(Read {
            arrivals,
            moves,
            begun,
        }))
    }

    /// What was handed over is in the database.
    pub(super) fn note_written(&mut self, moves: &[StretchMove]) {
        for moved in moves {
            let key = (moved.stretch.topic.clone(), moved.stretch.partition);
            if let Some(open) = self.open.get_mut(&key) {
                open.stretch.next_offset = moved.to_offset;
            }
        }
        self.open
            .retain(|_, open| open.stretch.next_offset < open.stretch.end_offset);
    }

    fn is_reading(&self) -> bool {
        let unread = |it: &Open| it.read_to < it.stretch.end_offset;
        self.open.values().any(unread)
    }

    /// What lies behind the stretch is not fetched any more.
    fn leave(&self, (topic, partition): &Key) {
        let mut left = TopicPartitionList::new();
        left.add_partition(topic, *partition);
        if let Err(error) = self.consumer.pause(&left) {
            tracing::debug!(%error, "a partition cannot be paused");
        }
    }
}

fn consumer(config: &Config) -> Result<BaseConsumer, String> {
    let settings = config.cluster.client(&[
        // Never joined: the partitions are those that this process has anyway.
        ("group.id", &config.group),
        ("enable.auto.commit", "false"),
        ("auto.offset.reset", "earliest"),
        ("allow.auto.create.topics", "false"),
        // What waits in memory besides the piece in hand.
        ("queued.max.messages.kbytes", "4096"),
        // As soon as there is room again; a second by default, in which nothing of the partition would come.
        ("fetch.queue.backoff.ms", "5"),
        ("fetch.message.max.bytes", "524288"),
        // One answer, however many partitions are behind: 50 MiB by default, and compressed.
        ("fetch.max.bytes", "1048576"),
        ("reconnect.backoff.max.ms", "2000"),
    ]);
    settings
        .create()
        .map_err(|error| format!("kafka consumer: {}", kafka::describe(&error)))
}

/// Where reading begins: behind what the log does not keep any more, at the end when it keeps nothing of it; `None`
/// while the log ends before the stretch does.
fn first_kept(consumer: &BaseConsumer, stretch: &Stretch) -> Result<Option<i64>, String> {
    let (low, high) = consumer
        .fetch_watermarks(&stretch.topic, stretch.partition, KAFKA_TIMEOUT)
        .map_err(|error| format!("kafka does not answer: {error}"))?;
    let begin = if high < stretch.next_offset {
        // The log was made anew: what the offsets meant is gone.
        stretch.end_offset
    } else if high < stretch.end_offset {
        // A new leader may not know yet how far it has been confirmed, and a log that was cut or made anew may grow
        // so far again: nothing is given up for that.
        return Ok(None);
    } else {
        low.clamp(stretch.next_offset, stretch.end_offset)
    };
    if begin > stretch.next_offset {
        tracing::warn!(
            topic = stretch.topic,
            partition = stretch.partition,
            from = stretch.next_offset,
            to = begin,
            "the log has lost what was to be read there"
        );
    }
    Ok(Some(begin))
}

/// The offsets at which each partition of the role's topics stood at a moment, with the log's name.
pub(crate) fn offsets_at(
    config: &Config,
    topics: &[&str],
    millis: i64,
) -> Result<(String, Vec<store::Position>), String> {
    let consumer = consumer(config)?;
    let silent = |error| format!("kafka does not answer: {error}");
    let mut asked = TopicPartitionList::new();
    for topic in topics {
        let metadata = consumer.fetch_metadata(Some(topic), KAFKA_TIMEOUT);
        for found in metadata.map_err(silent)?.topics() {
            if found.error().is_some() || found.partitions().is_empty() {
                return Err(format!("kafka does not tell the partitions of {topic}"));
            }
            for partition in found.partitions() {
                asked
                    .add_partition_offset(topic, partition.id(), Offset::Offset(millis))
                    .map_err(|error| error.to_string())?;
            }
        }
    }
    let cluster = consumer
        .client()
        .fetch_cluster_id(KAFKA_TIMEOUT)
        .ok_or("kafka does not tell its cluster id")?;
    let found = consumer
        .offsets_for_times(asked, KAFKA_TIMEOUT)
        .map_err(silent)?;
    let positions = found
        .elements()
        .into_iter()
        .filter_map(|it| match it.offset() {
            Offset::Offset(next_offset) => Some(store::Position {
                topic: it.topic().to_owned(),
                partition: it.partition(),
                next_offset,
            }),
            // Nothing has come since.
            Offset::Beginning
            | Offset::End
            | Offset::Stored
            | Offset::Invalid
            | Offset::OffsetTail(_) => None,
        });
    Ok((cluster, positions.collect()))
}
