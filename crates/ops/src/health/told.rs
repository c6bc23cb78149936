//! What of a condition's changes the log is told: the start and the end of an outage, and of one that comes and
//! goes many times only that it does.

use std::time::{Duration, Instant};

/// Over so long only so many changes are told one by one.
const WINDOW: Duration = Duration::from_secs(60);

/// Three outages with their ends.
const CHANGES_IN_WINDOW: u32 = 6;

/// What the log is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It holds for the first time.
    First,
    /// An outage begins.
    Begins {
        /// Changes that were not told before it.
        untold: u32,
    },
    /// An outage is over that has lasted for so long.
    Over {
        /// Since its start was told.
        lasted: Duration,
        /// Changes that were not told before it.
        untold: u32,
    },
}

/// What the log has been told of one condition.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// What the log says: `None` before it was told anything.
    holds: Option<bool>,
    /// When the outage began that the log tells last.
    outage_since: Option<Instant>,
    window_since: Option<Instant>,
    changes: u32,
    untold: u32,
}

impl Told {
    /// The condition holds now, or does not: what the log is to be told of it. To be called at changes, and again
    /// after a while: what was not told because there was too much of it is told then.
    pub(super) fn look(&mut self, holds: bool, now: Instant) -> Option<Line> {
        if self.holds == Some(holds) {
            return None;
        }
        if !self.may_tell(now) {
            return None;
        }
        let first = self.holds.is_none();
        self.holds = Some(holds);
        self.changes += 1;
        let untold = std::mem::take(&mut self.untold);
        if !holds {
            self.outage_since = Some(now);
            return Some(Line::Begins { untold });
        }
        let since = self.outage_since.take();
        if first {
            return Some(Line::First);
        }
        let lasted = since.map_or(Duration::ZERO, |since| now.duration_since(since));
        Some(Line::Over { lasted, untold })
    }

    /// A change that [`Told::look`] did not tell.
    pub(super) fn left_out(&mut self) {
        self.untold = self.untold.saturating_add(1);
    }

    fn may_tell(&mut self, now: Instant) -> bool {
        let begun = *self.window_since.get_or_insert(now);
        if now.duration_since(begun) >= WINDOW {
            self.window_since = Some(now);
            self.changes = 0;
        }
        self.changes < CHANGES_IN_WINDOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_has_a_start_and_an_end() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut told = Told::default();
        assert_eq!(told.look(true, at(0)), Some(Line::First));
        assert_eq!(told.look(true, at(1)), None);
        assert_eq!(told.look(false, at(2)), Some(Line::Begins { untold: 0 }));
        for second in 3..3_000 {
            assert_eq!(told.look(false, at(second)), None);
        }
        let lasted = Duration::from_secs(2_998);
        let over = Line::Over { lasted, untold: 0 };
        assert_eq!(told.look(true, at(3_000)), Some(over));
    }

    #[test]
    fn a_condition_that_comes_and_goes_is_told_six_times_a_minute_and_then_how_it_stands() {
        let start = Instant::now();
        let mut told = Told::default();
        let mut lines = 0;
        // Changes every second for ten minutes.
        for second in 0..600 {
            let line = told.look(second % 2 == 1, start + Duration::from_secs(second));
            match line {
                Some(_) => lines += 1,
                None => told.left_out(),
            }
        }
        assert!((50..=60).contains(&lines), "{lines}");
        // It settles at what the log does not say: that is told once there is room.
        let stands = told.holds != Some(true);
        let line = told.look(stands, start + Duration::from_secs(700));
        let untold = match line {
            Some(Line::Begins { untold } | Line::Over { untold, .. }) => untold,
            Some(Line::First) | None => panic!("{line:?}"),
        };
        assert!(untold > 0);
    }
}
