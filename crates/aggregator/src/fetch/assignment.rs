//! Which partitions this process reads, and from where: the group decides the first, the database
//! the second.

use super::Consumer;
use kafka::{Cluster, Trouble};
use ops::health::Condition;
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::{BaseConsumer, Consumer as _, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use rdkafka::types::RDKafkaRespErr;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::{Position, Store};
use tokio::runtime::Handle;

type Partition = (String, i32);

/// How long Kafka may take to tell its cluster id; it is asked again.
const CLUSTER_TIMEOUT: Duration = Duration::from_secs(2);

/// How long the database may take to tell positions; then the connection counts as dead, and another one is asked.
const POSITIONS_TIMEOUT: Duration = Duration::from_secs(10);

/// The partitions of this process. Every change of the assignment starts a new epoch; what was read
/// in an older one is worthless.
pub(crate) struct Assignment {
    store: Store,
    runtime: Handle,
    shutdown: Shutdown,
    epoch: AtomicU64,
    reassign: AtomicBool,
    /// Where the next batch of a partition begins.
    next: Mutex<HashMap<Partition, i64>>,
    /// Names the log that the positions belong to: after Kafka was wiped or changed for another one,
    /// the same offsets are other messages.
    cluster: Mutex<String>,
    /// Of what was read and is not in the database: where each batch begins, and when Kafka received that message.
    unstored: Mutex<BTreeMap<Partition, BTreeMap<i64, i64>>>,
    /// Committed to the database and not told to Kafka yet.
    committed: Mutex<HashMap<Partition, i64>>,
    /// Partitions that lie so far back that what is new is to be read first, with their ends.
    leaps: Mutex<HashMap<Partition, i64>>,
    /// Messages in stretches that are read besides.
    backlog: AtomicI64,
    /// Why Kafka does not answer.
    pub(crate) trouble: Trouble,
}

impl Assignment {
    pub(crate) fn new(store: Store, runtime: Handle, shutdown: Shutdown) -> Self {
        Self {
            store,
            runtime,
            shutdown,
            epoch: AtomicU64::new(0),
            reassign: AtomicBool::new(false),
            next: Mutex::default(),
            cluster: Mutex::default(),
            unstored: Mutex::default(),
            committed: Mutex::default(),
            leaps: Mutex::default(),
            backlog: AtomicI64::new(0),
            trouble: Trouble::default(),
        }
    }

    /// A partition whose position is to move to `end` at once; what it passes over is read besides.
    pub(crate) fn ask_for_leap(&self, partition: Partition, end: i64) {
        lock(&self.leaps).insert(partition, end);
    }

    pub(crate) fn take_leaps(&self) -> HashMap<Partition, i64> {
        std::mem::take(&mut lock(&self.leaps))
    }

    pub(crate) fn note_backlog(&self, messages: i64) {
        self.backlog.store(messages.max(0), Ordering::SeqCst);
    }

    /// Messages in stretches that this process reads besides.
    pub(crate) fn backlog(&self) -> i64 {
        self.backlog.load(Ordering::SeqCst)
    }

    /// The log that the positions belong to.
    pub(crate) fn cluster(&self) -> String {
        lock(&self.cluster).clone()
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// The partitions of this process, and the first message of each that is not in the database.
    pub(crate) fn partitions(&self) -> Vec<(Partition, i64)> {
        let next = lock(&self.next).clone();
        let unstored = lock(&self.unstored);
        let first = |key: &Partition| unstored.get(key)?.keys().next().copied();
        next.into_iter()
            .map(|(key, next)| {
                let first = first(&key).unwrap_or(next);
                (key, first)
            })
            .collect()
    }

    /// Moves past one message; answers where the partition stood, if it is this process's.
    pub(super) fn pass(&self, partition: &Partition, offset: i64) -> Option<i64> {
        let mut next = lock(&self.next);
        let next = next.get_mut(partition)?;
        let (topic, number, position) = (&partition.0, partition.1, *next);
        if offset < position {
            tracing::warn!(
                topic,
                partition = number,
                offset,
                position,
                "the log begins anew before the stored position: reading it again"
            );
        } else if offset > position {
            tracing::warn!(
                topic,
                partition = number,
                offset,
                position,
                "the log has lost what stood at the stored position: going on behind it"
            );
        }
        Some(std::mem::replace(next, offset + 1))
    }

    /// Another process has moved a position: everything is to be read from where the database says.
    pub(crate) fn ask_for_reassignment(&self) {
        self.reassign.store(true, Ordering::SeqCst);
    }

    pub(super) fn reassign_if_asked(&self, consumer: &Consumer) {
        if self.reassign.swap(false, Ordering::SeqCst) {
            match consumer.assignment() {
                Ok(partitions) => self.assign(consumer, &partitions),
                Err(error) => {
                    tracing::debug!(%error, "the assignment is not known yet");
                    self.ask_for_reassignment();
                }
            }
        }
    }

    /// A batch begins with this message of a partition, which Kafka received at that time (epoch milliseconds).
    pub(super) fn note_read(&self, partition: &Partition, offset: i64, received: i64) {
        let mut unstored = lock(&self.unstored);
        let begins = unstored.entry(partition.clone()).or_default();
        begins.insert(offset, received);
    }

    /// When Kafka received the oldest message that was read and is not stored (epoch milliseconds).
    pub(crate) fn oldest_unstored_millis(&self) -> Option<i64> {
        let unstored = lock(&self.unstored);
        unstored.values().flat_map(BTreeMap::values).min().copied()
    }

    pub(crate) fn note_committed(&self, partition: Partition, next: i64) {
        if let Some(begins) = lock(&self.unstored).get_mut(&partition) {
            *begins = begins.split_off(&next);
        }
        lock(&self.committed).insert(partition, next);
    }

    pub(super) fn take_committed(&self) -> HashMap<Partition, i64> {
        std::mem::take(&mut lock(&self.committed))
    }

    fn assign(&self, consumer: &BaseConsumer<Context>, partitions: &TopicPartitionList) {
        let partitions: Vec<Partition> = partitions
            .elements()
            .iter()
            .map(|it| (it.topic().to_owned(), it.partition()))
            .collect();
        let Some(positions) = self.look_up(consumer, &partitions) else {
            return;
        };
        if let Err(error) = assign_at(consumer, &positions) {
            tracing::warn!(%error, "partitions cannot be assigned: trying again");
            self.ask_for_reassignment();
            return;
        }
        let mut next = lock(&self.next);
        *next = positions
            .into_iter()
            .map(|it| ((it.topic, it.partition), it.next_offset))
            .collect();
        lock(&self.unstored).clear();
        self.epoch.fetch_add(1, Ordering::SeqCst);
        tracing::info!(partitions = next.len(), "partitions assigned");
    }

    /// Waits for the database as long as it takes: without a position nothing may be read.
    fn look_up(
        &self,
        consumer: &BaseConsumer<Context>,
        partitions: &[Partition],
    ) -> Option<Vec<Position>> {
        self.runtime.block_on(async {
            let mut backoff = Backoff::default();
            loop {
                let cluster = consumer.client().fetch_cluster_id(CLUSTER_TIMEOUT);
                let asked = async {
                    let cluster = cluster.ok_or("kafka does not tell its cluster id")?;
                    let positions = self.store.positions(&cluster, partitions).await;
                    positions
                        .map(|positions| (cluster, positions))
                        .map_err(|failure| failure.to_string())
                };
                let asked = tokio::select! {
                    asked = asked => asked,
                    () = self.store.given_up_after(POSITIONS_TIMEOUT) => {
                        Err("the database does not answer".to_owned())
                    }
                    () = self.shutdown.requested() => return None,
                };
                match asked {
                    Ok((cluster, positions)) => {
                        *lock(&self.cluster) = cluster;
                        return Some(positions);
                    }
                    Err::<_, String>(cause) => {
                        tracing::debug!(cause, "positions are not known yet")
                    }
                }
                tokio::select! {
                    () = tokio::time::sleep(backoff.next_wait()) => {}
                    () = self.shutdown.requested() => return None,
                }
            }
        })
    }

    fn revoke(&self, consumer: &BaseConsumer<Context>) {
        lock(&self.next).clear();
        lock(&self.unstored).clear();
        self.epoch.fetch_add(1, Ordering::SeqCst);
        if let Err(error) = consumer.unassign() {
            tracing::warn!(%error, "partitions cannot be given back");
        }
    }
}

fn assign_at(consumer: &BaseConsumer<Context>, positions: &[Position]) -> Result<(), KafkaError> {
    let mut assigned = TopicPartitionList::new();
    for position in positions {
        let offset = Offset::Offset(position.next_offset);
        assigned.add_partition_offset(&position.topic, position.partition, offset)?;
    }
    consumer.assign(&assigned)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The consumer's callbacks; they run in the fetching thread, inside `poll`.
pub(crate) struct Context {
    assignment: Arc<Assignment>,
    cluster: Cluster,
    kafka: Condition,
}

impl Context {
    pub(super) fn new(assignment: Arc<Assignment>, cluster: Cluster, kafka: Condition) -> Self {
        Self {
            assignment,
            cluster,
            kafka,
        }
    }
}

impl ClientContext for Context {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        // Outages are told once, by the conditions.
        tracing::debug!(?level, facility, line, "kafka consumer");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let trouble = &self.assignment.trouble;
        trouble.note(&error, reason);
        if error.rdkafka_error_code() == Some(RDKafkaErrorCode::AllBrokersDown) {
            let cause = trouble.explain(reason);
            self.kafka.not_ready(self.cluster.tell(&cause));
        } else {
            tracing::debug!(%error, reason, "kafka consumer");
        }
    }
}

impl ConsumerContext for Context {
    fn rebalance(
        &self,
        consumer: &BaseConsumer<Self>,
        code: RDKafkaRespErr,
        partitions: &mut TopicPartitionList,
    ) {
        if code == RDKafkaRespErr::RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS {
            self.assignment.assign(consumer, partitions);
        } else {
            self.assignment.revoke(consumer);
        }
    }
}
