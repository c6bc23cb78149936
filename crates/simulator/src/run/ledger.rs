//! What is published and not yet acknowledged on one connection.

use crate::plan::Publication;
use std::collections::VecDeque;

/// Publications from their making to their acknowledgement, in order. Each is first handed to the
/// client, then sent with a packet identifier, then acknowledged; a fresh client forgets the first two.
#[derive(Debug)]
pub(crate) struct Ledger {
    entries: VecDeque<Entry>,
    /// Number of the first entry, counted from the beginning of time; the following are such numbers too.
    first: u64,
    next_to_hand: u64,
    next_to_send: u64,
    by_packet: Vec<Option<u64>>,
    window: usize,
}

#[derive(Debug)]
struct Entry {
    publication: Publication,
    acknowledged: bool,
}

impl Ledger {
    pub(crate) fn new(window: u16) -> Self {
        let window = usize::from(window);
        Self {
            entries: VecDeque::with_capacity(window),
            first: 0,
            next_to_hand: 0,
            next_to_send: 0,
            by_packet: vec![None; window + 1],
            window,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.entries.len() >= self.window
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Publications that are not acknowledged.
    pub(crate) fn unacknowledged(&self) -> u64 {
        self.entries
            .iter()
            .filter(|entry| !entry.acknowledged)
            .count() as u64
    }

    pub(crate) fn push(&mut self, publication: Publication) {
        self.entries.push_back(Entry {
            publication,
            acknowledged: false,
        });
    }

    /// The first publication that this client has not got.
    pub(crate) fn to_hand(&self) -> Option<&Publication> {
        let index = usize::try_from(self.next_to_hand - self.first).ok()?;
        self.entries.get(index).map(|entry| &entry.publication)
    }

    /// The client has got the publication of [`Self::to_hand`].
    pub(crate) fn handed(&mut self) {
        self.next_to_hand += 1;
    }

    /// The client has sent the next publication, in the order of handing, with this packet identifier.
    pub(crate) fn sent(&mut self, packet: u16) {
        if self.next_to_send < self.next_to_hand
            && let Some(number) = self.by_packet.get_mut(usize::from(packet))
        {
            *number = Some(self.next_to_send);
            self.next_to_send += 1;
        }
    }

    /// The broker has confirmed the packet; false when there was nothing to confirm.
    pub(crate) fn acknowledge(&mut self, packet: u16) -> bool {
        let number = self
            .by_packet
            .get_mut(usize::from(packet))
            .and_then(Option::take);
        let index = number.and_then(|number| usize::try_from(number.checked_sub(self.first)?).ok());
        let Some(entry) = index.and_then(|index| self.entries.get_mut(index)) else {
            return false;
        };
        entry.acknowledged = true;
        while self.entries.front().is_some_and(|entry| entry.acknowledged) {
            self.entries.pop_front();
            self.first += 1;
        }
        true
    }

    /// Prepares for a fresh client: everything unacknowledged is handed over again, in the same
    /// order. Tells how many of these had been sent before.
    pub(crate) fn start_over(&mut self) -> u64 {
        let sent = usize::try_from(self.next_to_send - self.first).unwrap_or(usize::MAX);
        let sent = self.entries.iter().take(sent);
        let repeated = sent.filter(|entry| !entry.acknowledged).count() as u64;
        self.entries.retain(|entry| !entry.acknowledged);
        self.by_packet.fill(None);
        self.next_to_hand = self.first;
        self.next_to_send = self.first;
        repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::scenario::Scenario;
    use domain::time::Timestamp;
    use std::time::Duration;

    fn filled(count: usize) -> (Ledger, Vec<Publication>) {
        let mut ledger = Ledger::new(10);
        let scenario = Scenario::new(1, 1, Duration::from_secs(1));
        let plan = Plan::new(&scenario, Timestamp::from_seconds(0)).unwrap();
        let publications: Vec<_> = plan.take(count).collect();
        for publication in &publications {
            ledger.push(publication.clone());
        }
        (ledger, publications)
    }

    fn hand_all(ledger: &mut Ledger) -> Vec<Publication> {
        let mut handed = Vec::new();
        while let Some(publication) = ledger.to_hand() {
            handed.push(publication.clone());
            ledger.handed();
        }
        handed
    }

    #[test]
    fn a_fresh_client_gets_what_is_unacknowledged_in_the_same_order() {
        let (mut ledger, publications) = filled(5);
        assert_eq!(hand_all(&mut ledger), publications);
        for packet in 1..=4 {
            ledger.sent(packet);
        }
        assert!(ledger.acknowledge(1));
        assert!(ledger.acknowledge(3));
        assert!(!ledger.acknowledge(3), "acknowledged twice");
        assert!(!ledger.acknowledge(5), "acknowledged before it was sent");
        assert_eq!(ledger.unacknowledged(), 3);
        assert_eq!(ledger.start_over(), 2);
        let [_, second, _, fourth, fifth] = publications.try_into().unwrap();
        assert_eq!(hand_all(&mut ledger), [second, fourth, fifth]);
        for packet in 1..=3 {
            ledger.sent(packet);
            assert!(ledger.acknowledge(packet));
        }
        assert!(ledger.is_empty());
    }

    #[test]
    fn an_acknowledgement_of_the_previous_client_confirms_nothing() {
        let (mut ledger, _) = filled(1);
        hand_all(&mut ledger);
        ledger.sent(1);
        ledger.start_over();
        hand_all(&mut ledger);
        assert!(!ledger.acknowledge(1));
        assert!(!ledger.is_empty());
    }
}
