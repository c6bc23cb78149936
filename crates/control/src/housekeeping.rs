//! Clears away what is older than it is kept; any number of processes may do so at once.

use crate::config::{HOUSEKEEPING_INTERVAL, Handles, KEPT, MAY_BE_LOST};
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use store::Store;
use tokio::time::sleep;

pub(crate) async fn run(store: Store, handles: Handles, shutdown: Shutdown) {
    let mut backoff = Backoff::default();
    let clear = async {
        loop {
            let now = handles.now();
            // As long as a broker may have to be told again that a building is no more.
            let removed_before = now.minus(MAY_BE_LOST);
            match store.clear_control(now.minus(KEPT), removed_before).await {
                Ok(0) => {
                    backoff.reset();
                    sleep(HOUSEKEEPING_INTERVAL).await;
                }
                Ok(cleared) => tracing::debug!(cleared, "cleared away"),
                // An outage is logged once, by the condition of the transitions.
                Err(failure) if failure.is_transient() => sleep(backoff.next_wait()).await,
                Err(failure) => {
                    tracing::error!(%failure, "cannot clear away old actions");
                    sleep(HOUSEKEEPING_INTERVAL).await;
                }
            }
        }
    };
    tokio::select! {
        () = shutdown.requested() => {}
        () = clear => {}
    }
}
