//! Notices a broker that has fallen silent, sooner than the keep-alive does, and without giving the connection up.

use std::time::{Duration, Instant};

/// Without a packet for this long the broker is asked for one.
const QUIET: Duration = Duration::from_secs(1);

/// How long the answer may take. An outage is to be told within 5 seconds.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// A topic that nobody subscribes to: to give it back changes nothing, needs no permission, and has an answer.
/// The client library sends no ping but its own.
pub const QUESTION: &str = "wattline/are-you-there";

/// When the broker was last heard, and whether it was asked since.
#[derive(Debug)]
pub struct Vigil {
    heard: Instant,
    asked: Option<Instant>,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Nothing: it was heard a moment ago, or has been asked and has time to answer.
    Well {
        /// Whether an answer is awaited.
        asked: bool,
    },
    /// The broker is to be asked: [`QUESTION`] is to be given back.
    Ask,
    /// It does not answer.
    Silent,
}

impl Vigil {
    /// Begins with a connection.
    #[must_use]
    pub const fn new(now: Instant) -> Self {
        Self {
            heard: now,
            asked: None,
        }
    }

    /// A packet came in.
    pub const fn hear(&mut self, now: Instant) {
        self.heard = now;
        self.asked = None;
    }

    /// To be called several times a second; whoever is told to ask must do so.
    pub fn look(&mut self, now: Instant) -> Watched {
        match self.asked {
            Some(asked) if now.duration_since(asked) >= ANSWER_WITHIN => Watched::Silent,
            Some(_) => Watched::Well { asked: true },
            None if now.duration_since(self.heard) >= QUIET => {
                self.asked = Some(now);
                Watched::Ask
            }
            None => Watched::Well { asked: false },
        }
    }

    /// What is wrong with a broker that is silent, in words.
    #[must_use]
    pub fn cause() -> String {
        let seconds = ANSWER_WITHIN.as_secs();
        format!("has not answered for {seconds} s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_is_asked_once_when_it_is_quiet_and_is_silent_until_it_is_heard() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut vigil = Vigil::new(at(0));
        assert_eq!(vigil.look(at(900)), Watched::Well { asked: false });
        vigil.hear(at(950));
        assert_eq!(vigil.look(at(1_900)), Watched::Well { asked: false });
        assert_eq!(vigil.look(at(1_950)), Watched::Ask);
        assert_eq!(vigil.look(at(2_500)), Watched::Well { asked: true });
        assert_eq!(vigil.look(at(3_950)), Watched::Silent);
        assert_eq!(vigil.look(at(9_000)), Watched::Silent);
        vigil.hear(at(9_100));
        assert_eq!(vigil.look(at(9_200)), Watched::Well { asked: false });
    }
}
