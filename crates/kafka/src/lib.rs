#![doc = include_str!("../README.md")]

pub mod topic;
mod trouble;

pub use trouble::Trouble;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, Producer as _, ProducerContext};
use rdkafka::{ClientConfig, ClientContext};
use std::time::Duration;

/// How long a request about topics may take before Kafka counts as away.
const ADMIN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long Kafka may take to say who it is, before it is asked for topics.
const LOOK_TIMEOUT: Duration = Duration::from_secs(3);

/// How long is listened to what went wrong: it has happened already.
const TROUBLE_TIMEOUT: Duration = Duration::from_millis(100);

/// Without an answer for this long, in milliseconds, brokers are looked for from the start.
const REBOOTSTRAP_MS: &str = "30000";

/// Says nothing by itself: what went wrong is told once, by who asked.
#[derive(Default)]
struct Quiet(Trouble);

impl ClientContext for Quiet {
    fn log(&self, _: RDKafkaLogLevel, _: &str, _: &str) {}

    fn error(&self, error: KafkaError, reason: &str) {
        self.0.note(&error, reason);
    }
}

impl ProducerContext for Quiet {
    type DeliveryOpaque = ();

    fn delivery(&self, _: &DeliveryResult<'_>, (): ()) {}
}

/// Where Kafka is, and how to speak to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// `host:port`, comma list.
    pub brokers: String,
    /// librdkafka settings of the operator; they win over ours.
    pub options: Vec<(String, String)>,
}

/// A topic that has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WantedTopic<'a> {
    /// Its name.
    pub name: &'a str,
    /// Partitions, if it has to be made.
    pub partitions: i32,
    /// Largest message in bytes, if it has to be made and the broker's default is too small.
    pub max_message_bytes: Option<u32>,
}

/// Kafka did not answer, or refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kafka: {0}")]
pub struct Unreachable(pub String);

impl Cluster {
    /// The cluster in words, `kafka host:port,host:port`, without what an address may hold before its host.
    #[must_use]
    pub fn name(&self) -> String {
        let address = |it: &str| {
            let address = it.rsplit('/').next().unwrap_or_default();
            address
                .rsplit('@')
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let addresses: Vec<String> = self.brokers.split(',').map(address).collect();
        format!("kafka {}", addresses.join(","))
    }

    /// A cause in words that name the cluster, for readiness and logs.
    #[must_use]
    pub fn tell(&self, cause: &str) -> String {
        let cause = cause.strip_prefix("kafka: ").unwrap_or(cause);
        format!("{}: {cause}", self.name())
    }

    /// The start of every client's configuration; `settings` are ours, the operator's come last.
    #[must_use]
    pub fn client(&self, settings: &[(&str, &str)]) -> ClientConfig {
        // Before the first wait: a clock that is stepped back stalls nobody.
        steady::install();
        let mut config = ClientConfig::new();
        config.set("bootstrap.servers", &self.brokers);
        config.set("metadata.recovery.rebootstrap.trigger.ms", REBOOTSTRAP_MS);
        for (key, value) in settings {
            config.set(*key, *value);
        }
        for (key, value) in &self.options {
            config.set(key, value);
        }
        config
    }

    /// Looks at the operator's options: whether librdkafka takes them, and none carries a promise.
    ///
    /// # Errors
    /// The option and what is wrong with it, without its value.
    pub fn check_options(&self) -> Result<(), String> {
        if let Some((key, _)) = self
            .options
            .iter()
            .find(|(key, _)| RESERVED.contains(&key.as_str()))
        {
            return Err(format!("option {key}: is the service's own"));
        }
        let checked = self.client(&[]).create_native_config();
        checked.map(drop).map_err(|error| describe(&error))
    }

    /// Makes the topics that are missing; one that another process makes at the same time is fine.
    ///
    /// # Errors
    /// When Kafka does not answer within some seconds, or refuses.
    pub async fn create_missing(&self, topics: &[WantedTopic<'_>]) -> Result<(), Unreachable> {
        // First of all, since who makes topics is only ever told that time is up, whatever is wrong.
        self.greet(LOOK_TIMEOUT).await?;
        let client = self.client(&[]);
        let admin: AdminClient<Quiet> = client
            .create_with_context(Quiet::default())
            .map_err(unreachable)?;
        let sizes: Vec<Option<String>> = topics
            .iter()
            .map(|it| it.max_message_bytes.map(|bytes| bytes.to_string()))
            .collect();
        let wanted: Vec<NewTopic<'_>> = topics
            .iter()
            .zip(&sizes)
            .map(|(topic, size)| {
                // -1: the broker's own default replication.
                let new = NewTopic::new(topic.name, topic.partitions, TopicReplication::Fixed(-1));
                match size {
                    Some(bytes) => new.set("max.message.bytes", bytes),
                    None => new,
                }
            })
            .collect();
        let options = AdminOptions::new().request_timeout(Some(ADMIN_TIMEOUT));
        let results = admin
            .create_topics(&wanted, &options)
            .await
            .map_err(unreachable)?;
        for result in results {
            match result {
                Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists)) => {}
                Err((topic, code)) => {
                    return Err(Unreachable(format!("topic {topic} cannot be made: {code}")));
                }
            }
        }
        Ok(())
    }
}

