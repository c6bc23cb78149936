//! `plain_bridge`: a bridge made of client libraries alone, as the baseline that the bench measures ours beside.
//!
//! It receives with `rumqttc`, validates with `jsonschema` (which wants the value of `serde_json`), produces with
//! `rdkafka`, and acknowledges what Kafka has confirmed. What the schema refuses is acknowledged and gone: it has no
//! dead letters, no limits and no metrics. benches/README.md tells the environment that it finds.

use benches::Outcome;
use benches::figures;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use jsonschema::Validator;
use rdkafka::ClientConfig;
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::util::Timeout;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, Publish};
use rumqttc::v5::{AsyncClient, Event, EventLoop, MqttOptions};
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;

/// Messages in flight, as ours has them by default.
const RECEIVE_MAXIMUM: u16 = 1_024;
/// Acknowledgements that wait to be sent: of as many messages as have an identifier, since Mosquitto sends more than the
/// receive maximum now and then.
const REQUESTS: usize = 65_536;
/// The largest packet that is taken, in bytes.
const LARGEST_PACKET: u32 = 262_144;
/// Pause before a lost connection is made again.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);

#[tokio::main]
async fn main() -> ExitCode {
    figures::end("plain_bridge", run().await.map(|()| true))
}

async fn run() -> Outcome<()> {
    let filter = told("BENCH_MQTT_FILTER")?;
    let topic = told("BENCH_KAFKA_TOPIC")?;
    let schema: Value = serde_json::from_slice(&std::fs::read(told("BENCH_SCHEMA_FILE")?)?)?;
    let validator = jsonschema::validator_for(&schema)?;
    let producer = producer(&told("BENCH_KAFKA_BROKERS")?)?;
    let (client, mut events) =
        connect(&told("BENCH_MQTT_HOST")?, told("BENCH_MQTT_PORT")?.parse()?);
    let mut in_flight = FuturesOrdered::new();
    loop {
        tokio::select! {
            event = events.poll() => match event {
                Ok(Event::Incoming(Packet::ConnAck(_))) => {
                    // What the connection before delivered comes again on this one.
                    in_flight = FuturesOrdered::new();
                    client.try_subscribe(&filter, QoS::AtLeastOnce)?;
                }
                Ok(Event::Incoming(Packet::Publish(publish))) => {
                    in_flight.push_back(forward(&producer, &topic, &validator, publish));
                }
                Ok(_) => {}
                Err(_) => tokio::time::sleep(RECONNECT_PAUSE).await,
            },
            Some(durable) = in_flight.next() => client.try_ack(&durable?)?,
        }
    }
}

/// Brings a message to Kafka; tells the message when it may be acknowledged.
async fn forward(
    producer: &FutureProducer,
    topic: &str,
    validator: &Validator,
    publish: Publish,
) -> Outcome<Publish> {
    let value = serde_json::from_slice::<Value>(&publish.payload);
    if value.is_ok_and(|it| validator.is_valid(&it)) {
        let source = std::str::from_utf8(&publish.topic)?;
        let building = source.split('/').nth(2).unwrap_or_default();
        let record = FutureRecord::to(topic)
            .key(building)
            .payload(publish.payload.as_ref());
        let sent = producer.send(record, Timeout::Never).await;
        sent.map_err(|(error, _)| error)?;
    }
    Ok(publish)
}

/// With the settings of ours.
fn producer(brokers: &str) -> Outcome<FutureProducer> {
    Ok(ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("acks", "all")
        .set("enable.idempotence", "true")
        .set("message.timeout.ms", "0")
        .set("linger.ms", "25")
        .set("compression.type", "lz4")
        .set("batch.size", "491520")
        .create()?)
}

fn connect(host: &str, port: u16) -> (AsyncClient, EventLoop) {
    let mut options = MqttOptions::new("plain-bridge", host, port);
    options
        .set_clean_start(false)
        .set_session_expiry_interval(Some(u32::MAX))
        .set_receive_maximum(Some(RECEIVE_MAXIMUM))
        .set_max_packet_size(Some(LARGEST_PACKET))
        .set_manual_acks(true);
    AsyncClient::new(options, REQUESTS)
}

#[expect(
    clippy::disallowed_methods,
    reason = "what the bench tells a contender; no setting of the service"
)]
fn told(name: &str) -> Outcome<String> {
    std::env::var(name).map_err(|error| format!("{name}: {error}").into())
}
