//! Whether controllers are connected: retained, with a last will.
//!
//! A connection has one last will, so it is that of its first building; the others are told of at the
//! orderly end only. With as many connections as buildings each has its own.

use crate::plan::{Kind, Publication};
use bytes::Bytes;
use domain::time::Timestamp;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::LastWill;
use uuid::Uuid;
use wire::topic::{MqttTopic, RecordKind};

/// What a building's controller says of itself.
pub(super) fn said(building: Uuid, online: bool, time: Timestamp) -> Publication {
    Publication {
        topic: MqttTopic::format(RecordKind::Presence, building).into(),
        record: RecordKind::Presence,
        payload: payload(online),
        kind: Kind::Good,
        building,
        time,
    }
}

/// What the broker says in its place when the connection is lost.
pub(super) fn last_will(building: Uuid) -> LastWill {
    let topic = MqttTopic::format(RecordKind::Presence, building);
    LastWill::new(topic, payload(false), QoS::AtLeastOnce, true, None)
}

const fn payload(online: bool) -> Bytes {
    Bytes::from_static(match online {
        true => br#"{"online":true}"#,
        false => br#"{"online":false}"#,
    })
}
