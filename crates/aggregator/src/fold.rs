//! Folding marked minutes into buckets as they end, and again when late records mark them anew.

use crate::Handles;
use domain::time::Timestamp;
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::time::Duration;
use store::{FOLD_LIMIT, Store};

/// Pause between two looks for marks. Reads do not wait for it: they fold what is marked themselves.
const FOLD_INTERVAL: Duration = Duration::from_millis(250);

/// Folds until told to stop. Any number of processes may do so at once.
pub async fn run(store: &Store, handles: &Handles, shutdown: &Shutdown) {
    let mut backoff = Backoff::default();
    while !shutdown.is_requested() {
        let now = Timestamp::from_micros(handles.clock.now_micros());
        let wait = match store.fold(now).await {
            Ok(folded) => {
                backoff.reset();
                let limit = usize::try_from(FOLD_LIMIT).unwrap_or(usize::MAX);
                let more = folded.minutes >= limit || folded.quarters >= limit;
                if more { Duration::ZERO } else { FOLD_INTERVAL }
            }
            // The writer tells readiness; here it only matters not to hurry.
            Err(failure) => {
                tracing::debug!(%failure, "folding waits");
                backoff.next_wait()
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = shutdown.requested() => {}
        }
    }
}
