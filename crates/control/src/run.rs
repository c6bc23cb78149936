//! The role: its loops, until the process is told to stop.

use crate::config::{Config, Handles};
use crate::publisher::Publisher;
use crate::{backlog, database, housekeeping, transitions, wakeups};
use ops::failure::Fatal;
use ops::shutdown::Shutdown;
use std::sync::Arc;
use store::Store;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// Runs the role until `shutdown`.
///
/// # Errors
/// A broker's URL that cannot be used.
pub async fn run(
    config: Config,
    store: Store,
    handles: Handles,
    shutdown: Shutdown,
) -> Result<(), Fatal> {
    let wakeup = Arc::new(Notify::new());
    let publisher = Publisher::new(&config, store.clone(), handles.clone(), Arc::clone(&wakeup))?;
    let mut tasks = JoinSet::new();
    tasks.spawn(database::watch(
        store.clone(),
        handles.clone(),
        shutdown.clone(),
    ));
    tasks.spawn(backlog::run(
        store.clone(),
        handles.clone(),
        shutdown.clone(),
    ));
    tasks.spawn(wakeups::run(store.clone(), wakeup, shutdown.clone()));
    tasks.spawn(housekeeping::run(
        store.clone(),
        handles.clone(),
        shutdown.clone(),
    ));
    tasks.spawn(transitions::run(store, handles, shutdown.clone()));
    publisher.run(&shutdown).await;
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(|error| Fatal(format!("control: {error}")))?;
    }
    Ok(())
}
