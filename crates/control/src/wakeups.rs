//! Being told by the database that there is something to be published.

use ops::retry::Backoff;
use ops::shutdown::Shutdown;
use std::sync::Arc;
use store::Store;
use tokio::sync::Notify;
use tokio::time::sleep;

/// Wakes the publisher whenever something was put into the outbox. An outage is told by others, and costs
/// no more than the wait until the outbox is looked at anyway.
pub(crate) async fn run(store: Store, wakeup: Arc<Notify>, shutdown: Shutdown) {
    let mut backoff = Backoff::default();
    let listen = async {
        loop {
            if let Ok(mut listener) = store.listen_for_desired().await {
                backoff.reset();
                // Something may have come before it was listened for.
                wakeup.notify_one();
                while listener.heard().await.is_ok() {
                    wakeup.notify_one();
                }
            }
            sleep(backoff.next_wait()).await;
        }
    };
    tokio::select! {
        () = shutdown.requested() => {}
        () = listen => {}
    }
}
