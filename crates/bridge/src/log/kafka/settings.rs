//! How the producer is set up.

use super::KafkaConfig;
use rdkafka::ClientConfig;

/// How long a batch waits for company, in milliseconds. Measured at 5,200 records/s: 25 in place of 5
/// cost a quarter less processor time on the whole machine, and nothing that could be seen in how
/// soon a record is readable.
const LINGER_MS: &str = "25";

/// The longest record and the longest batch, in bytes: a dead letter holds a packet of 256 KiB and
/// what was wrong with it. Below [`wire::envelope::DEAD_LETTER_BYTES`], by which brokers measure.
const LONGEST_BATCH_BYTES: &str = "491520";

/// Messages in the producer's queue for each one in flight, at most: those of connections that are
/// gone, and could not be purged since they were being sent.
const QUEUE_FACTOR: u32 = 4;

/// Memory of the producer's queue, in KiB, whatever the receive maximum is.
const QUEUE_KIB: &str = "131072";

/// How soon a broker that was away is tried again, at the latest, in milliseconds.
const RECONNECT_MS: &str = "1000";

/// How often the client tells what it had to repeat, in milliseconds.
const STATISTICS_MS: &str = "2000";

/// Everything durable before it is reported, no message given up, none written twice by a retry.
pub(super) fn producer(config: &KafkaConfig) -> ClientConfig {
    let queue = u32::from(config.receive_maximum) * QUEUE_FACTOR;
    config.cluster.client(&[
        ("client.id", "wattline-bridge"),
        ("acks", "all"),
        ("enable.idempotence", "true"),
        ("message.timeout.ms", "0"),
        ("linger.ms", LINGER_MS),
        ("compression.type", "lz4"),
        ("message.max.bytes", LONGEST_BATCH_BYTES),
        ("batch.size", LONGEST_BATCH_BYTES),
        ("queue.buffering.max.messages", &queue.to_string()),
        ("queue.buffering.max.kbytes", QUEUE_KIB),
        ("reconnect.backoff.max.ms", RECONNECT_MS),
        ("statistics.interval.ms", STATISTICS_MS),
    ])
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::KafkaLog;
    use kafka::Cluster;
    use wire::topic::KafkaTopics;

    pub(in crate::log::kafka) fn config(options: &[(&str, &str)]) -> KafkaConfig {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        KafkaConfig {
            cluster: Cluster {
                brokers: "127.0.0.1:1".to_owned(),
                options: options.iter().map(owned).collect(),
            },
            topics: KafkaTopics::new("test"),
            partitions: 1,
            receive_maximum: 1_024,
        }
    }

    #[test]
    fn an_operators_option_wins() {
        let settings = producer(&config(&[("linger.ms", "50")]));
        assert_eq!(settings.get("linger.ms"), Some("50"));
        assert_eq!(settings.get("acks"), Some("all"));
    }

    #[test]
    fn librdkafka_takes_the_settings_also_for_the_smallest_receive_maximum() {
        let smallest = KafkaConfig {
            receive_maximum: 1,
            ..config(&[])
        };
        assert!(KafkaLog::new(smallest).is_ok());
    }

    #[test]
    fn an_unknown_option_is_refused_by_name() {
        let refused = KafkaLog::new(config(&[("no.such.option", "1")]));
        let message = refused.err().map(|error| error.to_string());
        assert!(message.is_some_and(|text| text.contains("no.such.option")));
    }

    #[test]
    fn what_is_wrong_with_a_password_is_told_without_it() {
        for option in ["sasl.passwrod", "linger.ms"] {
            let refused = KafkaLog::new(config(&[(option, "sesame")]));
            let message = refused.err().map(|error| error.to_string()).unwrap();
            let names = message.contains(option) && !message.contains("sesame");
            assert!(names, "{message}");
        }
    }
}
