//! The only reading of the time of day, so that tests can set it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time of day: the machine's, or one that a test sets.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// Microseconds since the epoch that stand still until they are set; clones share them.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// The machine's clock.
    #[must_use]
    pub const fn system() -> Self {
        Self::System
    }

    /// A clock that stands at `micros` microseconds since the epoch.
    #[must_use]
    pub fn manual(micros: i64) -> Self {
        Self::Manual(Arc::new(AtomicI64::new(micros)))
    }

    /// Microseconds since 1970-01-01T00:00:00Z, negative before it.
    #[must_use]
    pub fn now_micros(&self) -> i64 {
        match self {
            Self::System => system_micros(),
            Self::Manual(micros) => micros.load(Ordering::SeqCst),
        }
    }

    /// Moves a manual clock forward; the machine's clock moves by itself.
    pub fn advance(&self, by: Duration) {
        if let Self::Manual(micros) = self {
            micros.fetch_add(whole_micros(by), Ordering::SeqCst);
        }
    }

    /// Sets a manual clock, backwards too; the machine's clock cannot be set.
    pub fn set_micros(&self, to: i64) {
        if let Self::Manual(micros) = self {
            micros.store(to, Ordering::SeqCst);
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the machine's clock"
)]
fn system_micros() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => whole_micros(since),
        Err(before) => -whole_micros(before.duration()),
    }
}

/// Saturates: a span of 292,000 years is longer than any that means something here.
fn whole_micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told_and_for_all_its_clones() {
        let clock = Clock::manual(5);
        let clone = clock.clone();
        assert_eq!(clone.now_micros(), 5);
        clock.advance(Duration::from_millis(2));
        assert_eq!(clone.now_micros(), 2_005);
        clock.set_micros(-1);
        assert_eq!(clone.now_micros(), -1);
    }

    #[test]
    fn the_system_clock_tells_microseconds_since_the_epoch() {
        const YEAR_2020: i64 = 1_577_836_800_000_000;
        const YEAR_2200: i64 = 7_258_118_400_000_000;
        let now = Clock::system().now_micros();
        assert!((YEAR_2020..YEAR_2200).contains(&now), "{now}");
    }
}
