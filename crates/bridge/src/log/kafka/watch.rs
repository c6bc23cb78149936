//! Whether Kafka answers, and has the topics: asked every second, since a client that has nothing to
//! send hears nothing.

use super::KafkaLog;
use kafka::WantedTopic;
use ops::health::Condition;
use ops::retry::Backoff;
use rdkafka::producer::Producer;
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

/// Asks for ever, and creates topics that are missing: at the start, and when somebody deleted one.
pub(super) async fn run(log: KafkaLog, condition: Condition) {
    let mut backoff = Backoff::default();
    let mut answered = Instant::now();
    loop {
        let asked = ask(&log).await;
        if asked.is_ok() {
            answered = Instant::now();
        } else if answered.elapsed() >= RENEW_AFTER {
            answered = Instant::now();
            renew(&log).await;
        }
        let wait = match asked {
            Ok(missing) if missing.is_empty() => {
                log.known.topics_known.store(true, Ordering::Release);
                condition.ready();
                backoff.reset();
                INTERVAL
            }
            Ok(missing) => {
                if let Err(cause) = create(&log, &missing).await {
                    condition.not_ready(cause);
                }
                backoff.next_wait().min(INTERVAL)
            }
            Err(cause) => {
                condition.not_ready(cause);
                backoff.next_wait().min(INTERVAL)
            }
        };
        sleep(wait).await;
    }
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

/// Which topics are missing.
async fn ask(log: &KafkaLog) -> Result<Vec<String>, String> {
    let log = log.clone();
    let answer = spawn_blocking(move || log.missing_topics()).await;
    answer.unwrap_or_else(|panic| Err(format!("cannot ask kafka: {panic}")))
}

async fn create(log: &KafkaLog, missing: &[String]) -> Result<(), String> {
    let config = &log.config;
    let wanted: Vec<WantedTopic<'_>> = missing
        .iter()
        .map(|name| WantedTopic {
            name,
            partitions: config.partitions,
            max_message_bytes: (name == config.topics.dead_letters()).then_some(DEAD_LETTER_BYTES),
        })
        .collect();
    let created = config.cluster.create_missing(&wanted).await;
    created.map_err(|error| error.to_string())?;
    tracing::info!(topics = ?missing, "kafka topics created");
    Ok(())
}

impl KafkaLog {
    /// Blocks. All topics are asked for, since to ask for one by name may create it.
    fn missing_topics(&self) -> Result<Vec<String>, String> {
        let asked = self
            .producer()
            .client()
            .fetch_metadata(None, ANSWER_TIMEOUT);
        let trouble = &self.known.trouble;
        let explain = |error| trouble.explain(format!("kafka does not answer: {error}"));
        let metadata = asked.map_err(explain)?;
        trouble.clear();
        let known: Vec<&str> = metadata.topics().iter().map(|topic| topic.name()).collect();
        let mut missing = self.config.topics.all();
        missing.retain(|topic| !known.contains(topic));
        Ok(missing.into_iter().map(str::to_owned).collect())
    }
}
