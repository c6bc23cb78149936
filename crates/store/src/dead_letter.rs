//! Dead letters: what was refused, with its own bytes, in one place.

mod keep;
mod listing;
mod replay;

pub(crate) use keep::{keep_all, refuse_again};
pub use listing::{Filter, KeptDeadLetter, Replayed, Standing, Tally};
pub use replay::{AskedLetters, LETTERS_AT_ONCE, ReplayedPage};

use domain::rejection::Rejection;
use domain::time::Timestamp;
use uuid::Uuid;

/// A message as it came in over MQTT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The building that its topic names, if it names one.
    pub building: Option<Uuid>,
    /// The MQTT topic.
    pub source: String,
    /// When the bridge received it.
    pub received_at: Timestamp,
    /// Trace context, where the controller sent one.
    pub traceparent: Option<String>,
    /// Whether the broker said that it may have delivered it before.
    pub redelivered: bool,
    /// Its own bytes.
    pub payload: Vec<u8>,
    /// The number of the dead letter that it is already, where it is replayed.
    pub kept_as: Option<i64>,
}

/// A message that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The message.
    pub letter: Letter,
    /// Why it was refused.
    pub rejection: Rejection,
}

/// What becomes of a dead letter's record when it is replayed and not refused again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Something of it is new in the database.
    Stored,
    /// All of it was there already.
    Duplicate,
}

impl Outcome {
    /// The word that the database and commands use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Duplicate => "duplicate",
        }
    }

    /// Reads the word that the database and commands use.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Stored, Self::Duplicate]
            .into_iter()
            .find(|it| it.as_str() == word)
    }
}
