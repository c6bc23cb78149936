//! What a broker says of itself when it is connected to (MQTT 5, CONNACK), and whether that keeps what the service
//! promises.

use rumqttc::v5::mqttbytes::v5::ConnAck;
use std::fmt;

/// The smallest packet limit that leaves room for every payload that is taken (256 KiB) with its topic and
/// properties: what the shipped broker configuration says.
const PACKET_BYTES: u32 = 260 * 1024;

/// Under one day a session does not outlive a night.
const SHORTEST_SESSION_SECONDS: u32 = 24 * 3600;

/// Mosquitto says so unless it is told otherwise; then its queue is the one it has unless it is told otherwise.
const MOSQUITTOS_RECEIVE_MAXIMUM: u16 = 20;

/// What a broker offers; what it leaves out is as MQTT has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Whether several bridges can share the messages.
    pub shared_subscriptions: bool,
    /// Whether a subscription may have a `+`.
    pub wildcards: bool,
    /// Whether the broker keeps the last message of a topic.
    pub retain: bool,
    /// The highest quality of service.
    pub maximum_qos: u8,
    /// How many messages it takes before it has confirmed them; `None`: as many as MQTT can have.
    pub receive_maximum: Option<u16>,
    /// The largest packet that it takes, in bytes, where it says so.
    pub largest_packet_bytes: Option<u32>,
    /// The longest session that it keeps, in seconds, where that is not what was asked for.
    pub session_expiry_seconds: Option<u32>,
    /// Whether it gave another client id than it was asked for.
    pub other_client_id: bool,
}

/// What is asked of a broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The bridge has a share group.
    pub shared_subscriptions: bool,
    /// Desired documents are published: retained, and confirmed.
    pub publishes: bool,
}

/// What is wrong with a broker, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Messages that were acknowledged can be lost, or the service cannot work.
    Loses(String),
    /// It works, with less safety or speed than it could have.
    Weaker(String),
}

impl From<&ConnAck> for Offer {
    fn from(answer: &ConnAck) -> Self {
        let properties = answer.properties.clone();
        let is_offered = |told: Option<u8>| told.is_none_or(|it| it != 0);
        let told = properties.as_ref();
        Self {
            shared_subscriptions: is_offered(told.and_then(|it| it.shared_subscription_available)),
            wildcards: is_offered(told.and_then(|it| it.wildcard_subscription_available)),
            retain: is_offered(told.and_then(|it| it.retain_available)),
            maximum_qos: told.and_then(|it| it.max_qos).unwrap_or(2),
            receive_maximum: told.and_then(|it| it.receive_max),
            largest_packet_bytes: told.and_then(|it| it.max_packet_size),
            session_expiry_seconds: told.and_then(|it| it.session_expiry_interval),
            other_client_id: told.is_some_and(|it| it.assigned_client_identifier.is_some()),
        }
    }
}

impl Offer {
    /// Holds the offer against what is needed.
    #[must_use]
    pub fn judge(&self, needs: Needs) -> Vec<Finding> {
        let mut findings = self.losses(needs);
        if let Some(bytes) = self.largest_packet_bytes
            && bytes < PACKET_BYTES
        {
            findings.push(Finding::Weaker(format!(
                "it takes packets up to {bytes} bytes: larger messages are refused to who sends them and become no \
                 dead letters; {PACKET_BYTES} is what is taken"
            )));
        }
        if needs.publishes
            && let Some(messages) = self.receive_maximum
            && messages <= MOSQUITTOS_RECEIVE_MAXIMUM
        {
            findings.push(Finding::Weaker(format!(
                "it has {messages} messages in flight at most, as a Mosquitto that was not configured: that one keeps \
                 1,000 messages while the service is away and drops the rest, acknowledged (max_queued_messages)"
            )));
        }
        findings
    }

