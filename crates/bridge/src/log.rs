//! Where messages become durable: Kafka, or the next stage of the same process.

mod deliveries;
pub(crate) mod direct;
pub(crate) mod kafka;

pub(crate) use deliveries::{Deliveries, Outcome};

use crate::config::Handles;
use crate::ledger::Ticket;
use direct::DirectLog;
use kafka::KafkaLog;
use tokio::task::JoinSet;
use wire::envelope::{DeadLetter, Message};

/// A message on its way out of the bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Letter {
    /// A record, valid as far as the bridge can tell.
    Record(Message),
    /// A message that the bridge refused.
    Dead(DeadLetter),
}

/// Where the bridge hands its messages over to.
pub enum Log {
    /// Kafka topics.
    Kafka(KafkaLog),
    /// A channel to the stage that stores them.
    Direct(DirectLog),
}

/// What became of an attempt to hand a message over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// A report will follow.
    Taken,
    /// No room now; nothing was taken.
    Full,
    /// Refused; nothing was taken.
    Refused(String),
    /// Nothing will ever be taken again.
    Ended(String),
}

impl Log {
    /// Starts what the log needs beside the bridge's own loop.
    pub(crate) fn start(&self, tasks: &mut JoinSet<()>, handles: &Handles) {
        match self {
            Self::Kafka(kafka) => kafka.start(tasks, handles),
            Self::Direct(_) => {}
        }
    }

    /// Who takes the messages, in words.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Kafka(kafka) => kafka.name(),
            Self::Direct(_) => "the stage that stores them".to_owned(),
        }
    }

    /// A cause in words that name who takes the messages.
    pub(crate) fn tell(&self, cause: &str) -> String {
        match self {
            Self::Kafka(kafka) => kafka.tell(cause),
            Self::Direct(_) => cause.to_owned(),
        }
    }

    /// Hands a message over, without waiting.
    pub(crate) fn hand_over(&self, ticket: Ticket, letter: &Letter) -> Attempt {
        match self {
            Self::Kafka(kafka) => kafka.hand_over(ticket, letter),
            Self::Direct(direct) => direct.hand_over(ticket, letter),
        }
    }

    /// Waits until another attempt makes sense after [`Attempt::Full`].
    pub(crate) async fn room(&self) {
        match self {
            Self::Kafka(_) => kafka::room().await,
            Self::Direct(direct) => direct.room().await,
        }
    }

    /// The reports about what was handed over.
    pub(crate) fn deliveries(&self) -> &Deliveries {
        match self {
            Self::Kafka(kafka) => kafka.deliveries(),
            Self::Direct(direct) => direct.deliveries(),
        }
    }

    /// Drops what was handed over and has not left the process, since it will come again.
    pub(crate) fn purge(&self) {
        match self {
            Self::Kafka(kafka) => kafka.purge(),
            // Bounded by the channel; the stage behind it sees the repetition.
            Self::Direct(_) => {}
        }
    }

    /// Why nothing can be handed over any more, if that is so.
    pub(crate) fn fatal(&self) -> Option<String> {
        match self {
            Self::Kafka(kafka) => kafka.fatal(),
            Self::Direct(_) => None,
        }
    }
}
