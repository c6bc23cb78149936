//! The servers that the settings name.

use crate::failure::Failure;
use kafka::Cluster;
use kafka::topic::Demands;
use ops::settings::Settings;
use std::collections::BTreeMap;
use std::time::Duration;
use store::Store;
use wire::envelope::DEAD_LETTER_BYTES;
use wire::topic::KafkaTopics;

/// Kafka's topic names have at most 249 characters, and ours add to the prefix.
const LONGEST_PREFIX: usize = 200;

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
