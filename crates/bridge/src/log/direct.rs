//! The log left out: messages go to the next stage of the same process.

use super::{Attempt, Deliveries, Letter, Outcome};
use crate::ledger::Ticket;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;

/// A bounded channel to the stage that makes messages durable.
pub struct DirectLog {
    sender: Sender<Handover>,
    deliveries: Arc<Deliveries>,
}

/// A message, and the means to tell the bridge that it is durable.
#[derive(Debug)]
pub struct Handover {
    /// The message.
    pub letter: Letter,
    /// To be given back once the message is durable.
    pub receipt: Receipt,
}

/// Owed to the bridge for one message; it acknowledges nothing before [`Receipt::durable`].
///
/// One that is dropped tells the bridge that the message was not stored: it is handed over again.
#[derive(Debug)]
#[must_use = "a receipt that is dropped says that the message was not stored"]
pub struct Receipt {
    ticket: Ticket,
    deliveries: Arc<Deliveries>,
    outcome: Option<Outcome>,
}

impl DirectLog {
    /// A log that hands over to the receiver of `sender`.
    #[must_use]
    pub fn new(sender: Sender<Handover>) -> Self {
        Self {
            sender,
            deliveries: Arc::new(Deliveries::default()),
        }
    }

    pub(super) fn hand_over(&self, ticket: Ticket, letter: &Letter) -> Attempt {
        match self.sender.try_reserve() {
            Ok(permit) => {
                permit.send(Handover {
                    letter: letter.clone(),
                    receipt: Receipt::new(ticket, Arc::clone(&self.deliveries)),
                });
                Attempt::Taken
            }
            Err(TrySendError::Full(())) => Attempt::Full,
            Err(TrySendError::Closed(())) => {
                Attempt::Ended("the stage that stores the bridge's messages has ended".to_owned())
            }
        }
    }

    pub(super) async fn room(&self) {
        // Room that is given back at once, or the channel's end: the next attempt tells which.
        drop(self.sender.reserve().await);
    }

    pub(super) fn deliveries(&self) -> &Deliveries {
        &self.deliveries
    }
}

impl Receipt {
    fn new(ticket: Ticket, deliveries: Arc<Deliveries>) -> Self {
        let undone = Outcome::Failed("the next stage did not store the message".to_owned());
        Self {
            ticket,
            deliveries,
            outcome: Some(undone),
        }
    }

    /// Tells the bridge that the message is durable and may be acknowledged.
    pub fn durable(mut self) {
        self.outcome = Some(Outcome::Durable);
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        if let Some(outcome) = self.outcome.take() {
            self.deliveries.report(self.ticket, outcome);
        }
    }
}

#[cfg(test)]
mod tests;
