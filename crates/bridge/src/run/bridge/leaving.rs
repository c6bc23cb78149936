//! Leaving for good: nothing new is asked for, what the broker keeps for the session is carried over, and then the session ends.
//!
//! The broker answers in the order in which it is asked. So once it was asked with nothing in flight, and has
//! answered without a message before the answer, its queue for the session is empty.

use super::{Bridge, Ended};
use mqtt::{Line, QUESTION};

impl Bridge {
    /// Instead of subscribing.
    pub(super) fn unsubscribe(&mut self, line: &mut Line) {
        let answers = self.connector.unsubscribe(line);
        self.leaving = Some(Leaving::asked(answers));
        self.mqtt.ready();
    }

    /// The broker has answered that a subscription is over, or that there was none.
    pub(in crate::run) fn unsubscribed(&mut self, line: &mut Line) -> Result<(), Ended> {
        let is_empty = self.ledger.is_empty();
        if self
            .leaving
            .as_mut()
            .is_some_and(|it| it.answered(is_empty))
        {
            return Err(Ended::Emptied);
        }
        self.ask_what_is_left(line);
        Ok(())
    }

    /// Of a bridge that leaves for good, when nothing is in flight.
    pub(super) fn ask_what_is_left(&mut self, line: &mut Line) {
        let is_empty = self.ledger.is_empty();
        if let Some(leaving) = self.leaving.as_mut().filter(|it| it.is_to_ask(is_empty)) {
            // To give back what nobody has changes nothing, and has an answer.
            line.unsubscribe(QUESTION);
            *leaving = Leaving::asked(1);
        }
    }
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    /// The broker was asked, and so many answers are awaited.
    Asked {
        /// Awaited answers.
        answers: usize,
        /// Whether a message has come since.
        came: bool,
    },
    /// It is asked again when nothing is in flight.
    Emptying,
}

impl Leaving {
    pub(super) const fn asked(answers: usize) -> Self {
        Self::Asked {
            answers,
            came: false,
        }
    }

    /// A message came.
    pub(super) const fn arrive(&mut self) {
        if let Self::Asked { came, .. } = self {
            *came = true;
        }
    }

    /// The broker has answered; `is_empty` with nothing in flight. Tells whether nothing is left.
    pub(super) const fn answered(&mut self, is_empty: bool) -> bool {
        match self {
            Self::Asked { answers, .. } if *answers > 1 => {
                *answers -= 1;
                false
            }
            Self::Asked { came, .. } => {
                let over = is_empty && !*came;
                *self = Self::Emptying;
                over
            }
            Self::Emptying => false,
        }
    }

    /// Whether the broker is to be asked now.
    pub(super) const fn is_to_ask(self, is_empty: bool) -> bool {
        is_empty && matches!(self, Self::Emptying)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_after_an_answer_with_nothing_before_it_and_nothing_in_flight() {
        let mut leaving = Leaving::asked(2);
        assert!(!leaving.answered(true), "one answer is still to come");
        // Asked with messages in flight: the answer says nothing.
        assert!(!leaving.answered(false));
        assert!(!leaving.is_to_ask(false));
        assert!(leaving.is_to_ask(true));

        leaving = Leaving::asked(1);
        leaving.arrive();
        assert!(!leaving.answered(true));
        assert!(leaving.is_to_ask(true));

        leaving = Leaving::asked(1);
        assert!(leaving.answered(true));
    }
}