    fn losses(&self, needs: Needs) -> Vec<Finding> {
        let seconds = self.session_expiry_seconds;
        let all = [
            (
                needs.shared_subscriptions && !self.shared_subscriptions,
                "the broker has no shared subscriptions, and mqtt_share_group asks for them".to_owned(),
            ),
            (
                !self.wildcards,
                "the broker has no wildcard subscriptions: no message can be subscribed to".to_owned(),
            ),
            (
                self.maximum_qos < 1,
                "the broker has quality of service 0 only: nothing is acknowledged, everything can be lost".to_owned(),
            ),
            (
                needs.publishes && !self.retain,
                "the broker retains nothing: a controller that connects learns nothing of what is desired".to_owned(),
            ),
            (
                self.other_client_id,
                "the broker gives another client id than it is asked for: no session survives a connection".to_owned(),
            ),
            (
                seconds.is_some_and(|it| it < SHORTEST_SESSION_SECONDS),
                format!(
                    "the broker keeps a session {} s: what comes while the service is away for longer is lost",
                    seconds.unwrap_or_default()
                ),
            ),
        ];
        let found = all.into_iter().filter(|(is_so, _)| *is_so);
        found.map(|(_, text)| Finding::Loses(text)).collect()
    }
}

impl fmt::Display for Offer {
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

#[cfg(test)]
mod tests {
    use super::*;
    use rumqttc::v5::mqttbytes::v5::{ConnAckProperties, ConnectReturnCode};

    const NEEDS: Needs = Needs {
        shared_subscriptions: true,
        publishes: true,
    };

    fn offer(change: impl FnOnce(&mut ConnAckProperties)) -> Offer {
        let mut properties = ConnAckProperties {
            session_expiry_interval: None,
            receive_max: None,
            max_qos: None,
            retain_available: None,
            max_packet_size: None,
            assigned_client_identifier: None,
            topic_alias_max: None,
            reason_string: None,
            user_properties: Vec::new(),
            wildcard_subscription_available: None,
            subscription_identifiers_available: None,
            shared_subscription_available: None,
            server_keep_alive: None,
            response_information: None,
            server_reference: None,
            authentication_method: None,
            authentication_data: None,
        };
        change(&mut properties);
        Offer::from(&ConnAck {
            session_present: false,
            code: ConnectReturnCode::Success,
            properties: Some(properties),
        })
    }

    #[test]
    fn a_broker_that_limits_nothing_has_no_finding() {
        assert_eq!(offer(|_| {}).judge(NEEDS), []);
        let long = offer(|it| it.session_expiry_interval = Some(7 * 24 * 3600));
        assert_eq!(long.judge(NEEDS), []);
    }

    #[test]
    fn each_limit_that_loses_messages_is_found() {
        let check = |change: fn(&mut ConnAckProperties), word: &str| {
            let findings = offer(change).judge(NEEDS);
            let [Finding::Loses(text)] = &findings[..] else {
                panic!("{word}: {findings:?}");
            };
            assert!(text.contains(word), "{text}");
        };
        check(
            |it| it.shared_subscription_available = Some(0),
            "mqtt_share_group",
        );
        check(
            |it| it.wildcard_subscription_available = Some(0),
            "wildcard",
        );
        check(|it| it.max_qos = Some(0), "quality of service 0");
        check(|it| it.retain_available = Some(0), "retains nothing");
        check(|it| it.session_expiry_interval = Some(3_600), "3600 s");
        check(|it| it.session_expiry_interval = Some(0), "0 s");
        let given = |it: &mut ConnAckProperties| {
            it.assigned_client_identifier = Some("auto".to_owned());
        };
        check(given, "another client id");
    }

    #[test]
    fn what_nobody_needs_is_no_finding_and_small_limits_are_weaker_only() {
        let without = Needs {
            shared_subscriptions: false,
            publishes: false,
        };
        let poor = offer(|it| {
            it.shared_subscription_available = Some(0);
            it.retain_available = Some(0);
            it.receive_max = Some(20);
        });
        assert_eq!(poor.judge(without), []);
        let small = offer(|it| {
            it.max_packet_size = Some(65_536);
            it.receive_max = Some(20);
        });
        let findings = small.judge(NEEDS);
        let is_weaker = |it: &Finding| matches!(it, Finding::Weaker(_));
        assert!(
            findings.len() == 2 && findings.iter().all(is_weaker),
            "{findings:?}"
        );
    }
}
