//! A look at the broker without taking any message from it: what `wattline check` tells.

use crate::config::SESSION_EXPIRY_SECONDS;
use mqtt::{Broker, Offer};
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{ConnAck, Packet};
use rumqttc::v5::{AsyncClient, Event, EventLoop, MqttOptions};
use std::time::Duration;

/// Where Mosquitto tells, to those who may hear it, how many messages it has dropped because a queue was full.
const DROPPED: &str = "$SYS/broker/publish/messages/dropped";

/// How long a retained message of the broker may take; one that may not be heard does not come.
const RETAINED_WITHIN: Duration = Duration::from_secs(1);

/// What a look at a broker found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookedAt {
    /// What it says of itself.
    pub offer: Offer,
    /// How many messages it has dropped since its start, where it tells.
    pub dropped_messages: Option<u64>,
}

/// Connects with a session of its own, that takes no message of the service and is gone afterwards.
///
/// # Errors
/// Why the broker cannot be used, without the URL, which may hold a password.
pub async fn look_at_broker(
    mqtt_url: &str,
    client_id: &str,
    patience: Duration,
) -> Result<LookedAt, String> {
    let broker = Broker::parse(mqtt_url).map_err(|it| it.to_string())?;
    let name = broker.name();
    let mut options = broker.options(&format!("{client_id}-check"));
    options.set_clean_start(true);
    // Asked for as the bridge asks for it: what the broker makes of it is to be seen.
    options.set_session_expiry_interval(Some(SESSION_EXPIRY_SECONDS));
    let looked = async {
        let (client, mut events) = AsyncClient::new(options.clone(), 2);
        let offer = Offer::from(&connected(&mut events).await?);
        let dropped = tokio::time::timeout(RETAINED_WITHIN, dropped(&client, &mut events));
        let dropped_messages = dropped.await.ok().flatten();
        drop((client, events));
        forget(options).await?;
        Ok(LookedAt {
            offer,
            dropped_messages,
        })
    };
    tokio::time::timeout(patience, looked)
        .await
        .unwrap_or_else(|_| Err(format!("no answer within {} s", patience.as_secs())))
        .map_err(|cause: String| format!("{name}: {cause}"))
}

async fn connected(events: &mut EventLoop) -> Result<ConnAck, String> {
    loop {
        match events.poll().await {
            Ok(Event::Incoming(Packet::ConnAck(answer))) => return Ok(answer),
            Ok(_) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Nothing where the broker does not tell.
async fn dropped(client: &AsyncClient, events: &mut EventLoop) -> Option<u64> {
    client.try_subscribe(DROPPED, QoS::AtMostOnce).ok()?;
    loop {
        match events.poll().await {
            Ok(Event::Incoming(Packet::Publish(publish))) => {
                return std::str::from_utf8(&publish.payload).ok()?.parse().ok();
            }
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

/// The session ends with a connection that asks for none.
async fn forget(mut options: MqttOptions) -> Result<(), String> {
    options.set_session_expiry_interval(Some(0));
    let (client, mut events) = AsyncClient::new(options, 1);
    connected(&mut events).await?;
    drop(client);
    Ok(())
}
