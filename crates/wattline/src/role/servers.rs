//! The servers that the settings name.

use crate::failure::Failure;
use kafka::Cluster;
use kafka::topic::{self, Demands};
use ops::failure::Fatal;
use ops::retry::Backoff;
use ops::settings::Settings;
use ops::shutdown::Shutdown;
use std::collections::BTreeMap;
use std::time::Duration;
use store::Store;
use wire::envelope::DEAD_LETTER_BYTES;
use wire::topic::KafkaTopics;

/// Kafka's topic names have at most 249 characters, and ours add to the prefix.
const LONGEST_PREFIX: usize = 200;

/// How long a server may take to tell how it is.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// The log, with its options looked at.
pub(crate) fn cluster(settings: &Settings) -> Result<Cluster, Failure> {
    let cluster = Cluster {
        brokers: settings.text("kafka_brokers")?,
        options: settings.pairs("kafka_options")?,
    };
    cluster.check_options().map_err(|wrong| {
        settings.unacceptable("kafka_options", format!("options of librdkafka ({wrong})"))
    })?;
    Ok(cluster)
}

/// The log's topics.
pub(crate) fn topics(settings: &Settings) -> Result<KafkaTopics, Failure> {
    let prefix = settings.text("kafka_topic_prefix")?;
    let legal = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    if prefix.len() > LONGEST_PREFIX || !prefix.chars().all(legal) {
        let expected = "at most 200 letters, digits, dots, underscores and hyphens";
        return Err(settings.unacceptable("kafka_topic_prefix", expected).into());
    }
    Ok(KafkaTopics::new(&prefix))
}

/// The database, when it is connected to.
pub(crate) fn store(
    settings: &Settings,
    connections: u32,
    statement_timeout: Duration,
) -> Result<Store, Failure> {
    let url = settings.text("database_url")?;
    Store::open_with(&url, connections, statement_timeout).map_err(|wrong| {
        let expected = format!("postgres://user:password@host:port/database ({wrong})");
        settings.unacceptable("database_url", expected).into()
    })
}

/// A command's failure with the server's name; of a database that cannot be worked with also why, where a pool only says
/// that it has no connection to give.
pub(crate) async fn explain(store: &Store, failure: Failure) -> Failure {
    let Failure::Running(text) = &failure else {
        return failure;
    };
    let Some(words) = text.strip_prefix("database: ") else {
        return failure;
    };
    let looked = tokio::time::timeout(LOOK_TIMEOUT, async { store.watch().look().await });
    match looked.await {
        Ok(Err(cause)) => Failure::Running(cause),
        Ok(Ok(())) | Err(_) => Failure::Running(format!("{}: {words}", store.server())),
    }
}

/// What each topic is to be like.
pub(crate) fn demands(topics: &KafkaTopics, partitions: usize) -> BTreeMap<&str, Demands> {
    let of = |name| {
        let dead_letters = name == topics.dead_letters();
        let demands = Demands {
            partitions,
            max_message_bytes: dead_letters.then_some(DEAD_LETTER_BYTES),
        };
        (name, demands)
    };
    topics.all().into_iter().map(of).collect()
}

/// Tells once what is wrong with the topics' settings, as soon as all topics are there.
pub(super) async fn tell_weak_topics(
    cluster: Cluster,
    topics: KafkaTopics,
    partitions: usize,
    shutdown: Shutdown,
) -> Result<(), Fatal> {
    let name = cluster.name();
    let demands = demands(&topics, partitions);
    let mut backoff = Backoff::default();
    loop {
        // An outage is told by the role's own condition.
        if let Ok(looked) = topic::look(&cluster, &demands, LOOK_TIMEOUT).await
            && looked.missing == 0
        {
            for finding in looked.findings {
                match finding {
                    topic::Finding::Loses(text) => tracing::error!("{name}: {text}"),
                    topic::Finding::Weaker(text) => tracing::warn!("{name}: {text}"),
                }
            }
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.next_wait()) => {}
            () = shutdown.requested() => return Ok(()),
        }
    }
}
