//! librdkafka's waits are ours.

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use std::time::{Duration, Instant};

const WAIT: Duration = Duration::from_millis(10);

/// Also that they end in time.
#[test]
fn librdkafka_waits_this_way() {
    steady::install();
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", "127.0.0.1:1")
        .set("group.id", "steady")
        .create()
        .unwrap();
    consumer.subscribe(&["steady"]).unwrap();
    let before = steady::waits();
    let mut waited_out = 0;
    while waited_out < 5 {
        let begun = Instant::now();
        // What is told at once is that nobody answers.
        if consumer.poll(WAIT).is_none() {
            let took = begun.elapsed();
            assert!(
                took >= WAIT / 2 && took < Duration::from_secs(2),
                "{took:?}"
            );
            waited_out += 1;
        }
    }
    if cfg!(all(
        target_os = "linux",
        target_env = "gnu",
        target_pointer_width = "64"
    )) {
        assert!(steady::waits() >= before + 5);
    }
}
