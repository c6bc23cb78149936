//! Documents on their way to the broker: which are confirmed.

use rumqttc::v5::mqttbytes::v5::PubAckReason;
use std::collections::HashMap;
use store::Publishing;
use tokio::time::Instant;

/// A batch of documents, published in its order. The client gives packet identifiers in that order too.
pub(crate) struct InFlight {
    publishing: Publishing,
    /// What the broker said of each, by its place; `None` while it has not.
    answers: Vec<Option<bool>>,
    /// The places of those that were handed to the client, in order.
    handed: Vec<usize>,
    /// How many of these the client has written.
    written: usize,
    places: HashMap<u16, usize>,
    /// Since when they are on their way.
    pub(crate) since: Instant,
}

impl InFlight {
    pub(crate) fn new(publishing: Publishing) -> Self {
        Self {
            answers: vec![None; publishing.publications().len()],
            publishing,
            handed: Vec::new(),
            written: 0,
            places: HashMap::new(),
            since: Instant::now(),
        }
    }

    pub(crate) const fn publishing(&self) -> &Publishing {
        &self.publishing
    }

    /// The client has taken the document at this place.
    pub(crate) fn hand(&mut self, place: usize) {
        self.handed.push(place);
    }

    /// The document at this place cannot be published.
    pub(crate) fn refuse(&mut self, place: usize) {
        self.answers[place] = Some(false);
    }

    /// The client has written the next one, with this packet identifier.
    pub(crate) fn wrote(&mut self, packet_identifier: u16) {
        if let Some(place) = self.handed.get(self.written) {
            self.places.insert(packet_identifier, *place);
            self.written += 1;
        }
    }

    /// The broker has answered.
    pub(crate) fn answered(&mut self, packet_identifier: u16, reason: PubAckReason) {
        let Some(place) = self.places.remove(&packet_identifier) else {
            return;
        };
        let taken = is_taken(reason);
        if !taken {
            let building = self.publishing.publications()[place].building;
            tracing::error!(%building, ?reason, "the broker refuses a desired document");
        }
        self.answers[place] = Some(taken);
    }

    /// Whether the broker has answered to all of them.
    pub(crate) fn is_complete(&self) -> bool {
        self.answers.iter().all(Option::is_some)
    }

    /// The batch, and what the broker answered to each document.
    pub(crate) fn into_parts(self) -> (Publishing, Vec<Option<bool>>) {
        (self.publishing, self.answers)
    }

    /// The broker cannot take the only document of this batch: whoever ended the connection, it comes behind all
    /// others.
    pub(crate) fn blame_the_only_one(&mut self) {
        if let [answer @ None] = self.answers.as_mut_slice() {
            *answer = Some(false);
        }
    }
}

const fn is_taken(reason: PubAckReason) -> bool {
    match reason {
        // Retained, whether or not the controller is there.
        PubAckReason::Success | PubAckReason::NoMatchingSubscribers => true,
        PubAckReason::UnspecifiedError
        | PubAckReason::ImplementationSpecificError
        | PubAckReason::NotAuthorized
        | PubAckReason::TopicNameInvalid
        | PubAckReason::PacketIdentifierInUse
        | PubAckReason::QuotaExceeded
        | PubAckReason::PayloadFormatInvalid => false,
    }
}
