//! One connection to the broker: how it is asked for, and what is subscribed to on it.
//!
//! Every connection has a line of its own, so that nothing of an old connection can reach a new one.

use crate::config::{Config, KEEP_ALIVE, LARGEST_PACKET_BYTES, SESSION_EXPIRY_SECONDS};
use mqtt::{Broker, Finding, Line, Needs, Offer, Session};
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{ConnAck, Filter, RetainForwardRule, SubAck, SubscribeReasonCode};
use wire::topic::{MqttTopic, RecordKind};

/// Makes connections to one broker, each with the same session.
pub(crate) struct Connector {
    /// The broker in words.
    pub(crate) name: String,
    broker: Broker,
    session: Session,
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
            name: broker.name(),
            broker,
            session: session(config),
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
                Finding::Loses(text) => tracing::error!("{}: {text}", self.name),
                Finding::Weaker(text) => tracing::warn!("{}: {text}", self.name),
            }
        }
    }

    /// Connects, to the session.
    pub(crate) async fn connect(&self) -> Result<(Line, ConnAck), String> {
        Line::connect(&self.broker, &self.session).await
    }

    /// Ends the session, with whatever it holds.
    pub(crate) async fn end_session(&self) -> Result<(), String> {
        let none = Session {
            clean_start: true,
            expiry_seconds: 0,
            ..self.session.clone()
        };
        let (mut line, _) = Line::connect(&self.broker, &none).await?;
        line.disconnect();
        while line.has_unwritten() {
            line.turn(false).await?;
        }
        Ok(())
    }

    /// Ends the subscriptions; tells how many answers follow.
    pub(crate) fn unsubscribe(&self, line: &mut Line) -> usize {
        let paths = self.filters.iter().map(|it| &it.path);
        let all = paths.chain(&self.given_back);
        all.map(|path| line.unsubscribe(path)).count()
    }

    /// Asks for the subscriptions; to ask again changes nothing.
    ///
    /// With a share group, those without one are given back: a session that had them before the group
    /// was set would get every message twice.
    pub(crate) fn subscribe(&self, line: &mut Line) {
        for plain in &self.given_back {
            line.unsubscribe(plain);
        }
        line.subscribe(self.filters.clone());
    }
}

/// What the broker refused of a subscription, if anything.
pub(crate) fn refused(answer: &SubAck) -> Option<String> {
    let granted = SubscribeReasonCode::Success(QoS::AtLeastOnce);
    let other = answer.return_codes.iter().find(|code| **code != granted)?;
    Some(format!(
        "the broker does not grant the subscription: {other:?}"
    ))
}

fn session(config: &Config) -> Session {
    Session {
        client_id: config.client_id.clone(),
        clean_start: false,
        expiry_seconds: SESSION_EXPIRY_SECONDS,
        receive_maximum: config.receive_maximum.max(1),
        largest_packet_bytes: LARGEST_PACKET_BYTES,
        keep_alive: KEEP_ALIVE,
    }
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
