//! A look at the broker without taking any message from it: what `wattline check` tells.

use mqtt::Broker;
use rumqttc::v5::mqttbytes::v5::{ConnAck, Packet};
use rumqttc::v5::{AsyncClient, Event};
use std::fmt;
use std::time::Duration;

/// What a broker says of itself when it is connected to (MQTT 5, CONNACK).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokerOffer {
    /// Whether several bridges can share the messages.
    pub shared_subscriptions: bool,
    /// The largest packet that it takes, in bytes, where it says so.
    pub largest_packet_bytes: Option<u32>,
    /// The longest session that it keeps, in seconds, where it shortens what was asked for.
    pub session_expiry_seconds: Option<u32>,
}

impl From<&ConnAck> for BrokerOffer {
    fn from(answer: &ConnAck) -> Self {
        let properties = answer.properties.as_ref();
        Self {
            // Left out means available.
            shared_subscriptions: properties
                .and_then(|it| it.shared_subscription_available)
                .is_none_or(|available| available != 0),
            largest_packet_bytes: properties.and_then(|it| it.max_packet_size),
            session_expiry_seconds: properties.and_then(|it| it.session_expiry_interval),
        }
    }
}

impl fmt::Display for BrokerOffer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shared = if self.shared_subscriptions {
            "with"
        } else {
            "without"
        };
        write!(formatter, "{shared} shared subscriptions")?;
        if let Some(bytes) = self.largest_packet_bytes {
            write!(formatter, ", packets up to {bytes} bytes")?;
        }
        if let Some(seconds) = self.session_expiry_seconds {
            write!(formatter, ", sessions kept {seconds} s at most")?;
        }
        Ok(())
    }
}

/// Connects as a client of its own, with no session and no subscription, and leaves again.
///
/// # Errors
/// Why the broker cannot be used, without the URL, which may hold a password.
pub async fn look_at_broker(mqtt_url: &str, patience: Duration) -> Result<BrokerOffer, String> {
    let broker = Broker::parse(mqtt_url).map_err(|it| it.to_string())?;
    // Without a client id of ours the broker gives one: the look disturbs nobody.
    let mut options = broker.options("");
    options.set_clean_start(true);
    let (client, mut events) = AsyncClient::new(options, 1);
    let connected = async {
        loop {
            match events.poll().await {
                Ok(Event::Incoming(Packet::ConnAck(answer))) => {
                    return Ok(BrokerOffer::from(&answer));
                }
                Ok(_) => {}
                Err(error) => return Err(format!("the broker cannot be used: {error}")),
            }
        }
    };
    let offer = tokio::time::timeout(patience, connected)
        .await
        .map_err(|_| format!("the broker did not answer within {} s", patience.as_secs()))??;
    // Asked for nothing, so there is nothing to lose should the farewell not get through.
    drop(client);
    Ok(offer)
}
