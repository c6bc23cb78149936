//! Documents on their way to the broker: which are confirmed.

use rumqttc::v5::mqttbytes::v5::PubAckReason;
use std::collections::HashMap;
use store::Publishing;
use tokio::time::Instant;
use uuid::Uuid;

/// A batch of documents, published in its order. The client gives packet identifiers in that order too.
pub(crate) struct InFlight {
    publishing: Publishing,
    /// What the broker said of each, by its place; `None` while it has not.
    answers: Vec<Option<bool>>,
    /// Why it, or we, refused, by the place.
    refusals: Vec<(usize, String)>,
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
            refusals: Vec::new(),
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

    /// The document at this place cannot be published, and why.
    pub(crate) fn refuse(&mut self, place: usize, why: String) {
        self.answers[place] = Some(false);
        self.refusals.push((place, why));
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
        if is_taken(reason) {
            self.answers[place] = Some(true);
        } else {
            self.refuse(place, format!("{reason:?}"));
        }
    }

    /// Whether the broker has answered to all of them.
    pub(crate) fn is_complete(&self) -> bool {
        self.answers.iter().all(Option::is_some)
    }

    /// What was refused and why, by building.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = (Uuid, &str)> {
        let publications = self.publishing.publications();
        let refusals = self.refusals.iter();
        refusals.map(move |(place, why)| (publications[*place].building, why.as_str()))
    }

    /// The batch, and what the broker answered to each document.
    pub(crate) fn into_parts(self) -> (Publishing, Vec<Option<bool>>) {
        (self.publishing, self.answers)
    }

    /// The broker cannot take the only document of this batch: whoever ended the connection, it comes behind all
    /// others.
    pub(crate) fn blame_the_only_one(&mut self) {
        if let [None] = self.answers.as_slice() {
            self.refuse(
                0,
                "the connection ended while it was on its way alone".to_owned(),
            );
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
