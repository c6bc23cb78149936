//! How long to wait before the next attempt.

use std::time::Duration;

/// The wait after the first failure, by default: short, since most outages are a restart.
pub const DEFAULT_INITIAL: Duration = Duration::from_millis(100);

/// The longest wait, by default: an outage's end is seen within this.
pub const DEFAULT_MAXIMUM: Duration = Duration::from_secs(5);

/// Waits that double from an initial to a maximum one, each shortened at random by up to a half, so
/// that many processes do not come back in step.
#[derive(Clone, Debug)]
pub struct Backoff {
    initial: Duration,
    maximum: Duration,
    next: Duration,
}

impl Backoff {
    /// Waits from `initial` to `maximum`.
    #[must_use]
    pub fn new(initial: Duration, maximum: Duration) -> Self {
        Self {
            initial,
            maximum,
            next: initial.min(maximum),
        }
    }

    /// The wait before the next attempt: between half of the current step and the whole of it.
    pub fn next_wait(&mut self) -> Duration {
        let step = self.next;
        self.next = step.saturating_mul(2).min(self.maximum);
        step.mul_f64(rand::random_range(0.5..=1.0))
    }

    /// Starts over, after a success.
    pub fn reset(&mut self) {
        self.next = self.initial.min(self.maximum);
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new(DEFAULT_INITIAL, DEFAULT_MAXIMUM)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(backoff: &mut Backoff, step_ms: u64) {
        let wait = backoff.next_wait();
        let step = Duration::from_millis(step_ms);
        assert!(wait >= step / 2 && wait <= step, "{wait:?} for {step:?}");
    }

    #[test]
    fn waits_double_up_to_the_maximum_and_start_over_after_a_success() {
        let mut backoff = Backoff::default();
        for step_ms in [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000] {
            check(&mut backoff, step_ms);
        }
        backoff.reset();
        check(&mut backoff, 100);
    }

    #[test]
    fn waits_differ_between_processes() {
        let waits: Vec<_> = (0..20).map(|_| Backoff::default().next_wait()).collect();
        assert!(waits.iter().any(|wait| *wait != waits[0]));
    }
}
