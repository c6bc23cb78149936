//! Clears away what counts for nothing any more; any number of processes may do so at once.

use crate::limits::{FAILED_LOGIN_WINDOW, HOUSEKEEPING_INTERVAL, KEPT_BUDGET};
use crate::state::Api;
use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use tokio::time::sleep;

/// Clears away expired refresh tokens, failed logins and budgets, now and then, until `shutdown`.
pub(crate) async fn keep_house(api: &Api, shutdown: &Shutdown) {
    let mut backoff = Backoff::default();
    let clear = async {
        loop {
            let now = api.now();
            let failed_before = now.minus(FAILED_LOGIN_WINDOW);
            let budgets_before = now.minus(KEPT_BUDGET);
            let cleared = api.store.clear_accounts(now, failed_before, budgets_before);
            match cleared.await {
                Ok(cleared) => {
                    backoff.reset();
                    tracing::debug!(?cleared, "cleared away");
                    sleep(HOUSEKEEPING_INTERVAL).await;
                }
                // An outage is logged once, by the condition that watches the database.
                Err(failure) if failure.is_transient() => sleep(backoff.next_wait()).await,
                Err(failure) => {
                    tracing::error!(%failure, "cannot clear away what has expired");
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
