//! Tells within seconds when the database cannot be worked with, and why.

use crate::config::Handles;
use ops::shutdown::Shutdown;
use ops::watch;
use store::Store;

pub(crate) async fn watch(store: Store, handles: Handles, shutdown: Shutdown) {
    let condition = handles.health.condition("database");
    let mut database = store.watch();
    loop {
        watch::look(&condition, store.server(), database.look()).await;
        if !watch::goes_on(&shutdown).await {
            return;
        }
    }
}
