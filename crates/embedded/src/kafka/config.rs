//! Kafka's configuration.

use super::KafkaRoute;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where the records are.
pub(super) fn data(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// Writes the properties of a node in `folder`. Each way in is a listener of its own, for that is how Kafka
/// knows which address to tell.
pub(super) fn text(
    folder: &Path,
    port: u16,
    controller_port: u16,
    routes: &[KafkaRoute],
) -> String {
    let mut listeners = format!("PLAINTEXT://127.0.0.1:{port}");
    let mut advertised = listeners.clone();
    let mut protocols = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT".to_owned();
    for (number, route) in routes.iter().enumerate() {
        // Writing to a string cannot fail.
        write!(listeners, ",ROUTE{number}://127.0.0.1:{}", route.port).ok();
        write!(
            advertised,
            ",ROUTE{number}://127.0.0.1:{}",
            route.advertised_port
        )
        .ok();
        write!(protocols, ",ROUTE{number}:PLAINTEXT").ok();
    }
    format!(
        "process.roles=broker,controller\n\
         node.id=1\n\
         controller.quorum.voters=1@127.0.0.1:{controller_port}\n\
         controller.listener.names=CONTROLLER\n\
         listeners={listeners},CONTROLLER://127.0.0.1:{controller_port}\n\
         advertised.listeners={advertised}\n\
         listener.security.protocol.map={protocols}\n\
         inter.broker.listener.name=PLAINTEXT\n\
         log.dirs={}\n\
         {ONE_NODE}",
        data(folder).display(),
    )
}

/// What the defaults for a cluster would refuse or wait for. The cleaner's buffer is 128 MB by default, a
/// quarter of the heap; the internal topics have 50 partitions each, made when the first consumer comes. A node
/// that was killed is not let in again before its old session has ended, after nine seconds by default.
const ONE_NODE: &str = "\
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
log.cleaner.dedupe.buffer.size=8388608
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
";
