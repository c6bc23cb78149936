//! What is in flight: every message that was received and is not acknowledged yet, in the order of
//! arrival.
//!
//! An acknowledgement belongs to the connection that delivered the message. So a ticket is never
//! given twice, not by a later connection either, and [`Ledger::forget`] at the end of a connection
//! makes every report about its messages meaningless.

use crate::log::Letter;
use domain::time::Timestamp;
use rumqttc::v5::mqttbytes::QoS;
use std::collections::VecDeque;

/// Names one message in flight.
///
/// A machine word, since librdkafka carries it along in place of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Ticket(pub(crate) usize);

/// What the broker waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    pub(crate) packet_identifier: u16,
    pub(crate) qos: QoS,
}

/// One message in flight.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Kept until it is durable, so that it can be handed over again.
    pub(crate) letter: Letter,
    pub(crate) acknowledgement: Acknowledgement,
    stage: Stage,
    /// Whether the last attempt to hand it over failed.
    failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    HandedOver,
    Durable,
}

/// The messages in flight of one connection.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: VecDeque<Entry>,
    /// The ticket of the first entry; the others follow without a gap.
    first: usize,
    /// The tickets that are to be handed over, rising.
    waiting: VecDeque<usize>,
    /// How many entries failed last time.
    failed: usize,
}

impl Ledger {
    /// Enters a message that is to be handed over.
    pub(crate) fn arrive(&mut self, letter: Letter, acknowledgement: Acknowledgement) -> Ticket {
        let ticket = self.first + self.entries.len();
        self.entries.push_back(Entry {
            letter,
            acknowledgement,
            stage: Stage::Waiting,
            failed: false,
        });
        self.waiting.push_back(ticket);
        Ticket(ticket)
    }

    /// The first message that is to be handed over.
    pub(crate) fn next_waiting(&self) -> Option<(Ticket, &Letter)> {
        let ticket = *self.waiting.front()?;
        let entry = self.entries.get(ticket.checked_sub(self.first)?)?;
        Some((Ticket(ticket), &entry.letter))
    }

    /// The message that [`Self::next_waiting`] named is on its way.
    pub(crate) fn handed_over(&mut self, ticket: Ticket) {
        if self.waiting.front() == Some(&ticket.0) {
            self.waiting.pop_front();
            if let Some(entry) = self.entry(ticket) {
                entry.stage = Stage::HandedOver;
            }
        }
    }

    /// The message will survive whatever happens to this process.
    pub(crate) fn durable(&mut self, ticket: Ticket) {
        self.clear_failure(ticket);
        self.no_longer_waiting(ticket);
        if let Some(entry) = self.entry(ticket) {
            entry.stage = Stage::Durable;
        }
    }

    /// The message came back and is to be handed over again, before all that came after it.
    pub(crate) fn returned(&mut self, ticket: Ticket) {
        match self.entry(ticket) {
            Some(entry) if entry.stage == Stage::HandedOver => entry.stage = Stage::Waiting,
            Some(_) | None => return,
        }
        let place = self.waiting.partition_point(|other| *other < ticket.0);
        self.waiting.insert(place, ticket.0);
    }

    /// The attempt to hand the message over failed; tells whether the message is still in flight.
    pub(crate) fn failed(&mut self, ticket: Ticket) -> bool {
        self.returned(ticket);
        let newly = match self.entry(ticket) {
            Some(entry) if entry.stage != Stage::Durable => {
                !std::mem::replace(&mut entry.failed, true)
            }
            Some(_) | None => return false,
        };
        self.failed += usize::from(newly);
        true
    }

    /// Takes out the longest run of durable messages from the front: those that may be
    /// acknowledged now without changing the order of arrival.
    pub(crate) fn take_acknowledgeable(&mut self) -> impl Iterator<Item = Entry> {
        let durable = |entry: &&Entry| entry.stage == Stage::Durable;
        let run = self.entries.iter().take_while(durable).count();
        self.first += run;
        self.entries.drain(..run)
    }

    /// Forgets everything, since the connection that could acknowledge it is gone; tells how much
    /// that was. The broker delivers it again.
    pub(crate) fn forget(&mut self) -> usize {
        let forgotten = self.entries.len();
        self.first += forgotten;
        self.entries.clear();
        self.waiting.clear();
        self.failed = 0;
        forgotten
    }

    /// How many messages are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// When the oldest message in flight was received.
    pub(crate) fn oldest_received_at(&self) -> Option<Timestamp> {
        let oldest = self.entries.front()?;
        Some(match &oldest.letter {
            Letter::Record(message) => message.received_at,
            Letter::Dead(dead) => dead.message.received_at,
        })
    }

    /// The oldest message in flight, if the log has it and has not reported it yet.
    pub(crate) fn oldest_handed_over(&self) -> Option<Ticket> {
        let oldest = self.entries.front()?;
        (oldest.stage == Stage::HandedOver).then_some(Ticket(self.first))
    }

    /// Whether something is to be handed over.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether a message is in flight whose last attempt failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed > 0
    }

    fn entry(&mut self, ticket: Ticket) -> Option<&mut Entry> {
        let place = ticket.0.checked_sub(self.first)?;
        self.entries.get_mut(place)
    }

    fn clear_failure(&mut self, ticket: Ticket) {
        let cleared = self
            .entry(ticket)
            .is_some_and(|entry| std::mem::take(&mut entry.failed));
        self.failed -= usize::from(cleared);
    }

    /// Only a message that came back can be waiting and become durable by an earlier attempt.
    fn no_longer_waiting(&mut self, ticket: Ticket) {
        if let Ok(place) = self.waiting.binary_search(&ticket.0) {
            self.waiting.remove(place);
        }
    }
}

#[cfg(test)]
mod tests;
