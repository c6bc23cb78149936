//! Looks at Kafka every second: whether it answers and has the topics, and how much waits there.

use crate::fetch::{Assignment, Consumer};
use crate::run::wanted_topics;
use crate::{Config, Handles};
use kafka::topic::states;
use ops::health::Condition;
use ops::metrics::Gauge;
use ops::shutdown::Shutdown;
use rdkafka::consumer::Consumer as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::topic::{KafkaTopics, RecordKind};

/// Pause between two looks: an outage is told within five seconds, waiting for the answer included.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// Longest wait for an answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// A partition that is so many messages behind its end is left to be read besides, so that what is new does not wait
/// behind what is old: a tenth of a second's work, and more than ever waits while all goes well.
pub(crate) const LEAP_MESSAGES: i64 = 3_000;

/// So many of the newest of a partition are not left behind: what was published shortly before the leap is as new as
/// what comes after it, and would be the last of all to be stored.
const NEWEST_MESSAGES: i64 = 1_000;

/// What is looked at, and who is told.
pub(crate) struct Probe {
    pub(crate) consumer: Arc<Consumer>,
    pub(crate) assignment: Arc<Assignment>,
    pub(crate) config: Config,
    pub(crate) kafka: Condition,
    pub(crate) handles: Handles,
}

/// What a look finds.
enum Found {
    /// All topics, and so many messages that wait.
    Lag(i64),
    /// These topics are gone.
    Missing(Vec<String>),
}

impl Probe {
    /// Looks until told to stop.
    pub(crate) async fn run(self, shutdown: Shutdown) {
        let mut lag = 0;
        let mut lags_since = None;
        while !shutdown.is_requested() {
            match self.look().await {
                Ok(Found::Lag(messages)) => {
                    self.assignment.trouble.clear();
                    self.kafka.ready();
                    lag = messages;
                }
                Ok(Found::Missing(topics)) => self.make(topics).await,
                Err(cause) => self.kafka.not_ready(self.config.cluster.tell(&cause)),
            }
            if lag == 0 {
                lags_since = None;
            } else {
                lags_since.get_or_insert_with(Instant::now);
            }
            self.tell_lag(lag, lags_since);
            tokio::select! {
                () = tokio::time::sleep(PROBE_INTERVAL) => {}
                () = shutdown.requested() => {}
            }
        }
    }

    async fn look(&self) -> Result<Found, String> {
        let (consumer, assignment) = (Arc::clone(&self.consumer), Arc::clone(&self.assignment));
        let topics = self.config.topics.clone();
        tokio::task::spawn_blocking(move || look(&consumer, &assignment, &topics))
            .await
            .unwrap_or_else(|panic| Err(format!("cannot ask: {panic}")))
    }

    /// Somebody has deleted topics: they are made again, empty.
    async fn make(&self, missing: Vec<String>) {
        let missing = missing.join(", ");
        let cause = format!("topic {missing} is missing");
        self.kafka.not_ready(self.config.cluster.tell(&cause));
        let wanted = wanted_topics(&self.config);
        if let Err(unreachable) = self.config.cluster.create_missing(&wanted).await {
            self.kafka
                .not_ready(self.config.cluster.tell(&unreachable.0));
        }
    }

    /// The age is that of the oldest message that was read and is not stored; of messages that were not read yet
    /// only since when they wait is known.
    fn tell_lag(&self, lag: i64, since: Option<Instant>) {
        let now = self.handles.clock.now_micros().div_euclid(1_000);
        let received = self.assignment.oldest_unstored_millis();
        let age = received.map(|at| now.saturating_sub(at));
        let age = age.map_or(Duration::ZERO, |millis| {
            Duration::from_millis(u64::try_from(millis).unwrap_or_default())
        });
        let age = if lag == 0 {
            Duration::ZERO
        } else {
            age.max(since.map_or(Duration::ZERO, |since| since.elapsed()))
        };
        #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
        self.handles.metrics.update(|update| {
            update.set(Gauge::AggregatorLagMessages, lag as f64);
            update.set(Gauge::AggregatorLagSeconds, age.as_secs_f64());
        });
    }
}

/// The messages between the database's positions and the ends of this process's partitions.
fn look(
    consumer: &Consumer,
    assignment: &Assignment,
    names: &KafkaTopics,
) -> Result<Found, String> {
    let metadata = consumer
        .fetch_metadata(None, PROBE_TIMEOUT)
        .map_err(|error| unanswered(assignment, &error))?;
    let topics = states(&metadata);
    let wanted = names.all().into_iter();
    let is_missing = |name: &&str| !topics.iter().any(|it| it.name == *name);
    let missing: Vec<String> = wanted.filter(is_missing).map(str::to_owned).collect();
    if !missing.is_empty() {
        return Ok(Found::Missing(missing));
    }
    let mut lag = assignment.backlog();
    for ((topic, partition), next) in assignment.partitions() {
        let (_, end) = consumer
            .fetch_watermarks(&topic, partition, PROBE_TIMEOUT)
            .map_err(|error| unanswered(assignment, &error))?;
        lag += (end - next).max(0);
        let newest = end - NEWEST_MESSAGES;
        if newest - next >= LEAP_MESSAGES && may_leap(names.kind_of(&topic)) {
            assignment.ask_for_leap((topic, partition), newest);
        }
    }
    Ok(Found::Lag(lag))
}

fn unanswered(assignment: &Assignment, error: &rdkafka::error::KafkaError) -> String {
    let cause = format!("does not answer: {error}");
    assignment.trouble.explain(cause)
}

/// Measurements are the same in whatever order they come. Reports and presence are few, and control lives by them.
const fn may_leap(kind: Option<RecordKind>) -> bool {
    match kind {
        Some(RecordKind::Telemetry | RecordKind::Readings | RecordKind::KeyValues) => true,
        Some(RecordKind::Reported | RecordKind::Presence) | None => false,
    }
}
