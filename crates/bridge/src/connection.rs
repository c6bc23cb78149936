//! One connection to the broker: how it is asked for, and what is subscribed to on it.
//!
//! Every connection has a client and an event loop of its own. rumqttc's event loop survives a
//! connection together with publishes that it read but did not hand out, requests that were not
//! written and topic aliases; with a fresh one, nothing of an old connection can reach a new one.

use crate::config::{
    Config, KEEP_ALIVE, LARGEST_PACKET_BYTES, REQUEST_CAPACITY, SESSION_EXPIRY_SECONDS,
};
use crate::ledger::Acknowledgement;
use mqtt::{Broker, Finding, Needs, Offer};
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{
    ConnAck, Filter, Publish, RetainForwardRule, SubAck, SubscribeReasonCode,
};
use rumqttc::v5::{AsyncClient, EventLoop, MqttOptions};
use wire::topic::{MqttTopic, RecordKind};

/// The bridge publishes nothing; rumqttc reserves memory for as many publishes as this.
const OUTGOING_IN_FLIGHT: u16 = 16;

/// Makes connections to one broker, each with the same session.
pub(crate) struct Connector {
    /// The broker in words.
    pub(crate) broker: String,
    options: MqttOptions,
    filters: Vec<Filter>,
    given_back: Vec<String>,
}

impl Connector {
    /// Reads what the configuration says about the broker.
    ///
    /// # Errors
    /// A URL or a share group that cannot be used, or no certificate to trust for `mqtts://`.
    pub(crate) fn new(config: &Config) -> Result<Self, String> {
        let broker = Broker::parse(&config.mqtt_url).map_err(|it| it.to_string())?;
        let plain = config.kinds.iter().map(|kind| MqttTopic::filter(*kind));
        Ok(Self {
            broker: broker.name(),
            options: options(config, &broker),
            filters: filters(config.share_group.as_deref(), &config.kinds)?,
            given_back: match config.share_group {
                Some(_) => plain.collect(),
                None => Vec::new(),
            },
        })
    }

    /// Tells the log of limits that the broker has, and what they cost.
    pub(crate) fn judge(&self, answer: &ConnAck) {
        let needs = Needs {
            shared_subscriptions: !self.given_back.is_empty(),
            publishes: false,
        };
        for finding in Offer::from(answer).judge(needs) {
            match finding {
                Finding::Loses(text) => tracing::error!("{}: {text}", self.broker),
                Finding::Weaker(text) => tracing::warn!("{}: {text}", self.broker),
            }
        }
    }

    /// A connection that is made when its event loop is polled.
    pub(crate) fn connect(&self) -> (AsyncClient, EventLoop) {
        AsyncClient::new(self.options.clone(), REQUEST_CAPACITY)
    }

    /// A connection that ends the session, and keeps nothing.
    pub(crate) fn connect_to_end(&self) -> (AsyncClient, EventLoop) {
        let mut options = self.options.clone();
        options
            .set_clean_start(true)
            .set_session_expiry_interval(Some(0));
        AsyncClient::new(options, REQUEST_CAPACITY)
    }

    /// Ends the subscriptions; tells how many answers follow.
    pub(crate) fn unsubscribe(&self, client: &AsyncClient) -> Result<usize, String> {
        let paths = self.filters.iter().map(|it| &it.path);
        let all: Vec<&String> = paths.chain(&self.given_back).collect();
        for path in &all {
            let asked = client.try_unsubscribe(*path);
            asked.map_err(|error| format!("cannot unsubscribe: {error}"))?;
        }
        Ok(all.len())
    }

    /// Asks for the subscriptions; to ask again changes nothing.
    ///
    /// With a share group, those without one are given back: a session that had them before the group
    /// was set would get every message twice.
    pub(crate) fn subscribe(&self, client: &AsyncClient) -> Result<(), String> {
        for plain in &self.given_back {
            let asked = client.try_unsubscribe(plain);
            asked.map_err(|error| format!("cannot unsubscribe: {error}"))?;
        }
        let asked = client.try_subscribe_many(self.filters.clone());
        asked.map_err(|error| format!("cannot subscribe: {error}"))
    }
}

/// Asks the broker for a sign of life; it answers what it was asked before first.
pub(crate) fn ask(client: &AsyncClient) -> Result<(), String> {
    let asked = client.try_unsubscribe(mqtt::QUESTION);
    asked.map_err(|error| format!("cannot ask: {error}"))
}

/// Writes the acknowledgement of a message to the connection that delivered it.
pub(crate) fn acknowledge(
    client: &AsyncClient,
    acknowledgement: Acknowledgement,
) -> Result<(), String> {
    let handed_over = client.try_ack(&Publish {
        qos: acknowledgement.qos,
        pkid: acknowledgement.packet_identifier,
        ..Publish::default()
    });
    handed_over.map_err(|error| format!("cannot acknowledge: {error}"))
}

/// What the broker refused of a subscription, if anything.
pub(crate) fn refused(answer: &SubAck) -> Option<String> {
    let granted = SubscribeReasonCode::Success(QoS::AtLeastOnce);
    let other = answer.return_codes.iter().find(|code| **code != granted)?;
    Some(format!(
        "the broker does not grant the subscription: {other:?}"
    ))
}

fn options(config: &Config, broker: &Broker) -> MqttOptions {
    let mut options = broker.options(&config.client_id);
    options
        .set_clean_start(false)
        .set_session_expiry_interval(Some(SESSION_EXPIRY_SECONDS))
        .set_receive_maximum(Some(config.receive_maximum.max(1)))
        // rumqttc's own default is 10 KiB, and unknown to the broker.
        .set_max_packet_size(Some(LARGEST_PACKET_BYTES))
        .set_manual_acks(true)
        .set_keep_alive(KEEP_ALIVE)
        .set_outgoing_inflight_upper_limit(OUTGOING_IN_FLIGHT);
    options
}

fn filters(share_group: Option<&str>, kinds: &[RecordKind]) -> Result<Vec<Filter>, String> {
    let prefix = match share_group {
        None => String::new(),
        Some(group) if group.is_empty() || group.contains(['/', '+', '#']) => {
            // Not repeated: it is a secret.
            return Err("mqtt share group: empty, or has one of / + #".to_owned());
        }
        Some(group) => format!("$share/{group}/"),
    };
    if kinds.is_empty() {
        return Err("no kind of record to subscribe to".to_owned());
    }
    let filter = |kind: &RecordKind| {
        let path = format!("{prefix}{}", MqttTopic::filter(*kind));
        Filter {
            // What is retained comes with a new session; in an old one its changes were queued.
            retain_forward_rule: RetainForwardRule::OnNewSubscribe,
            ..Filter::new(path, QoS::AtLeastOnce)
        }
    };
    Ok(kinds.iter().map(filter).collect())
}

#[cfg(test)]
mod tests;
