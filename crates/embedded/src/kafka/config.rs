//! Kafka's configuration.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{KafkaLogin, KafkaRoute};

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

/// Adds a listener with TLS and login. Clients check its name, so it is told as the certificate's.
pub(super) fn with_login(text: &str, port: u16, keystore: &Path, login: &KafkaLogin) -> String {
    let KafkaLogin { user, password, .. } = login;
    let module = "org.apache.kafka.common.security";
    let more = [
        (
            "advertised.listeners=",
            format!("SASL_SSL://localhost:{port}"),
        ),
        ("listeners=", format!("SASL_SSL://127.0.0.1:{port}")),
        (
            "listener.security.protocol.map=",
            "SASL_SSL:SASL_SSL".to_owned(),
        ),
    ];
    let with_more = |line: &str| {
        let found = more.iter().find(|(start, _)| line.starts_with(start));
        found.map_or_else(
            || format!("{line}\n"),
            |(_, item)| format!("{line},{item}\n"),
        )
    };
    let text: String = text.lines().map(with_more).collect();
    format!(
        "{text}\
         ssl.keystore.type=PEM\n\
         ssl.keystore.location={}\n\
         sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512\n\
         listener.name.sasl_ssl.plain.sasl.jaas.config=\
         {module}.plain.PlainLoginModule required user_{user}=\"{password}\";\n\
         listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=\
         {module}.scram.ScramLoginModule required;\n",
        keystore.display(),
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
