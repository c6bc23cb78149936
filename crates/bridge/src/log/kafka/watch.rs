//! Whether Kafka answers, and has the topics: asked every second, since a client that has nothing to
//! send hears nothing.

use super::{KafkaConfig, KafkaLog};
use kafka::WantedTopic;
use kafka::topic::{
    Demands, Finding, Inspected, Inspector, TopicState, judge_all, refuses_writes, states,
};
use ops::health::Condition;
use ops::metrics::{Counter, Metrics};
use ops::retry::Backoff;
use rdkafka::producer::Producer;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use wire::envelope::DEAD_LETTER_BYTES;

/// Between two questions. With the time that an answer may take, an outage is told within 5 seconds.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long Kafka may say nothing before the producer is made anew; and again while that lasts.
const RENEW_AFTER: Duration = Duration::from_secs(60);

/// How long Kafka may take to tell which topics there are.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Between two looks at the topics' settings: what is changed there is to be told within 5 seconds too.
const SETTINGS_INTERVAL: Duration = Duration::from_secs(2);

/// Looks at Kafka, and tells how it is.
pub(super) struct Watch {
    log: KafkaLog,
    condition: Condition,
    metrics: Metrics,
    inspector: Option<Inspector>,
    /// Whether the log was told what is wrong with the topics' settings.
    judged: bool,
    /// Whether all topics have been there.
    had_topics: bool,
    /// The topics' settings, when they were last asked for.
    settings: Option<(Instant, Inspected)>,
}

impl Watch {
    pub(super) fn new(log: KafkaLog, condition: Condition, metrics: Metrics) -> Self {
        Self {
            // Its options are those of the producer, which librdkafka has taken.
            inspector: log.config.cluster.inspector().ok(),
            log,
            condition,
            metrics,
            judged: false,
            had_topics: false,
            settings: None,
        }
    }

    /// Asks for ever, and creates topics that are missing: at the start, and when somebody deleted one.
    pub(super) async fn run(mut self) {
        let mut backoff = Backoff::default();
        let mut answered = Instant::now();
        loop {
            let asked = ask(&self.log).await;
            if asked.is_ok() {
                answered = Instant::now();
            } else if answered.elapsed() >= RENEW_AFTER {
                answered = Instant::now();
                renew(&self.log).await;
            }
            let judged = match asked {
                Ok(topics) => self.judge(&topics).await,
                Err(cause) => Err(cause),
            };
            let wait = match judged {
                Ok(true) => {
                    self.condition.ready();
                    backoff.reset();
                    INTERVAL
                }
                Ok(false) => backoff.next_wait().min(INTERVAL),
                Err(cause) => {
                    self.not_ready(&cause);
                    backoff.next_wait().min(INTERVAL)
                }
            };
            self.count_retries();
            sleep(wait).await;
        }
    }

    fn not_ready(&self, cause: &str) {
        let cause = self.log.config.cluster.tell(cause);
        self.condition.not_ready(cause);
    }

    /// Makes what is missing. Answers whether messages can be handed over; fails with why not, where that is worth
    /// telling.
    async fn judge(&mut self, topics: &[TopicState]) -> Result<bool, String> {
        let config = Arc::clone(&self.log.config);
        let wanted = config.topics.all();
        let is_there = |name: &&str| topics.iter().any(|it| it.name == **name);
        let missing: Vec<&str> = wanted.iter().copied().filter(|it| !is_there(it)).collect();
        if !missing.is_empty() {
            // At the first start they are not there yet; later somebody has deleted them.
            if self.had_topics {
                self.not_ready(&format!("topic {} is missing", missing.join(", ")));
            }
            create(&self.log, &missing).await?;
            // The next look tells whether they are there.
            return Ok(false);
        }
        self.had_topics = true;
        self.log.known.topics_known.store(true, Ordering::Release);
        self.look_at_settings(&wanted).await;
        self.tell_findings(topics);
        let settings = self.settings.as_ref().map(|(_, found)| &found.settings);
        let refusal = topics
            .iter()
            .filter(|it| wanted.contains(&it.name.as_str()))
            .find_map(|it| refuses_writes(it, settings.and_then(|all| all.get(&it.name))));
        refusal.map_or(Ok(true), Err)
    }

