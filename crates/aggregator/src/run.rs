//! The role: topics made when missing, a thread that fetches, a loop that writes, folding beside it.

use crate::batch::batch;
use crate::fetch::{self, Assignment, Fetched};
use crate::probe::Probe;
use crate::writer::{Unwritten, Writer};
use crate::{Config, Handles, fold};
use kafka::WantedTopic;
use ops::failure::Fatal;
use ops::health::Condition;
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use ops::watch;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

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
    let mut tasks = JoinSet::new();
    watch_database(&store, &handles, &shutdown, &mut tasks);
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

    let probe = Probe {
        consumer: Arc::clone(&consumer),
        assignment: Arc::clone(&assignment),
        config: config.clone(),
        kafka,
        handles: handles.clone(),
    };
    tasks.spawn(probe.run(shutdown.clone()));
    tasks.spawn({
        let (store, handles, shutdown) = (store, handles.clone(), shutdown.clone());
        async move { fold::run(&store, &handles, &shutdown).await }
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

/// Tells within seconds when the database cannot be worked with, whatever is being written or not; in direct mode
/// too.
pub fn watch_database(
    store: &Store,
    handles: &Handles,
    shutdown: &Shutdown,
    tasks: &mut JoinSet<()>,
) {
    let condition = handles.health.condition("database");
    let mut database = store.watch();
    let (server, shutdown) = (store.server().to_owned(), shutdown.clone());
    tasks.spawn(async move {
        loop {
            watch::look(&condition, &server, database.look()).await;
            if !watch::goes_on(&shutdown).await {
                return;
            }
        }
    });
}

/// Answers false when told to stop before Kafka answered.
async fn create_topics(config: &Config, kafka: &Condition, shutdown: &Shutdown) -> bool {
    let wanted = wanted_topics(config);
    let mut backoff = Backoff::default();
    loop {
        match config.cluster.create_missing(&wanted).await {
            Ok(()) => return true,
            Err(unreachable) => kafka.not_ready(config.cluster.tell(&unreachable.0)),
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.next_wait()) => {}
            () = shutdown.requested() => return false,
        }
    }
}

pub(crate) fn wanted_topics(config: &Config) -> Vec<WantedTopic<'_>> {
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
    loop {
        let fetched = tokio::select! {
            fetched = batches.recv() => fetched,
            () = tokio::time::sleep(DATABASE_PROBE) => {
                writer.probe().await;
                continue;
            }
        };
        let Some(fetched) = fetched else { return };
        if lost_epoch == Some(fetched.epoch) || fetched.epoch != assignment.epoch() {
            continue;
        }
        let mut batch = batch(fetched.arrivals, fetched.moves);
        batch.cluster = assignment.cluster();
        match writer.write(&batch, fetched.begun, shutdown).await {
            Ok(()) => {
                for moved in batch.moves {
                    assignment.note_committed((moved.topic, moved.partition), moved.to_offset);
                }
            }
            Err(Unwritten::LostPosition) => {
                tracing::info!("a partition was read by another process too: starting over");
                lost_epoch = Some(fetched.epoch);
                assignment.ask_for_reassignment();
            }
            Err(Unwritten::Stopped) => return,
        }
    }
}
