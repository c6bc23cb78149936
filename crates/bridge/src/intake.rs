//! What becomes of a message that came in over MQTT: a record, or a dead letter that tells why.

use crate::limit::Limit;
use crate::log::Letter;
use domain::rejection::{Reason, Rejection, refuse_future};
use domain::time::Timestamp;
use rumqttc::v5::mqttbytes::v5::{Publish, PublishProperties};
use tokio::time::Instant;
use wire::decode::verdict;
use wire::envelope::{DeadLetter, Message, TRACEPARENT};
use wire::topic::{Topic, parse_topic};

/// Stamps and judges a message; what its building may send is counted at `now`.
pub(crate) fn receive(
    publish: Publish,
    received_at: Timestamp,
    limit: &mut Limit,
    now: Instant,
) -> Letter {
    // MQTT topics are UTF-8; a broker that sends another one gets a dead letter, not a crash.
    let source = String::from_utf8_lossy(&publish.topic).into_owned();
    let topic = parse_topic(&source);
    let refusal = refuse_beyond(&topic, limit, now)
        .and_then(|()| refuse(&topic, &publish.payload, received_at));
    let message = Message {
        source,
        building: topic.building.ok(),
        kind: topic.kind,
        received_at,
        traceparent: publish.properties.and_then(traceparent),
        redelivered: publish.dup,
        payload: publish.payload,
    };
    match refusal {
        Ok(()) => Letter::Record(message),
        Err(rejection) => Letter::Dead(DeadLetter { message, rejection }),
    }
}

/// Before a message's content is looked at, so that a flood costs little. A topic without a building is nobody's.
fn refuse_beyond(topic: &Topic, limit: &mut Limit, now: Instant) -> Result<(), Rejection> {
    match topic.building {
        Ok(building) if !limit.allows(building, now) => Err(Rejection::new(
            Reason::OverLimit,
            "",
            "the building has sent more than one may (WATTLINE_BUILDING_MESSAGE_LIMIT)",
        )),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn refuse(topic: &Topic, payload: &[u8], received_at: Timestamp) -> Result<(), Rejection> {
    topic.building.as_ref().map_err(Clone::clone)?;
    let kind = topic.kind.ok_or_else(|| {
        // A subscription that an earlier version left in the session.
        Rejection::new(
            Reason::UnknownTopic,
            "",
            "the topic names no kind of record",
        )
    })?;
    match verdict(kind, payload)?.time {
        Some(time) => refuse_future(time, received_at),
        None => Ok(()),
    }
}

fn traceparent(properties: PublishProperties) -> Option<String> {
    let mut user = properties.user_properties.into_iter();
    user.find(|(name, _)| name == TRACEPARENT)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests;
