//! A controller as a test plays it: publishes with QoS 1, and knows what the broker has confirmed.

use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, PublishProperties};
use rumqttc::v5::{AsyncClient, Event, MqttOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use uuid::Uuid;
use wire::topic::{MqttTopic, RecordKind};

/// An MQTT 5 client of a test.
pub struct Controller {
    client: AsyncClient,
    confirmed: Arc<AtomicU64>,
    published: AtomicU64,
    _tasks: JoinSet<()>,
}

impl Controller {
    /// Connects to the broker on this port of loopback.
    #[must_use]
    pub fn connect(port: u16) -> Self {
        Self::connect_as(port, None)
    }

    /// The same with a user's name and password.
    #[must_use]
    pub fn connect_as(port: u16, login: Option<(&str, &str)>) -> Self {
        let mut options =
            MqttOptions::new(format!("controller-{}", Uuid::new_v4()), "127.0.0.1", port);
        if let Some((user, password)) = login {
            options.set_credentials(user, password);
        }
        options.set_keep_alive(Duration::from_secs(30));
        options.set_max_packet_size(Some(1024 * 1024));
        let (client, mut events) = AsyncClient::new(options, 1_000);
        let confirmed = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        let count = Arc::clone(&confirmed);
        tasks.spawn(async move {
            loop {
                match events.poll().await {
                    Ok(Event::Incoming(Packet::PubAck(_))) => {
                        count.fetch_add(1, Ordering::SeqCst);
                    }
                    Ok(_) => {}
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
        Self {
            client,
            confirmed,
            published: AtomicU64::new(0),
            _tasks: tasks,
        }
    }

    /// Publishes to any topic; returns when the client library has taken it.
    pub async fn publish(&self, topic: &str, payload: impl Into<Vec<u8>>) {
        let payload: Vec<u8> = payload.into();
        self.client
            .publish(topic, QoS::AtLeastOnce, false, payload)
            .await
            .unwrap();
        self.published.fetch_add(1, Ordering::SeqCst);
    }

    /// Publishes a telemetry record of a building.
    pub async fn telemetry(&self, building: Uuid, payload: impl Into<Vec<u8>>) {
        self.publish(&MqttTopic::format(RecordKind::Telemetry, building), payload)
            .await;
    }

    /// Publishes a report on what is desired.
    pub async fn reported(&self, building: Uuid, payload: impl Into<Vec<u8>>) {
        self.publish(&MqttTopic::format(RecordKind::Reported, building), payload)
            .await;
    }

    /// Publishes a telemetry record with a trace context.
    pub async fn traced(&self, building: Uuid, payload: impl Into<Vec<u8>>, traceparent: &str) {
        let properties = PublishProperties {
            user_properties: vec![("traceparent".to_owned(), traceparent.to_owned())],
            ..PublishProperties::default()
        };
        let topic = MqttTopic::format(RecordKind::Telemetry, building);
        let payload: Vec<u8> = payload.into();
        self.client
            .publish_with_properties(topic, QoS::AtLeastOnce, false, payload, properties)
            .await
            .unwrap();
        self.published.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until the broker has confirmed all that was published.
    pub async fn confirmed(&self) {
        crate::eventually(async || {
            let (published, confirmed) = (
                self.published.load(Ordering::SeqCst),
                self.confirmed.load(Ordering::SeqCst),
            );
            if confirmed >= published {
                Ok(())
            } else {
                Err((published, confirmed))
            }
        })
        .await;
    }
}
