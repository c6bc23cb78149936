//! The role: topics made when missing, a thread that fetches, a loop that writes, folding beside it.

use crate::batch::batch;
use crate::fetch::{self, Assignment, BATCH_MESSAGES, Fetched};
use crate::writer::{Unwritten, Writer};
use crate::{Config, Handles, fold, probe, retention};
use kafka::WantedTopic;
use ops::failure::Fatal;
use ops::health::Condition;
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Batch, Store};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use wire::topic::RecordKind;

/// Batches between the fetching thread and the writer: one is read while one is written.
const BATCHES_AHEAD: usize = 1;
/// Pause between two looks at a database that has nothing to do.
const DATABASE_PROBE: Duration = Duration::from_secs(2);

/// Runs the role until told to stop; what is in hand is committed first.
///
/// # Errors
/// When the consumer's settings are refused by the client library.
pub async fn run(
    config: Config,
    store: Store,
    handles: Handles,
    shutdown: Shutdown,
) -> Result<(), Fatal> {
    let kafka = handles.health.condition("kafka");
    let writer = Writer::new(store.clone(), config.raw_retention, &handles);
    if !create_topics(&config, &kafka, &shutdown).await {
        return Ok(());
    }
    let runtime = tokio::runtime::Handle::current();
    let assignment = Arc::new(Assignment::new(store.clone(), runtime, shutdown.clone()));
    let consumer = fetch::consumer(&config, Arc::clone(&assignment), kafka.clone())
        .map_err(Fatal)
        .map(Arc::new)?;
    let (sender, batches) = mpsc::channel(BATCHES_AHEAD);

    let mut tasks = JoinSet::new();
    tasks.spawn(probe::run(
        Arc::clone(&consumer),
        Arc::clone(&assignment),
        config.topics.of(RecordKind::Telemetry).to_owned(),
        kafka,
        handles.metrics.clone(),
        shutdown.clone(),
    ));
    tasks.spawn({
        let (store, handles, shutdown) = (store.clone(), handles.clone(), shutdown.clone());
        async move { fold::run(&store, &handles, &shutdown).await }
    });
    tasks.spawn({
        let (handles, shutdown) = (handles.clone(), shutdown.clone());
        let topics = fetch::topics(&config);
        let topics = topics.into_iter().map(str::to_owned).collect();
        let source = retention::Source::log(Arc::clone(&consumer), Arc::clone(&assignment), topics);
        let raw_retention = config.raw_retention;
        async move { retention::run(&store, raw_retention, source, &handles, &shutdown).await }
    });
    tasks.spawn_blocking({
        let (assignment, shutdown) = (Arc::clone(&assignment), shutdown.clone());
        move || fetch::run(&consumer, &config, &assignment, &sender, &shutdown)
    });
    write_all(batches, &writer, &assignment, &shutdown).await;
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(|error| Fatal(format!("aggregator: {error}")))?;
    }
    Ok(())
}

/// Answers false when told to stop before Kafka answered.
async fn create_topics(config: &Config, kafka: &Condition, shutdown: &Shutdown) -> bool {
    let wanted = wanted_topics(config);
    let mut backoff = Backoff::default();
    loop {
        match config.cluster.create_missing(&wanted).await {
            Ok(()) => return true,
            Err(unreachable) => kafka.not_ready(unreachable.to_string()),
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.next_wait()) => {}
            () = shutdown.requested() => return false,
        }
    }
}

fn wanted_topics(config: &Config) -> Vec<WantedTopic<'_>> {
    let dead_letters = config.topics.dead_letters();
    let topics = config.topics.all().into_iter();
    topics
        .map(|name| WantedTopic {
            name,
            partitions: config.partitions,
            max_message_bytes: (name == dead_letters).then_some(wire::envelope::DEAD_LETTER_BYTES),
        })
        .collect()
}

/// Ends when the fetching thread has ended and all that it gave is written.
async fn write_all(
    mut batches: mpsc::Receiver<Fetched>,
    writer: &Writer,
    assignment: &Assignment,
    shutdown: &Shutdown,
) {
    let mut lost_epoch = None;
    let mut hand: Option<Hand> = None;
    let mut backoff = Backoff::default();
    loop {
        let patience = match &hand {
            Some(_) => backoff.next_wait(),
            None => DATABASE_PROBE,
        };
        // What is refused alone waits for company; enough of it, and nothing more would show.
        let is_full = hand.as_ref().is_some_and(Hand::is_full);
        tokio::select! {
            fetched = batches.recv(), if !is_full => match fetched {
                Some(fetched) => Hand::take(&mut hand, fetched, assignment),
                None => return,
            },
            () = tokio::time::sleep(patience) => {}
            () = shutdown.requested(), if is_full => return,
        }
        let Some(held) = hand.take_if(|it| Some(it.epoch) != lost_epoch) else {
            hand = None;
            writer.probe().await;
            continue;
        };
        match writer.write(&held.batch, held.begun, shutdown).await {
            Ok(()) => {
                backoff.reset();
                for moved in held.batch.moves {
                    assignment.note_committed((moved.topic, moved.partition), moved.to_offset);
                }
            }
            Err(Unwritten::Refused) => hand = Some(held),
            Err(Unwritten::LostPosition) => {
                tracing::info!("a partition was read by another process too: starting over");
                lost_epoch = Some(held.epoch);
                assignment.ask_for_reassignment();
            }
            Err(Unwritten::Stopped) => return,
        }
    }
}

/// What is to be written.
struct Hand {
    batch: Batch,
    epoch: u64,
    begun: Instant,
}

impl Hand {
    /// Takes what was fetched behind what is in hand. What was read under an older assignment is worthless.
    fn take(hand: &mut Option<Self>, fetched: Fetched, assignment: &Assignment) {
        let epoch = assignment.epoch();
        hand.take_if(|it| it.epoch != epoch);
        if fetched.epoch != epoch {
            return;
        }
        let mut batch = batch(fetched.arrivals, fetched.moves);
        batch.cluster = assignment.cluster();
        match hand {
            Some(hand) => hand.batch.append(batch),
            None => {
                *hand = Some(Self {
                    batch,
                    epoch,
                    begun: fetched.begun,
                });
            }
        }
    }

    fn is_full(&self) -> bool {
        self.batch.records.len() >= BATCH_MESSAGES
    }
}
