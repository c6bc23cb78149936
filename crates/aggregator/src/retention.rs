//! Retention: partitions are made ahead, the horizon moves, what lies before it is dropped.

mod overdue;

use crate::Handles;
use crate::fetch::{Assignment, Consumer};
use domain::time::Timestamp;
use ops::metrics::{Counter, Gauge};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use overdue::{Overdue, Told};
use rdkafka::consumer::Consumer as _;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Dropped, Horizon, LogEnd, LogInUse, Store, StoreFailure};

/// Pause between two looks.
const INTERVAL: Duration = Duration::from_secs(120);
/// Pause after the database was away, or others had the tables for too long: they waited behind this one too.
const PAUSE: Duration = Duration::from_secs(20);
/// How long the horizon may lag behind the clocks before that is told: each midnight takes it some looks.
const TOLD_AFTER: Duration = Duration::from_secs(3_600);
/// Longer than the statements of a look may take together: then the connection is dead.
const LOOK_TIMEOUT: Duration = Duration::from_secs(1_800);
/// Longest wait for Kafka's answer to one question.
const KAFKA_TIMEOUT: Duration = Duration::from_secs(5);

/// Where records come from: nothing is dropped that could still be needed for what waits there.
pub struct Source(Option<Log>);

/// The log as this process sees it.
struct Log {
    consumer: Arc<Consumer>,
    assignment: Arc<Assignment>,
    topics: Vec<String>,
}

impl Source {
    /// Direct mode: what has been received is stored before it is acknowledged.
    #[must_use]
    pub const fn direct() -> Self {
        Self(None)
    }

    pub(crate) const fn log(
        consumer: Arc<Consumer>,
        assignment: Arc<Assignment>,
        topics: Vec<String>,
    ) -> Self {
        Self(Some(Log {
            consumer,
            assignment,
            topics,
        }))
    }
}

/// Keeps raw records for `raw_retention` until told to stop. Any number of processes may do so at once.
pub async fn run(
    store: &Store,
    raw_retention: Duration,
    source: Source,
    handles: &Handles,
    shutdown: &Shutdown,
) {
    let log = source.0.map(Arc::new);
    let mut backoff = Backoff::default();
    let mut lag = Lag::default();
    let mut overdue = Overdue::default();
    let keep = async {
        loop {
            let now = || Timestamp::from_micros(handles.clock.now_micros());
            let kept = tokio::select! {
                kept = keep(store, raw_retention, log.clone(), &now) => kept,
                () = store.given_up_after(LOOK_TIMEOUT) => Err(Unkept::silent()),
            };
            let wait = match kept {
                Ok((horizon, dropped)) => {
                    backoff.reset();
                    lag.tell(horizon.held_back.as_deref());
                    if overdue.kept(&horizon) == Some(Told::End) {
                        tracing::info!("raw records can be dropped again");
                    }
                    count(handles, &horizon, dropped);
                    INTERVAL
                }
                // An outage is told by the conditions of those who write and fold.
                Err(Unkept::Store(failure)) if failure.is_transient() => {
                    overdue.failed(Instant::now());
                    tracing::debug!(%failure, "retention has to wait");
                    PAUSE
                }
                Err(Unkept::Log(cause)) => {
                    tracing::debug!(cause, "retention has to wait");
                    lag.tell(Some(&cause));
                    backoff.next_wait()
                }
                Err(Unkept::Store(failure)) => {
                    overdue.failed(Instant::now());
                    if overdue.tell() == Some(Told::Start) {
                        tracing::error!(%failure, "raw records cannot be dropped");
                    }
                    INTERVAL
                }
            };
            show(handles, overdue.seconds(Instant::now()));
            tokio::time::sleep(wait).await;
        }
    };
    // What is given up half-way has no effect.
    tokio::select! {
        () = shutdown.requested() => {}
        () = keep => {}
    }
}

/// Why a look did not come to its end.
enum Unkept {
    Store(StoreFailure),
    Log(String),
}

impl Unkept {
    fn silent() -> Self {
        Self::Store(StoreFailure::Transient(
            "the database does not answer".to_owned(),
        ))
    }
}

