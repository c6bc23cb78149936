//! The consumer's own thread: polls, cuts batches, and hands them over one at a time.

mod assignment;

use crate::Config;
use crate::batch::{Arrival, BATCH_BYTES};
use crate::log_message;
pub(crate) use assignment::Assignment;
use assignment::Context;
use ops::health::Condition;
use ops::shutdown::Shutdown;
use rdkafka::Message as _;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer as _};
use rdkafka::message::BorrowedMessage;
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::Move;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

/// Largest batch, in messages: one transaction of some tenths of a second, and memory.
pub(crate) const BATCH_MESSAGES: usize = 5_000;
/// Longest wait from a batch's first message until it is handed over: small against the two seconds
/// in which a record is to be readable, long enough for batches worth a transaction.
const LINGER: Duration = Duration::from_millis(100);
/// Longest wait for a message, so that a stop or a rebalance is noticed.
const POLL: Duration = Duration::from_millis(50);

/// What one stretch of the log gave.
pub(crate) struct Fetched {
    /// In order of arrival.
    pub(crate) arrivals: Vec<Arrival>,
    /// The stretch.
    pub(crate) moves: Vec<Move>,
    /// The assignment under which it was read.
    pub(crate) epoch: u64,
    /// When its first message came.
    pub(crate) begun: Instant,
}

/// A consumer that the fetching thread and the probe share.
pub(crate) type Consumer = BaseConsumer<Context>;

/// Makes the consumer; it joins the group when it is first polled.
pub(crate) fn consumer(
    config: &Config,
    assignment: Arc<Assignment>,
    kafka: Condition,
) -> Result<Consumer, String> {
    let settings = config.cluster.client(&[
        ("group.id", &config.group),
        ("enable.auto.commit", "false"),
        // Asked only where the database's position is not in the log any more.
        ("auto.offset.reset", "earliest"),
        // Kafka's least: the partitions of one that was killed are served by others within ten seconds.
        ("session.timeout.ms", "6000"),
        ("heartbeat.interval.ms", "1000"),
        // A topic made by another process is seen within this.
        ("topic.metadata.refresh.interval.ms", "5000"),
        ("allow.auto.create.topics", "false"),
        // What waits in memory besides the batch in hand.
        ("queued.max.messages.kbytes", "4096"),
        // As soon as there is room again; a second by default, in which nothing of the partition would come.
        ("fetch.queue.backoff.ms", "5"),
        ("fetch.message.max.bytes", "524288"),
        // One answer, however many partitions are behind: 50 MiB by default, and compressed.
        ("fetch.max.bytes", "1048576"),
        ("fetch.wait.max.ms", "50"),
        ("reconnect.backoff.max.ms", "2000"),
    ]);
    let consumer: Consumer = settings
        .create_with_context(Context::new(assignment, config.cluster.clone(), kafka))
        .map_err(|error| format!("kafka consumer: {}", kafka::describe(&error)))?;
    consumer
        .subscribe(&topics(config))
        .map_err(|error| format!("kafka subscription: {error}"))?;
    Ok(consumer)
}

/// The topics that the role reads.
pub(crate) fn topics(config: &Config) -> Vec<&str> {
    let kinds = config.kinds.iter().map(|kind| config.topics.of(*kind));
    kinds.chain([config.topics.dead_letters()]).collect()
}

/// Fetches until told to stop or until nobody takes the batches any more.
pub(crate) fn run(
    consumer: &Consumer,
    config: &Config,
    assignment: &Assignment,
    batches: &Sender<Fetched>,
    shutdown: &Shutdown,
) {
    let mut hand = Hand::default();
    let mut paused = false;
    while !shutdown.is_requested() {
        assignment.reassign_if_asked(consumer);
        follow(consumer, assignment);
        let polled = consumer.poll(hand.patience());
        // Also a rebalance during the poll: what was read before it is worthless.
        if hand.drop_if_older_than(assignment.epoch()) {
            // librdkafka keeps a partition paused over a rebalance, and nothing is due any more.
            paused = true;
            resume(consumer, &mut paused);
        }
        match polled {
            Some(Ok(record)) => hand.take(&record, config, assignment),
            Some(Err(error)) => tracing::debug!(%error, "kafka consumer"),
            None => {}
        }
        if hand.is_due() {
            match hand.give(batches) {
                Given::Taken => resume(consumer, &mut paused),
                // Polling goes on, so that the group keeps this member; nothing more is fetched.
                Given::Kept => pause(consumer, &mut paused, assignment),
                Given::Closed => return,
            }
        }
    }
}