    /// A cluster that does not tell its settings is judged without them.
    async fn look_at_settings(&mut self, topics: &[&str]) {
        let fresh = |(at, _): &(Instant, Inspected)| at.elapsed() < SETTINGS_INTERVAL;
        if self.settings.as_ref().is_some_and(fresh) {
            return;
        }
        let Some(inspector) = &self.inspector else {
            return;
        };
        if let Ok(found) = inspector.settings(topics, ANSWER_TIMEOUT).await {
            self.settings = Some((Instant::now(), found));
        }
    }

    /// Once: what is wrong with the topics' settings goes on until somebody changes them.
    fn tell_findings(&mut self, topics: &[TopicState]) {
        let Some((_, inspected)) = &self.settings else {
            return;
        };
        if std::mem::replace(&mut self.judged, true) {
            return;
        }
        let config = &self.log.config;
        let demands = demands(config);
        for finding in judge_all(topics, inspected, &demands) {
            let name = config.cluster.name();
            match finding {
                Finding::Loses(text) => tracing::error!("{name}: {text}"),
                Finding::Weaker(text) => tracing::warn!("{name}: {text}"),
            }
        }
    }

    fn count_retries(&self) {
        let retries = self.log.known.retries.swap(0, Ordering::AcqRel);
        if retries > 0 {
            self.metrics
                .update(|update| update.add(Counter::BridgeProducerRetries, retries));
        }
    }
}

/// What each topic is to be like.
fn demands(config: &KafkaConfig) -> BTreeMap<&str, Demands> {
    let partitions = usize::try_from(config.partitions).unwrap_or_default();
    let of = |name| {
        let dead_letters = name == config.topics.dead_letters();
        let max_message_bytes = dead_letters.then_some(DEAD_LETTER_BYTES);
        let demands = Demands {
            partitions,
            max_message_bytes,
        };
        (name, demands)
    };
    config.topics.all().into_iter().map(of).collect()
}

/// A producer that was told of no broker at all looks for none ever after (librdkafka #5301), so one
/// that hears nothing for long makes room for a fresh one.
async fn renew(log: &KafkaLog) {
    tracing::warn!("kafka has not answered for a minute: starting over with a fresh producer");
    let log = log.clone();
    match spawn_blocking(move || log.renew()).await {
        Ok(Ok(())) => {}
        Ok(Err(wrong)) => tracing::error!(%wrong, "no fresh producer"),
        Err(panic) => tracing::error!(%panic, "no fresh producer"),
    }
}

/// Which topics there are.
async fn ask(log: &KafkaLog) -> Result<Vec<TopicState>, String> {
    let log = log.clone();
    let answer = spawn_blocking(move || log.topics()).await;
    answer.unwrap_or_else(|panic| Err(format!("cannot ask kafka: {panic}")))
}

async fn create(log: &KafkaLog, missing: &[&str]) -> Result<(), String> {
    let config = &log.config;
    let wanted: Vec<WantedTopic<'_>> = missing
        .iter()
        .map(|name| WantedTopic {
            name,
            partitions: config.partitions,
            max_message_bytes: (*name == config.topics.dead_letters()).then_some(DEAD_LETTER_BYTES),
        })
        .collect();
    let created = config.cluster.create_missing(&wanted).await;
    created.map_err(|error| error.to_string())?;
    tracing::info!(topics = ?missing, "kafka topics created");
    Ok(())
}

impl KafkaLog {
    /// Blocks. All topics are asked for, since to ask for one by name may create it.
    fn topics(&self) -> Result<Vec<TopicState>, String> {
        let asked = self
            .producer()
            .client()
            .fetch_metadata(None, ANSWER_TIMEOUT);
        let trouble = &self.known.trouble;
        let explain = |error| trouble.explain(format!("does not answer: {error}"));
        let metadata = asked.map_err(explain)?;
        trouble.clear();
        Ok(states(&metadata))
    }
}
