//! Folding marked minutes into buckets as they end, and again when late records mark them anew.

use crate::Handles;
use domain::time::Timestamp;
use ops::metrics::Counter;
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::time::Duration;
use store::{FOLD_LIMIT, Store};

/// Pause between two looks for marks. Reads do not wait for it: they fold what is marked themselves.
const FOLD_INTERVAL: Duration = Duration::from_millis(250);

/// Folds until told to stop. Any number of processes may do so at once.
pub async fn run(store: &Store, handles: &Handles, shutdown: &Shutdown) {
    let mut backoff = Backoff::default();
    let folding = handles.health.condition("folding");
    while !shutdown.is_requested() {
        let now = Timestamp::from_micros(handles.clock.now_micros());
        // One that is given up has taken no mark.
        let folded = tokio::select! {
            folded = store.fold(now) => folded,
            () = shutdown.requested() => return,
        };
        let wait = match folded {
            Ok(folded) => {
                folding.ready();
                backoff.reset();
                let set_aside = folded.set_aside as u64;
                handles
                    .metrics
                    .update(|it| it.add(Counter::AggregatorSetAsideIntervals, set_aside));
                let limit = usize::try_from(FOLD_LIMIT).unwrap_or(usize::MAX);
                let all = [folded.minutes, folded.quarters, folded.days];
                let more = all.into_iter().any(|taken| taken >= limit);
                if more { Duration::ZERO } else { FOLD_INTERVAL }
            }
            Err(failure) => {
                folding.not_ready(failure.to_string());
                backoff.next_wait()
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shutdown.requested() => {}
        }
    }
}
