//! Notices a log that takes messages and tells nothing about them any more.

use crate::ledger::Ticket;
use tokio::time::{Duration, Instant};

/// How long the oldest message may wait for its report: far longer than Kafka or the database
/// take, and short enough for an outage to be told within 5 seconds.
pub(super) const REPORT_WITHIN: Duration = Duration::from_secs(3);

/// Since when the oldest message waits for its report; no clock is read for any other message.
#[derive(Debug, Default)]
pub(super) struct Silence {
    oldest: Option<(Ticket, Instant)>,
}

impl Silence {
    /// Looks at the oldest message, if it is handed over; tells whether it waits for too long.
    pub(super) fn lasts(&mut self, oldest: Option<Ticket>, now: Instant) -> bool {
        match (self.oldest, oldest) {
            (Some((before, since)), Some(ticket)) if before == ticket => {
                now.duration_since(since) > REPORT_WITHIN
            }
            _ => {
                self.oldest = oldest.map(|ticket| (ticket, now));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_message_that_stays_the_oldest_for_long_is_a_silence() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut silence = Silence::default();
        assert!(!silence.lasts(Some(Ticket(1)), at(0)));
        assert!(!silence.lasts(Some(Ticket(1)), at(3)));
        // Slow, but not silent.
        assert!(!silence.lasts(Some(Ticket(2)), at(6)));
        assert!(!silence.lasts(Some(Ticket(2)), at(9)));
        assert!(silence.lasts(Some(Ticket(2)), at(10)));
        assert!(silence.lasts(Some(Ticket(2)), at(100)));
        assert!(!silence.lasts(Some(Ticket(3)), at(101)));
        assert!(!silence.lasts(None, at(120)));
        assert!(!silence.lasts(Some(Ticket(3)), at(121)));
    }
}
