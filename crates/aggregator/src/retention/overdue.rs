//! For how long raw records are kept longer than they should be, and what the log is told of it.

use std::time::Instant;
use store::Horizon;

/// What the log is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Nothing is dropped any more.
    Start,
    /// Something is, again.
    End,
}

/// What is overdue: the horizon, or the dropping of what lies before it.
#[derive(Debug, Default)]
pub(super) struct Overdue {
    /// Seconds by which the horizon lagged when it was last known.
    horizon: i64,
    /// Since when nothing could be dropped.
    failing_since: Option<Instant>,
    told: bool,
}

impl Overdue {
    /// The horizon is known, and what lies before it was dropped.
    pub(super) fn kept(&mut self, horizon: &Horizon) -> Option<Told> {
        self.horizon = match horizon.moment.seconds() {
            // Before it has moved for the first time nothing is overdue.
            ..=0 => 0,
            _ => horizon.due.micros_since(horizon.moment) / 1_000_000,
        };
        self.failing_since = None;
        std::mem::take(&mut self.told).then_some(Told::End)
    }

    /// Nothing could be dropped.
    pub(super) fn failed(&mut self, now: Instant) {
        self.failing_since.get_or_insert(now);
    }

    /// The failure is one that time does not mend: the log is told once.
    pub(super) fn tell(&mut self) -> Option<Told> {
        (!std::mem::replace(&mut self.told, true)).then_some(Told::Start)
    }

    /// Seconds by which raw records are kept longer than they should be, as far as is known.
    pub(super) fn seconds(&self, now: Instant) -> i64 {
        let failing = self.failing_since.map_or(0, |since| {
            i64::try_from(now.duration_since(since).as_secs()).unwrap_or(i64::MAX)
        });
        self.horizon.max(failing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::time::Timestamp;
    use std::time::Duration;

    fn horizon(moment: i64, due: i64) -> Horizon {
        Horizon {
            moment: Timestamp::from_seconds(moment),
            due: Timestamp::from_seconds(due),
            held_back: None,
        }
    }

    #[test]
    fn what_cannot_be_dropped_is_overdue_since_then_and_told_once() {
        let begun = Instant::now();
        let at = |hours: u64| begun + Duration::from_secs(hours * 3_600);
        let mut overdue = Overdue::default();
        assert_eq!(overdue.kept(&horizon(-1, 86_400)), None);
        assert_eq!(overdue.seconds(at(0)), 0);
        assert_eq!(overdue.kept(&horizon(86_400, 90_000)), None);
        assert_eq!(overdue.seconds(at(0)), 3_600);
        overdue.failed(at(1));
        assert_eq!(overdue.tell(), Some(Told::Start));
        assert_eq!(overdue.seconds(at(1)), 3_600);
        for hour in 2..50 {
            overdue.failed(at(hour));
            assert_eq!(overdue.tell(), None);
        }
        assert_eq!(overdue.seconds(at(50)), 49 * 3_600);
        assert_eq!(overdue.kept(&horizon(90_000, 90_000)), Some(Told::End));
        assert_eq!(overdue.seconds(at(50)), 0);
        assert_eq!(overdue.kept(&horizon(90_000, 90_000)), None);
    }
}