impl Cluster {
    /// Asks for a sign of life; who gets none is told why, where librdkafka knows.
    async fn greet(&self, patience: Duration) -> Result<(), Unreachable> {
        let cluster = self.clone();
        let asked = tokio::task::spawn_blocking(move || cluster.ask(patience));
        asked
            .await
            .unwrap_or_else(|error| Err(Unreachable(error.to_string())))
    }

    /// Blocks.
    fn ask(&self, patience: Duration) -> Result<(), Unreachable> {
        let quiet = Quiet::default();
        let trouble = quiet.0.clone();
        let client: BaseProducer<Quiet> = self
            .client(&[])
            .create_with_context(quiet)
            .map_err(unreachable)?;
        let asked = client.client().fetch_metadata(None, patience);
        if asked.is_err() {
            // What was wrong meanwhile waits to be told.
            client.poll(TROUBLE_TIMEOUT);
        }
        let explain = |error| Unreachable(trouble.explain(describe(&error)));
        asked.map(drop).map_err(explain)
    }
}

fn unreachable(error: KafkaError) -> Unreachable {
    Unreachable(describe(&error))
}

/// An error in words, without the value of an option: it may be a password.
#[must_use]
pub fn describe(error: &KafkaError) -> String {
    if let KafkaError::ClientConfig(_, description, key, _) = error {
        format!("option {key}: {description}")
    } else {
        error.to_string()
    }
}

/// Options that carry a promise of the service: an operator cannot set them, by none of their names.
const RESERVED: [&str; 11] = [
    "acks",
    "auto.offset.reset",
    "bootstrap.servers",
    "delivery.timeout.ms",
    "enable.auto.commit",
    "enable.idempotence",
    "group.id",
    "message.timeout.ms",
    "metadata.broker.list",
    "partition.assignment.strategy",
    "request.required.acks",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operators_options_win() {
        let cluster = Cluster {
            brokers: "a:1".to_owned(),
            options: vec![("linger.ms".to_owned(), "7".to_owned())],
        };
        assert_eq!(
            cluster.client(&[("linger.ms", "5")]).get("linger.ms"),
            Some("7")
        );
    }

    #[test]
    fn a_cause_names_the_cluster_and_no_password() {
        let cluster = Cluster {
            brokers: "kafka://ada:sesame@a:1, b:2".to_owned(),
            options: Vec::new(),
        };
        assert_eq!(cluster.tell("kafka: no"), "kafka a:1,b:2: no");
    }

    #[test]
    fn an_option_that_is_wrong_is_named_without_its_value() {
        let check = |key: &str, value: &str| {
            let cluster = Cluster {
                brokers: "a:1".to_owned(),
                options: vec![(key.to_owned(), value.to_owned())],
            };
            cluster.check_options()
        };
        assert_eq!(check("linger.ms", "7"), Ok(()));
        for (key, value) in [
            ("sasl.passwrod", "sesame"),
            ("acks", "1"),
            // Other names of what is the service's own.
            ("delivery.timeout.ms", "1000"),
            ("metadata.broker.list", "elsewhere:9092"),
            ("linger.ms", "sesame"),
        ] {
            let told = check(key, value).unwrap_err();
            assert!(told.contains(key) && !told.contains("sesame"), "{told}");
        }
    }
}
