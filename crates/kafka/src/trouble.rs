//! Why Kafka does not answer, in librdkafka's words.

use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Enough for a certificate's or a password's trouble; the rest of librdkafka's advice is about its own build.
const LONGEST: usize = 240;

/// What librdkafka last said about a connection. Its answers only say that none came in time: a wrong
/// password and a certificate of somebody else are told on the side, and once. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    /// Notes what a context was told; that all brokers are away is no cause but a summary.
    pub fn note(&self, error: &KafkaError, reason: &str) {
        if error.rdkafka_error_code() != Some(RDKafkaErrorCode::AllBrokersDown) {
            *self.last() = Some(reason.chars().take(LONGEST).collect());
        }
    }

    /// Kafka has answered: what was wrong is over.
    pub fn clear(&self) {
        *self.last() = None;
    }

    /// A cause with what is behind it, where that is known.
    #[must_use]
    pub fn explain(&self, cause: impl Display) -> String {
        match &*self.last() {
            Some(reason) => format!("{cause}: {reason}"),
            None => cause.to_string(),
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_explains_until_there_is_an_answer() {
        let trouble = Trouble::default();
        assert_eq!(trouble.explain("no answer"), "no answer");
        trouble.note(
            &KafkaError::Global(RDKafkaErrorCode::SSL),
            "bad certificate",
        );
        trouble.note(
            &KafkaError::Global(RDKafkaErrorCode::AllBrokersDown),
            "1/1 brokers are down",
        );
        assert_eq!(trouble.explain("no answer"), "no answer: bad certificate");
        trouble.clear();
        assert_eq!(trouble.explain("no answer"), "no answer");
    }
}
