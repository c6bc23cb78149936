//! The bridge and the aggregator tell what is wrong with Kafka.

use super::cause::{all_are_well, all_tell};
use crate::WATTLINE;
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, ResourceSpecifier};
use rdkafka::client::DefaultClientContext;
use testkit::{Edition, KafkaServer, World};

pub(crate) fn admin(kafka: &KafkaServer) -> AdminClient<DefaultClientContext> {
    ClientConfig::new()
        .set("bootstrap.servers", kafka.brokers())
        .create()
        .unwrap()
}

/// Sets what a topic has of its own.
pub(crate) async fn set_topic(kafka: &KafkaServer, topic: &str, settings: &[(&str, &str)]) {
    let start = AlterConfig::new(ResourceSpecifier::Topic(topic));
    let change = settings
        .iter()
        .fold(start, |it, (key, value)| it.set(key, value));
    let altered = admin(kafka)
        .alter_configs([&change], &AdminOptions::new())
        .await
        .unwrap();
    assert!(altered.iter().all(Result::is_ok), "{altered:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bridge_and_aggregator_tell_within_five_seconds_what_is_wrong_with_kafka() {
    let kafka = tokio::task::spawn_blocking(KafkaServer::start)
        .await
        .unwrap();
    let world = World::with_kafka(WATTLINE, Some(&kafka), Edition::Plain).await;
    let building = world.building();
    let bridge = world.start(&["bridge"]);
    let aggregator = world.start(&["aggregator"]);
    let both = [&bridge, &aggregator];
    all_are_well("start", &both).await;
    let name = format!("kafka {}", kafka.brokers());
    let name = name.as_str();

    kafka.control().kill();
    let words: &[&str] = &[name];
    all_tell("killed", &both.map(|it| (it, "kafka", words))).await;
    tokio::task::block_in_place(|| kafka.control().restart().unwrap());
    all_are_well("killed", &both).await;

    kafka.control().freeze();
    let words: &[&str] = &[name, "does not answer"];
    all_tell("frozen", &both.map(|it| (it, "kafka", words))).await;
    kafka.control().thaw();
    all_are_well("frozen", &both).await;

    // Made again by whoever finds it missing; until then it is named.
    let topic = world.topic("readings");
    let gone = admin(&kafka)
        .delete_topics(&[&topic], &AdminOptions::new())
        .await
        .unwrap();
    assert!(gone.iter().all(Result::is_ok), "{gone:?}");
    let words: &[&str] = &[name, &topic, "is missing"];
    // Whoever sees it first makes it.
    let cause = "topic deleted";
    let (one, other) = ([(&bridge, "kafka", words)], [(&aggregator, "kafka", words)]);
    tokio::select! {
        () = all_tell(cause, &one) => {}
        () = all_tell(cause, &other) => {}
    }
    all_are_well("topic deleted", &both).await;

    // Writes that Kafka refuses.
    let topic = world.topic("telemetry");
    set_topic(&kafka, &topic, &[("max.message.bytes", "10")]).await;
    let controller = world.controller();
    let now = crate::records::now();
    controller
        .telemetry(building, crate::records::meter(now, 5))
        .await;
    let words: &[&str] = &[name, "Message size too large"];
    all_tell("writes refused", &[(&bridge, "delivery", words)]).await;
    set_topic(&kafka, &topic, &[]).await;
    controller.confirmed().await;
    all_are_well("writes refused", &both).await;
}