impl From<StoreFailure> for Unkept {
    fn from(failure: StoreFailure) -> Self {
        Self::Store(failure)
    }
}

async fn keep(
    store: &Store,
    raw_retention: Duration,
    log: Option<Arc<Log>>,
    now: &impl Fn() -> Timestamp,
) -> Result<(Horizon, Dropped), Unkept> {
    store.make_raw_partitions(now()).await?;
    let in_use = match log {
        None => LogInUse::default(),
        Some(log) => {
            // What comes while the ends are looked up may be behind them.
            let at = now();
            let looked = tokio::task::spawn_blocking(move || log.look()).await;
            let (in_use, ends) = looked
                .map_err(|error| Unkept::Log(error.to_string()))?
                .map_err(Unkept::Log)?;
            store.note_log_ends(&in_use.cluster, &ends, at).await?;
            in_use
        }
    };
    let horizon = store
        .move_raw_horizon(now(), raw_retention, &in_use)
        .await?;
    Ok((horizon, store.drop_raw().await?))
}

impl Log {
    /// All partitions, and the ends of those that this process serves.
    fn look(&self) -> Result<(LogInUse, Vec<LogEnd>), String> {
        let silent = |error| format!("kafka does not answer: {error}");
        let cluster = self.assignment.cluster();
        if cluster.is_empty() {
            return Err("no partition is assigned yet".to_owned());
        }
        let mut partitions = Vec::new();
        for topic in &self.topics {
            let metadata = self.consumer.fetch_metadata(Some(topic), KAFKA_TIMEOUT);
            for found in metadata.map_err(silent)?.topics() {
                if found.error().is_some() || found.partitions().is_empty() {
                    return Err(format!("kafka does not tell the partitions of {topic}"));
                }
                let numbers = found.partitions().iter().map(|it| it.id());
                partitions.extend(numbers.map(|number| (topic.clone(), number)));
            }
        }
        let mut ends = Vec::new();
        for ((topic, partition), _) in self.assignment.partitions() {
            let watermarks = self
                .consumer
                .fetch_watermarks(&topic, partition, KAFKA_TIMEOUT);
            let (_, end_offset) = watermarks.map_err(silent)?;
            ends.push(LogEnd {
                topic,
                partition,
                end_offset,
            });
        }
        let in_use = LogInUse {
            cluster,
            partitions,
        };
        Ok((in_use, ends))
    }
}

/// Tells when the horizon lags behind, and when it does no longer: one line each.
#[derive(Default)]
struct Lag {
    since: Option<Instant>,
    told: bool,
}

impl Lag {
    fn tell(&mut self, held_back: Option<&str>) {
        let Some(cause) = held_back else {
            if self.told {
                tracing::info!("raw records are dropped again");
            }
            *self = Self::default();
            return;
        };
        let since = self.since.get_or_insert_with(Instant::now);
        if !self.told && since.elapsed() >= TOLD_AFTER {
            tracing::warn!(cause, "raw records are kept longer than they should be");
            self.told = true;
        }
    }
}

fn seconds(seconds: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
    let seconds = seconds.max(0) as f64;
    seconds
}

fn show(handles: &Handles, overdue: i64) {
    handles.metrics.update(|update| {
        update.set(Gauge::AggregatorRetentionOverdueSeconds, seconds(overdue));
    });
}

fn count(handles: &Handles, horizon: &Horizon, dropped: Dropped) {
    handles.metrics.update(|update| {
        update.add(Counter::AggregatorDroppedChunks, dropped.pieces);
        update.add(Counter::AggregatorDroppedRows, dropped.rows);
        // Before it has moved for the first time there is nothing to tell.
        if horizon.moment.seconds() > 0 {
            let moment = seconds(horizon.moment.seconds());
            update.set(Gauge::AggregatorRawHorizonSeconds, moment);
        }
    });
    if dropped != Dropped::default() {
        tracing::info!(
            pieces = dropped.pieces,
            rows = dropped.rows,
            "raw records dropped"
        );
    }
}
