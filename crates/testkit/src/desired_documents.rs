//! What a controller hears: the desired documents that come over the broker.

use crate::eventually::eventually;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, Publish};
use rumqttc::v5::{AsyncClient, Event, MqttOptions};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use uuid::Uuid;

/// A desired document that came.
#[derive(Clone, Debug)]
pub struct ReceivedDocument {
    /// Whose.
    pub building: Uuid,
    /// What it says; null when the payload was empty.
    pub body: Value,
    /// Whether it was there before the subscription.
    pub retained: bool,
    /// When it came.
    pub at: Instant,
}

impl ReceivedDocument {
    /// Its revision; 0 for an empty payload.
    #[must_use]
    pub fn revision(&self) -> i64 {
        self.body["revision"].as_i64().unwrap_or_default()
    }
}

/// A subscriber to the desired documents of all buildings.
pub struct DesiredDocuments {
    received: Arc<Mutex<Vec<ReceivedDocument>>>,
    _tasks: JoinSet<()>,
}

impl DesiredDocuments {
    /// Subscribes at the broker on this port of loopback, again and again when it was away; returns once
    /// the broker has confirmed the subscription.
    pub async fn subscribe(port: u16) -> Self {
        Self::subscribe_as(port, None).await
    }

    /// The same with a user's name and password.
    pub async fn subscribe_as(port: u16, login: Option<(&str, &str)>) -> Self {
        let mut options =
            MqttOptions::new(format!("listener-{}", Uuid::new_v4()), "127.0.0.1", port);
        if let Some((user, password)) = login {
            options.set_credentials(user, password);
        }
        options.set_keep_alive(Duration::from_secs(30));
        options.set_max_packet_size(Some(1024 * 1024));
        let (client, mut events) = AsyncClient::new(options, 1_000);
        let received: Arc<Mutex<Vec<ReceivedDocument>>> = Arc::default();
        let confirmed = Arc::new(tokio::sync::Notify::new());
        let (kept, told) = (Arc::clone(&received), Arc::clone(&confirmed));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                match events.poll().await {
                    Ok(Event::Incoming(Packet::ConnAck(_))) => {
                        let filter = "v1/buildings/+/desired";
                        client.subscribe(filter, QoS::AtLeastOnce).await.unwrap();
                    }
                    Ok(Event::Incoming(Packet::SubAck(_))) => told.notify_one(),
                    Ok(Event::Incoming(Packet::Publish(publish))) => {
                        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                        kept.push(document(&publish));
                    }
                    Ok(_) => {}
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
        confirmed.notified().await;
        Self {
            received,
            _tasks: tasks,
        }
    }

    fn received(&self) -> MutexGuard<'_, Vec<ReceivedDocument>> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that came since this was asked last, in order; they are forgotten.
    #[must_use]
    pub fn take(&self) -> Vec<ReceivedDocument> {
        std::mem::take(&mut *self.received())
    }

    /// All that came for a building, in order.
    #[must_use]
    pub fn of(&self, building: Uuid) -> Vec<ReceivedDocument> {
        let received = self.received();
        received
            .iter()
            .filter(|it| it.building == building)
            .cloned()
            .collect()
    }

    /// The one that came last for a building, once it is as asked.
    pub async fn until(
        &self,
        building: Uuid,
        is_right: impl Fn(&Value) -> bool,
    ) -> ReceivedDocument {
        eventually(async || {
            let last = self.of(building).pop();
            match last {
                Some(document) if is_right(&document.body) => Ok(document),
                other => Err(other),
            }
        })
        .await
    }

    /// The one with this revision, or a later one.
    pub async fn revision(&self, building: Uuid, revision: i64) -> ReceivedDocument {
        self.until(building, |body| body["revision"].as_i64() >= Some(revision))
            .await
    }
}

fn document(publish: &Publish) -> ReceivedDocument {
    let topic = std::str::from_utf8(&publish.topic).unwrap();
    let building = topic.split('/').nth(2).unwrap();
    ReceivedDocument {
        building: building.parse().unwrap(),
        body: if publish.payload.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&publish.payload).unwrap()
        },
        retained: publish.retain,
        at: Instant::now(),
    }
}