/// The batch in hand.
#[derive(Default)]
struct Hand {
    arrivals: Vec<Arrival>,
    bytes: usize,
    moves: BTreeMap<(String, i32), Move>,
    epoch: u64,
    begun: Option<Instant>,
    kept: bool,
}

enum Given {
    Taken,
    Kept,
    Closed,
}

impl Hand {
    fn take(&mut self, record: &BorrowedMessage<'_>, config: &Config, assignment: &Assignment) {
        let key = (record.topic().to_owned(), record.partition());
        // A partition whose position nobody has looked up is not ours.
        let Some(from_offset) = assignment.pass(&key, record.offset()) else {
            return;
        };
        self.epoch = assignment.epoch();
        self.begun.get_or_insert_with(Instant::now);
        self.bytes += record.payload_len();
        self.arrivals
            .push(log_message::arrival(record, &config.topics));
        let to_offset = record.offset() + 1;
        if let Some(moved) = self.moves.get_mut(&key) {
            moved.to_offset = to_offset;
            return;
        }
        let received = record.timestamp().to_millis().unwrap_or_default();
        assignment.note_read(&key, from_offset, received);
        let (topic, partition) = key.clone();
        let moved = Move {
            topic,
            partition,
            from_offset,
            to_offset,
        };
        self.moves.insert(key, moved);
    }

    /// Answers whether the assignment has changed since.
    fn drop_if_older_than(&mut self, epoch: u64) -> bool {
        let older = self.epoch != epoch;
        if older {
            *self = Self::default();
            self.epoch = epoch;
        }
        older
    }

    fn patience(&self) -> Duration {
        let Some(begun) = self.begun else { return POLL };
        if self.kept {
            POLL
        } else {
            LINGER.saturating_sub(begun.elapsed()).min(POLL)
        }
    }

    fn is_due(&self) -> bool {
        self.begun.is_some_and(|begun| {
            begun.elapsed() >= LINGER
                || self.arrivals.len() >= BATCH_MESSAGES
                || self.bytes >= BATCH_BYTES
        })
    }

    fn give(&mut self, batches: &Sender<Fetched>) -> Given {
        let permit = match batches.try_reserve() {
            Ok(permit) => permit,
            Err(TrySendError::Full(())) => {
                self.kept = true;
                return Given::Kept;
            }
            Err(TrySendError::Closed(())) => return Given::Closed,
        };
        let epoch = self.epoch;
        let hand = std::mem::take(self);
        self.epoch = epoch;
        permit.send(Fetched {
            arrivals: hand.arrivals,
            moves: hand.moves.into_values().collect(),
            epoch,
            begun: hand.begun.unwrap_or_else(Instant::now),
        });
        Given::Taken
    }
}

fn pause(consumer: &Consumer, paused: &mut bool, assignment: &Assignment) {
    if !*paused {
        let assigned = consumer.assignment();
        *paused = assigned.is_ok_and(|assigned| consumer.pause(&assigned).is_ok());
        if !*paused {
            // What cannot be held back is dropped and read again, so that the hand stays bounded.
            assignment.ask_for_reassignment();
        }
    }
}

fn resume(consumer: &Consumer, paused: &mut bool) {
    if *paused && let Ok(assigned) = consumer.assignment() {
        *paused = consumer.resume(&assigned).is_err();
    }
}

/// Tells Kafka how far the database is, for people and tools; decides nothing.
fn follow(consumer: &Consumer, assignment: &Assignment) {
    let committed = assignment.take_committed();
    if committed.is_empty() {
        return;
    }
    let mut offsets = TopicPartitionList::new();
    for ((topic, partition), next) in committed {
        if let Err(error) = offsets.add_partition_offset(&topic, partition, Offset::Offset(next)) {
            tracing::debug!(%error, "offset not told to kafka");
        }
    }
    if let Err(error) = consumer.commit(&offsets, CommitMode::Async) {
        tracing::debug!(%error, "offsets not told to kafka");
    }
}
