//! What a connection listens to: the desired documents of its buildings.

use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Filter, SubAck, SubscribeReasonCode};
use tracing::warn;
use uuid::Uuid;
use wire::topic::MqttTopic;

/// Filters of one packet: some 30 KB, so that every broker takes it.
const FILTERS_A_PACKET: usize = 500;

/// The longest packet that is taken; a desired document is at most 256 KiB (`domain::control::state`,
/// most entries).
pub(super) const LONGEST_PACKET: u32 = 1_048_576;

/// The filters of the buildings' own topics, one list a packet.
pub(super) fn packets(buildings: &[Uuid]) -> impl ExactSizeIterator<Item = Vec<Filter>> {
    let filter = |building: &Uuid| Filter::new(MqttTopic::desired(*building), QoS::AtLeastOnce);
    buildings
        .chunks(FILTERS_A_PACKET)
        .map(move |chunk| chunk.iter().map(filter).collect())
}

/// Tells of a broker that lets a controller not listen.
pub(super) fn look_at(acknowledgement: &SubAck) {
    let refused = acknowledgement.return_codes.iter();
    let refused = refused.filter(|code| !matches!(code, SubscribeReasonCode::Success(_)));
    let count = refused.count();
    if count > 0 {
        warn!(count, "broker refuses subscriptions to desired documents");
    }
}
