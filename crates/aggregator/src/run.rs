//! The role: topics made when missing, a thread that fetches, a loop that writes, folding beside it.

use crate::backlog::Backlog;
use crate::fetch::{self, Assignment};
use crate::probe::Probe;
use crate::writer::Writer;
use crate::writing::Writing;
use crate::{Config, Handles, again, fold, retention};
use kafka::WantedTopic;
use ops::failure::Fatal;
use ops::health::Condition;
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use ops::watch;
use std::sync::Arc;
use store::Store;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Batches between the fetching thread and the writer: one is read while one is written.
const BATCHES_AHEAD: usize = 1;

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
    let assignment = Assignment::new(store.clone(), runtime.clone(), shutdown.clone());
    let assignment = Arc::new(assignment);
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
        let (store, handles, shutdown) = (store.clone(), handles.clone(), shutdown.clone());
        async move { fold::run(&store, &handles, &shutdown).await }
    });
    tasks.spawn({
        let (handles, shutdown) = (handles.clone(), shutdown.clone());
        let topics = fetch::topics(&config);
        let topics = topics.into_iter().map(str::to_owned).collect();
        let source = retention::Source::log(Arc::clone(&consumer), Arc::clone(&assignment), topics);
        let (store, raw_retention) = (store.clone(), config.raw_retention);
        async move { retention::run(&store, raw_retention, source, &handles, &shutdown).await }
    });
    if let Some(from) = config.read_again_from {
        tasks.spawn(again::run(
            config.clone(),
            store.clone(),
            from,
            shutdown.clone(),
        ));
    }
    let (backlog_sender, pieces) = mpsc::channel(1);
    tasks.spawn_blocking({
        let backlog = Backlog {
            config: config.clone(),
            store: store.clone(),
            assignment: Arc::clone(&assignment),
            runtime,
            metrics: handles.metrics.clone(),
            shutdown: shutdown.clone(),
        };
        move || backlog.run(&backlog_sender)
    });
    tasks.spawn_blocking({
        let (assignment, shutdown) = (Arc::clone(&assignment), shutdown.clone());
        move || fetch::run(&consumer, &config, &assignment, &sender, &shutdown)
    });
    let writing = Writing {
        writer: &writer,
        store: &store,
        assignment: &assignment,
        shutdown: &shutdown,
    };
    writing.run(batches, pieces).await;
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
