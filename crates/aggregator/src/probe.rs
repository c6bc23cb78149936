//! Looks at Kafka every few seconds: whether it answers, and how much waits there.

use crate::fetch::{Assignment, Consumer};
use ops::health::Condition;
use ops::metrics::{Gauge, Metrics};
use ops::shutdown::Shutdown;
use rdkafka::consumer::Consumer as _;
use std::sync::Arc;
use std::time::Duration;

/// Pause between two looks: an outage is told within five seconds, waiting for the answer included.
const PROBE_INTERVAL: Duration = Duration::from_secs(2);
/// Longest wait for an answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// Looks until told to stop.
pub(crate) async fn run(
    consumer: Arc<Consumer>,
    assignment: Arc<Assignment>,
    topic: String,
    kafka: Condition,
    metrics: Metrics,
    shutdown: Shutdown,
) {
    while !shutdown.is_requested() {
        let looked = tokio::task::spawn_blocking({
            let (consumer, assignment, topic) = (
                Arc::clone(&consumer),
                Arc::clone(&assignment),
                topic.clone(),
            );
            move || look(&consumer, &assignment, &topic)
        });
        match looked.await {
            Ok(Ok(lag)) => {
                kafka.ready();
                #[expect(clippy::cast_precision_loss, reason = "a gauge is a float")]
                metrics.update(|update| update.set(Gauge::AggregatorLagMessages, lag as f64));
            }
            Ok(Err(cause)) => kafka.not_ready(cause),
            Err(error) => kafka.not_ready(format!("probe: {error}")),
        }
        tokio::select! {
            () = tokio::time::sleep(PROBE_INTERVAL) => {}
            () = shutdown.requested() => {}
        }
    }
}

/// The messages between the database's positions and the ends of this process's partitions.
fn look(consumer: &Consumer, assignment: &Assignment, topic: &str) -> Result<i64, String> {
    let metadata = consumer
        .fetch_metadata(Some(topic), PROBE_TIMEOUT)
        .map_err(|error| {
            assignment
                .trouble
                .explain(format!("kafka does not answer: {error}"))
        })?;
    assignment.trouble.clear();
    let found = metadata
        .topics()
        .first()
        .is_some_and(|it| !it.partitions().is_empty());
    if !found {
        return Err(format!("topic {topic} is missing"));
    }
    let mut lag = 0;
    for ((topic, partition), next) in assignment.partitions() {
        let (_, end) = consumer
            .fetch_watermarks(&topic, partition, PROBE_TIMEOUT)
            .map_err(|error| format!("kafka does not answer: {error}"))?;
        lag += (end - next).max(0);
    }
    Ok(lag)
}
