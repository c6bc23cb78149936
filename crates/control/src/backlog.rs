//! Tells how much stands in the outbox, and for how long.

use crate::config::{BACKLOG_INTERVAL, DATABASE_PATIENCE, Handles};
use ops::metrics::Gauge;
use ops::shutdown::Shutdown;
use std::collections::VecDeque;
use std::time::Duration;
use store::Store;
use tokio::time::{Instant, sleep, timeout};

/// Looks at the outbox now and then; what is wrong with the database is told by others.
pub(crate) async fn run(store: Store, handles: Handles, shutdown: Shutdown) {
    let mut history = History::default();
    let look = async {
        loop {
            let looked = timeout(DATABASE_PATIENCE, store.outbox()).await;
            if let Ok(Ok(outbox)) = looked {
                history.look(outbox.numbers, Instant::now());
                #[expect(clippy::cast_precision_loss, reason = "far below 2^52 entries")]
                let entries = outbox.entries as f64;
                handles
                    .metrics
                    .update(|it| it.set(Gauge::ControlOutboxDocuments, entries));
            }
            let waited = history.waited(Instant::now()).as_secs_f64();
            handles
                .metrics
                .update(|it| it.set(Gauge::ControlOldestDocumentSeconds, waited));
            sleep(BACKLOG_INTERVAL).await;
        }
    };
    tokio::select! {
        () = shutdown.requested() => {}
        () = look => {}
    }
}

/// What numbers the outbox had at earlier looks. An entry has no time of its own, but its number was among those
/// of a look, or was not.
#[derive(Debug, Default)]
struct History {
    /// The newest number at a look, oldest look first, from the one on at which the oldest entry was there.
    looks: VecDeque<(i64, Instant)>,
}

/// Looks that are remembered; beyond that every other one is forgotten.
const REMEMBERED: usize = 1_000;

impl History {
    /// The oldest and the newest number now.
    fn look(&mut self, numbers: Option<(i64, i64)>, now: Instant) {
        let Some((oldest, newest)) = numbers else {
            self.looks.clear();
            return;
        };
        while self.looks.front().is_some_and(|(last, _)| *last < oldest) {
            self.looks.pop_front();
        }
        if self.looks.back().is_none_or(|(last, _)| *last < newest) {
            self.looks.push_back((newest, now));
        }
        if self.looks.len() > REMEMBERED {
            let mut place = 0;
            self.looks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
    }

    /// For how long the oldest entry has been seen.
    fn waited(&self, now: Instant) -> Duration {
        let first = self.looks.front();
        first.map_or(Duration::ZERO, |(_, since)| now.duration_since(*since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entry_has_waited_since_the_first_look_that_had_it() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut history = History::default();
        let mut check = |numbers, second: u64, waited: u64| {
            history.look(numbers, at(second));
            assert_eq!(
                history.waited(at(second)),
                Duration::from_secs(waited),
                "{second}"
            );
        };
        check(None, 0, 0);
        check(Some((5, 5)), 2, 0);
        check(Some((5, 9)), 4, 2);
        check(Some((5, 12)), 6, 4);
        // 5 is settled; 8 came between the looks at 2 and 4.
        check(Some((8, 12)), 8, 4);
        // 11 came between 4 and 6.
        check(Some((11, 20)), 10, 4);
        check(Some((20, 20)), 12, 2);
        check(None, 14, 0);
        check(Some((21, 21)), 16, 0);
    }

    #[test]
    fn the_memory_of_a_long_outage_is_bounded_and_keeps_its_start() {
        let start = Instant::now();
        let mut history = History::default();
        for second in 0..10_000 {
            let newest = i64::try_from(second).unwrap() + 1;
            history.look(Some((1, newest)), start + Duration::from_secs(second));
        }
        assert!(history.looks.len() <= REMEMBERED);
        let now = start + Duration::from_secs(10_000);
        assert_eq!(history.waited(now), Duration::from_secs(10_000));
    }
}
